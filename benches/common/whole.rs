//! Whole runs of the machine with facts dropped.

use std::hint::black_box;
use std::time::{Duration, Instant};

use overlapsim::engine::Seeded;
use overlapsim::model::{Machine, Rule, Setup};
use overlapsim::record::Record;

pub fn whole(rule: &dyn Rule, setup: &Setup) -> Duration {
    let mut dropped: Option<Record> = None;
    let mut chooser = Seeded::new(0);
    let start = Instant::now();
    black_box(Machine::new(setup, rule, &mut chooser, &mut dropped).run().0);
    start.elapsed()
}
