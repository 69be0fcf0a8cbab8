//! Test of `Fact::Latched`: every turn that begins with a batch marked full is run again without the mark, and the fact
//! must say what the mark changed.

use crate::engine::Seeded;
use crate::model::{Exhaustion, Machine, Setup, World};
use crate::record::{Fact, ProbeFact, Record, ReqId, RequestFact};
use crate::workload::Preset;

use super::{DEFAULT_RULE, SetupSource, drawn, rule};

/// The most turns of a run that are tested.
const TURNS_MAX: u32 = 300;

/// Runs one turn and returns its facts.
fn turn(setup: &Setup, world: Box<World>) -> (Record, Box<World>, bool) {
    let mut record = Record::default();
    let mut chooser = Seeded::new(0);
    let rule = rule(DEFAULT_RULE).expect("the default rule");
    let mut machine = Machine::resume(setup, rule, &mut chooser, &mut record, world).with_latch(true);
    let over = machine.turn().is_some();
    let world = machine.into_world();
    (record, world, over)
}

/// The request of the first `Fact::Latched`.
fn latched(record: &Record) -> Option<ReqId> {
    record.facts().find_map(|fact| if let Fact::Probe(ProbeFact::Latched { req }) = fact { Some(req) } else { None })
}

/// The first request that is admitted.
fn admitted(record: &Record) -> Option<ReqId> {
    record.facts().find_map(|fact| if let Fact::Request(RequestFact::Admit { req }) = fact { Some(req) } else { None })
}

/// Compares every turn of a setup. Returns the number of turns in which the latch alone kept a request waiting.
fn compare(setup: &Setup, what: &str) -> u32 {
    let mut world = Box::new(World::new(setup));
    let mut told = 0;
    for _ in 0..TURNS_MAX {
        let mut without = world.clone();
        let marked = without.take_latch();
        let (record, next, over) = turn(setup, world);
        let only = if marked && admitted(&record).is_none() { admitted(&turn(setup, without).0) } else { None };
        assert_eq!(latched(&record), only, "{what}, before turn {}", next.turn());
        told += u32::from(only.is_some());
        if over {
            break;
        }
        world = next;
    }
    told
}

#[test]
fn a_turn_without_the_latch_admits_what_is_told_and_nothing_else() {
    let mut told = 0;
    for preset in Preset::ALL {
        for seed in 0..150 {
            let mut setup = drawn(SetupSource::Preset(preset), seed).0.into_owned();
            // With `Assert`, a lack of slots ends the run in place of a wait.
            setup.engine.exhaustion = Exhaustion::Skip;
            for kv_tokens in [setup.engine.kv_tokens, setup.engine.kv_tokens / 3, setup.engine.kv_tokens / 8] {
                let page = setup.engine.page_size;
                setup.engine.kv_tokens = kv_tokens.max(4 * page) / page * page;
                told += compare(&setup, &format!("{} {seed}, {kv_tokens} tokens", preset.name()));
            }
        }
    }
    assert!(told > 100, "the latch alone kept a request out in {told} turns");
}
