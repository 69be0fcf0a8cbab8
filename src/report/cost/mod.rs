//! The forms of `cost`: what a decode step costs at one batch size after another, what of it overlap hides, and from
//! which batch on the CPU is the longer of the two. Times are whole nanoseconds of virtual time.

mod text;

use serde::Serialize;

use crate::escape;
use crate::metrics::{CostRun, CostSaved};

pub use text::cost_text;

/// All that `cost` prints.
#[derive(Clone, Debug, Serialize)]
pub struct CostReport {
    /// The scenario, as it was named on the command line.
    pub scenario: String,
    /// The CPU preset; none if the costs are the scenario's own.
    pub cpu: Option<String>,
    /// The GPU preset; none if the costs are the scenario's own.
    pub gpu: Option<String>,
    /// The seed of drawn durations.
    pub seed: u64,
    /// Whether the next batch is launched before the last result is processed.
    pub overlap: bool,
    /// Requests of the scenario: a batch has them over and over.
    pub requests: u32,
    /// One for each batch size.
    pub batches: Vec<CostBatch>,
    /// For each rule where the CPU is the longer of the two.
    pub cpu_longer: Vec<CpuLonger>,
    /// The largest batch size that was looked at for that.
    pub searched: u32,
    /// What to know before trusting it.
    pub warnings: Vec<String>,
}

/// One batch size.
#[derive(Clone, Debug, Serialize)]
pub struct CostBatch {
    /// Requests that decode together.
    pub batch: u32,
    /// Least and most tokens of their prompts.
    pub prompt: [u32; 2],
    /// Least and most outputs of one.
    pub outputs: [u32; 2],
    /// Why nothing was measured; there is then no run.
    pub refused: Option<String>,
    /// One for each rule.
    pub runs: Vec<CostRun>,
    /// What rules that read masks save beside the first rule that recomputes.
    pub saved: Vec<CostSaved>,
}

/// Batch sizes at which the CPU step is longer than the GPU step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CpuLonger {
    /// The rule.
    pub rule: &'static str,
    /// First and last batch size of each range.
    pub batches: Vec<[u32; 2]>,
}

impl CostReport {
    /// The batch sizes that were measured.
    pub fn measured(&self) -> impl DoubleEndedIterator<Item = &CostBatch> {
        self.batches.iter().filter(|batch| batch.refused.is_none())
    }

    /// The first rule that has every number of this one, by their places: itself, if no earlier one has.
    pub fn first_alike(&self, rule: usize) -> usize {
        let same = |other: &usize| {
            let named = |run: &CostRun| CostRun { rule: "", cpu_ahead_ps: None, ..run.clone() };
            self.measured().all(|batch| named(&batch.runs[*other]) == named(&batch.runs[rule]))
                && self.cpu_longer[*other].batches == self.cpu_longer[rule].batches
        };
        (0..rule).find(same).unwrap_or(rule)
    }
}

/// The report as JSON.
pub fn cost_json(report: &CostReport) -> String {
    let text = serde_json::to_string_pretty(report).expect("a report is plain data");
    format!("{}\n", escape::json(&text))
}
