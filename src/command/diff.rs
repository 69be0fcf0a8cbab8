//! `diff`: all rules side by side, a row for each boundary decision on which they differ.

use std::path::PathBuf;

use crate::report::diff_text;
use crate::runner::Keep;

use super::input::{OutsidePaths, all_rules, load};
use super::memory::{Kept, RunLength, fits};
use super::output::{Exit, Failure, print};
use super::replay_spec::ReplaySpec;
use super::runs::{exit_of, reports, run_all};
use super::values::{self, FailOnVerdict};

/// Run every rule and show the boundary decisions on which they differ (use `run` for a single rule or for JSON)
#[derive(Clone, Debug, clap::Args)]
pub struct DiffArgs {
    /// The scenario file
    pub file: PathBuf,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// The seed of drawn durations [default: the scenario's own, or 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number)]
    pub seed: Option<u64>,
    /// Which verdicts make the exit code 1
    #[command(flatten)]
    pub fail_on: FailOnVerdict,
}

/// Runs a scenario under every rule and prints the decisions on which they differ.
///
/// # Errors
/// A scenario that cannot be read.
pub fn diff(args: &DiffArgs) -> Result<Exit, Failure> {
    let scenario = load(&args.file, args.outside)?;
    let rules = all_rules();
    let spec = ReplaySpec { seed: args.seed, ..ReplaySpec::default() };
    let bytes = RunLength::of(&scenario.setup, false).bytes(Kept::DIFF).saturating_mul(rules.len() as u64);
    fits(bytes, "the table", "shorten the scenario: fewer outputs, `turns_max`, or `trace.limit`")?;
    let outcomes = run_all(&scenario, &rules, spec, Keep { boundaries: true, ..Keep::default() })?;
    let path = args.file.to_string_lossy();
    print(&diff_text(&reports(&scenario, &path, &rules, spec, &outcomes)))?;
    Ok(exit_of(&outcomes, args.fail_on.verdict))
}
