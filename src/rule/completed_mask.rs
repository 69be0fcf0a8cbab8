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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RowMasks, Strategy, TrackPolicy};

    const OWN: RowMasks = RowMasks { mask: true, mask_next: Some(false), decode_batch_idx: 6, track_idx: 1 };
    const NEXT: RowMasks = RowMasks { mask: false, mask_next: Some(true), decode_batch_idx: 5, track_idx: 1 };

    /// The result of step 8 of a grid of 4, where prepare moved the index to slot 1.
    fn lazy(masks: RowMasks) -> RowView {
        RowView {
            grid: 4,
            policy: TrackPolicy::new(Strategy::ExtraBufferLazy, true),
            prompt_len: 3,
            outputs: 6,
            finished: false,
            kv_committed_len: 8,
            decode_batch_idx: 6,
            next_track_idx: 1,
            last_track_idx: 0,
            held: [true, true],
            untracked_ahead: false,
            masks: Some(masks),
        }
    }

    fn decide(row: RowView) -> Action {
        CompletedMask.on_result(&row).expect("no assertion fails")
    }

    #[test]
    fn a_checkpoint_needs_both_the_mask_and_a_length_on_the_grid() {
        let fired = decide(lazy(OWN));
        assert_eq!((fired.record, fired.next_track_idx, fired.release_idx), (Some((8, Some(1))), Some(1), Some(0)));
        // In an aliased queue, the mask may be that of another step.
        let nothing = Action::none(BoundaryCheck::Mask);
        assert_eq!(decide(RowView { kv_committed_len: 9, ..lazy(OWN) }), nothing);
        assert_eq!(decide(lazy(RowMasks { mask: false, ..OWN })), nothing);
    }

    #[test]
    fn the_guard_declines_only_if_the_step_in_flight_writes_the_kept_slot() {
        let end = RowView { finished: true, last_track_idx: 1, ..lazy(NEXT) };
        let declines = |row: RowView| decide(row).decline;
        assert!(declines(end));
        assert!(!declines(RowView { finished: false, ..end }));
        assert!(!declines(RowView { last_track_idx: 0, ..end }), "another slot");
        assert!(!declines(RowView { untracked_ahead: true, ..end }), "it writes nothing");
        assert!(!declines(RowView { masks: Some(RowMasks { mask_next: Some(false), ..NEXT }), ..end }));
        assert!(!declines(RowView { decode_batch_idx: 5, ..end }), "no step is in flight");
    }
}
