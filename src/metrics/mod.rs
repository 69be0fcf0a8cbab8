//! Measurements of a run: sinks of its facts, and their results.
//!
//! [`Meter`] measures latencies and throughput, [`StepMeter`] steady decode steps, [`LookaheadMeter`] the lookahead of
//! one request; [`Skew`] counts reads of shared fields, [`RunCounts`] admissions and evictions. Results are numbers and
//! names; their texts are in `report`. No measurement changes a run or a verdict.

mod cost;
mod jitter;
mod meter;
mod run_counts;
mod skew;
mod step_meter;

pub use cost::{CostRun, CostSaved, cost_saved, percent};
pub use jitter::{JitterOutcome, LastOffer, LookaheadMeter, PatternRun};
pub use meter::{Meter, Quantiles, Timing};
pub use run_counts::{Latched, RunCounts};
pub use skew::{Skew, SkewCount};
pub use step_meter::{StepMeter, Steps, Stopped, WARM_UP};
