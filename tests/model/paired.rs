//! What the rule `paired` promises under any timing, with every exception named: `docs/rules.md` has the proof.

use crate::common::setups::{setups, wide_setups};
use overlapsim::engine::{Choice, ChoicePoint, Chooser, Seeded};
use overlapsim::judge::{FindingKind, Judgement, Verdict};
use overlapsim::model::{MixedTracking, ResultQueue, Setup, Strategy};
use overlapsim::runner::{self, Keep};
use proptest::prelude::*;

/// Draws at random what the script leaves alone: where requests stop, which second slots are refused, who is retracted,
/// and whether a decode step follows at once, so that the lookahead jitters.
struct Chance(Seeded);

impl Chance {
    fn percent(point: ChoicePoint) -> u64 {
        match point {
            ChoicePoint::Stop => 8,
            ChoicePoint::AllocFailure => 30,
            ChoicePoint::Retract => 4,
            ChoicePoint::Decode => 20,
            _ => 0,
        }
    }
}

impl Chooser for Chance {
    fn choose(&mut self, choice: Choice) -> u32 {
        if self.0.duration_ns(0, 99) < Chance::percent(choice.point) {
            return self.0.duration_ns(0, u64::from(choice.options) - 1) as u32;
        }
        choice.default
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        Chance::percent(point) > 0
    }

    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64 {
        self.0.duration_ns(lo_ns, hi_ns)
    }
}

fn judge(setup: &Setup, chooser: &mut impl Chooser) -> Judgement {
    runner::run_with(setup, runner::rule("paired").unwrap(), chooser, Keep::default(), None).judgement
}

/// Brings a setup within the reach of the proof. What it takes away is named there as what the rule needs: track slots,
/// a queue of copies, plain decoding, a grid of 2 or more. And what is no rule's to mend: prefill rows of mixed batches
/// whose tracking is dropped, and mixed batches with pages.
fn within_reach(mut setup: Setup) -> Setup {
    let engine = &mut setup.engine;
    if engine.strategy == Strategy::NoBuffer {
        engine.strategy = Strategy::ExtraBuffer;
    }
    engine.result_queue = ResultQueue::Copy;
    engine.spec = None;
    engine.track_interval = engine.track_interval.max(2);
    engine.mixed_tracking = MixedTracking::Kept;
    engine.mixed_chunk &= engine.page_size == 1;
    setup
}

/// An assertion is no finding about a state: pools this small can end the modelled system under any rule. Nor is a run
/// that a bound ended.
fn nothing_is_wrong(setup: &Setup, judgement: &Judgement) -> Result<(), TestCaseError> {
    let wrong = judgement.findings.iter().any(|finding| finding.kind != FindingKind::Assertion);
    prop_assert!(!wrong && judgement.checkpoints.lost == 0, "{:?}\n{setup:?}", judgement.findings);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn clean_under_every_script(setup in setups()) {
        let setup = within_reach(setup);
        nothing_is_wrong(&setup, &judge(&setup, &mut Seeded::new(1)))?;
    }

    #[test]
    fn clean_with_every_engine_variant(setup in wide_setups()) {
        let setup = within_reach(setup);
        nothing_is_wrong(&setup, &judge(&setup, &mut Seeded::new(1)))?;
    }

    #[test]
    fn clean_whatever_the_choices_are(setup in wide_setups(), seed in any::<u64>()) {
        let setup = within_reach(setup);
        nothing_is_wrong(&setup, &judge(&setup, &mut Chance(Seeded::new(seed))))?;
    }

    /// Every boundary is recorded by its own result, and by nothing else.
    #[test]
    fn every_decision_agrees(setup in wide_setups(), seed in any::<u64>()) {
        let setup = within_reach(setup);
        let judgement = judge(&setup, &mut Chance(Seeded::new(seed)));
        let decisions = judgement.decisions;
        prop_assert_eq!(decisions.agree, judgement.decode_results, "{:?}", decisions);
        prop_assert_eq!(judgement.checkpoints.recorded, judgement.checkpoints.due);
    }

    /// Dropped tracking spoils what the prefill promised, never what a decode step recorded.
    #[test]
    fn dropped_tracking_spoils_the_prefill_only(setup in wide_setups(), seed in any::<u64>()) {
        let mut setup = within_reach(setup);
        setup.engine.mixed_tracking = MixedTracking::Dropped;
        let judgement = judge(&setup, &mut Chance(Seeded::new(seed)));
        prop_assert_eq!(judgement.checkpoints.lost, 0);
        prop_assert_eq!(judgement.decisions.agree, judgement.decode_results);
        for finding in &judgement.findings {
            let of_prefill = matches!(finding.kind, FindingKind::Unwritten | FindingKind::Inherited | FindingKind::Assertion);
            prop_assert!(of_prefill, "{finding:?}\n{setup:?}");
        }
    }

    /// A result that sees the masks of another step may miss its own; it never records another.
    #[test]
    fn without_copies_it_loses_and_corrupts_nothing(setup in wide_setups(), seed in any::<u64>()) {
        let mut setup = within_reach(setup);
        setup.engine.result_queue = ResultQueue::Alias;
        let judgement = judge(&setup, &mut Chance(Seeded::new(seed)));
        for finding in &judgement.findings {
            prop_assert!(matches!(finding.kind, FindingKind::Lost | FindingKind::Assertion), "{finding:?}\n{setup:?}");
        }
    }

    /// Speculative decoding decides by the code of the releases, refused slots included.
    #[test]
    fn with_speculation_it_does_what_every_rule_does(setup in wide_setups()) {
        if setup.engine.spec.is_none() {
            return Ok(());
        }
        let other = runner::rule("completed-mask").unwrap();
        let other = runner::run_with(&setup, other, &mut Seeded::new(1), Keep::default(), None).judgement;
        prop_assert_eq!(judge(&setup, &mut Seeded::new(1)), other);
    }
}

#[test]
fn random_choices_reach_boundaries_and_both_lookaheads() {
    // Guards the tests above against a generator that never gets near a boundary.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut due, mut skipped, mut level, mut verdicts) = (0, 0, 0, Vec::new());
    for seed in 0..400 {
        use proptest::strategy::{Strategy as _, ValueTree as _};
        let setup = within_reach(wide_setups().new_tree(&mut runner).unwrap().current());
        let judgement = judge(&setup, &mut Chance(Seeded::new(seed)));
        due += judgement.checkpoints.due;
        skipped += judgement.checkpoints.skipped;
        level += judgement.lookahead.get(&0).copied().unwrap_or(0);
        verdicts.push(judgement.verdict);
    }
    assert!(due > 400 && skipped > 20 && level > 400, "{due} due, {skipped} skipped, {level} rows without lookahead");
    assert!(verdicts.iter().filter(|verdict| **verdict == Verdict::Clean).count() > 200);
}
