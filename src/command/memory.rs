//! How much memory a command takes for what it keeps of a run, estimated from the setup before the run begins, and the
//! refusal of a command that would take more than [`BYTES_MAX`]. A run that is only judged keeps nothing by length, so
//! `run`, `test`, `check` and `fuzz` need no estimate.
//!
//! The figures of [`Kept`] are measured on runs of one request, of 256 rows a turn and of 100,000 short requests, and
//! rounded up. An estimate exceeds the measured memory by a factor of up to 5: it takes every decode row to be a turn
//! of its own.

use std::ops::RangeInclusive;

use crate::model::{Event, Setup, prompt_len};
use crate::record::ReqId;

use super::output::Failure;

/// The most memory that a command may take, by the estimate.
pub(super) const BYTES_MAX: u64 = 4 << 30;

/// What a command keeps of a run, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    /// Of each turn that is shown.
    pub turn: u64,
    /// Of each row of a batch that is shown.
    pub row: u64,
    /// Of each request.
    pub request: u64,
    /// Of each decision and due boundary of the whole run.
    pub boundary: u64,
    /// Of each token of prompts and outputs.
    pub token: u64,
}

impl Kept {
    /// The graph: every fact, and a node for every event.
    pub const GRAPH: Kept = Kept { turn: 3000, row: 700, request: 3000, boundary: 0, token: 0 };
    /// The explorer: its list of turns, and copies of the state.
    pub const EXPLORER: Kept = Kept { turn: 400, row: 100, request: 129 * 1500, boundary: 160, token: 0 };
    /// A trace: the scene, and its events.
    pub const TRACE: Kept = Kept { turn: 4500, row: 700, request: 4000, boundary: 160, token: 0 };
    /// A page: the scene, and its text.
    pub const PAGE: Kept = Kept { turn: 4500, row: 2000, request: 4000, boundary: 160, token: 0 };
    /// The table of `diff`: a line for each boundary.
    pub const DIFF: Kept = Kept { turn: 0, row: 0, request: 100, boundary: 500, token: 0 };
    /// A timeline: the boundaries alone, because turns are printed as they come.
    pub const TIMELINE: Kept = Kept { turn: 0, row: 0, request: 100, boundary: 160, token: 0 };
    /// The numeric state: the tokens of the requests.
    pub const NUMERIC: Kept = Kept { turn: 0, row: 0, request: 100, boundary: 0, token: 5 };
    /// The outcome of one lookahead pattern under one rule.
    pub const PATTERN: Kept = Kept { turn: 0, row: 0, request: 0, boundary: 80, token: 0 };
}

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunLength {
    /// The most turns.
    turns: u64,
    /// The most rows of batches.
    rows: u64,
    /// The most rows in one turn.
    rows_a_turn: u64,
    requests: u64,
    /// The most decisions and due boundaries.
    boundaries: u64,
    tokens: u64,
}

impl RunLength {
    /// The greatest length of a run of a setup. Without `longest` requests end as scripted, with it by their limit.
    pub fn of(setup: &Setup, longest: bool) -> RunLength {
        let engine = &setup.engine;
        let requests = setup.requests.len() as u64;
        let most = |spec: &crate::model::RequestSpec| u64::from(if longest { spec.max_new } else { spec.outputs() });
        let outputs: u64 = setup.requests.iter().map(most).sum();
        let prompts = || (0..setup.requests.len()).map(|at| prompt_len(&setup.requests, at));
        let chunk = engine.chunked_prefill_size.map_or(u64::MAX, u64::from);
        // A request that a `Retract` event names prefills its prompt and its outputs again.
        let again = |req: ReqId| {
            let at = req.index();
            (prompt_len(&setup.requests, at) + most(&setup.requests[at])).div_ceil(chunk)
        };
        let retracted = setup.events.iter().filter_map(|event| match *event {
            Event::Retract { req, .. } => Some(again(req)),
            Event::Abort { .. } | Event::FailAlloc { .. } => None,
        });
        let chunks = prompts().map(|len| len.div_ceil(chunk)).chain(retracted).sum::<u64>();
        let turns = (outputs + chunks + 4 * requests + 64).min(setup.turns_max.into());
        let rows_a_turn = u64::from(engine.max_running) + 1;
        let rows = (outputs + chunks + requests).min(turns.saturating_mul(rows_a_turn));
        let boundaries = rows.min(outputs / u64::from(engine.grid_len()) + chunks + 2 * requests);
        RunLength { turns, rows, rows_a_turn, requests, boundaries, tokens: prompts().sum::<u64>() + outputs }
    }

    /// The fewest turns of a scripted run of a setup that serves all its requests; 0 where an event may shorten it.
    pub fn turns_min(setup: &Setup) -> u64 {
        let a_turn = setup.engine.spec.as_ref().map_or(1, |spec| spec.accept_max());
        let outputs = setup.requests.iter().map(|spec| spec.outputs().div_ceil(a_turn)).max().unwrap_or(0);
        if setup.events.is_empty() { outputs.min(setup.turns_max).into() } else { 0 }
    }

    /// The same run, of which at most this many turns are shown.
    pub fn shown(self, turns: u64) -> RunLength {
        let turns = turns.min(self.turns);
        RunLength { turns, rows: self.rows.min(turns.saturating_mul(self.rows_a_turn)), ..self }
    }

    /// The bytes that a command takes for this run.
    pub fn bytes(self, kept: Kept) -> u64 {
        let parts = [
            (self.turns, kept.turn),
            (self.rows, kept.row),
            (self.requests, kept.request),
            (self.boundaries, kept.boundary),
            (self.tokens, kept.token),
        ];
        parts.iter().fold(0, |sum, (count, bytes)| sum.saturating_add(count.saturating_mul(*bytes)))
    }
}

/// The number of turns in a range of an option.
pub(super) fn turns_in(turns: &RangeInclusive<u32>) -> u64 {
    (u64::from(*turns.end()) + 1).saturating_sub((*turns.start()).into())
}

/// The error for a command that would take more memory than [`BYTES_MAX`]. `what` is what it keeps, `help` the remedy.
pub(super) fn fits(bytes: u64, what: &str, help: &str) -> Result<(), Failure> {
    if bytes <= BYTES_MAX {
        return Ok(());
    }
    // Tenths, rounded up: never the bound itself.
    let tenths = bytes.div_ceil((1 << 30) / 10);
    Err(Failure(format!(
        "error: {what} may take up to {}.{} GiB of memory, more than the {} GiB that a command takes\nhelp: {help}\n",
        tenths / 10,
        tenths % 10,
        BYTES_MAX >> 30
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::parse;

    fn length(text: &str) -> RunLength {
        RunLength::of(&parse("x", text, ".".as_ref(), &[]).expect("a scenario").setup, false)
    }

    #[test]
    fn a_length_counts_turns_rows_and_boundaries() {
        let text = r#"(engine: (track_interval: 4, mamba_chunk: 4), requests: [
            (id: "a", prompt: Fresh(6), stop: Length(8)), (id: "b", prompt: Extend("a", 1), stop: Token(4))])"#;
        let of = length(text);
        assert_eq!((of.turns, of.rows, of.requests), (12 + 2 + 8 + 64, 12 + 2 + 2, 2));
        assert_eq!((of.boundaries, of.tokens), (3 + 2 + 4, 6 + 15 + 12));
        assert_eq!(of.shown(1).boundaries, of.boundaries);
        assert_eq!((of.shown(1).turns, of.shown(0).rows), (1, 0));
    }

    #[test]
    fn an_estimate_does_not_overflow_and_says_what_to_do() {
        let of = length(
            r#"(engine: (kv_tokens: 33554432, track_interval: 1, mamba_chunk: 1), turns_max: 4294967295,
            requests: [(id: "a", prompt: Fresh(1), stop: Length(16777216))])"#,
        );
        let kept = Kept { turn: u64::MAX, ..Kept::GRAPH };
        assert_eq!(of.bytes(kept), u64::MAX);
        let Err(Failure(text)) = fits(of.bytes(Kept::GRAPH), "the graph", "draw less") else { panic!("too much") };
        assert!(
            text.starts_with("error: the graph may take up to 57.9 GiB") && text.ends_with("help: draw less\n"),
            "{text}"
        );
        assert!(fits(BYTES_MAX, "", "").is_ok());
    }
}
