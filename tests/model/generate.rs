//! Generated setups are valid scenarios, run to their end, and vary all of the engine.

use std::collections::BTreeMap;

use crate::common::draws::Draws;
use overlapsim::engine::{Choice, ChoicePoint, Chooser, Scripted, Seeded};
use overlapsim::judge::FindingKind;
use overlapsim::model::{CopyOnWrite, Setup, Stop};
use overlapsim::record::{BatchFact, CacheFact, Fact, ForwardFact, Owner, RequestFact, SlotFact};
use overlapsim::runner::{self, Keep};
use overlapsim::scenario::{self, Scenario};
use overlapsim::workload::{Preset, generate};

fn made(preset: Preset, seed: u64) -> Setup {
    generate(preset, &mut Draws::new(seed))
}

/// The setup written as a file, and the setup read back from it.
fn read_back(setup: &Setup) -> (String, Result<Setup, String>) {
    let scenario = Scenario::of(setup.clone());
    let text = scenario::write(&scenario);
    let read = scenario::parse("generated.ron", &text, "".as_ref(), &runner::rule_names());
    (text, read.map(|scenario| scenario.setup).map_err(|diagnostic| diagnostic.render(false)))
}

#[test]
fn every_setup_reads_back_as_it_was_written() {
    for preset in Preset::ALL {
        for seed in 0..2000 {
            let setup = made(preset, seed);
            let (text, read) = read_back(&setup);
            assert_eq!(read.as_ref(), Ok(&setup), "{}, seed {seed}:\n{text}", preset.name());
        }
    }
}

#[test]
fn the_scripted_answers_make_a_plain_setup() {
    for preset in Preset::ALL {
        let setup = generate(preset, &mut Scripted);
        assert_eq!(read_back(&setup).1, Ok(setup.clone()), "{}", preset.name());
        assert!(setup.events.is_empty() && setup.requests.len() <= 4);
        assert!(setup.requests.iter().all(|spec| spec.stop == Stop::Token(1) || preset == Preset::Jitter));
    }
}

/// A chooser that records the questions.
struct Asked(Draws, Vec<Choice>);

impl Chooser for Asked {
    fn choose(&mut self, choice: Choice) -> u32 {
        self.1.push(choice);
        self.0.choose(choice)
    }

    fn duration_ns(&mut self, _: u64, _: u64) -> u64 {
        panic!("a generator draws no durations");
    }
}

#[test]
fn questions_are_numbered_and_have_more_than_one_answer() {
    for preset in Preset::ALL {
        let mut asked = Asked(Draws::new(3), Vec::new());
        generate(preset, &mut asked);
        for (nth, choice) in asked.1.iter().enumerate() {
            assert_eq!((choice.point, choice.subject, choice.default), (ChoicePoint::Generate, nth as u32, 0));
            assert!(choice.options > 1);
        }
    }
}

#[test]
fn names_of_presets_are_unique() {
    for preset in Preset::ALL {
        assert_eq!(Preset::from_name(preset.name()), Some(preset));
    }
    assert_eq!(Preset::from_name("large"), None);
}

#[test]
fn no_setup_stalls_runs_out_of_turns_or_breaks_accounts() {
    for preset in Preset::ALL {
        let mut counts = BTreeMap::new();
        for seed in 0..2000 {
            let setup = made(preset, seed);
            for rule in runner::rule_names() {
                let name = preset.name();
                let keep = Keep::default();
                let outcome = runner::run_with(&setup, runner::rule(rule).unwrap(), &mut Seeded::new(seed), keep, None);
                assert_eq!(outcome.judgement.bound, None, "{name}, seed {seed}, {rule}");
                for finding in &outcome.judgement.findings {
                    let accounting = matches!(
                        finding.kind,
                        FindingKind::Leak | FindingKind::DoubleFree | FindingKind::UseAfterFree | FindingKind::Lock
                    );
                    // A copy that waits for no forward can fill a slot that the step in flight of its last owner writes.
                    let meant = setup.engine.copy_on_write == CopyOnWrite::Immediate;
                    assert!(!accounting || meant, "{name}, seed {seed}, {rule}: {finding:?}");
                }
                *counts.entry(outcome.judgement.verdict).or_insert(0) += 1;
            }
        }
        assert!(counts.len() > 1, "{}: every run came to the same: {counts:?}", preset.name());
    }
}

/// The number of setups, of 300 of a preset, in whose runs a fact occurs.
fn setups_with(preset: Preset, wanted: impl Fn(&Fact) -> bool) -> usize {
    let rule = runner::rule(runner::DEFAULT_RULE).unwrap();
    let keep = Keep { record: true, ..Keep::default() };
    let has = |seed: &u64| {
        let outcome = runner::run_with(&made(preset, *seed), rule, &mut Seeded::new(0), keep, None);
        outcome.record.unwrap().facts().any(|fact| wanted(&fact))
    };
    (0..300).filter(has).count()
}

#[test]
fn each_preset_reaches_its_facts() {
    let evicted = |fact: &Fact| matches!(fact, Fact::Slot(SlotFact::Free { owner: Owner::Tree, .. }));
    let refused = |fact: &Fact| {
        matches!(fact, Fact::Slot(SlotFact::Refused { .. }) | Fact::Batch(BatchFact::TrackRefused { .. }))
    };
    let found = [
        ("prefix: hits", setups_with(Preset::Prefix, |fact| matches!(fact, Fact::Cache(CacheFact::Hit { .. })))),
        (
            "prefix: branching",
            setups_with(Preset::Prefix, |fact| {
                matches!(fact, Fact::Cache(CacheFact::Match { branching: Some(_), .. }))
            }),
        ),
        (
            "finish: refusals",
            setups_with(Preset::Finish, |fact| matches!(fact, Fact::Batch(BatchFact::TrackRefused { .. }))),
        ),
        ("tight: evictions", setups_with(Preset::Tight, evicted)),
        ("tight: refusals", setups_with(Preset::Tight, refused)),
        (
            "tight: retractions",
            setups_with(Preset::Tight, |fact| matches!(fact, Fact::Request(RequestFact::Retract { .. }))),
        ),
        (
            "chunks: middle chunks",
            setups_with(Preset::Chunks, |fact| matches!(fact, Fact::Request(RequestFact::MiddleChunk { .. }))),
        ),
        (
            "chunks: mixed batches",
            setups_with(Preset::Chunks, |fact| matches!(fact, Fact::Batch(BatchFact::Mix { .. }))),
        ),
        ("spec: verifies", setups_with(Preset::Spec, |fact| matches!(fact, Fact::Forward(ForwardFact::Verify { .. })))),
    ];
    let rare: Vec<_> = found.iter().filter(|(_, count)| *count < 20).collect();
    assert!(rare.is_empty(), "in too few of 300 setups: {rare:?} of {found:?}");
}
