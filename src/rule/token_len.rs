//! `token-len`: recompute from the tokens known to the host (pull request 31369, reverted by 31622).

use crate::model::{Action, Keeps, RowView, Rule, VerifyView, WantsMasks};
use crate::record::{AssertKind, Check};

use super::ping_pong::fire;
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

    fn on_result(&self, row: &RowView) -> Result<Action, AssertKind> {
        let len = row.token_len();
        if len.is_multiple_of(row.grid) {
            Ok(fire(row, len, Check::Recompute))
        } else {
            Ok(Action::none(Check::Recompute))
        }
    }

    fn on_verify(&self, row: &VerifyView) -> Action {
        speculative::on_verify(row)
    }
}
