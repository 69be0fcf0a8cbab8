//! `diff`: all rules side by side, a row for each boundary decision on which not all agree.

use std::path::Path;

use crate::report::diff_text;
use crate::runner::Keep;

use super::fail_on::FailOn;
use super::output::{Exit, Failure, print};
use super::run::{ReplaySpec, all_rules, exit_of, load, reports, run_all};

/// Runs a scenario under every rule and prints where they differ.
///
/// # Errors
/// A scenario that cannot be read.
pub fn diff(file: &Path, seed: Option<u64>, fail_on: FailOn) -> Result<Exit, Failure> {
    let scenario = load(file)?;
    let rules = all_rules();
    let spec = ReplaySpec { seed, ..ReplaySpec::default() };
    let outcomes = run_all(&scenario, &rules, spec, Keep { boundaries: true, ..Keep::default() })?;
    let path = file.to_string_lossy();
    print(&diff_text(&reports(&scenario, &path, &rules, spec, &outcomes)))?;
    Ok(exit_of(&outcomes, fail_on))
}
