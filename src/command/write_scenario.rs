//! Scenarios that commands make: a file that is written can be read.

use std::path::Path;

use crate::report::style::from_sgr;
use crate::runner;
use crate::scenario::{self, Scenario};

use super::file::{write_named_file, write_new_file};
use super::output::Failure;

/// Writes a scenario to a file, with its title in one line. A file that is there is replaced.
///
/// # Errors
/// No file may say what it is, or the file cannot be written.
///
/// # Panics
/// If the text reads back as another setup, rule, seed or expectation than was given.
pub(super) fn write_scenario(path: &Path, made: &Scenario) -> Result<(), Failure> {
    write_named_file(path, &text_of(path, made)?)
}

/// As [`write_scenario`], unless another file has the name: then says no.
pub(super) fn write_new_scenario(path: &Path, made: &Scenario) -> Result<bool, Failure> {
    write_new_file(path, &text_of(path, made)?)
}

/// The text of a scenario, which can be read.
fn text_of(path: &Path, made: &Scenario) -> Result<String, Failure> {
    let text = scenario::write(made);
    let shown = path.to_string_lossy();
    let read = scenario::parse(&shown, &text, Path::new(""), &runner::rule_names()).map_err(|diagnostic| {
        Failure(format!("error: this cannot be written as a scenario\n{}", from_sgr(&diagnostic.render(true))))
    })?;
    // What was judged is what is read, so that the file shows what it expects when it is run alone.
    assert_eq!(
        (&read.setup, &read.rule, read.seed, &read.expect),
        (&made.setup, &made.rule, made.seed, &made.expect),
        "a scenario that is written reads back as it is\n{text}"
    );
    Ok(text)
}
