//! What features cost that are switched off: the same workload on the machine with every feature and on a machine built
//! without any, turn about in one run. Prints the ratio of the best times, with the judge and with facts dropped.

use std::hint::black_box;
use std::time::{Duration, Instant};

use overlapsim::engine::Seeded;
use overlapsim::model::{Every, Features, Machine, Plain, Setup};
use overlapsim::record::Record;
use overlapsim::runner::{self, Keep};

#[path = "common/decode.rs"]
mod decode;

const ROUNDS: usize = 15;

fn judged<F: Features>(setup: &Setup) -> Duration {
    let rule = runner::rule(runner::DEFAULT_RULE).expect("the default rule exists");
    let start = Instant::now();
    let outcome = runner::run_with_features::<F>(setup, rule, &mut Seeded::new(0), Keep::default(), None);
    black_box(outcome.judgement.decode_results);
    start.elapsed()
}

fn alone<F: Features>(setup: &Setup) -> Duration {
    let rule = runner::rule(runner::DEFAULT_RULE).expect("the default rule exists");
    let mut dropped: Option<Record> = None;
    let mut chooser = Seeded::new(0);
    let start = Instant::now();
    black_box(Machine::<_, _, F>::with_features(setup, rule, &mut chooser, &mut dropped).run().0);
    start.elapsed()
}

fn main() {
    for batch in [1, 8, 64] {
        let setup = decode::setup(batch, 262_144 / batch);
        for (what, every, plain) in [
            ("judged", judged::<Every> as fn(&Setup) -> Duration, judged::<Plain> as fn(&Setup) -> Duration),
            ("alone", alone::<Every>, alone::<Plain>),
        ] {
            let (mut best_every, mut best_plain) = (Duration::MAX, Duration::MAX);
            for _ in 0..ROUNDS {
                best_every = best_every.min(every(&setup));
                best_plain = best_plain.min(plain(&setup));
            }
            let ratio = best_every.as_secs_f64() / best_plain.as_secs_f64();
            println!(
                "batch {batch:>3}, {what:<6}: every feature {best_every:?}, none {best_plain:?}, ratio {ratio:.3}"
            );
        }
    }
}
