//! `expect` of a scenario, compared with the scripted run.

use petgraph::algo::maximum_matching;
use petgraph::graph::{NodeIndex, UnGraph};

use crate::command::expectation::verdict;
use crate::command::fail_on::{FailOn, verdicts};
use crate::command::line::replay_line_of;
use crate::command::output::Exit;
use crate::command::replay_spec::ReplaySpec;
use crate::command::runs::reports;
use crate::judge::{Finding, FindingKind};
use crate::model::Setup;
use crate::record::{FinishKind, ReqId};
use crate::report::{self, FindingLine, RuleFailure, Scope, ValueDifference, name};
use crate::runner::{self, Keep, RunOutcome};
use crate::scenario::{Expect, ExpectEnd, ExpectFinding, ExpectRequest, Scenario};

/// Runs one expectation and returns the difference, if there is one.
pub(super) fn check(
    scenario: &Scenario,
    path: &str,
    expect: &Expect,
    fail_on: Option<FailOn>,
    warnings: &mut Vec<String>,
) -> Option<RuleFailure> {
    let rule = runner::rule(&expect.rule).expect("the parser knows every rule by name");
    let outcomes = [runner::run(&scenario.setup, rule, scenario.seed, Keep::default(), None)];
    for warning in reports(scenario, path, &[rule], ReplaySpec::default(), &outcomes).iter().flat_map(report::warnings)
    {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    let judgement = &outcomes[0].judgement;
    let names = &scenario.setup.names;
    let found: Vec<&Finding> =
        judgement.findings.iter().filter(|finding| finding.kind != FindingKind::Inherited).collect();
    let (missing, unexpected) = match_up(names, &expect.findings, &found);
    let expected = verdict(expect.verdict);
    let differences = differences(&scenario.setup, expect, &outcomes[0]);
    let refused = fail_on.filter(|fail_on| fail_on.exit(verdicts(judgement)) != Exit::Good);
    let as_found = missing.is_empty() && unexpected.is_empty() && differences.is_empty();
    if as_found && judgement.verdict == expected && refused.is_none() {
        return None;
    }
    Some(RuleFailure {
        rule: expect.rule.clone(),
        scope: Scope::Script,
        expected,
        got: judgement.verdict,
        missing,
        unexpected,
        differences,
        bound: None,
        refused: refused.map(FailOn::word),
        replays: vec![replay_line_of(scenario, &expect.rule, ReplaySpec::default())],
    })
}

/// The numbers and ends of requests that are not as expected.
fn differences(setup: &Setup, expect: &Expect, outcome: &RunOutcome) -> Vec<ValueDifference> {
    let RunOutcome { judgement, counts, .. } = outcome;
    let mut all = Vec::new();
    for ExpectRequest { id, outputs, prefix_hit, admitted, ended } in &expect.requests {
        let at = setup.names.iter().position(|name| name == id).expect("the parser knows every request by name");
        let became = judgement.requests.get(at).copied().unwrap_or_default();
        let turn = counts.admitted(ReqId(at as u32)).map_or("never".to_string(), |turn| turn.to_string());
        let end = name::end(became.finish).to_string();
        let fields = [
            ("outputs", outputs.map(|it| it.to_string()), became.outputs.to_string()),
            ("prefix_hit", prefix_hit.map(|it| it.to_string()), became.prefix_hit.to_string()),
            ("admitted", admitted.map(|it| it.to_string()), turn),
            ("ended", ended.map(|it| name::end(finish(it)).to_string()), end),
        ];
        all.extend(
            fields
                .into_iter()
                .filter_map(|(field, expected, got)| differs(format!("request {id}, {field}"), expected, got)),
        );
    }
    let leaks = judgement.findings.iter().filter(|finding| finding.kind == FindingKind::Leak).count() as u64;
    for (what, expected, got) in [("evictions", expect.evictions, counts.evictions), ("leaks", expect.leaks, leaks)] {
        all.extend(differs(what.to_string(), expected.map(|it| it.to_string()), got.to_string()));
    }
    all
}

fn differs(what: String, expected: Option<String>, got: String) -> Option<ValueDifference> {
    let expected = expected.filter(|expected| *expected != got)?;
    Some(ValueDifference { what, expected, got })
}

fn finish(ended: ExpectEnd) -> Option<FinishKind> {
    match ended {
        ExpectEnd::Token => Some(FinishKind::Token),
        ExpectEnd::Length => Some(FinishKind::Length),
        ExpectEnd::Abort => Some(FinishKind::Abort),
        ExpectEnd::Unfinished => None,
    }
}

/// Matches expected findings with found ones (a maximum matching). Returns the unmatched ones of both sides.
fn match_up(names: &[String], expected: &[ExpectFinding], found: &[&Finding]) -> (Vec<FindingLine>, Vec<FindingLine>) {
    let mut graph = UnGraph::<(), ()>::new_undirected();
    let wanted: Vec<NodeIndex> = expected.iter().map(|_| graph.add_node(())).collect();
    let shown: Vec<NodeIndex> = found.iter().map(|_| graph.add_node(())).collect();
    for (want, &w) in expected.iter().zip(&wanted) {
        for (finding, &f) in found.iter().zip(&shown) {
            if fits(names, want, finding) {
                graph.add_edge(w, f, ());
            }
        }
    }
    let pairs = maximum_matching(&graph);
    let single = |node: &NodeIndex| pairs.mate(*node).is_none();
    let missing = expected.iter().zip(&wanted).filter(|(_, node)| single(node)).map(|(want, _)| wanted_line(want));
    let unexpected = found.iter().zip(&shown).filter(|(_, node)| single(node));
    // None of these findings is inherited, so the length that the slot holds does not depend on another finding.
    let unexpected = unexpected.map(|(finding, _)| FindingLine::found(finding, names, &[]));
    (missing.collect(), unexpected.collect())
}

fn fits(names: &[String], wanted: &ExpectFinding, finding: &Finding) -> bool {
    let is = |wanted: Option<u32>, value: Option<u32>| wanted.is_none_or(|wanted| Some(wanted) == value);
    let request = finding.req.map(|req| names[req.index()].as_str());
    name::kind(finding.kind) == wanted.kind
        && wanted.request.as_deref().is_none_or(|wanted| Some(wanted) == request)
        && is(wanted.label, finding.label)
        && is(wanted.holds, finding.holds)
        && is(wanted.turn, Some(finding.turn))
        && is(wanted.slot, finding.slot.map(|slot| slot.0))
}

fn wanted_line(wanted: &ExpectFinding) -> FindingLine {
    let kind = name::kind_from_name(&wanted.kind).expect("the parser knows every kind by name");
    let holds = wanted.holds.map(|holds| holds.to_string());
    let &ExpectFinding { label, slot, turn, .. } = wanted;
    FindingLine { kind, request: wanted.request.clone(), label, holds, slot, turn }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Phase;

    fn wanted(request: Option<&str>, label: Option<u32>) -> ExpectFinding {
        let request = request.map(str::to_string);
        ExpectFinding { kind: "lost".into(), request, label, holds: None, turn: None, slot: None }
    }

    #[test]
    fn a_vague_expectation_never_takes_what_a_precise_one_needs() {
        let names = ["a".to_string(), "b".to_string()];
        let lost = |req: u32| Finding {
            kind: FindingKind::Lost,
            req: Some(ReqId(req)),
            turn: 1,
            phase: Phase::Result,
            label: Some(4),
            holds: None,
            slot: None,
            reason: String::new(),
            root: None,
            overwritten: None,
        };
        let (a, b) = (lost(0), lost(1));
        let mut expected = vec![wanted(None, Some(4)), wanted(Some("a"), None)];
        for _ in 0..2 {
            assert_eq!(match_up(&names, &expected, &[&a, &b]), (vec![], vec![]));
            expected.reverse();
        }
        let (missing, unexpected) = match_up(&names, &expected[..1], &[&a, &b]);
        assert_eq!((missing.len(), unexpected.len()), (0, 1));
    }
}
