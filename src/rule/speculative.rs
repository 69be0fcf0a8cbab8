//! Speculative decoding, the same under every rule: no masks, boundaries by crossed grid cell, and with a second slot
//! on demand a plan for each batch (`_mamba_check_track_boundary`, `_mamba_lazy_spec_update`).

use crate::model::{Action, VerifyView};
use crate::record::BoundaryCheck;

/// Decides one row of a verify result. The accepted tokens cross a boundary if they end in another grid cell than they
/// begin in. The label is the beginning of the last cell.
pub(super) fn on_verify(row: &VerifyView) -> Action {
    let cur = row.token_len();
    let prev = cur - row.accepted;
    let crossed = cur / row.grid != prev / row.grid;
    let label = cur / row.grid * row.grid;
    if row.policy.second_slot_on_demand {
        return promote_planned(row, crossed, label);
    }
    if !crossed {
        return Action::none(BoundaryCheck::Recompute);
    }
    let idx = row.next_track_idx;
    let next_track_idx = Some(row.policy.other_idx(idx));
    Action { record: Some((label, Some(idx))), next_track_idx, ..Action::none(BoundaryCheck::Recompute) }
}

/// A confirmed crossing keeps the planned slot and gives the previous slot back. A request that finishes donates only
/// if no step wrote the kept slot in place and no step in flight may write it.
fn promote_planned(row: &VerifyView, crossed: bool, label: u32) -> Action {
    let none = Action::none(BoundaryCheck::Recompute);
    let keep = row.next_track_idx;
    if row.finished {
        let in_place = crossed && row.planned_idx == Some(keep);
        let may_write = !row.held[usize::from(1 - keep)] && row.boundary_in_reach;
        return Action { decline: row.planned_idx.is_none() || in_place || may_write, ..none };
    }
    match row.planned_idx.filter(|_| crossed) {
        None => none,
        Some(planned) => Action {
            record: Some((label, Some(planned))),
            next_track_idx: Some(planned),
            release_idx: (planned != keep).then_some(keep),
            ..none
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Strategy, TrackPolicy};

    /// A verify that accepts two tokens and so reaches length 8 of a grid of 4. Slot 0 is kept, slot 1 is planned.
    fn row(finished: bool) -> VerifyView {
        VerifyView {
            grid: 4,
            policy: TrackPolicy::new(Strategy::ExtraBufferLazy, true),
            prompt_len: 3,
            outputs: 6,
            accepted: 2,
            finished,
            next_track_idx: 0,
            held: [true, true],
            planned_idx: Some(1),
            boundary_in_reach: true,
        }
    }

    #[test]
    fn a_request_that_ends_donates_only_a_slot_that_no_step_writes() {
        let declines = |row: VerifyView| on_verify(&row).decline;
        let end = row(true);
        assert!(!declines(end));
        assert!(declines(VerifyView { planned_idx: None, ..end }));
        assert!(declines(VerifyView { planned_idx: Some(0), ..end }));
        assert!(!declines(VerifyView { planned_idx: Some(0), outputs: 8, ..end }), "no boundary was crossed");
        let single = VerifyView { held: [true, false], ..end };
        assert!(declines(single));
        assert!(!declines(VerifyView { boundary_in_reach: false, ..single }));
        assert!(!declines(VerifyView { planned_idx: None, held: [true, false], ..row(false) }), "it goes on");
    }

    #[test]
    fn a_crossing_in_place_gives_no_slot_back() {
        let fired = on_verify(&row(false));
        assert_eq!((fired.record, fired.next_track_idx, fired.release_idx), (Some((8, Some(1))), Some(1), Some(0)));
        let in_place = on_verify(&VerifyView { planned_idx: Some(0), ..row(false) });
        assert_eq!((in_place.record, in_place.release_idx), (Some((8, Some(0))), None));
    }
}
