//! Scenarios that commands make: a file that is written can be read.

use std::path::Path;

use crate::runner;
use crate::scenario::{self, Scenario};

use super::output::{Failure, write_file};

/// Writes a scenario to a file, with its title in one line.
///
/// # Errors
/// No file may say what it is, or the file cannot be written.
pub(super) fn write_made(path: &Path, made: &Scenario) -> Result<(), Failure> {
    let made = Scenario { title: made.title.replace(char::is_control, " "), ..made.clone() };
    let text = scenario::write(&made);
    let shown = path.display().to_string();
    scenario::parse(&shown, &text, Path::new(""), &runner::rule_names()).map_err(|diagnostic| {
        Failure(format!("error: this cannot be written as a scenario\n{}", diagnostic.render(false)))
    })?;
    write_file(path, &text)
}
