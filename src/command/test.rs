//! `test`: run what every scenario expects, one line each.

mod every;
mod script;

use std::path::{Path, PathBuf};

use crate::escape;
use crate::report::{TestOutcome, test_text};

use super::check::open_warnings;
use super::fail_on::FailOn;
use super::input::{OutsidePaths, load};
use super::output::{Exit, Failure, print};

/// Check scenarios against their expectations, one line each: the form for CI
#[derive(Clone, Debug, clap::Args)]
pub struct TestArgs {
    /// Scenario files, or directories to search for .ron files
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// A scenario with this verdict or a worse one fails (exit code 1), even if the verdict is expected, and so does an
    /// inconclusive one; `never`: exit code 0 even where an expectation failed [default: a scenario fails if an
    /// expectation failed]
    #[arg(long, value_name = "VERDICT", value_enum)]
    pub fail_on: Option<FailOn>,
    /// For `expect_every`: the most unique states of the search under one rule; a search that reaches this bound fails
    #[arg(long = "max-states", value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub states_max: u64,
}

/// Runs the `expect` of every scenario, and searches every timing for its `expect_every`. With `fail_on`, a verdict for
/// which `run` would not end with exit code 0 fails a scenario even if it is expected.
///
/// # Errors
/// No scenario at all. A path that cannot be read counts as a failed scenario; the command then runs the others and
/// ends with exit code 2.
pub fn test(args: &TestArgs) -> Result<Exit, Failure> {
    let mut files = Vec::new();
    let mut outcomes = Vec::new();
    for path in &args.paths {
        if path.is_dir() {
            collect(path, &mut files, &mut outcomes);
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() && outcomes.is_empty() {
        return Err(Failure("error: no scenario found\nhelp: name .ron files or directories that hold some\n".into()));
    }
    files.sort();
    files.dedup();
    outcomes.extend(files.iter().map(|file| test_file(file, args)));
    print(&test_text(&outcomes))?;
    if outcomes.iter().any(|outcome| outcome.error.is_some()) {
        return Err(Failure(
            "error: some scenarios could not be read\nhelp: the lines that say `cannot be run` tell why\n".into(),
        ));
    }
    Ok(args.fail_on.unwrap_or_default().exit_of_difference(outcomes.iter().any(TestOutcome::failed)))
}

/// Finds the scenarios in a directory and below: names that end in `.ron` in any case. Hidden files and directories are
/// skipped. Links to directories are not followed, so the search ends. A directory that cannot be read gives an outcome
/// of its own.
fn collect(directory: &Path, files: &mut Vec<PathBuf>, outcomes: &mut Vec<TestOutcome>) {
    let entries = std::fs::read_dir(directory).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            let message = format!(
                "error: cannot read {}: {error}\nhelp: name the scenarios one by one\n",
                escape::path(directory)
            );
            outcomes.push(unreadable(directory, message));
            return;
        }
    };
    for entry in entries {
        let path = entry.path();
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let scenario = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ron"));
        // The type of the entry itself: a link is neither a file nor a directory.
        let kind = entry.file_type();
        match kind {
            Ok(kind) if kind.is_dir() && !hidden => collect(&path, files, outcomes),
            Ok(kind) if scenario && !hidden && (kind.is_file() || kind.is_symlink() && !path.is_dir()) => {
                files.push(path);
            }
            Ok(_) | Err(_) => {}
        }
    }
}

fn unreadable(path: &Path, message: String) -> TestOutcome {
    TestOutcome { error: Some(message), ..TestOutcome::of(path.to_string_lossy().into_owned()) }
}

fn test_file(file: &Path, args: &TestArgs) -> TestOutcome {
    let scenario = match load(file, args.outside) {
        Err(failure) => return unreadable(file, failure.0),
        Ok(scenario) => scenario,
    };
    let mut outcome = TestOutcome {
        rules: scenario.expect.len(),
        rules_every: scenario.expect_every.len(),
        varies: !scenario.vary.is_nothing(),
        ..TestOutcome::of(file.to_string_lossy().into_owned())
    };
    let path = outcome.scenario.clone();
    let check = |expect| script::check(&scenario, &path, expect, args.fail_on, &mut outcome.warnings);
    outcome.failures.extend(scenario.expect.iter().filter_map(check));
    if !scenario.expect_every.is_empty() {
        outcome.warnings.extend(open_warnings(&scenario));
    }
    outcome.failures.extend(scenario.expect_every.iter().filter_map(|expect| every::check(&scenario, expect, args)));
    outcome
}
