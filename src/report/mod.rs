//! Renders what was computed: numbers first, text last.
//!
//! Everything here is a pure function from a [`Judgement`], a [`Timing`] and, for the timeline, a
//! [`Record`](crate::record::Record), for what is drawn a [`Scene`](crate::scene::Scene), to text or to a serializable value.
//! Nothing here decides anything about a run, prints, or reads a file. Texts hold styles, which [`plain`] takes off; the JSON
//! forms hold none. [`Meter`] is the one piece that computes: a sink that turns the facts of a run into its
//! [`Timing`].

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
mod meter;
pub mod name;
mod observation;
mod perfetto;
pub mod question;
mod recorded_verdicts;
mod run_counts;
mod skew;
mod step_meter;
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
pub use cost::{CostBatch, CostReport, CostRun, CostSaved, CpuLonger, cost_json, cost_saved, cost_text};
pub use diff::diff_text;
pub use fuzz::{FuzzBound, FuzzFinding, FuzzReport, FuzzRule, Verdicts, fuzz_text};
pub use html::{Page, PageRun, page};
pub use jitter::{
    JitterFinding, JitterFiring, JitterPattern, JitterReport, JitterRule, JitterRun, Jittered, LastOffer, jitter_json,
    jitter_text,
};
pub use json::{RunJson, run_json, runs_json};
pub use kl::{KlRun, KlState, kl_json, kl_text};
pub use meter::{Meter, Quantiles, Timing};
pub use perfetto::Trace;
pub use run_counts::{Latched, RunCounts};
pub use skew::{Skew, SkewRow, skew_text};
pub use step_meter::{StepMeter, Steps, Stopped, WARM_UP};
pub use style::plain;
pub use test_line::{Difference, FindingLine, RuleFailure, Scope, TestBound, TestOutcome, test_text};
pub use text::run_text;
pub use timeline::{Timeline, TurnLanes, turn_lanes};
pub use warning::warnings;

use crate::judge::Judgement;

/// One judged run of a scenario under one rule: all that the renderers need.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The scenario file, as it was named on the command line.
    pub scenario: &'a str,
    /// The rule, by its kebab-case name.
    pub rule: &'a str,
    /// The seed of drawn durations.
    pub seed: u64,
    /// In words: the seed, or the choices that were replayed and how durations were drawn.
    pub way: String,
    /// The command that replays this run.
    pub replay: String,
    /// The ids of the requests, by request index.
    pub names: &'a [String],
    /// What the judge says.
    pub judgement: &'a Judgement,
    /// What the meter says.
    pub timing: &'a Timing,
    /// What the admission latch alone kept waiting.
    pub latched: Option<&'a Latched>,
    /// How results read shared fields, if that was asked for.
    pub skew: Option<&'a Skew>,
    /// Which bound ended the run, in words, if one did.
    pub bound: Option<&'a str>,
    /// Warnings beyond those that the judgement implies, in words.
    pub warnings: Vec<String>,
}
