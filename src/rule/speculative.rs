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
