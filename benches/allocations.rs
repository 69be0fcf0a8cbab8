//! How often memory is asked for: by a step of the search, and by a turn and a token of a replay. Counts, not times: the same
//! on every machine.
//!
//! What a run needs once is left out: of two runs, one longer than the other, the difference is looked at.

use std::alloc::System;
use std::hint::black_box;

use overlapsim::runner::{self, CheckSpec, Keep};
use overlapsim::search::{Order, SearchLimits};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[path = "common/conversation.rs"]
mod conversation;
#[path = "common/decode.rs"]
mod decode;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How often memory was asked for, more of it or new, and how much.
#[derive(Clone, Copy)]
struct Asked {
    times: usize,
    bytes: usize,
}

fn asked(work: impl FnOnce()) -> Asked {
    let region = Region::new(ALLOCATOR);
    work();
    let change = region.change();
    Asked { times: change.allocations + change.reallocations, bytes: change.bytes_allocated }
}

/// What each of `units` more costs.
fn each(unit: &str, short: Asked, long: Asked, units: u64) {
    let times = (long.times - short.times) as f64 / units as f64;
    let bytes = (long.bytes - short.bytes) as f64 / units as f64;
    println!("  a {unit}: {times:.4} times, {bytes:.1} bytes");
}

fn search(outputs: u32) -> (Asked, u64) {
    let scenario = conversation::scenario(4, outputs);
    let open = scenario.vary.open();
    let rule = runner::rule("mask-lookahead").expect("a rule");
    let check = CheckSpec { setup: &scenario.setup, rule, open: &open, order: Order::Dfs, unreduced: false, jobs: 1 };
    let mut transitions = 0;
    let asked = asked(|| {
        let limits = SearchLimits { states_max: u64::MAX, stop: &|_| false };
        transitions = runner::check(&check, limits).explored.transitions;
    });
    (asked, transitions)
}

fn replay(batch: u32, outputs: u32) -> Asked {
    let setup = decode::setup(batch, outputs);
    let rule = runner::rule(runner::DEFAULT_RULE).expect("the default rule exists");
    asked(|| {
        black_box(runner::run(&setup, rule, 0, Keep::default(), None));
    })
}

fn main() {
    println!("search, four requests that extend each other");
    let ((short, few), (long, many)) = (search(11), search(12));
    each("transition", short, long, many - few);
    for batch in [1, 64, 512] {
        // Between two powers of two no list grows.
        let (from, to) = (1100, 1900);
        println!("replay, {batch} requests");
        let (short, long) = (replay(batch, from), replay(batch, to));
        each("turn", short, long, u64::from(to - from));
    }
}
