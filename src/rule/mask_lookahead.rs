//! `mask-lookahead`: reuse the batch's host masks, chosen by the counter distance (pull request 33477).

use crate::model::{Action, Keeps, RowMasks, RowView, Rule, VerifyView, WantsMasks};
use crate::record::{AssertKind, BoundaryCheck};

use super::ping_pong::{fire, fire_on_grid};
use super::speculative;

/// Fires by this batch's mask if no decode was prepared since, by the next one's if one was; the label is the live
/// committed length. Where the masks are gone it computes as `committed-len` does.
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

/// How many decode steps were prepared since this batch, and whether the last of them is on a boundary: what the batch's own
/// arrays say for a distance of 0 or 1.
#[inline(always)]
pub(super) fn known_boundary(row: &RowView, masks: RowMasks) -> Result<(u32, bool), AssertKind> {
    match row.decode_batch_idx.checked_sub(masks.decode_batch_idx) {
        Some(0) => Ok((0, masks.mask)),
        Some(1) => Ok((1, masks.mask_next.ok_or(AssertKind::MissingSnapshot)?)),
        Some(_) | None => Err(AssertKind::Lookahead),
    }
}

/// The two assertions of the modelled code at a firing: the committed length leads the known tokens by at most the one
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
