//! `committed-len`: recompute from the live committed length (before pull request 31369, restored by 31622).

use crate::model::{Action, Keeps, RowView, Rule, VerifyView, WantsMasks};
use crate::record::{AssertKind, BoundaryCheck};

use super::ping_pong::fire_on_grid;
use super::speculative;

/// Fires when the live `kv_committed_len` is on the grid, whichever step brought it there.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommittedLen;

impl Rule for CommittedLen {
    fn name(&self) -> &'static str {
        "committed-len"
    }

    fn wants_masks(&self) -> WantsMasks {
        WantsMasks::No
    }

    fn keeps(&self) -> Keeps {
        Keeps::FromNext
    }

    #[inline(always)]
    fn on_result(&self, row: &RowView) -> Result<Action, AssertKind> {
        Ok(fire_on_grid(row, row.kv_committed_len, BoundaryCheck::Recompute))
    }

    fn on_verify(&self, row: &VerifyView) -> Action {
        speculative::on_verify(row)
    }
}
