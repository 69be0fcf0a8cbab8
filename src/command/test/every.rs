//! What `expect_every` says of every timing, against a complete search.

use crate::command::expectation::verdict;
use crate::command::fail_on::FailOn;
use crate::command::line::{replay_line, shell_word};
use crate::command::output::Exit;
use crate::command::progress::cores;
use crate::command::run::ReplaySpec;
use crate::judge::{FindingKind, finding_verdict};
use crate::report::{FindingLine, RuleFailure, Scope, TestBound, name};
use crate::runner::{self, Check, Checked, Found};
use crate::scenario::{ExpectEvery, Scenario};
use crate::search::{Bound, Limits, Order};

use super::TestArgs;

/// Searches every timing under one rule; what differed from what is expected, if anything did. A search that a bound ended is
/// never as expected: what it has not seen may be anything.
pub(super) fn check(scenario: &Scenario, expect: &ExpectEvery, args: &TestArgs) -> Option<RuleFailure> {
    let rule = runner::rule(&expect.rule).expect("the parser knows every rule by name");
    let open = scenario.vary.open();
    let setup = &scenario.setup;
    let search = Check { setup, rule, open: &open, order: Order::Bfs, unreduced: false, jobs: cores() };
    let checked = runner::check(&search, Limits { states_max: args.states_max, stop: &mut |_| false });
    let expected = verdict(expect.verdict);
    let wanted: Vec<FindingKind> = expect.kinds.iter().map(|kind| kind_named(kind)).collect();
    // As in `expect`: an inherited finding changes the verdict and is not listed.
    let found: Vec<&Found> =
        checked.findings.iter().filter(|found| found.finding.kind != FindingKind::Inherited).collect();
    let shown = |kind: &FindingKind| found.iter().any(|found| found.finding.kind == *kind);
    // What a search that was cut short has not found may still be there.
    let missing: Vec<FindingKind> =
        wanted.iter().copied().filter(|kind| checked.is_complete() && !shown(kind)).collect();
    let unexpected: Vec<&&Found> = found.iter().filter(|found| !wanted.contains(&found.finding.kind)).collect();
    let verdicts = checked.findings.iter().map(|found| finding_verdict(&found.finding)).chain([checked.verdict]);
    let refused = args.fail_on.filter(|fail_on| fail_on.exit(verdicts) != Exit::Good);
    let as_expected = missing.is_empty() && unexpected.is_empty() && checked.verdict == expected;
    if as_expected && checked.is_complete() && refused.is_none() {
        return None;
    }
    let replay = |found: &&&Found| {
        let spec = ReplaySpec { choices: Some(&found.path.answers), ..ReplaySpec::default() };
        replay_line(&scenario.path, &expect.rule, spec)
    };
    let mut replays: Vec<String> = unexpected.iter().map(replay).collect();
    if replays.is_empty() {
        replays.push(check_line(scenario, expect, args));
    }
    Some(RuleFailure {
        rule: expect.rule.clone(),
        scope: Scope::EveryTiming,
        expected,
        got: checked.verdict,
        missing: missing.into_iter().map(FindingLine::of_kind).collect(),
        unexpected: unexpected.iter().map(|found| FindingLine::found(&found.finding, &setup.names, &[])).collect(),
        differences: Vec::new(),
        bound: bound(&checked, args),
        refused: refused.map(FailOn::word),
        replays,
    })
}

fn kind_named(kind: &str) -> FindingKind {
    name::kind_from_name(kind).expect("the parser knows every kind by name")
}

/// What ended a search before all was seen, and what to do about it.
fn bound(checked: &Checked, args: &TestArgs) -> Option<TestBound> {
    let remedy = match checked.explored.bound? {
        Bound::States => {
            format!("let less be open, or allow more unique states than {} with `test --max-states N`", args.states_max)
        }
        Bound::Cut => "use what is named there, or let less be open".to_string(),
        Bound::Answers => "let less be open, or fewer requests".to_string(),
        Bound::Stopped => unreachable!("nothing stops this search but its bounds"),
    };
    let seen = checked.explored.unique;
    Some(TestBound { what: checked.bound.clone()?, seen, remedy })
}

/// The command that searches again and shows everything.
fn check_line(scenario: &Scenario, expect: &ExpectEvery, args: &TestArgs) -> String {
    let (path, rule, states) = (shell_word(&scenario.path), &expect.rule, args.states_max);
    format!("overlapsim check {path} --rule {rule} --max-states {states}")
}

#[cfg(test)]
mod tests {
    use crate::scenario::{FINDING_KINDS, kind_verdict};

    use super::*;

    #[test]
    fn a_scenario_gives_a_kind_the_verdict_that_the_judge_gives_it() {
        for kind in FINDING_KINDS {
            assert_eq!(verdict(kind_verdict(kind)), kind_named(kind).verdict(), "{kind}");
        }
    }
}
