//! What a rule's bookkeeping costs a request a step, beside `mask-lookahead`: first prepare (host masks, the slot that a
//! boundary writes) and result processing alone, with one step in flight, then whole runs with facts dropped. All
//! rules turn about in one run; prints the best times, and their ratio to the first.

use std::hint::black_box;
use std::time::{Duration, Instant};

use overlapsim::model::{Rule, Strategy};
use overlapsim::runner;

use bookkeeping::Rows;

#[path = "common/bookkeeping.rs"]
mod bookkeeping;
#[path = "common/decode.rs"]
mod decode;
#[path = "common/turns.rs"]
mod turns;
#[path = "common/whole.rs"]
mod whole;

const ROUNDS: usize = 25;
/// The first one is what the others are compared with.
const ALL: [&str; 3] = ["mask-lookahead", "completed-mask", "paired"];
const TWO: [&str; 2] = ["mask-lookahead", "paired"];

/// Runs `steps` steps, each prepared before the result of the one before is processed.
fn bookkeeping(rule: &dyn Rule, (count, grid, lazy): (usize, u32, bool), steps: usize) -> Duration {
    let mut rows = Rows::new(count, grid, lazy);
    let (mut flying, mut next) = (Vec::new(), Vec::new());
    let start = Instant::now();
    rows.advance();
    rows.mask(rule.wants_masks(), &mut flying);
    for _ in 0..steps {
        rows.advance();
        rows.mask(rule.wants_masks(), &mut next);
        rows.process(rule, Some(&flying[..]));
        std::mem::swap(&mut flying, &mut next);
    }
    let took = start.elapsed();
    black_box((rows.labels, flying));
    took
}

/// Times the rules and prints a line: the best times, and the median of the ratios to the first rule within a round,
/// which what else the computer does disturbs least.
fn compare(what: &str, per: usize, rules: &[&str], time: impl Fn(&dyn Rule) -> Duration) {
    let rule = |at: usize| runner::rule(rules[at]).expect("the rule exists");
    print!("{what}:");
    for (name, turn) in rules.iter().zip(turns::turns(ROUNDS, rules.len(), per, |at| time(rule(at)))) {
        print!("  {name} {:.2} ns, {:.3}", turn.best, turn.ratio);
    }
    println!();
}

fn main() {
    println!("bookkeeping, a request a step");
    for (lazy, strategy) in [(false, "pair"), (true, "lazy")] {
        for grid in [256, 4] {
            for count in [1, 10, 100, 1000] {
                let steps = 400_000 / count;
                compare(&format!("{strategy}, G {grid:>3}, {count:>4} requests"), steps * count, &ALL, |rule| {
                    bookkeeping(rule, (count, grid, lazy), steps)
                });
            }
        }
    }
    println!("whole runs, an output token");
    for strategy in [Strategy::ExtraBuffer, Strategy::ExtraBufferLazy] {
        for grid in [256, 4] {
            for batch in [1, 10, 100, 1000] {
                let outputs = 131_072 / batch;
                let mut setup = decode::setup(batch, outputs);
                setup.engine.strategy = strategy;
                setup.engine.track_interval = grid;
                compare(&format!("{strategy:?}, G {grid:>3}, {batch:>4} requests"), 131_072, &TWO, |rule| {
                    whole::whole(rule, &setup)
                });
            }
        }
    }
}
