//! What the commands do: load, run, render. Owns exit codes and where bytes go; decides nothing about a run.

mod check;
mod conform;
mod cost;
mod diff;
mod expectation;
mod explore;
mod fail_on;
mod file;
mod finding;
mod fuzz;
mod graph;
mod import;
mod jitter;
mod kl;
mod line;
mod merge;
mod mistake;
mod output;
mod pages;
mod progress;
mod report;
mod run;
mod shard;
mod test;
mod trace;
mod write_scenario;

pub use crate::model::Vary;
pub use crate::scenario::{CostSide, cost_preset_summaries};
pub use check::{CheckArgs, OrderWord, check, check_to_text};
pub use conform::{ConformArgs, PlanWord, conform, conform_to_text};
pub use cost::{BATCHES, Batches, CostArgs, batches, cost, cost_to_text};
pub use diff::diff;
pub use expectation::expectation;
pub use explore::{ExploreArgs, KeyScript, explore, key_script};
pub use fail_on::FailOn;
pub use fuzz::{FuzzArgs, StyleWord, fuzz, fuzz_to_text};
pub use graph::{GraphArgs, GraphFormat, graph, graph_to_text};
pub use import::{ImportArgs, ScenarioFormat, import, write_scenario};
pub use jitter::{JitterArgs, jitter, jitter_to_text};
pub use kl::{KlArgs, kl, kl_to_text};
pub use line::{Choices, choices, vary};
pub use merge::{merge, merge_to_text};
pub use mistake::hint;
pub use output::{Color, Exit, Failure};
pub use pages::{completions, man};
pub use report::{ReportArgs, report, report_to_html};
pub use run::{Format, RunArgs, run, run_to_text};
pub use shard::{Shard, shard};
pub use test::{TestArgs, test};
pub use trace::{TraceArgs, trace, trace_to_text};

/// A duration as a person writes it, in nanoseconds.
pub use crate::scenario::time_ns;
pub use crate::workload::Preset;
