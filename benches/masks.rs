//! What the host masks cost and what they save. First the pass that fills them, beside a loop that divides row by row and
//! beside a set of bits. Then the step that processes a result: rules that compute each row again beside rules that read
//! masks, and what is left of the saving once the masks are paid for. Arms take turns within one run.

use std::hint::black_box;
use std::time::{Duration, Instant};

use overlapsim::model::{HostMasks, Rule, Strategy, WantsMasks, mark, mark_both};
use overlapsim::rule::{CommittedLen, CompletedMask, MaskLookahead, Paired, TokenLen};
use overlapsim::runner;

use bookkeeping::Rows;
use turns::{median, turns};

#[path = "common/bookkeeping.rs"]
mod bookkeeping;
#[path = "common/cycle.rs"]
mod cycle;
#[path = "common/decode.rs"]
mod decode;
#[path = "common/turns.rs"]
mod turns;
#[path = "common/whole.rs"]
mod whole;

const ROUNDS: usize = 25;
/// A power of two or not.
const GRIDS: [u32; 3] = [4, 192, 256];
const COUNTS: [usize; 5] = [1, 10, 100, 1000, 10_000];

fn main() {
    let cycle = cycle::cycle_ns();
    println!("a cycle: {cycle:.3} ns, by additions that wait for each other");
    println!("filling both masks: ns a row, bytes a cycle (4 in, 2 out; bits 1/4 out), time by that of `branches`");
    for grid in GRIDS {
        COUNTS.iter().for_each(|&count| fill(grid, count, cycle));
    }
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

/// A row at a time, one division and two branches each, kept from being done in vectors.
fn branches(lens: &[u32], grid: u32, mask: &mut [u8], next: &mut [u8]) {
    for ((mask, next), len) in mask.iter_mut().zip(next).zip(lens) {
        let rest = black_box(len % grid);
        *mask = if rest == 0 { 1 } else { 0 };
        *next = if rest == grid - 1 { 1 } else { 0 };
    }
}

/// The same without branches, left to the compiler.
fn remainders(lens: &[u32], grid: u32, mask: &mut [u8], next: &mut [u8]) {
    for ((mask, next), len) in mask.iter_mut().zip(next).zip(lens) {
        let rest = len % grid;
        (*mask, *next) = (u8::from(rest == 0), u8::from(rest == grid - 1));
    }
}

/// A bit a row, packed from bytes.
fn bits(lens: &[u32], grid: u32, mask: &mut [u64], next: &mut [u64]) {
    for ((mask, next), lens) in mask.iter_mut().zip(next).zip(lens.chunks(64)) {
        let (mut own, mut ahead) = ([0; 64], [0; 64]);
        mark_both(lens, grid, &mut own[..lens.len()], &mut ahead[..lens.len()]);
        (*mask, *next) = (packed(&own), packed(&ahead));
    }
}

fn packed(bytes: &[u8; 64]) -> u64 {
    let (eights, _) = bytes.as_chunks::<8>();
    let byte = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    eights.iter().rev().fold(0, |word, eight| word << 8 | byte(eight))
}

fn fill(grid: u32, count: usize, cycle: f64) {
    let grid = black_box(grid);
    let lens: Vec<u32> = (0..count as u32).map(|i| 1 + 37 * i % (5 * grid)).collect();
    let (mut mask, mut next) = (vec![0; count], vec![0; count]);
    let (mut word, mut word_next) = (vec![0; count.div_ceil(64)], vec![0; count.div_ceil(64)]);
    let mut masks = HostMasks::default();
    let mut sum = 0_u64;
    let steps = 400_000 / count;
    const NAMES: [&str; 9] =
        ["branches", "remainders", "both", "own", "bits", "build_into", "build", "read", "read bits"];
    let timed = turns(ROUNDS, NAMES.len(), steps * count, |at| {
        let start = Instant::now();
        for _ in 0..steps {
            let lens = black_box(&lens[..]);
            match at {
                0 => branches(lens, grid, black_box(&mut mask), black_box(&mut next)),
                1 => remainders(lens, grid, black_box(&mut mask), black_box(&mut next)),
                2 => mark_both(lens, grid, black_box(&mut mask), black_box(&mut next)),
                3 => mark(lens, grid, black_box(&mut mask)),
                4 => bits(lens, grid, black_box(&mut word), black_box(&mut word_next)),
                5 => black_box(&mut masks).build_into(WantsMasks::Masks, lens, grid, true, lens, []),
                6 => _ = black_box(HostMasks::build(WantsMasks::Masks, lens, grid, true, lens, &[])),
                7 => (0..count).for_each(|i| sum += u64::from(black_box(mask[i]) | black_box(next[i]))),
                _ => (0..count).for_each(|i| {
                    sum += black_box(word[i / 64] >> (i % 64) & 1) | black_box(word_next[i / 64] >> (i % 64) & 1);
                }),
            }
        }
        black_box(sum);
        start.elapsed()
    });
    print!("G {grid:>3}, {count:>5} rows:");
    for (name, turn) in NAMES.iter().zip(timed) {
        let bytes = match *name {
            "branches" | "remainders" | "both" => 6.0,
            "own" => 5.0,
            "bits" => 4.25,
            _ => {
                print!("  {name} {:.2} ns", turn.best);
                continue;
            }
        };
        print!("  {name} {:.2} ns {:.1} B/c {:.3}", turn.best, bytes / turn.best * cycle, turn.ratio);
    }
    println!();
}

/// A rule and how it is called at a result.
struct Arm {
    name: &'static str,
    wants: WantsMasks,
    process: fn(&mut Rows, Option<&HostMasks>),
}

/// The call is known when it is compiled.
fn direct<R: Rule + Default>(rows: &mut Rows, masks: Option<&HostMasks>) {
    rows.process(&R::default(), masks);
}

/// The call goes through the trait, as the machine's does.
fn by_trait<R: Rule + Default>(rows: &mut Rows, masks: Option<&HostMasks>) {
    let rule = R::default();
    let rule: &dyn Rule = &rule;
    rows.process(black_box(rule), masks);
}

/// `paired` is asked at its own boundaries only, and says nothing elsewhere: what a mask can spare at most.
fn where_marked(rows: &mut Rows, masks: Option<&HostMasks>) {
    let masks = masks.expect("paired wants masks");
    for i in 0..rows.views.len() {
        rows.views[i].outputs += 1;
        let row = masks.row(i);
        if row.mask {
            rows.views[i].masks = Some(row);
            rows.decide(&Paired, i);
        }
    }
}

fn arm<R: Rule + Default>(process: fn(&mut Rows, Option<&HostMasks>)) -> Arm {
    let rule = R::default();
    Arm { name: rule.name(), wants: rule.wants_masks(), process }
}

/// Rows of several small batches or one great one: as many as a clock can tell.
const TIMED_ROWS: usize = 1000;
const PHASES: usize = 4;

/// One arm's batches, with the masks of the step in flight and of the live batch.
struct Bench {
    batches: Vec<(Rows, HostMasks, HostMasks)>,
}

impl Bench {
    /// One step of all batches: prepare without masks, masks, the copy of the queue, result. The rows are told apart by
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
            (arm.process)(rows, masked.then_some(&*flying));
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
            let mut masks = HostMasks::default();
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
