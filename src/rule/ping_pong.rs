//! What a firing does to the pair of track slots in the rules that derive the kept slot from `next_track_idx`.

use crate::model::{Action, RowView};
use crate::record::BoundaryCheck;

/// Fires with `len` if that is on the grid.
#[inline(always)]
pub(super) fn fire_on_grid(row: &RowView, len: u32, check: BoundaryCheck) -> Action {
    if len.is_multiple_of(row.grid) { fire(row, len, check) } else { Action::none(check) }
}

/// Fires with `label`. Not lazy: flips the write index, so that the slot written last is kept. Lazy: keeps the index
/// (prepare moved it) and gives the other slot back; if there is none and the request has finished, the only slot may
/// be written by the step in flight, so nothing is donated.
#[inline(always)]
pub(super) fn fire(row: &RowView, label: u32, check: BoundaryCheck) -> Action {
    let fired = Action { record: Some((label, None)), ..Action::none(check) };
    if !row.lazy {
        return Action { next_track_idx: Some(row.other_idx(row.next_track_idx)), ..fired };
    }
    let other = 1 - row.next_track_idx;
    if row.held[usize::from(other)] {
        Action { release_idx: Some(other), ..fired }
    } else {
        Action { decline: row.finished, ..fired }
    }
}
