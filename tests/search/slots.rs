//! How often slots are given out: no run does it more often than a search counts on when it leaves those out that came back.

use overlapsim::judge::{Judge, JudgeOptions};
use overlapsim::model::{Event, Machine, Reductions, Setup, Vary};
use overlapsim::record::{Fact, Owner, ReqId, Sink, SlotFact, Tee};
use overlapsim::search::{RandomChooser, Style};

use super::reduction::rules;
use super::small::{Dice, small};

/// Setups that are drawn.
const SEEDS: u64 = 1500;
/// Random runs of each under each rule.
const RUNS: u64 = 6;
/// A pool that is never short.
const LARGE: u32 = 4096;

#[derive(Default)]
struct Counts {
    given: u32,
    /// Evictions and refusals.
    short: u32,
}

impl Sink for Counts {
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Slot(SlotFact::Alloc { .. }) => self.given += 1,
            Fact::Slot(SlotFact::Free { owner: Owner::Tree, .. } | SlotFact::Refused { .. }) => self.short += 1,
            _ => {}
        }
    }
}

/// The setup with the least pool for which slots that came back are left out.
fn with_least_pool(mut setup: Setup, vary: Vary) -> Option<Setup> {
    let mut lasts = |slots: u32| {
        setup.engine.mamba_slots = slots;
        Reductions::new(&setup, &vary.open()).fresh_slots_last
    };
    if !lasts(LARGE) {
        return None;
    }
    let pools: Vec<u32> = (1..LARGE).collect();
    let least = pools[pools.partition_point(|&slots| !lasts(slots))];
    setup.engine.mamba_slots = least;
    Some(setup)
}

#[test]
fn slots_are_given_out_no_more_often_than_is_counted_on() {
    let (mut setups, mut most) = (0, 0.0_f64);
    for seed in 0..SEEDS {
        let Some((mut setup, mut vary)) = small(seed) else { continue };
        let mut dice = Dice(seed ^ 0xABCD);
        setup.engine.kv_tokens = 65_536;
        setup.engine.max_prefill_tokens = dice.of(&[1, 2, 3, 5, 16_384]);
        setup.engine.chunked_prefill_size = setup.engine.chunked_prefill_size.filter(|_| dice.one_in(8));
        setup.engine.mixed_chunk &= setup.engine.chunked_prefill_size.is_some();
        vary.retract &= dice.one_in(8);
        for _ in 0..dice.below(4) {
            let req = ReqId(dice.below(setup.requests.len() as u32));
            setup.events.push(Event::Retract { turn: dice.below(12), req });
        }
        let Some(setup) = with_least_pool(setup, vary) else { continue };
        let open = vary.open();
        setups += 1;
        for rule in rules(&mut Dice(seed), &setup) {
            for run in 0..RUNS {
                let style = if run % 2 == 0 { Style::Uniform } else { Style::Pct { changes: 3, span: 30 } };
                let options =
                    JudgeOptions { page_size: setup.engine.page_size, keep_boundaries: false, keep_reasons: false };
                let mut sink = Tee(Judge::new(options), Counts::default());
                let mut draw = RandomChooser::new(&open, style, run);
                Machine::new(&setup, rule, &mut draw, &mut sink).run();
                let Counts { given, short } = sink.1;
                let pool = setup.engine.mamba_slots;
                assert!(
                    given + 4 * setup.requests.len() as u32 <= pool && short == 0,
                    "seed {seed}, {}: {given} of {pool}, short {short}",
                    rule.name()
                );
                most = most.max(f64::from(given) / f64::from(pool));
            }
        }
    }
    assert!(setups > 500 && most > 0.4, "{setups} setups, at most {most} of a pool");
}
