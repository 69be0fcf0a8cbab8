//! Renderers: numbers first, text last.
//!
//! Every renderer is a pure function from results to text or to a serializable value: from a [`Judgement`], a
//! [`Timing`], the facts of a run for the timeline, a [`Scene`](crate::scene::Scene) for drawings. No renderer measures
//! or decides anything about a run, prints, or reads a file. Texts hold styles, which [`plain`] takes off; the JSON
//! forms hold none.

mod check;
mod conform;
mod cost;
mod diff;
mod fuzz;
mod html;
mod jitter;
mod json;
mod kl;
mod layout;
pub mod name;
mod observation;
mod perfetto;
pub mod question;
mod recorded_verdicts;
mod second_judge;
mod skew;
pub(crate) mod style;
mod test_line;
mod text;
mod timeline;
mod warning;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;

pub use check::{CheckFinding, CheckReport, Reduction, check_json, check_summary, check_text};
pub use conform::{conform_json, conform_text};
pub use cost::{CostBatch, CostReport, CpuLonger, cost_json, cost_text};
pub use diff::diff_text;
pub use fuzz::{FuzzBound, FuzzFinding, FuzzReport, FuzzRule, Verdicts, fuzz_text};
pub use html::{Page, PageRun, page};
pub use jitter::{
    JitterFinding, JitterFiring, JitterPattern, JitterReport, JitterRule, JitterRun, jitter_json, jitter_text,
};
pub use json::{RunJson, run_json, runs_json};
pub use kl::{KlRun, KlState, kl_json, kl_text};
pub use perfetto::Trace;
pub use second_judge::{Agreements, DISAGREEMENT, FuzzDisagreement, SecondJudgement};
pub use skew::{SkewRow, skew_text};
pub use style::plain;
pub use test_line::{FindingLine, RuleFailure, Scope, TestBound, TestOutcome, ValueDifference, test_text};
pub use text::run_text;
pub use timeline::{Timeline, TurnLanes, turn_lanes};
pub use warning::warnings;

use crate::judge::Judgement;
use crate::metrics::{Latched, Skew, Timing};

/// One judged run of a scenario under one rule.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The scenario file as on the command line.
    pub scenario: &'a str,
    /// The rule, by its kebab-case name.
    pub rule: &'a str,
    /// The seed of drawn durations.
    pub seed: u64,
    /// In words: the seed, or the replayed choices and the source of durations.
    pub way: String,
    /// The command that replays this run.
    pub replay: String,
    /// The ids of the requests, by request index.
    pub names: &'a [String],
    /// The judgement.
    pub judgement: &'a Judgement,
    /// The latencies and throughput.
    pub timing: &'a Timing,
    /// Requests that only the admission latch kept waiting.
    pub latched: Option<&'a Latched>,
    /// The reads of shared fields, if they were asked for.
    pub skew: Option<&'a Skew>,
    /// The bound that ended the run, in words, if one did.
    pub bound: Option<&'a str>,
    /// Warnings in words, beside those of the judgement.
    pub warnings: Vec<String>,
}
