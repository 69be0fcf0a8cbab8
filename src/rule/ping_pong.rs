//! Firing in the rules that derive the kept slot from `next_track_idx`: label, write index and given-back slot.

use crate::model::{Action, RowView};
use crate::record::BoundaryCheck;

/// Fires with `len` if that is on the grid.
#[inline(always)]
pub(super) fn fire_on_grid(row: &RowView, len: u32, check: BoundaryCheck) -> Action {
    if len.is_multiple_of(row.grid) { fire(row, len, check) } else { Action::none(check) }
}

/// Fires with `label`. If the policy flips at the result, the write index flips, so that the slot written last is kept.
/// Otherwise prepare has moved the index, and the other slot is given back. If there is no other slot and the request
/// has finished, the step in flight may write the only slot, so nothing is donated.
#[inline(always)]
pub(super) fn fire(row: &RowView, label: u32, check: BoundaryCheck) -> Action {
    let fired = Action { record: Some((label, None)), ..Action::none(check) };
    let other = row.policy.other_idx(row.next_track_idx);
    if row.policy.flips_at_result {
        return Action { next_track_idx: Some(other), ..fired };
    }
    if row.held[usize::from(other)] {
        Action { release_idx: Some(other), ..fired }
    } else {
        Action { decline: row.finished, ..fired }
    }
}
