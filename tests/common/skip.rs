//! Tests that need a program or data which this machine does not have.
//!
//! Such a test prints `SKIPPED name (reason)` and passes: what is missing is known only when the test runs, and an `#[ignore]` is
//! set when the test is compiled. The line goes to standard error directly, because the test harness hides the output of tests that pass.
//! `.ci/run` lists these lines at its end.

use std::io::Write as _;

/// Prints that the current test is skipped, and why.
pub fn skipped(reason: &str) {
    let thread = std::thread::current();
    let line = format!("SKIPPED {} ({reason})\n", thread.name().unwrap_or("test"));
    std::io::stderr().write_all(line.as_bytes()).expect("standard error is open");
}
