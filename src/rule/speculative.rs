//! The path of speculative decoding, which every release walks whatever its rule: no masks, boundaries by crossed grid
//! cell, and with the lazy strategy a plan a batch (`_mamba_check_track_boundary`, `_mamba_lazy_spec_update`).

use crate::model::{Action, VerifyView};
use crate::record::BoundaryCheck;

/// Decides one row of a verify result: a boundary is crossed when the accepted run ends in another grid cell than it
/// began in; its label is the beginning of that cell.
pub(super) fn on_verify(row: &VerifyView) -> Action {
    let cur = row.token_len();
    let prev = cur - row.accepted;
    let crossed = cur / row.grid != prev / row.grid;
    let label = cur / row.grid * row.grid;
    if row.lazy {
        return lazy(row, crossed, label);
    }
    if !crossed {
        return Action::none(BoundaryCheck::Recompute);
    }
    let idx = row.next_track_idx;
    let next = if row.track_slots == 2 { 1 - idx } else { idx };
    Action { record: Some((label, Some(idx))), next_track_idx: Some(next), ..Action::none(BoundaryCheck::Recompute) }
}

/// Lazy: a confirmed crossing promotes the planned slot and gives the old one back. A request that finishes keeps what
/// it has only if no step wrote the kept slot in place, and none in flight may.
fn lazy(row: &VerifyView, crossed: bool, label: u32) -> Action {
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
