//! Text and JSON of an exhaustive search (`check`).

use std::fmt::Write as _;

use serde::Serialize;

use crate::escape;
use crate::judge::FindingKind;

use super::layout::{align, row, wrap};
use super::{name, style};

/// The result of a search under one rule. Fields are in the order of the JSON form.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// The rule.
    pub rule: &'static str,
    /// The worst verdict of any run.
    pub verdict: &'static str,
    /// Whether the search covered all timings.
    pub complete: bool,
    /// States reached, counted each time.
    pub states: u64,
    /// Unique states.
    pub unique: u64,
    /// Turns run.
    pub transitions: u64,
    /// The most turns to any state.
    pub depth: u32,
    /// One finding of each kind: the first reached.
    pub findings: Vec<CheckFinding>,
    /// The bound that ended the search, if one did.
    pub bound: Option<String>,
    /// The reduction of the number of states.
    pub reduction: Reduction,
    /// The open choice points.
    pub vary: Vec<&'static str>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Goals reached.
    pub goals: Vec<&'static str>,
    /// Goals never reached.
    pub goals_missed: Vec<&'static str>,
    /// The scenario file.
    pub scenario: String,
}

/// By how much a search was reduced.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Reduction {
    /// States reached per unique state.
    pub states_per_unique: f64,
    /// The number of permutations of interchangeable requests.
    pub symmetries: u64,
}

/// A kind of finding.
#[derive(Clone, Debug, Serialize)]
pub struct CheckFinding {
    /// The kind.
    pub kind: &'static str,
    /// The length of the key, or the length lost, in tokens.
    pub label: Option<u32>,
    /// The length of the content of the slot, in tokens.
    pub holds: Option<u32>,
    /// The choices that lead there, for `run --choices`.
    pub choices: String,
    /// The file of the shrunk scenario.
    pub scenario: Option<String>,
    /// The request.
    pub request: Option<String>,
    /// The reason in words.
    pub reason: String,
    /// The number of the turn, from 0, as the replay shows it. For a lost checkpoint, the turn in which it was due.
    pub turn: u32,
    /// The number of turns run to reach it.
    pub turns_run: u32,
    /// The number of transitions that reach one.
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
    format!("{}\n", escape::json(&text.expect("a report can be written")))
}

/// The text of one search.
pub fn check_text(report: &CheckReport) -> String {
    let mut out = format!(
        "{}   {} under {}, every timing\n\n",
        style::verdict_word(report.verdict),
        escape::line(&report.scenario),
        report.rule
    );
    let Reduction { states_per_unique, symmetries } = report.reduction;
    let folded = match symmetries {
        1 => String::new(),
        ways => format!("; {ways} permutations of interchangeable requests"),
    };
    row(
        &mut out,
        "states",
        &format!(
            "{} unique of {} reached ({states_per_unique:.1} per unique state{folded}), {} transitions, {} turns deep",
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

/// The first line of a finding of a search: kind, request and reason.
pub(super) fn headline(out: &mut String, kind: &str, request: Option<&str>, reason: &str) {
    out.push('\n');
    let request = request.map_or(String::new(), |request| format!(" {request}:"));
    let what = format!("{request} {reason}");
    wrap(out, 2, &format!("{}{}", style::kind_word(kind), escape::line(&what)));
}

/// The last lines of a finding of a search: the replay command, and the file of the shrunk scenario.
pub(super) fn whereabouts(out: &mut String, replay: &str, scenario: Option<&str>) {
    let _ = writeln!(out, "  replay: {}", escape::line(replay));
    if let Some(scenario) = scenario {
        let _ = writeln!(out, "  scenario: {}", escape::line(scenario));
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

/// The number of goals reached, and the goals never reached.
pub(super) fn goals<T: AsRef<str>>(out: &mut String, reached: &[T], missed: &[T]) {
    let all = reached.len() + missed.len();
    let list: Vec<&str> = missed.iter().map(AsRef::as_ref).collect();
    let never = if list.is_empty() { String::new() } else { format!("; never: {}", list.join(", ")) };
    row(out, "goals", &format!("{} of {all} reached{never}", reached.len()));
}
