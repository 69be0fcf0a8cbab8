//! Mistakes in the command line that several commands know: what is wrong, and what to do.

use crate::report::style::Tone;
use crate::runner;
use crate::scenario::instead_of;

use super::output::Failure;

/// A rule that does not exist; `others` are the words that may stand for one here.
pub(super) fn no_rule(name: &str, others: &[&str]) -> Failure {
    let known: Vec<&str> = runner::rule_names().into_iter().chain(others.iter().copied()).collect();
    let help = instead_of(name, &known, "the rules are");
    Failure(format!("error: there is no rule `{name}`\nhelp: {help}\n"))
}

/// What is wrong with the value of an option, and below it what to do: for clap, which says which option.
pub(super) fn hint(why: &str, remedy: &str) -> String {
    format!("{why}\n{} {remedy}", Tone::Help.word("help:"))
}
