//! Findings of the planted wrong rules: found by random choices, written as scripts, shrunk.

use crate::common::planted::{WRONG, WRONG_LAZY, lazy_samples, samples};
use overlapsim::engine::{ChoicePoint, Scripted};
use overlapsim::history::{concrete, measure};
use overlapsim::judge::{FindingKind, Judgement};
use overlapsim::model::{Rule, Setup, Vary};
use overlapsim::runner::{self, Keep, counts};
use overlapsim::scenario::{self, Scenario};
use overlapsim::search::{RandomChooser, Style};
use overlapsim::shrink;

const TRIES_MAX: usize = 100_000;
const RARE: Style = Style::Weighted(&[
    (ChoicePoint::Arrival, 300),
    (ChoicePoint::Stop, 60),
    (ChoicePoint::Abort, 15),
    (ChoicePoint::Retract, 50),
    (ChoicePoint::AllocFailure, 200),
]);

fn shows(judgement: &Judgement, kind: FindingKind) -> bool {
    judgement.findings.iter().any(|finding| finding.kind == kind && counts(finding))
}

/// A history in which the rule shows one of the kinds, as a script; the most requests it can get.
fn find(rule: &dyn Rule, kinds: &[FindingKind], samples: &[Setup]) -> Vec<(Setup, FindingKind)> {
    let open = Vary::ALL.open();
    let mut found: Vec<(Setup, FindingKind)> = Vec::new();
    for (seed, setup) in samples.iter().enumerate() {
        let draw = || RandomChooser::new(&open, RARE, seed as u64);
        let judgement = runner::run_with(setup, rule, &mut draw(), Keep::default(), None).judgement;
        let new = |kind: &&FindingKind| shows(&judgement, **kind) && found.iter().all(|(_, found)| found != *kind);
        let Some(&kind) = kinds.iter().find(new) else { continue };
        let script =
            concrete(setup, rule, &mut draw(), scenario::turns_max).and_then(|script| scenario::as_read(&script));
        found.extend(script.filter(|script| script.requests.len() > 2).map(|script| (script, kind)));
    }
    found
}

fn check(rule: &dyn Rule, kinds: &[FindingKind], samples: &[Setup]) {
    let found = find(rule, kinds, samples);
    assert!(!found.is_empty(), "{} goes free", rule.name());
    for (script, kind) in found {
        let small = shrink::shrink(script.clone(), rule, kind, &scenario::as_read, TRIES_MAX);
        let text = scenario::write(&Scenario::of(small.clone()));
        println!("{}, {kind:?}, {:?}:\n{text}", rule.name(), measure(&small));
        let judgement = runner::run_with(&small, rule, &mut Scripted, Keep::default(), None).judgement;
        assert!(shows(&judgement, kind), "{text}");
        assert!(small.requests.len() <= 3, "{text}");
        let again = shrink::shrink(script, rule, kind, &scenario::as_read, TRIES_MAX);
        assert_eq!(scenario::write(&Scenario::of(again.clone())), text);
        assert_eq!(
            shrink::shrink(small.clone(), rule, kind, &scenario::as_read, TRIES_MAX),
            small,
            "no fixpoint: {text}"
        );
    }
}

#[test]
fn findings_of_wrong_rules_become_small() {
    let samples = samples();
    for (rule, kinds) in WRONG {
        check(rule, kinds, &samples);
    }
}

#[test]
fn findings_of_wrong_lazy_rules_become_small() {
    let samples = lazy_samples();
    for (rule, kinds) in WRONG_LAZY {
        check(rule, kinds, &samples);
    }
}

#[test]
fn a_setup_that_does_not_show_the_kind_is_not_changed() {
    let rule = &WRONG[0].0;
    let setup = samples().remove(0);
    assert_eq!(shrink::shrink(setup.clone(), rule, FindingKind::Leak, &scenario::as_read, TRIES_MAX), setup);
}
