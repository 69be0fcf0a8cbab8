//! What must hold of the loop under any timing, rule and engine variant.

use crate::common::setups::{crowds, setups, wide_setups};
use overlapsim::engine::{Choice, ChoicePoint, Chooser, Seeded};
use overlapsim::judge::{FindingKind, Judge, JudgeOptions, Judgement, Verdict};
use overlapsim::model::{ResultQueue, Setup, Stop, Strategy};
use overlapsim::record::{CacheFact, DecisionFact, Fact, FinishKind, ForwardFact, Record, RequestFact, RunFact};
use overlapsim::runner::{self, Keep};
use proptest::prelude::*;

fn run(setup: &Setup, rule: &str) -> (Judgement, Record) {
    let keep = Keep { record: true, ..Keep::default() };
    let outcome = runner::run_with(setup, runner::rule(rule).unwrap(), &mut Seeded::new(1), keep, None);
    (outcome.judgement, outcome.record.unwrap())
}

/// The facts of the schedule: what is launched when, and what comes of it; no slots, labels or decisions.
fn schedule(record: &Record) -> Vec<Fact> {
    let of_schedule = |fact: &Fact| {
        matches!(
            fact,
            Fact::Run(RunFact::Turn { .. })
                | Fact::Request(RequestFact::Arrive { .. } | RequestFact::Finish { .. } | RequestFact::Admit { .. })
                | Fact::Forward(ForwardFact::Sampled { .. })
        )
    };
    record.facts().filter(of_schedule).map(without_times).collect()
}

fn without_times(fact: Fact) -> Fact {
    match fact {
        Fact::Run(RunFact::Turn { turn, .. }) => Fact::Run(RunFact::Turn { turn, at: overlapsim::engine::Time::ZERO }),
        Fact::Request(RequestFact::Arrive { req, max_new, .. }) => {
            Fact::Request(RequestFact::Arrive { req, max_new, at: overlapsim::engine::Time::ZERO })
        }
        other => other,
    }
}

/// Answers as the script does, but may be asked every question that keeps rows from being emitted as a slice.
struct OneByOne(Seeded);

impl Chooser for OneByOne {
    fn choose(&mut self, choice: Choice) -> u32 {
        self.0.choose(choice)
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        [ChoicePoint::Stop, ChoicePoint::Sample].contains(&point)
    }

    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64 {
        self.0.duration_ns(lo_ns, hi_ns)
    }
}

/// A slice of rows stands for the same facts in the same order, and is judged and timed as they are.
fn told_at_once(setup: &Setup) -> Result<(), TestCaseError> {
    for name in runner::rule_names() {
        let rule = runner::rule(name).unwrap();
        let keep = Keep { record: true, boundaries: true, ..Keep::default() };
        let bulk = runner::run(setup, rule, 1, keep, None);
        let single = runner::run_with(setup, rule, &mut OneByOne(Seeded::new(1)), keep, None);
        prop_assert!(bulk.record == single.record, "{name}: the facts differ");
        prop_assert!(bulk.judgement == single.judgement, "{name}: the judgements differ");
        prop_assert!(bulk.timing == single.timing, "{name}: the times differ");
        let mut judge =
            Judge::new(JudgeOptions { page_size: setup.engine.page_size, keep_boundaries: true, keep_reasons: true });
        single.record.unwrap().replay(&mut judge);
        prop_assert!(bulk.judgement == judge.finish(&setup.names), "{name}: a record is judged otherwise");
    }
    Ok(())
}

fn asserted(judgement: &Judgement) -> bool {
    judgement.findings.iter().any(|finding| finding.kind == FindingKind::Assertion)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn every_slot_page_and_lock_is_accounted_for(setup in setups()) {
        for rule in runner::rule_names() {
            let (judgement, _) = run(&setup, rule);
            for finding in &judgement.findings {
                let accounting = matches!(finding.kind, FindingKind::Leak | FindingKind::DoubleFree | FindingKind::UseAfterFree | FindingKind::Lock);
                prop_assert!(!accounting, "{rule}: {finding:?}");
            }
        }
    }

    #[test]
    fn facts_told_at_once_are_those_told_one_by_one(setup in setups()) {
        told_at_once(&setup)?;
    }

    #[test]
    fn facts_told_at_once_are_those_told_one_by_one_whatever_is_on(setup in wide_setups()) {
        told_at_once(&setup)?;
    }

    #[test]
    fn facts_told_at_once_are_those_told_one_by_one_in_large_batches(setup in crowds()) {
        told_at_once(&setup)?;
    }

    #[test]
    fn every_request_ends_as_its_script_says(setup in setups()) {
        let (judgement, record) = run(&setup, "token-len");
        if judgement.verdict == Verdict::Broken {
            // A pool this tight can end the modelled system; nothing else may.
            prop_assert!(asserted(&judgement), "{:?}", judgement.findings);
            return Ok(());
        }
        prop_assert!(judgement.bound.is_none(), "stalled or endless");
        for (spec, outcome) in setup.requests.iter().zip(&judgement.requests) {
            let (outputs, kind) = match spec.stop {
                Stop::Token(n) if n < spec.max_new => (n, FinishKind::Token),
                Stop::Token(n) => (n, outcome.finish.unwrap()),
                Stop::Length => (spec.max_new, FinishKind::Length),
            };
            prop_assert_eq!((outcome.outputs, outcome.finish), (outputs, Some(kind)));
        }
        let done = record.facts().any(|fact| matches!(fact, Fact::Run(RunFact::Done { .. })));
        prop_assert!(done);
    }

    #[test]
    fn the_schedule_is_the_same_under_every_rule(setup in setups()) {
        let mut setup = setup;
        setup.engine.mamba_slots = 256;
        setup.engine.result_queue = ResultQueue::Copy;
        // A hit depends on what is cached, and that on the rule.
        for spec in &mut setup.requests {
            if let overlapsim::model::Prompt::Of { fresh, len, .. } = spec.prompt {
                spec.prompt = overlapsim::model::Prompt::Fresh { fresh, len };
            }
        }
        setup.engine.kv_tokens = 4096;
        let (_, first) = run(&setup, "committed-len");
        for rule in ["token-len", "mask-lookahead", "completed-mask", "paired"] {
            let (judgement, record) = run(&setup, rule);
            prop_assert!(!asserted(&judgement));
            prop_assert_eq!(schedule(&record), schedule(&first), "{}", rule);
        }
    }

    #[test]
    fn lookahead_is_zero_or_one_and_zero_without_overlap(setup in setups()) {
        let (judgement, _) = run(&setup, "mask-lookahead");
        for (&lookahead, &count) in &judgement.lookahead {
            prop_assert!(lookahead == 0 || lookahead == 1 && setup.engine.overlap, "L={lookahead}: {count}");
        }
    }

    #[test]
    fn mask_reuse_decides_as_recomputing_does(setup in setups()) {
        let mut setup = setup;
        setup.engine.result_queue = ResultQueue::Copy;
        let decisions = |rule| {
            let (_, record) = run(&setup, rule);
            let done = |fact| match fact {
                Fact::Decision(DecisionFact::Row { batch, req, decision: Some(decision), .. }) => Some(format!("{batch} {req} {decision:?}")),
                Fact::Decision(DecisionFact::Flip { .. }) | Fact::Cache(CacheFact::Donate { .. }) => Some(format!("{fact:?}")),
                _ => None,
            };
            record.facts().filter_map(done).collect::<Vec<_>>()
        };
        prop_assert_eq!(decisions("mask-lookahead"), decisions("committed-len"));
    }

    #[test]
    fn without_overlap_nothing_is_ever_wrong(setup in setups()) {
        let mut setup = setup;
        setup.engine.overlap = false;
        if setup.engine.strategy == Strategy::ExtraBufferLazy {
            setup.engine.strategy = Strategy::ExtraBuffer;
        }
        for rule in runner::rule_names() {
            let (judgement, _) = run(&setup, rule);
            prop_assert!(judgement.verdict <= Verdict::Lossy || asserted(&judgement), "{rule}: {:?}", judgement.findings);
            prop_assert_eq!(judgement.checkpoints.lost, 0, "{}", rule);
        }
    }

    #[test]
    fn every_engine_variant_keeps_its_accounts_and_ends(setup in wide_setups()) {
        let mut setup = setup;
        // Together these let a result finish a request between the prepare and the launch of a batch that names it:
        // the modelled system then really runs on freed slots (scenarios/mixed-serial-use-after-free.ron).
        setup.engine.disable_consecutive_prefill_overlap &= !setup.engine.mixed_chunk;
        for rule in runner::rule_names() {
            let (judgement, _) = run(&setup, rule);
            for finding in &judgement.findings {
                let accounting = matches!(finding.kind, FindingKind::Leak | FindingKind::DoubleFree | FindingKind::UseAfterFree | FindingKind::Lock);
                prop_assert!(!accounting, "{rule}: {finding:?}");
            }
            if asserted(&judgement) {
                continue;
            }
            prop_assert!(judgement.bound.is_none(), "stalled or endless under {rule}");
            for (spec, outcome) in setup.requests.iter().zip(&judgement.requests) {
                // An abort takes the whole run that a verify accepted, wherever the length would have ended it.
                let run = setup.engine.spec.as_ref().map_or(0, |spec| spec.draft);
                let over = if outcome.finish == Some(FinishKind::Abort) { run } else { 0 };
                prop_assert!(outcome.finish.is_some() && outcome.outputs <= spec.max_new + over, "{rule}: {outcome:?}");
            }
        }
    }
}
