//! Text and JSON of an exhaustive search.

use std::fmt::Write as _;

use serde::Serialize;

use crate::judge::FindingKind;

use super::layout::{align, row, wrap};
use super::{name, style};

/// What a search of one rule came to, ready to be printed. Fields in the order of the JSON form.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// The rule.
    pub rule: &'static str,
    /// The worst verdict of any run.
    pub verdict: &'static str,
    /// Whether all timings were seen.
    pub complete: bool,
    /// States reached, again and again.
    pub states: u64,
    /// States that differ.
    pub unique: u64,
    /// Turns run.
    pub transitions: u64,
    /// Most turns to a state.
    pub depth: u32,
    /// One for each kind, with the first way to it.
    pub findings: Vec<CheckFinding>,
    /// What ended the search, if not all was seen.
    pub bound: Option<String>,
    /// How much smaller the search was for telling states apart no more than matters.
    pub reduction: Reduction,
    /// What was open.
    pub vary: Vec<&'static str>,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// Goals reached.
    pub goals: Vec<&'static str>,
    /// Goals never reached.
    pub goals_missed: Vec<&'static str>,
    /// The scenario file.
    pub scenario: String,
}

/// Factors of reduction.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Reduction {
    /// States reached for each one that differs.
    pub states_per_unique: f64,
    /// In how many ways interchangeable requests can change places.
    pub symmetries: u64,
}

/// A kind of finding.
#[derive(Clone, Debug, Serialize)]
pub struct CheckFinding {
    /// The kind.
    pub kind: &'static str,
    /// The length of the key, or the length lost.
    pub label: Option<u32>,
    /// What the slot holds.
    pub holds: Option<u32>,
    /// The choices that lead there: what `run --choices` takes.
    pub choices: String,
    /// The small scenario that was written for it.
    pub scenario: Option<String>,
    /// The request.
    pub request: Option<String>,
    /// In words.
    pub reason: String,
    /// The turn of the finding, as the replay shows it: the number of a turn, from 0. Of a checkpoint that was lost the turn in
    /// which it was due.
    pub turn: u32,
    /// How many turns the way to it runs.
    pub turns_run: u32,
    /// Transitions of the search that reach one.
    pub times: u64,
    /// The command that replays it.
    pub replay: String,
}

/// The JSON of the searches: an object for one rule, an array for several.
pub fn check_json(reports: &[CheckReport]) -> String {
    let text = match reports {
        [one] => serde_json::to_string_pretty(one),
        several => serde_json::to_string_pretty(several),
    };
    text.expect("a report can be written") + "\n"
}

/// The text of one search.
pub fn check_text(report: &CheckReport) -> String {
    let mut out = format!(
        "{}   {} under {}, every timing\n\n",
        style::verdict_word(report.verdict),
        report.scenario,
        report.rule
    );
    let Reduction { states_per_unique, symmetries } = report.reduction;
    let folded = match symmetries {
        1 => String::new(),
        ways => format!("; interchangeable requests can change places in {ways} ways"),
    };
    row(
        &mut out,
        "states",
        &format!(
            "{} unique of {} reached ({states_per_unique:.1} for each{folded}), {} transitions, {} turns deep",
            report.unique, report.states, report.transitions, report.depth
        ),
    );
    let complete = match &report.bound {
        None => "yes: every timing was seen".to_string(),
        Some(bound) => format!("no: ended by {bound}"),
    };
    row(&mut out, "complete", &complete);
    let open = if report.vary.is_empty() { "nothing".to_string() } else { report.vary.join(", ") };
    row(&mut out, "open", &open);
    if report.findings.is_empty() {
        row(&mut out, "findings", "none");
    }
    for finding in &report.findings {
        headline(&mut out, finding.kind, finding.request.as_deref(), &finding.reason);
        let seen = if finding.kind == name::kind(FindingKind::Lost) { "first due" } else { "first seen" };
        let reach = if finding.times == 1 {
            "1 transition reaches it".to_string()
        } else {
            format!("{} transitions reach it", finding.times)
        };
        let _ = writeln!(out, "  {seen} in turn {}; {reach}", finding.turn);
        let _ = writeln!(out, "  choices: {}", finding.choices);
        whereabouts(&mut out, &finding.replay, finding.scenario.as_deref());
    }
    out.push('\n');
    goals(&mut out, &report.goals, &report.goals_missed);
    for warning in &report.warnings {
        wrap(&mut out, 0, &style::warning(warning));
    }
    out
}

/// How a finding of a search begins: its kind, whose it is, and why.
pub(super) fn headline(out: &mut String, kind: &str, request: Option<&str>, reason: &str) {
    out.push('\n');
    let request = request.map_or(String::new(), |request| format!(" {request}:"));
    wrap(out, 2, &format!("{}{request} {reason}", style::kind_word(kind)));
}

/// How a finding of a search ends: the command that shows it again, and the file that was written for it.
pub(super) fn whereabouts(out: &mut String, replay: &str, scenario: Option<&str>) {
    let _ = writeln!(out, "  replay: {replay}");
    if let Some(scenario) = scenario {
        let _ = writeln!(out, "  scenario: {scenario}");
    }
}

/// One line for each search: rule, verdict, whether it is complete, what was found.
pub fn check_summary(reports: &[CheckReport]) -> String {
    let rows: Vec<Vec<String>> = reports
        .iter()
        .map(|report| {
            let kinds: Vec<String> = report.findings.iter().map(|finding| style::kind_word(finding.kind)).collect();
            let complete = if report.complete { "complete" } else { "not complete" };
            vec![report.rule.to_string(), style::verdict_word(report.verdict), complete.to_string(), kinds.join(", ")]
        })
        .collect();
    align(&rows, &[]).into_iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Which goals were reached, and which never.
pub(super) fn goals<T: AsRef<str>>(out: &mut String, reached: &[T], missed: &[T]) {
    let all = reached.len() + missed.len();
    let list: Vec<&str> = missed.iter().map(AsRef::as_ref).collect();
    let never = if list.is_empty() { String::new() } else { format!("; never: {}", list.join(", ")) };
    row(out, "goals", &format!("{} of {all} reached{never}", reached.len()));
}
