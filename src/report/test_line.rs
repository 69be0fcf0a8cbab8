//! The text of `test`: a line for each scenario, the differences below it, and a summary line.

use crate::escape;
use crate::judge::{Finding, FindingKind, Verdict};

use super::name;
use super::style::{self, Tone};
use super::text::holds;

/// The result of testing one scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestOutcome {
    /// The scenario file.
    pub scenario: String,
    /// The number of rules in its `expect`.
    pub rules: usize,
    /// The number of rules in its `expect_every`.
    pub rules_every: usize,
    /// Whether its `vary` opens any choice point.
    pub varies: bool,
    /// The failures, by rule and scope.
    pub failures: Vec<RuleFailure>,
    /// Warnings of its runs, each once.
    pub warnings: Vec<String>,
    /// Why the file could not be run at all; may have several lines.
    pub error: Option<String>,
}

/// The runs of a rule: the script, or every timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The script.
    Script,
    /// Every timing that `vary` opens.
    EveryTiming,
}

/// A value that differs from the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueDifference {
    /// The name of the value, as in `request a, outputs`.
    pub what: String,
    /// The expected value.
    pub expected: String,
    /// The value of the run.
    pub got: String,
}

/// A bound that ended a search of every timing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestBound {
    /// Which bound, in words.
    pub what: String,
    /// Unique states seen before.
    pub seen: u64,
    /// The remedy.
    pub remedy: String,
}

/// The differences of one rule from its expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFailure {
    /// The rule.
    pub rule: String,
    /// The runs compared.
    pub scope: Scope,
    /// The verdict expected.
    pub expected: Verdict,
    /// The verdict of the run.
    pub got: Verdict,
    /// Expected findings that are missing.
    pub missing: Vec<FindingLine>,
    /// Unexpected findings.
    pub unexpected: Vec<FindingLine>,
    /// Numbers and ends of requests that differ.
    pub differences: Vec<ValueDifference>,
    /// What ended the search before every timing was seen.
    pub bound: Option<TestBound>,
    /// The word of `--fail-on` for which the verdict fails even if it is expected.
    pub refused: Option<&'static str>,
    /// The commands that replay the differences.
    pub replays: Vec<String>,
}

/// A finding in the terms of `expect`. An expected finding has the fields of its expectation, a found one has all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingLine {
    /// Its kind.
    pub kind: FindingKind,
    /// The request, if the finding is about one.
    pub request: Option<String>,
    /// The label, if it has one.
    pub label: Option<u32>,
    /// The content of the slot in words.
    pub holds: Option<String>,
    /// The physical slot.
    pub slot: Option<u32>,
    /// The turn.
    pub turn: Option<u32>,
}

impl FindingLine {
    /// A kind without further fields.
    pub fn of_kind(kind: FindingKind) -> FindingLine {
        FindingLine { kind, request: None, label: None, holds: None, slot: None, turn: None }
    }

    /// A found one. `names` are the ids of requests, `findings` all findings of the run.
    pub fn found(of: &Finding, names: &[String], findings: &[Finding]) -> FindingLine {
        FindingLine {
            kind: of.kind,
            request: of.req.map(|req| name::request(names, req)),
            label: of.label,
            holds: holds(of, findings),
            slot: of.slot.map(|slot| slot.0),
            turn: Some(of.turn),
        }
    }
}

impl TestOutcome {
    /// The outcome of a scenario without expectations.
    pub fn of(scenario: String) -> TestOutcome {
        let (failures, warnings) = (Vec::new(), Vec::new());
        TestOutcome { scenario, rules: 0, rules_every: 0, varies: false, failures, warnings, error: None }
    }

    /// Whether the file failed.
    pub fn failed(&self) -> bool {
        !self.failures.is_empty() || self.error.is_some()
    }

    /// Whether the file expects nothing. Nothing is run then.
    pub fn idle(&self) -> bool {
        self.rules == 0 && self.rules_every == 0 && !self.failed()
    }
}

/// The text of `test`. Its last line has the numbers of files that passed, failed, and expect nothing.
pub fn test_text(outcomes: &[TestOutcome]) -> String {
    let mut out = String::new();
    for outcome in outcomes {
        scenario(&mut out, outcome);
        warnings(&mut out, outcome);
    }
    let failed = outcomes.iter().filter(|outcome| outcome.failed()).count();
    let idle = outcomes.iter().filter(|outcome| outcome.idle()).count();
    if !out.is_empty() {
        out.push('\n');
    }
    let failed_word = Tone::Bad.word_if(failed > 0, "failed");
    out.push_str(&format!("{} passed, {failed} {}", outcomes.len() - failed - idle, failed_word));
    if idle > 0 {
        out.push_str(&format!(", {idle} with nothing expected"));
    }
    out.push('\n');
    out
}

fn scenario(out: &mut String, outcome: &TestOutcome) {
    let path = escape::line(&outcome.scenario);
    let fail = Tone::Bad.word("FAIL");
    if let Some(error) = &outcome.error {
        out.push_str(&format!("{fail} {path}  cannot be run\n"));
        for line in style::message(error).lines() {
            out.push_str(format!("       {line}").trim_end());
            out.push('\n');
        }
    } else if outcome.idle() {
        out.push_str(&format!("--   {path}  (nothing expected)\n"));
    } else if outcome.failures.is_empty() {
        out.push_str(&format!("{}   {path}  ({})\n", Tone::Good.word("ok"), tested(outcome)));
    } else {
        let summary: Vec<String> = outcome.failures.iter().map(difference).collect();
        out.push_str(&format!("{fail} {path}  {}\n", summary.join("; ")));
        for failure in &outcome.failures {
            details(out, failure);
        }
    }
}

/// The scope of a passed test.
fn tested(outcome: &TestOutcome) -> String {
    let rules = |count: usize| if count == 1 { "1 rule".to_owned() } else { format!("{count} rules") };
    match (outcome.rules, outcome.rules_every) {
        (script, 0) if outcome.varies => format!("{}, script only", rules(script)),
        (script, 0) => rules(script),
        (0, every) => format!("{} under every timing", rules(every)),
        (script, every) if every < script => {
            format!("{}, {every} of them under every timing, {} script only", rules(script), script - every)
        }
        (script, every) => format!("{}, {every} under every timing", rules(script)),
    }
}

fn warnings(out: &mut String, outcome: &TestOutcome) {
    for warning in &outcome.warnings {
        out.push_str(&format!("       {}\n", style::warning(warning)));
    }
}

/// The rule, with its scope unless that is the script.
fn subject(failure: &RuleFailure) -> String {
    match failure.scope {
        Scope::Script => failure.rule.clone(),
        Scope::EveryTiming => format!("{}, every timing", failure.rule),
    }
}

fn difference(failure: &RuleFailure) -> String {
    let (rule, got) = (subject(failure), style::verdict(failure.got));
    let same_findings = failure.missing.is_empty() && failure.unexpected.is_empty();
    match failure.refused {
        _ if failure.expected != failure.got => {
            format!("{rule}: expected {}, got {got}", style::verdict(failure.expected))
        }
        _ if failure.bound.is_some() => format!("{rule}: {got} as expected, but not every timing was seen"),
        Some(word) if same_findings && failure.differences.is_empty() => {
            format!("{rule}: {got} as expected, but --fail-on {word}")
        }
        Some(_) | None if same_findings => format!("{rule}: {got} as expected, with other numbers"),
        Some(_) | None => format!("{rule}: {got} as expected, with other findings"),
    }
}

fn details(out: &mut String, failure: &RuleFailure) {
    let rule = subject(failure);
    let both = [("missing", &failure.missing), ("unexpected", &failure.unexpected)];
    for (word, findings) in both {
        for finding in findings {
            out.push_str(&format!("       {rule}: {word} {finding}\n"));
        }
    }
    for ValueDifference { what, expected, got } in &failure.differences {
        out.push_str(&format!("       {rule}: {what}: expected {expected}, got {got}\n"));
    }
    if let Some(TestBound { what, seen, remedy }) = &failure.bound {
        out.push_str(&format!(
            "       {rule}: not every timing was seen: after {seen} unique states the search met {what}\n"
        ));
        out.push_str(&format!("       {} {remedy}\n", Tone::Help.word("help:")));
    }
    for replay in &failure.replays {
        out.push_str(&format!("       replay: {replay}\n"));
    }
}

impl std::fmt::Display for FindingLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&style::kind(self.kind))?;
        if let Some(request) = &self.request {
            write!(f, ", request {request}")?;
        }
        if let Some(label) = self.label {
            write!(f, ", label {label}")?;
        }
        if let Some(holds) = &self.holds {
            write!(f, ", holds {holds}")?;
        }
        if let Some(slot) = self.slot {
            write!(f, ", slot s{slot}")?;
        }
        if let Some(turn) = self.turn {
            write!(f, ", turn {turn}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(scenario: &str, rules: usize) -> TestOutcome {
        TestOutcome { rules, ..TestOutcome::of(scenario.to_owned()) }
    }

    fn line(kind: FindingKind, label: u32) -> FindingLine {
        FindingLine { kind, request: Some("a".to_owned()), label: Some(label), holds: None, slot: None, turn: None }
    }

    #[test]
    fn passes_failures_and_errors() {
        let failure = RuleFailure {
            rule: "mask-lookahead".to_owned(),
            scope: Scope::Script,
            expected: Verdict::Corrupt,
            got: Verdict::Lossy,
            missing: vec![line(FindingKind::Unwritten, 4)],
            unexpected: vec![FindingLine {
                holds: Some("nothing".to_owned()),
                slot: Some(3),
                turn: Some(7),
                ..line(FindingKind::Lost, 8)
            }],
            differences: Vec::new(),
            bound: None,
            refused: None,
            replays: vec!["overlapsim run s/bad.ron --rule mask-lookahead --timeline".to_owned()],
        };
        let other = RuleFailure {
            rule: "token-len".to_owned(),
            got: Verdict::Corrupt,
            missing: Vec::new(),
            replays: vec!["overlapsim run s/bad.ron --rule token-len --timeline".to_owned()],
            ..failure.clone()
        };
        let outcomes = [
            outcome("s/good.ron", 4),
            TestOutcome { failures: vec![failure, other], ..outcome("s/bad.ron", 2) },
            TestOutcome {
                error: Some("s/gone.ron: no such file\n\nremedy: look".to_owned()),
                ..outcome("s/gone.ron", 0)
            },
            outcome("s/quiet.ron", 0),
        ];
        let expected = "\
ok   s/good.ron  (4 rules)
FAIL s/bad.ron  mask-lookahead: expected corrupt, got lossy; token-len: corrupt as expected, with other findings
       mask-lookahead: missing unwritten, request a, label 4
       mask-lookahead: unexpected lost, request a, label 8, holds nothing, slot s3, turn 7
       replay: overlapsim run s/bad.ron --rule mask-lookahead --timeline
       token-len: unexpected lost, request a, label 8, holds nothing, slot s3, turn 7
       replay: overlapsim run s/bad.ron --rule token-len --timeline
FAIL s/gone.ron  cannot be run
       s/gone.ron: no such file

       remedy: look
--   s/quiet.ron  (nothing expected)

1 passed, 2 failed, 1 with nothing expected
";
        assert_eq!(super::super::plain(&test_text(&outcomes)), expected);
    }

    #[test]
    fn nothing_to_test_is_only_a_summary() {
        assert_eq!(test_text(&[]), "0 passed, 0 failed\n");
    }
}
