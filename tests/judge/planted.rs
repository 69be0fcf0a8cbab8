//! Deliberately wrong rules: each must show a finding, and the right rule that they are made from must be clean.

use crate::common::planted::{RIGHT, RIGHT_LAZY, WRONG, WRONG_LAZY, lazy_samples, samples};
use overlapsim::engine::Scripted;
use overlapsim::judge::{FindingKind, Judgement, Verdict};
use overlapsim::model::{Rule, Setup};
use overlapsim::runner::{self, Keep};

fn judge(setup: &Setup, rule: &dyn Rule) -> Judgement {
    runner::run_with(setup, rule, &mut Scripted, Keep::default(), None).judgement
}

#[test]
fn the_right_rule_corrupts_and_loses_nothing() {
    for setup in samples() {
        let judgement = judge(&setup, &RIGHT);
        assert_eq!(judgement.verdict, Verdict::Clean, "{:?}", judgement.findings);
        let decisions = judgement.decisions;
        assert_eq!(decisions.agree, judgement.decode_results, "{decisions:?}");
    }
}

#[test]
fn every_wrong_rule_shows_a_finding_of_its_kinds() {
    let samples = samples();
    for (rule, kinds) in WRONG {
        assert_found(rule, kinds, &samples);
    }
}

#[test]
fn the_right_lazy_rule_corrupts_and_loses_nothing() {
    for setup in lazy_samples() {
        let judgement = judge(&setup, &RIGHT_LAZY);
        assert_eq!(judgement.verdict, Verdict::Clean, "{:?}\n{setup:?}", judgement.findings);
    }
}

#[test]
fn every_wrong_lazy_rule_shows_a_finding_of_its_kinds() {
    let samples = lazy_samples();
    for (rule, kinds) in WRONG_LAZY {
        assert_found(rule, kinds, &samples);
    }
}

fn assert_found(rule: &dyn Rule, kinds: &[FindingKind], samples: &[Setup]) {
    let mut wrong_runs = 0;
    let mut shown = std::collections::BTreeSet::new();
    for setup in samples {
        let judgement = judge(setup, rule);
        wrong_runs += usize::from(judgement.verdict > Verdict::Clean);
        shown.extend(judgement.findings.iter().map(|finding| finding.kind));
    }
    assert!(wrong_runs > 0, "{} is clean in every run", rule.name());
    assert!(kinds.iter().any(|kind| shown.contains(kind)), "{}: {shown:?}", rule.name());
}
