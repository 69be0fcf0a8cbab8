//! Both judges agree on every use of a state: generated setups of every preset, setups with every engine variant, every
//! rule and every planted wrong one.

use crate::common::planted::{RIGHT, RIGHT_LAZY, WRONG, WRONG_LAZY, lazy_samples, samples};
use crate::common::setups::wide_setups;
use overlapsim::engine::{Scripted, Seeded};
use overlapsim::model::{Rule, Setup, Strategy};
use overlapsim::runner::{self, Agreement, Comparison, FuzzSpec, SetupSource};
use overlapsim::search::Style;
use overlapsim::workload::Preset;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Seeds of each preset; each is run under every rule.
const SEEDS: u64 = 60;
/// Setups with every engine variant; each is run under every rule.
const WIDE: usize = 150;

fn assert_agree(comparison: &Comparison, rule: &dyn Rule, setup: &Setup) {
    assert!(comparison.disagreements.is_empty(), "{}: {:?}\n{setup:?}", rule.name(), comparison.disagreements);
}

#[test]
fn both_judges_agree_on_generated_setups_of_every_preset_under_every_rule() {
    let rules: Vec<_> = runner::rule_names().into_iter().filter_map(runner::rule).collect();
    let mut seen = std::collections::BTreeSet::new();
    for preset in Preset::ALL {
        for style in [Style::Uniform, Style::Pct { changes: 3, span: 64 }] {
            let source = SetupSource::Preset(preset);
            let spec = FuzzSpec { source, rules: &rules, style, seeds: (0, SEEDS / 2, 1), second_judge: true };
            for (tally, rule) in runner::fuzz(&spec, 2, &|_| {}).iter().zip(&rules) {
                assert_eq!(tally.disagreements, None, "{} under {}", preset.name(), rule.name());
                seen.extend(tally.agreements.keys().copied());
            }
        }
    }
    // Generated setups have wrong states, and races.
    for agreement in [Agreement::Right, Agreement::Wrong, Agreement::AfterWrongHit, Agreement::AfterWrongDonation] {
        assert!(seen.contains(&agreement), "{agreement:?}");
    }
}

#[test]
fn both_judges_agree_on_every_engine_variant_under_every_rule() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for seed in 0..WIDE as u64 {
        let setup = wide_setups().new_tree(&mut runner).expect("a setup can be drawn").current();
        for rule in runner::rule_names().into_iter().filter_map(runner::rule) {
            let (_, comparison) = runner::judged_twice(&setup, rule, &mut Seeded::new(seed));
            assert_agree(&comparison, rule, &setup);
        }
    }
}

#[test]
fn both_judges_agree_on_planted_wrong_rules() {
    let (samples, lazy) = (samples(), lazy_samples());
    let pairs = WRONG.iter().map(|(rule, _)| rule as &dyn Rule).chain([&RIGHT as &dyn Rule]);
    let on_demand = WRONG_LAZY.iter().map(|(rule, _)| rule as &dyn Rule).chain([&RIGHT_LAZY as &dyn Rule]);
    for (rule, setups) in pairs.map(|rule| (rule, &samples)).chain(on_demand.map(|rule| (rule, &lazy))) {
        for setup in setups.iter().step_by(2) {
            let (_, comparison) = runner::judged_twice(setup, rule, &mut Scripted);
            assert_agree(&comparison, rule, setup);
        }
    }
}

#[test]
fn both_judges_agree_on_copies_that_race() {
    let rule = runner::release_rule(overlapsim::model::Release::V0_5_17);
    let mut seen = std::collections::BTreeSet::new();
    for name in ["torn-chunk-snapshot", "torn-hit-copy", "freed-slot-hit-copy", "freed-slot-deferred-free"] {
        let path = format!("scenarios/{name}.ron");
        let setup = overlapsim::scenario::load(path.as_ref(), &runner::rule_names()).expect("a scenario").setup;
        assert!(setup.engine.strategy != Strategy::NoBuffer);
        let (_, comparison) = runner::judged_twice(&setup, rule, &mut Seeded::new(1));
        assert_agree(&comparison, rule, &setup);
        seen.extend(comparison.agreements.keys().copied());
    }
    assert!(seen.contains(&Agreement::WrongInAnotherOrder), "{seen:?}");
}
