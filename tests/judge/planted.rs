//! Deliberately wrong rules: each must be convicted, and the right one they are made from acquitted.

use crate::common::planted::{RIGHT, RIGHT_LAZY, WRONG, WRONG_LAZY, lazy_samples, samples};
use overlapsim::engine::Scripted;
use overlapsim::judge::{FindingKind, Judgement, Verdict};
use overlapsim::model::{Rule, Setup};
use overlapsim::runner::{self, Keep};

fn judge(setup: &Setup, rule: &dyn Rule) -> Judgement {
    runner::run_with(setup, rule, &mut Scripted, Keep::default(), None).judgement
}

#[test]
fn the_right_rule_is_acquitted() {
    for setup in samples() {
        let judgement = judge(&setup, &RIGHT);
        assert_eq!(judgement.verdict, Verdict::Clean, "{:?}", judgement.findings);
        let decisions = judgement.decisions;
        assert_eq!(decisions.agree, judgement.decode_results, "{decisions:?}");
    }
}

#[test]
fn every_wrong_rule_is_convicted() {
    let samples = samples();
    for (rule, kinds) in WRONG {
        convict(rule, kinds, &samples);
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
fn every_wrong_lazy_rule_is_convicted() {
    let samples = lazy_samples();
    for (rule, kinds) in WRONG_LAZY {
        convict(rule, kinds, &samples);
    }
}

fn convict(rule: &dyn Rule, kinds: &[FindingKind], samples: &[Setup]) {
    let mut convictions = 0;
    let mut shown = std::collections::BTreeSet::new();
    for setup in samples {
        let judgement = judge(setup, rule);
        convictions += usize::from(judgement.verdict > Verdict::Clean);
        shown.extend(judgement.findings.iter().map(|finding| finding.kind));
    }
    assert!(convictions > 0, "{} goes free", rule.name());
    assert!(kinds.iter().any(|kind| shown.contains(kind)), "{}: {shown:?}", rule.name());
}
