//! How requests end: `stop` and `max_new`, which must not contradict each other.

use super::Diagnostic;
use super::limits::REQUEST_TOKENS_MAX;
use super::locate::PathStep;
use super::raw::{RawRequest, RawStop};
use super::source::SourceText;
use crate::model::Stop;

/// Outputs that a request may have beyond its stop token, if the file does not say.
const SPARE_OUTPUTS: u32 = 16;

/// The default of `max_new` with a stop token: somewhat more than the stop token needs, within the limit of the
/// simulator.
fn spare(n: u32) -> u32 {
    n.saturating_add(SPARE_OUTPUTS).min(REQUEST_TOKENS_MAX.max(n))
}

/// How a request ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestEnd {
    /// What ends it.
    pub stop: Stop,
    /// The most outputs it may have.
    pub max_new: u32,
    /// Its outputs if nothing else ends it.
    pub outputs: u32,
}

impl RequestEnd {
    /// Checks `stop` and `max_new` of a request.
    pub fn of(source: &SourceText<'_>, at: usize, raw: &RawRequest) -> Result<RequestEnd, Diagnostic> {
        let field = |name| [PathStep::Field("requests"), PathStep::Item(at), PathStep::Field(name)];
        if raw.max_new == Some(0) {
            return Err(source.at(&field("max_new"), "`max_new` is 0", "every request has at least one output"));
        }
        let (stop, outputs, max_new) = match raw.stop {
            RawStop::Token(n) => (Stop::Token(n), n, raw.max_new.unwrap_or(spare(n))),
            RawStop::Length(n) => (Stop::Length, n, raw.max_new.unwrap_or(n)),
        };
        if outputs == 0 {
            return Err(source.at(
                &field("stop"),
                "the request stops after no outputs",
                "every request has at least one",
            ));
        }
        if outputs.max(max_new) > REQUEST_TOKENS_MAX {
            let message = format!("{} outputs are more than the simulator holds", outputs.max(max_new));
            let remedy = format!("give at most {REQUEST_TOKENS_MAX}");
            return Err(source.at_first(&[&field("max_new"), &field("stop")], message, remedy));
        }
        match stop {
            Stop::Length if max_new != outputs => {
                let message = format!("`stop: Length({outputs})` contradicts `max_new: {max_new}`");
                Err(source.at(&field("max_new"), message, "leave out `max_new`: the length sets it"))
            }
            Stop::Token(_) if max_new < outputs => {
                let message = format!("the request would end by length at output {max_new}, before its stop token");
                let remedy = format!("set `max_new` to at least {outputs}, or write `stop: Length({max_new})`");
                Err(source.at(&field("max_new"), message, remedy))
            }
            Stop::Length | Stop::Token(_) => Ok(RequestEnd { stop, max_new, outputs }),
        }
    }
}
