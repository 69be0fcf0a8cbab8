//! `paired`: a boundary step is recorded at its own result, and a kept slot is never written.
//!
//! The rule reads neither the counters nor the next mask, so the lookahead has no effect on it. `docs/rules.md` has the
//! proof.

use crate::model::{Action, Keeps, Refused, RowView, Rule, VerifyView, WantsMasks};
use crate::record::{AssertKind, BoundaryCheck};

use super::speculative;

/// Records the checkpoint that this batch's own forward wrote, under the length that it reached. `next_track_idx` still
/// names that slot, since on a grid of 2 or more no other boundary of the request is prepared in between. If the rule
/// flips the write index, it flips to the previous slot. If prepare moves it, the rule gives the previous slot back; a
/// step whose second slot was refused has written nothing, and the rule records nothing for it.
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

/// Keeps the slot that the step wrote, if the step is on the grid and wrote a slot. The mask alone is not enough: in an
/// aliased queue it may be the mask of another step.
#[inline(always)]
fn at_boundary(row: &RowView, check: BoundaryCheck) -> Action {
    if !row.token_len().is_multiple_of(row.grid) {
        return Action::none(check);
    }
    let written = row.next_track_idx;
    let before = row.last_track_idx;
    let fired = Action { record: Some((row.token_len(), Some(written))), ..Action::none(check) };
    match (row.policy.flips_at_result, written == before) {
        (true, _) => Action { next_track_idx: Some(row.policy.other_idx(written)), ..fired },
        (false, true) => Action::none(check),
        (false, false) => Action { release_idx: Some(before), ..fired },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RowMasks, Strategy, TrackPolicy};

    fn single() -> TrackPolicy {
        TrackPolicy::new(Strategy::ExtraBuffer, false)
    }

    fn lazy() -> TrackPolicy {
        TrackPolicy::new(Strategy::ExtraBufferLazy, true)
    }

    /// A result of step 8 of a grid of 4, with the next step in flight.
    fn row(mask: Option<bool>) -> RowView {
        let masks = mask.map(|mask| RowMasks { mask, mask_next: None, decode_batch_idx: 0, track_idx: 0 });
        RowView {
            grid: 4,
            policy: TrackPolicy::new(Strategy::ExtraBuffer, true),
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
        let action = decide(RowView { policy: single(), next_track_idx: 0, held: [true, false], ..row(Some(true)) });
        assert_eq!((action.record, action.next_track_idx), (Some((8, Some(0))), Some(0)));
    }

    #[test]
    fn lazy_gives_the_slot_kept_before_back() {
        let action = decide(RowView { policy: lazy(), ..row(Some(true)) });
        assert_eq!((action.record, action.release_idx), (Some((8, Some(1))), Some(0)));
        assert_eq!(action.next_track_idx, None);
    }

    #[test]
    fn lazy_records_nothing_for_a_step_whose_slot_was_refused() {
        let action = decide(RowView { policy: lazy(), next_track_idx: 0, held: [true, false], ..row(Some(true)) });
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
        for policy in [row(None).policy, single(), lazy()] {
            for mask in [None, Some(false), Some(true)] {
                assert!(!decide(RowView { policy, finished: true, ..row(mask) }).decline);
            }
        }
    }
}
