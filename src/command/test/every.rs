//! `expect_every` of a scenario, compared with a complete search.

use crate::command::check::{found_run, searched};
use crate::command::expectation::verdict;
use crate::command::fail_on::FailOn;
use crate::command::line::{outside_word, replay_line_of, shell_word};
use crate::command::output::Exit;
use crate::command::progress::cores;
use crate::judge::{FindingKind, finding_verdict};
use crate::report::{FindingLine, RuleFailure, Scope, TestBound, name};
use crate::runner::{self, CheckSpec, Checked, Found};
use crate::scenario::{ExpectEvery, Scenario};
use crate::search::{Bound, Order, SearchLimits};

use super::TestArgs;

/// Searches every timing under one rule and returns the difference from the expectation, if there is one. A search that
/// a bound ended always fails: the timings it has not seen could show anything.
pub(super) fn check(scenario: &Scenario, expect: &ExpectEvery, args: &TestArgs) -> Option<RuleFailure> {
    let scenario = &searched(scenario.clone());
    let rule = runner::rule(&expect.rule).expect("the parser knows every rule by name");
    let open = scenario.vary.open();
    let setup = &scenario.setup;
    let search = CheckSpec { setup, rule, open: &open, order: Order::Bfs, unreduced: false, jobs: cores() };
    let checked = runner::check(&search, SearchLimits { states_max: args.states_max, stop: &mut |_| false });
    let expected = verdict(expect.verdict);
    let wanted: Vec<FindingKind> = expect.kinds.iter().map(|kind| kind_named(kind)).collect();
    // As in `expect`: an inherited finding changes the verdict and is not listed.
    let found: Vec<&Found> =
        checked.findings.iter().filter(|found| found.finding.kind != FindingKind::Inherited).collect();
    let shown = |kind: &FindingKind| found.iter().any(|found| found.finding.kind == *kind);
    // An incomplete search may have missed a kind that exists.
    let missing: Vec<FindingKind> =
        wanted.iter().copied().filter(|kind| checked.is_complete() && !shown(kind)).collect();
    let unexpected: Vec<&&Found> = found.iter().filter(|found| !wanted.contains(&found.finding.kind)).collect();
    let verdicts = checked.findings.iter().map(|found| finding_verdict(&found.finding)).chain([checked.verdict]);
    let refused = args.fail_on.filter(|fail_on| fail_on.exit(verdicts) != Exit::Good);
    let as_expected = missing.is_empty() && unexpected.is_empty() && checked.verdict == expected;
    if as_expected && checked.is_complete() && refused.is_none() {
        return None;
    }
    let replay = |found: &&&Found| replay_line_of(scenario, &expect.rule, found_run(scenario, &found.path.answers));
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

/// The bound that ended a search before it was complete, and the remedy.
fn bound(checked: &Checked, args: &TestArgs) -> Option<TestBound> {
    let remedy = match checked.explored.bound? {
        Bound::States => {
            format!("open less, or allow more unique states than {} with `test --max-states N`", args.states_max)
        }
        Bound::Cut => "follow the advice above, or open less".to_string(),
        Bound::Answers => "open less, or use fewer requests".to_string(),
        Bound::Stopped => unreachable!("nothing stops this search but its bounds"),
    };
    let seen = checked.explored.unique;
    Some(TestBound { what: checked.bound.clone()?, seen, remedy })
}

/// The command that repeats the search and prints its report.
fn check_line(scenario: &Scenario, expect: &ExpectEvery, args: &TestArgs) -> String {
    let (path, rule, states) = (shell_word(&scenario.path), &expect.rule, args.states_max);
    format!("overlapsim check {path} --rule {rule} --max-states {states}{}", outside_word(scenario.outside))
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
