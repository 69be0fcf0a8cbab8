//! What the commands do: load, run, render. Owns exit codes and where bytes go; decides nothing about a run.

mod conform;
mod diff;
mod graph;
mod import;
mod kl;
mod output;
mod progress;
mod run;
mod test;

pub use conform::{ConformArgs, PlanWord, conform, conform_to_text};
pub use diff::diff;
pub use graph::{GraphArgs, GraphFormat, graph, graph_to_text};
pub use import::{ImportArgs, ScenarioFormat, import, write_scenario};
pub use kl::{KlArgs, kl, kl_to_text};
pub use output::{Choices, Exit, Failure, choices};
pub use run::{Format, RunArgs, run, run_to_text};
pub use test::test;
