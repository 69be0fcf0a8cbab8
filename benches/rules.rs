//! What a rule's bookkeeping costs a request a step, beside `mask-lookahead`: first prepare (host masks, the slot that a
//! boundary writes) and result processing alone, with one step in flight, then whole runs with facts dropped. All
//! rules turn about in one run; prints the best times, and their ratio to the first.

use std::hint::black_box;
use std::time::{Duration, Instant};

use overlapsim::engine::Seeded;
use overlapsim::model::{HostMasks, Machine, RowView, Rule, Setup, Strategy, WantsMasks};
use overlapsim::record::Record;
use overlapsim::runner;

#[path = "common/decode.rs"]
mod decode;

const ROUNDS: usize = 25;
/// The first one is what the others are compared with.
const ALL: [&str; 3] = ["mask-lookahead", "completed-mask", "paired"];
const TWO: [&str; 2] = ["mask-lookahead", "paired"];

/// The bookkeeping fields of the rows of one batch, an array a field where prepare reads them in one pass.
struct Rows {
    grid: u32,
    views: Vec<RowView>,
    seq_lens: Vec<u32>,
    decode_batch_idx: Vec<u32>,
    labels: Vec<Option<u32>>,
}

impl Rows {
    fn new(count: usize, grid: u32, lazy: bool) -> Rows {
        let view = |i: usize| RowView {
            grid,
            lazy,
            track_slots: 2,
            prompt_len: 1 + 37 * i as u32 % grid,
            outputs: 1,
            finished: false,
            kv_committed_len: 1 + 37 * i as u32 % grid,
            decode_batch_idx: 0,
            next_track_idx: 0,
            last_track_idx: u8::from(!lazy),
            held: [true, !lazy],
            untracked_ahead: false,
            masks: None,
        };
        let views: Vec<RowView> = (0..count).map(view).collect();
        let seq_lens = views.iter().map(|view| view.prompt_len).collect();
        Rows { grid, views, seq_lens, decode_batch_idx: vec![0; count], labels: vec![None; count] }
    }

    /// Prepares a decode step: counters, the slot of boundaries, the masks that the rule wants.
    fn prepare(&mut self, wants: WantsMasks) -> HostMasks {
        for ((view, len), idx) in self.views.iter_mut().zip(&mut self.seq_lens).zip(&mut self.decode_batch_idx) {
            *len += 1;
            *idx += 1;
            (view.kv_committed_len, view.decode_batch_idx) = (*len, *idx);
            if view.lazy && len.is_multiple_of(self.grid) && !view.held[usize::from(1 - view.next_track_idx)] {
                view.next_track_idx = 1 - view.next_track_idx;
                view.held[usize::from(view.next_track_idx)] = true;
            }
        }
        let track_idx: Vec<u8> = match wants {
            WantsMasks::MasksAndTrackIdx => self.views.iter().map(|view| view.next_track_idx).collect(),
            WantsMasks::No | WantsMasks::Own | WantsMasks::Masks => Vec::new(),
        };
        HostMasks::build(wants, &self.seq_lens, self.grid, true, &self.decode_batch_idx, &track_idx)
    }

    /// Processes a result: the rule is asked, and what it says is done.
    fn process(&mut self, rule: &dyn Rule, masks: &HostMasks) {
        for (i, view) in self.views.iter_mut().enumerate() {
            view.outputs += 1;
            view.masks = Some(masks.row(i));
            let action = rule.on_result(view).expect("a rule asserts nothing on a steady batch");
            if let Some((label, idx)) = action.record {
                self.labels[i] = Some(label);
                view.last_track_idx = idx.unwrap_or(view.last_track_idx);
            }
            if let Some(next) = action.next_track_idx {
                view.next_track_idx = next;
            }
            if let Some(idx) = action.release_idx {
                view.held[usize::from(idx)] = false;
            }
        }
    }
}

/// Runs `steps` steps, each prepared before the result of the one before is processed.
fn bookkeeping(rule: &dyn Rule, (count, grid, lazy): (usize, u32, bool), steps: usize) -> Duration {
    let mut rows = Rows::new(count, grid, lazy);
    let start = Instant::now();
    let mut flying = rows.prepare(rule.wants_masks());
    for _ in 0..steps {
        let next = rows.prepare(rule.wants_masks());
        rows.process(rule, &flying);
        flying = next;
    }
    let took = start.elapsed();
    black_box((rows.labels, flying));
    took
}

fn whole(rule: &dyn Rule, setup: &Setup) -> Duration {
    let mut dropped: Option<Record> = None;
    let mut chooser = Seeded::new(0);
    let start = Instant::now();
    black_box(Machine::new(setup, rule, &mut chooser, &mut dropped).run().0);
    start.elapsed()
}

/// Times the rules turn about, each round beginning with the next one, and prints a line: the best times, and the median
/// of the ratios to the first rule within a round, which what else the computer does disturbs least.
fn compare(what: &str, per: usize, rules: &[&str], time: impl Fn(&dyn Rule) -> Duration) {
    let mut rounds = vec![vec![0.0; rules.len()]; ROUNDS];
    for (nth, round) in rounds.iter_mut().enumerate() {
        for turn in 0..rules.len() {
            let at = (nth + turn) % rules.len();
            let rule = runner::rule(rules[at]).expect("the rule exists");
            round[at] = time(rule).as_nanos() as f64 / per as f64;
        }
    }
    print!("{what}:");
    for (at, name) in rules.iter().enumerate() {
        let best = rounds.iter().map(|round| round[at]).fold(f64::INFINITY, f64::min);
        let mut ratios: Vec<f64> = rounds.iter().map(|round| round[at] / round[0]).collect();
        ratios.sort_by(f64::total_cmp);
        print!("  {name} {best:.2} ns, {:.3}", ratios[ROUNDS / 2]);
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
                    whole(rule, &setup)
                });
            }
        }
    }
}
