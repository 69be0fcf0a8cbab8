//! What the host masks cost and what they save: the step that processes a result, under rules that compute each row again and under rules
//! that read masks, and what is left of the saving once the masks are paid for. Arms take turns within one run.

use std::hint::black_box;
use std::time::{Duration, Instant};

use overlapsim::model::{RowMasks, Rule, Strategy, WantsMasks};
use overlapsim::rule::{CommittedLen, CompletedMask, MaskLookahead, Paired, TokenLen};
use overlapsim::runner;

use bookkeeping::Rows;
use turns::{median, turns};

#[path = "common/bookkeeping.rs"]
mod bookkeeping;
#[path = "common/decode.rs"]
mod decode;
#[path = "common/turns.rs"]
mod turns;
#[path = "common/whole.rs"]
mod whole;

/// A power of two or not.
const GRIDS: [u32; 3] = [4, 192, 256];
const COUNTS: [usize; 5] = [1, 10, 100, 1000, 10_000];

fn main() {
    println!("a result step with one step in flight: medians, ns a request; saving and net beside committed-len");
    for (strategy, lazy) in [("pair", false), ("lazy", true)] {
        for grid in GRIDS {
            COUNTS.iter().for_each(|&count| results(strategy, (count, grid, lazy)));
        }
    }
    println!("whole runs, facts dropped: ns an output token, time by that of committed-len");
    for strategy in [Strategy::ExtraBuffer, Strategy::ExtraBufferLazy] {
        for (grid, batch) in [(256, 100), (256, 1000), (256, 10_000), (192, 1000), (4, 1000)] {
            runs(strategy, grid, batch);
        }
    }
}

/// A rule and how it is called at a result.
struct Arm {
    name: &'static str,
    wants: WantsMasks,
    process: fn(&mut Rows, Option<&[RowMasks]>),
}

/// The call is known when it is compiled.
fn direct<R: Rule + Default>(rows: &mut Rows, masks: Option<&[RowMasks]>) {
    rows.process(&R::default(), masks);
}

/// The call goes through the trait, as the machine's does.
fn by_trait<R: Rule + Default>(rows: &mut Rows, masks: Option<&[RowMasks]>) {
    let rule = R::default();
    let rule: &dyn Rule = &rule;
    rows.process(black_box(rule), masks);
}

/// `paired` is asked at its own boundaries only, and says nothing elsewhere: what a mask can spare at most.
fn where_marked(rows: &mut Rows, masks: Option<&[RowMasks]>) {
    let masks = masks.expect("paired wants masks");
    for (i, &row) in masks.iter().enumerate() {
        rows.views[i].outputs += 1;
        if row.mask {
            rows.views[i].masks = Some(row);
            rows.decide(&Paired, i);
        }
    }
}

fn arm<R: Rule + Default>(process: fn(&mut Rows, Option<&[RowMasks]>)) -> Arm {
    let rule = R::default();
    Arm { name: rule.name(), wants: rule.wants_masks(), process }
}

/// Rows of several small batches or one great one: as many as a clock can tell.
const TIMED_ROWS: usize = 1000;
const PHASES: usize = 4;

/// One arm's batches, with the masks of the step in flight and of the live batch.
struct Bench {
    batches: Vec<(Rows, Vec<RowMasks>, Vec<RowMasks>)>,
}

impl Bench {
    /// One step of all batches: prepare without masks, masks, the copy of the queue, result. The rows are distinguished by
    /// phase, each timed over all batches.
    fn step(&mut self, arm: &Arm) -> [f64; PHASES] {
        let masked = arm.wants != WantsMasks::No;
        let begin = Instant::now();
        self.batches.iter_mut().for_each(|(rows, _, _)| rows.advance());
        let advanced = Instant::now();
        if masked {
            self.batches.iter_mut().for_each(|(rows, live, _)| rows.mask(arm.wants, live));
        }
        let built = Instant::now();
        for (rows, _, flying) in &mut self.batches {
            (arm.process)(rows, masked.then_some(&flying[..]));
        }
        let processed = Instant::now();
        if masked {
            self.batches.iter_mut().for_each(|(_, live, flying)| flying.clone_from(live));
        }
        let copied = Instant::now();
        let ns = |from: Instant, to: Instant| (to - from).as_nanos() as f64;
        [ns(begin, advanced), ns(advanced, built), ns(processed, copied), ns(built, processed)]
    }
}

fn results(strategy: &str, (count, grid, lazy): (usize, u32, bool)) {
    let arms = [
        arm::<CommittedLen>(by_trait::<CommittedLen>),
        arm::<TokenLen>(by_trait::<TokenLen>),
        arm::<MaskLookahead>(by_trait::<MaskLookahead>),
        arm::<CompletedMask>(by_trait::<CompletedMask>),
        arm::<Paired>(by_trait::<Paired>),
        Arm { name: "committed-len, direct", ..arm::<CommittedLen>(direct::<CommittedLen>) },
        Arm { name: "token-len, direct", ..arm::<TokenLen>(direct::<TokenLen>) },
        Arm { name: "mask-lookahead, direct", ..arm::<MaskLookahead>(direct::<MaskLookahead>) },
        Arm { name: "completed-mask, direct", ..arm::<CompletedMask>(direct::<CompletedMask>) },
        Arm { name: "paired, direct", ..arm::<Paired>(direct::<Paired>) },
        Arm { name: "paired, where marked", ..arm::<Paired>(where_marked) },
    ];
    let batches = (TIMED_ROWS / count).max(1);
    let rows = (batches * count) as f64;
    let bench = |arm: &Arm| {
        let batch = |_| {
            let mut rows = Rows::new(count, grid, lazy);
            rows.advance();
            let mut masks = Vec::new();
            if arm.wants != WantsMasks::No {
                rows.mask(arm.wants, &mut masks);
            }
            (rows, masks.clone(), masks)
        };
        Bench { batches: (0..batches).map(batch).collect() }
    };
    let mut benches: Vec<Bench> = arms.iter().map(bench).collect();
    let steps = 2 * (400_000 / rows as usize) + 1;
    let mut times = vec![vec![[0.0; PHASES]; arms.len()]; steps];
    for (nth, step) in times.iter_mut().enumerate() {
        for turn in 0..arms.len() {
            let at = (nth + turn) % arms.len();
            step[at] = benches[at].step(&arms[at]);
        }
    }
    black_box(&benches);
    let mid = |at: usize, phase: usize| median(times.iter().map(|step| step[at][phase] / rows).collect());
    println!("{strategy}, G {grid:>3}, {count:>5} requests; committed-len's batch: {:.0} ns", mid(0, 3) * count as f64);
    for (at, arm) in arms.iter().enumerate() {
        let plain = if arm.name.ends_with("direct") { 5 } else { 0 };
        let (build, copy, result) = (mid(at, 1), mid(at, 2), mid(at, 3));
        let saving = mid(plain, 3) - result;
        let net = saving - build - copy;
        print!("  {:<23} prepare {:.2}, masks {build:.2}, copy {copy:.2}, result {result:.2}", arm.name, mid(at, 0));
        println!("; ratio {:.3}, saving {saving:.2}, net {net:.2}", result / mid(plain, 3));
    }
}

fn runs(strategy: Strategy, grid: u32, batch: u32) {
    const NAMES: [&str; 5] = ["committed-len", "token-len", "mask-lookahead", "completed-mask", "paired"];
    let outputs = (131_072 / batch).max(24);
    let mut setup = decode::setup(batch, outputs);
    setup.engine.strategy = strategy;
    setup.engine.track_interval = grid;
    let time = |at: usize| -> Duration { whole::whole(runner::rule(NAMES[at]).expect("the rule exists"), &setup) };
    print!("{strategy:?}, G {grid:>3}, {batch:>5} requests:");
    for (name, turn) in NAMES.iter().zip(turns(9, NAMES.len(), (batch * outputs) as usize, time)) {
        print!("  {name} {:.1} ns, {:.3}", turn.best, turn.ratio);
    }
    println!();
}
