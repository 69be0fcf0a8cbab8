//! `completed-mask`: label and kept slot by the batch's own mask and index snapshot (releases after pull request
//! 29792).

use crate::model::{Action, Keeps, RowView, Rule, VerifyView, WantsMasks};
use crate::record::{AssertKind, BoundaryCheck};

use super::mask_lookahead::{assert_lead, known_boundary};
use super::speculative;

/// Records the checkpoint that this batch's own forward wrote. Its length is the live `kv_committed_len` less the
/// lookahead, its slot is the slot captured at prepare. The write index still flips as in `mask-lookahead`, or, if
/// prepare moved it, is set to that slot at the same result.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompletedMask;

impl Rule for CompletedMask {
    fn name(&self) -> &'static str {
        "completed-mask"
    }

    fn wants_masks(&self) -> WantsMasks {
        WantsMasks::MasksAndTrackIdx
    }

    fn keeps(&self) -> Keeps {
        Keeps::Last
    }

    #[inline(always)]
    fn on_result(&self, row: &RowView) -> Result<Action, AssertKind> {
        let masks = row.masks.ok_or(AssertKind::MissingSnapshot)?;
        let (lookahead, known) = known_boundary(row, masks)?;
        let completed_len = row.kv_committed_len - lookahead;
        if row.policy.flips_at_result {
            flip_at_result(row, completed_len, known)
        } else {
            Ok(moved_at_prepare(row, completed_len, lookahead, known))
        }
    }

    fn on_verify(&self, row: &VerifyView) -> Action {
        speculative::on_verify(row)
    }
}

/// The rule flips the write index: record at the own boundary, flip where the rule of pull request 33477 fires.
#[inline(always)]
fn flip_at_result(row: &RowView, completed_len: u32, known: bool) -> Result<Action, AssertKind> {
    let masks = row.masks.ok_or(AssertKind::MissingSnapshot)?;
    let record = masks.mask.then_some((completed_len, Some(masks.track_idx)));
    if !known {
        return Ok(Action { record, ..Action::none(BoundaryCheck::Mask) });
    }
    assert_lead(row)?;
    let next_track_idx = Some(row.policy.other_idx(row.next_track_idx));
    Ok(Action { record, next_track_idx, ..Action::none(BoundaryCheck::Mask) })
}

/// Prepare has moved the write index: at the own boundary keep the slot written and give the other one back. A request
/// that finishes while the step in flight is on a boundary and writes in place keeps nothing that can be trusted.
#[inline(always)]
fn moved_at_prepare(row: &RowView, completed_len: u32, lookahead: u32, known: bool) -> Action {
    let in_place = row.next_track_idx == row.last_track_idx;
    let decline = row.finished && lookahead == 1 && known && in_place && !row.untracked_ahead;
    let nothing = Action { decline, ..Action::none(BoundaryCheck::Mask) };
    match row.masks {
        Some(masks) if masks.mask && completed_len.is_multiple_of(row.grid) => Action {
            record: Some((completed_len, Some(masks.track_idx))),
            next_track_idx: Some(masks.track_idx),
            release_idx: Some(1 - masks.track_idx),
            ..nothing
        },
        Some(_) | None => nothing,
    }
}
