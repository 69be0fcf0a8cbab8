//! Errors in the command line that several commands share: what is wrong, and what to do.

use crate::escape;
use crate::report::style::Tone;
use crate::runner;
use crate::scenario::instead_of;

use super::output::Failure;

/// The error for a rule that does not exist; `others` are the words that are allowed in place of a rule.
pub(super) fn no_rule(name: &str, others: &[&str]) -> Failure {
    let known: Vec<&str> = runner::rule_names().into_iter().chain(others.iter().copied()).collect();
    let help = instead_of(name, &known, "the rules are");
    Failure(format!("error: there is no rule `{}`\nhelp: {help}\n", escape::line(name)))
}

/// The error for a wrong value of an option: what is wrong, and the remedy on the next line. Clap puts the name of the
/// option before it.
pub(super) fn hint(why: &str, remedy: &str) -> String {
    format!("{}\n{} {remedy}", escape::line(why), Tone::Help.word("help:"))
}
