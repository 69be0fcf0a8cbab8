//! `paired`: a boundary step and its own result act as one, and nothing that is kept is ever written.
//!
//! Owns the record at the step's own result. Refuses to look ahead: it reads neither the counters nor the next mask, so
//! the lookahead cannot mislead it. `docs/rules.md` has the proof.

use crate::model::{Action, Keeps, Refused, RowView, Rule, VerifyView, WantsMasks};
use crate::record::{AssertKind, BoundaryCheck};

use super::speculative;

/// Records what this batch's own forward wrote, under the length that it reached: `next_track_idx` still names that
/// slot, since no other boundary of the request is prepared in between on a grid of 2 or more. Not lazy: the write
/// index then turns to the slot kept before. Lazy: that slot is given back; a step whose second slot was refused has
/// written nothing, and nothing is recorded for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paired;

impl Rule for Paired {
    fn name(&self) -> &'static str {
        "paired"
    }

    fn wants_masks(&self) -> WantsMasks {
        WantsMasks::Own
    }

    fn keeps(&self) -> Keeps {
        Keeps::Last
    }

    fn refused(&self) -> Refused {
        Refused::WritesNothing
    }

    #[inline(always)]
    fn on_result(&self, row: &RowView) -> Result<Action, AssertKind> {
        let Some(masks) = row.masks else {
            return Ok(at_boundary(row, BoundaryCheck::MaskLost));
        };
        if !masks.mask {
            return Ok(Action::none(BoundaryCheck::Mask));
        }
        Ok(at_boundary(row, BoundaryCheck::Mask))
    }

    fn on_verify(&self, row: &VerifyView) -> Action {
        speculative::on_verify(row)
    }
}

/// Keeps the slot that the step wrote, if it is on the grid and wrote one. A mask alone does not settle it: in a queue
/// without copies it may be that of another step.
#[inline(always)]
fn at_boundary(row: &RowView, check: BoundaryCheck) -> Action {
    if !row.token_len().is_multiple_of(row.grid) {
        return Action::none(check);
    }
    let written = row.next_track_idx;
    let before = row.last_track_idx;
    let fired = Action { record: Some((row.token_len(), Some(written))), ..Action::none(check) };
    match (row.lazy, written == before) {
        (true, true) => Action::none(check),
        (true, false) => Action { release_idx: Some(before), ..fired },
        (false, _) => Action { next_track_idx: Some(row.other_idx(written)), ..fired },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RowMasks;

    /// A result of step 8 of a grid of 4, with the next step in flight.
    fn row(mask: Option<bool>) -> RowView {
        let masks = mask.map(|mask| RowMasks { mask, mask_next: None, decode_batch_idx: 0, track_idx: 0 });
        RowView {
            grid: 4,
            lazy: false,
            track_slots: 2,
            prompt_len: 3,
            outputs: 6,
            finished: false,
            kv_committed_len: 9,
            decode_batch_idx: 6,
            next_track_idx: 1,
            last_track_idx: 0,
            held: [true, true],
            untracked_ahead: false,
            masks,
        }
    }

    fn decide(row: RowView) -> Action {
        Paired.on_result(&row).unwrap()
    }

    #[test]
    fn a_boundary_keeps_what_it_wrote_and_the_next_one_writes_the_other() {
        let action = decide(row(Some(true)));
        assert_eq!((action.record, action.next_track_idx), (Some((8, Some(1))), Some(0)));
        assert_eq!((action.release_idx, action.check), (None, BoundaryCheck::Mask));
    }

    #[test]
    fn a_single_slot_is_kept_and_stays_the_one_to_write() {
        let action = decide(RowView { track_slots: 1, next_track_idx: 0, held: [true, false], ..row(Some(true)) });
        assert_eq!((action.record, action.next_track_idx), (Some((8, Some(0))), Some(0)));
    }

    #[test]
    fn lazy_gives_the_slot_kept_before_back() {
        let action = decide(RowView { lazy: true, ..row(Some(true)) });
        assert_eq!((action.record, action.release_idx), (Some((8, Some(1))), Some(0)));
        assert_eq!(action.next_track_idx, None);
    }

    #[test]
    fn lazy_records_nothing_for_a_step_whose_slot_was_refused() {
        let action = decide(RowView { lazy: true, next_track_idx: 0, held: [true, false], ..row(Some(true)) });
        assert_eq!(action, Action::none(BoundaryCheck::Mask));
    }

    #[test]
    fn nothing_but_the_own_step_counts() {
        assert_eq!(decide(row(Some(false))), Action::none(BoundaryCheck::Mask));
        // Whatever was prepared since, and whether the request has finished.
        for (kv_committed_len, decode_batch_idx) in [(8, 5), (9, 6), (12, 9)] {
            let other = RowView { kv_committed_len, decode_batch_idx, finished: true, ..row(Some(true)) };
            assert_eq!(decide(other), decide(row(Some(true))));
        }
    }

    #[test]
    fn without_masks_the_length_is_computed() {
        let action = decide(row(None));
        assert_eq!((action.record, action.check), (Some((8, Some(1))), BoundaryCheck::MaskLost));
        assert_eq!(decide(RowView { outputs: 7, ..row(None) }), Action::none(BoundaryCheck::MaskLost));
    }

    #[test]
    fn a_mask_of_the_step_after_records_nothing() {
        assert_eq!(decide(RowView { outputs: 5, ..row(Some(true)) }), Action::none(BoundaryCheck::Mask));
    }

    #[test]
    fn it_never_declines() {
        for lazy in [false, true] {
            for mask in [None, Some(false), Some(true)] {
                assert!(!decide(RowView { lazy, finished: true, ..row(mask) }).decline);
            }
        }
    }
}
