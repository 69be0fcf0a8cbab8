//! `mask-lookahead`: read one of the batch's host masks, selected by the lookahead (pull request 33477).

use crate::model::{Action, Keeps, RowMasks, RowView, Rule, VerifyView, WantsMasks};
use crate::record::{AssertKind, BoundaryCheck};

use super::ping_pong::{fire, fire_on_grid};
use super::speculative;

/// Fires by the mask of this batch with lookahead 0, and by the mask of the next step with lookahead 1. The label is
/// the live `kv_committed_len`. If the masks were dropped, it computes the boundary as `committed-len` does.
#[derive(Clone, Copy, Debug, Default)]
pub struct MaskLookahead;

impl Rule for MaskLookahead {
    fn name(&self) -> &'static str {
        "mask-lookahead"
    }

    fn wants_masks(&self) -> WantsMasks {
        WantsMasks::Masks
    }

    fn keeps(&self) -> Keeps {
        Keeps::FromNext
    }

    #[inline(always)]
    fn on_result(&self, row: &RowView) -> Result<Action, AssertKind> {
        let Some(masks) = row.masks else {
            return Ok(fire_on_grid(row, row.kv_committed_len, BoundaryCheck::MaskLost));
        };
        let (_, boundary) = known_boundary(row, masks)?;
        if !boundary {
            return Ok(Action::none(BoundaryCheck::Mask));
        }
        assert_lead(row)?;
        Ok(fire(row, row.kv_committed_len, BoundaryCheck::Mask))
    }

    fn on_verify(&self, row: &VerifyView) -> Action {
        speculative::on_verify(row)
    }
}

/// The lookahead (0 or 1), and whether the last prepared step is on a boundary by the arrays of this batch.
#[inline(always)]
pub(super) fn known_boundary(row: &RowView, masks: RowMasks) -> Result<(u32, bool), AssertKind> {
    match row.decode_batch_idx.checked_sub(masks.decode_batch_idx) {
        Some(0) => Ok((0, masks.mask)),
        Some(1) => Ok((1, masks.mask_next.ok_or(AssertKind::MissingSnapshot)?)),
        Some(_) | None => Err(AssertKind::Lookahead),
    }
}

/// The assertions of the modelled code at a firing: `kv_committed_len` is ahead of the known tokens by at most the one
/// step that overlap allows, and it is on the grid.
#[inline(always)]
pub(super) fn assert_lead(row: &RowView) -> Result<(), AssertKind> {
    if row.outputs == 0 {
        return Err(AssertKind::NoOutput);
    }
    match row.kv_committed_len.checked_sub(row.token_len()) {
        Some(0 | 1) => {}
        Some(_) | None => return Err(AssertKind::CommittedLead),
    }
    if row.kv_committed_len.is_multiple_of(row.grid) { Ok(()) } else { Err(AssertKind::OffGrid) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Strategy, TrackPolicy};

    #[test]
    fn the_assertions_at_a_firing_are_those_of_the_modelled_code() {
        let row = RowView {
            grid: 4,
            policy: TrackPolicy::new(Strategy::ExtraBuffer, true),
            prompt_len: 3,
            outputs: 6,
            finished: false,
            kv_committed_len: 8,
            decode_batch_idx: 6,
            next_track_idx: 0,
            last_track_idx: 0,
            held: [true, true],
            untracked_ahead: false,
            masks: None,
        };
        assert_eq!(assert_lead(&row), Ok(()));
        assert_eq!(assert_lead(&RowView { outputs: 5, ..row }), Ok(()), "one step ahead");
        assert_eq!(assert_lead(&RowView { outputs: 4, ..row }), Err(AssertKind::CommittedLead));
        assert_eq!(assert_lead(&RowView { outputs: 7, ..row }), Err(AssertKind::CommittedLead));
        assert_eq!(assert_lead(&RowView { kv_committed_len: 9, ..row }), Err(AssertKind::OffGrid));
        assert_eq!(assert_lead(&RowView { outputs: 0, ..row }), Err(AssertKind::NoOutput));
    }
}
