//! `test`: run what every scenario expects, one line each.

use std::path::{Path, PathBuf};

use petgraph::algo::maximum_matching;
use petgraph::graph::{NodeIndex, UnGraph};

use crate::judge::{Finding, Kind};
use crate::report::{self, FindingLine, RuleFailure, TestOutcome, name, test_text};
use crate::runner::{self, Keep};
use crate::scenario::{Expect, ExpectFinding, Scenario};

use super::expectation::verdict;
use super::fail_on::{FailOn, verdicts};
use super::line::replay_line;
use super::output::{Exit, Failure, print};
use super::run::{Way, load, reports};

/// Runs the `expect` of every scenario in `paths`: files, or directories that are searched for scenarios. With `fail_on`, a
/// verdict for which `run` would not end with 0 fails a scenario even if it is expected.
///
/// # Errors
/// No scenario at all. A path that cannot be read is a scenario that failed, and the command then ends with exit code 2
/// after running the others.
pub fn test(paths: &[PathBuf], fail_on: Option<FailOn>) -> Result<Exit, Failure> {
    let mut files = Vec::new();
    let mut outcomes = Vec::new();
    for path in paths {
        if path.is_dir() {
            collect(path, &mut files, &mut outcomes);
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() && outcomes.is_empty() {
        return Err(Failure("error: no scenario found\nhelp: name .ron files or directories that hold some\n".into()));
    }
    files.sort();
    files.dedup();
    outcomes.extend(files.iter().map(|file| test_file(file, fail_on)));
    print(&test_text(&outcomes))?;
    if outcomes.iter().any(|outcome| outcome.error.is_some()) {
        return Err(Failure(
            "error: some scenarios could not be read\nhelp: the lines that say `cannot be run` tell why\n".into(),
        ));
    }
    Ok(fail_on.unwrap_or_default().exit_of_difference(outcomes.iter().any(TestOutcome::failed)))
}

/// Finds the scenarios in a directory and below: names that end in `.ron`, in small letters or capitals. What is hidden
/// is passed over, and links to directories are not followed, so that the search ends. A directory that cannot be read
/// is an outcome of its own.
fn collect(directory: &Path, files: &mut Vec<PathBuf>, outcomes: &mut Vec<TestOutcome>) {
    let entries = std::fs::read_dir(directory).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            let message =
                format!("error: cannot read {}: {error}\nhelp: name the scenarios one by one\n", directory.display());
            outcomes.push(unreadable(directory, message));
            return;
        }
    };
    for entry in entries {
        let path = entry.path();
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let scenario = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ron"));
        // The kind of the entry itself: that of a link is neither.
        let kind = entry.file_type();
        match kind {
            Ok(kind) if kind.is_dir() && !hidden => collect(&path, files, outcomes),
            Ok(kind) if scenario && !hidden && (kind.is_file() || kind.is_symlink() && !path.is_dir()) => {
                files.push(path);
            }
            Ok(_) | Err(_) => {}
        }
    }
}

fn unreadable(path: &Path, message: String) -> TestOutcome {
    let scenario = path.to_string_lossy().into_owned();
    TestOutcome { scenario, rules: 0, failures: Vec::new(), warnings: Vec::new(), error: Some(message) }
}

fn test_file(file: &Path, fail_on: Option<FailOn>) -> TestOutcome {
    match load(file) {
        Err(failure) => unreadable(file, failure.0),
        Ok(scenario) => {
            let path = file.to_string_lossy().into_owned();
            let mut warnings = Vec::new();
            let check = |expect| check(&scenario, &path, expect, fail_on, &mut warnings);
            let failures = scenario.expect.iter().filter_map(check).collect();
            TestOutcome { scenario: path, rules: scenario.expect.len(), failures, warnings, error: None }
        }
    }
}

/// Runs one expectation; what differed, if anything did.
fn check(
    scenario: &Scenario,
    path: &str,
    expect: &Expect,
    fail_on: Option<FailOn>,
    warnings: &mut Vec<String>,
) -> Option<RuleFailure> {
    let rule = runner::rule(&expect.rule).expect("the parser knows every rule by name");
    let outcomes = [runner::run(&scenario.setup, rule, scenario.seed, Keep::default(), None)];
    for warning in reports(scenario, path, &[rule], Way::default(), &outcomes).iter().flat_map(report::warnings) {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    let judgement = &outcomes[0].judgement;
    let names = &scenario.setup.names;
    let found: Vec<&Finding> = judgement.findings.iter().filter(|finding| finding.kind != Kind::Inherited).collect();
    let (missing, unexpected) = match_up(names, &expect.findings, &found);
    let expected = verdict(expect.verdict);
    let refused = fail_on.filter(|fail_on| fail_on.exit(verdicts(judgement)) != Exit::Good);
    if missing.is_empty() && unexpected.is_empty() && judgement.verdict == expected && refused.is_none() {
        return None;
    }
    Some(RuleFailure {
        rule: expect.rule.clone(),
        expected,
        got: judgement.verdict,
        missing,
        unexpected,
        refused: refused.map(FailOn::word),
        replay: replay_line(&scenario.path, &expect.rule, Way::default()),
    })
}

/// Pairs expected findings with found ones, as many as can be paired at once; what is left over on either side.
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
    // None of these is inherited, so what it holds needs no other finding.
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
    use crate::record::{Phase, ReqId};

    fn wanted(request: Option<&str>, label: Option<u32>) -> ExpectFinding {
        let request = request.map(str::to_string);
        ExpectFinding { kind: "lost".into(), request, label, holds: None, turn: None, slot: None }
    }

    #[test]
    fn a_vague_expectation_never_takes_what_a_precise_one_needs() {
        let names = ["a".to_string(), "b".to_string()];
        let lost = |req: u32| Finding {
            kind: Kind::Lost,
            req: Some(ReqId(req)),
            turn: 1,
            phase: Phase::Result,
            label: Some(4),
            holds: None,
            slot: None,
            reason: String::new(),
            root: None,
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
