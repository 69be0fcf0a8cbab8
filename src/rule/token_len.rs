//! `token-len`: recompute from the tokens known to the host (pull request 31369, reverted by 31622).

use crate::model::{Action, Keeps, RowView, Rule, VerifyView, WantsMasks};
use crate::record::{AssertKind, BoundaryCheck};

use super::ping_pong::fire_on_grid;
use super::speculative;

/// Fires when prompt plus outputs minus one is on the grid: the length that this result's own batch reached.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenLen;

impl Rule for TokenLen {
    fn name(&self) -> &'static str {
        "token-len"
    }

    fn wants_masks(&self) -> WantsMasks {
        WantsMasks::No
    }

    fn keeps(&self) -> Keeps {
        Keeps::FromNext
    }

    #[inline(always)]
    fn on_result(&self, row: &RowView) -> Result<Action, AssertKind> {
        Ok(fire_on_grid(row, row.token_len(), BoundaryCheck::Recompute))
    }

    fn on_verify(&self, row: &VerifyView) -> Action {
        speculative::on_verify(row)
    }
}
