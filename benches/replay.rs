//! Replay speed with the judge on, one rule, one core: output tokens a second at several batch sizes with and without lookahead
//! jitter, whether time is linear in tokens, and whole public traces where they are at hand. A bare binary heap, timed in the
//! same run, is the yardstick: what is stated is how many of its events one output token takes.

use std::collections::BinaryHeap;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use overlapsim::model::Setup;
use overlapsim::runner::{self, Keep};
use overlapsim::scenario;

#[path = "common/decode.rs"]
mod decode;

/// Output tokens of a run.
const TOKENS: u32 = 1 << 18;
/// The first argument of a bench that makes one run.
const ALONE: &str = "alone";
/// Rounds of which the best counts, where ratios are printed.
const ROUNDS: usize = 5;

fn judged(setup: &Setup) -> u64 {
    let rule = runner::rule(runner::DEFAULT_RULE).expect("the default rule exists");
    black_box(runner::run(setup, rule, 0, Keep::default(), None).timing.output_tokens)
}

/// Events that go through a heap of 64 pending ones: a time taken out, another put in.
fn heap(events: u64) -> u64 {
    let mut heap: BinaryHeap<u64> = (0..64).collect();
    let mut draw = 1u64;
    for _ in 0..events {
        let at = heap.pop().expect("there are pending events");
        draw = draw.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        heap.push(at.wrapping_sub(draw >> 54));
    }
    black_box(heap.len() as u64)
}

fn timed(work: impl FnOnce() -> u64) -> (u64, Duration) {
    let start = Instant::now();
    let count = work();
    (count, start.elapsed())
}

/// Nanoseconds an item, the best of several rounds.
fn best(rounds: usize, mut work: impl FnMut() -> u64) -> f64 {
    let each = (0..rounds).map(|_| timed(&mut work)).map(|(count, time)| time.as_nanos() as f64 / count as f64);
    each.fold(f64::INFINITY, f64::min)
}

fn setups() -> Vec<(String, u32, Setup)> {
    let mut setups = Vec::new();
    for batch in [1, 4, 8, 64, 512] {
        setups.push((format!("batch {batch}"), batch, decode::setup(batch, TOKENS / batch)));
    }
    for batch in [1, 4, 8, 64, 512] {
        setups.push((format!("batch {batch}, jitter"), batch, decode::jittered(batch, TOKENS / batch)));
    }
    setups
}

/// Ratios of one run: all workloads turn about, beside the heap.
fn ratios(_: &mut Criterion) {
    let events = 1 << 20;
    let yard = best(ROUNDS, || {
        heap(events);
        events
    });
    println!("a bare heap: {:.1} M events/s", 1e3 / yard);
    for (what, batch, setup) in setups() {
        let token = best(ROUNDS, || judged(&setup));
        println!(
            "{what}: {:.1} M output tokens/s, {:.2} M loop turns/s; an output token takes {:.2} events of the heap",
            1e3 / token,
            1e3 / (token * f64::from(batch)),
            token / yard
        );
    }
    linear("as many requests, 64 at first", |times| decode::waves(64, times, 1024));
    linear("as many requests, 640 at first", |times| decode::waves(64, 10 * times, 1024));
    linear("as long outputs", |times| decode::setup(64, 1024 * times));
    linear_alone();
}

/// The same as outputs get longer, each run in a process of its own: there no run has the memory of one before, whatever its size.
fn linear_alone() {
    let program = std::env::current_exe().expect("a bench knows where it is");
    let alone = |times: u32| {
        let run = || {
            let output =
                Command::new(&program).args([ALONE, &times.to_string()]).output().expect("a bench can run itself");
            String::from_utf8_lossy(&output.stdout).trim().parse::<f64>().expect("it prints a number")
        };
        (0..ROUNDS).map(|_| run()).fold(f64::INFINITY, f64::min)
    };
    let token = [1, 10, 100].map(alone);
    println!(
        "linear in tokens, as long outputs, a process each: an output token takes {:.3} at x10 and {:.3} at x100 of what it takes at x1",
        token[1] / token[0],
        token[2] / token[0]
    );
}

/// Prints the nanoseconds an output token takes in the first run with outputs of this length, but for one that brings the code into
/// memory.
fn alone(times: u32) {
    judged(&decode::setup(64, 64));
    let setup = decode::setup(64, 1024 * times);
    println!("{}", best(1, || judged(&setup)));
}

/// Whether time is linear in tokens: more requests of 1024 outputs, 64 at a time, or longer outputs of 64 requests. While the first 64
/// requests run, nothing is evicted, and all that they have fits into a cache.
fn linear(what: &str, setup: impl Fn(u32) -> Setup) {
    let token = [1, 10, 100].map(|times| {
        let setup = setup(times);
        best(if times == 100 { 2 } else { ROUNDS }, || judged(&setup))
    });
    println!(
        "linear in tokens, {what}: an output token takes {:.3} at x10 and {:.3} at x100 of what it takes at x1",
        token[1] / token[0],
        token[2] / token[0]
    );
}

fn batches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("replay");
    group.sample_size(20);
    group.throughput(Throughput::Elements(TOKENS.into()));
    for (what, _, setup) in setups() {
        group.bench_function(BenchmarkId::from_parameter(what), |bencher| bencher.iter(|| judged(&setup)));
    }
    group.finish();
}

/// A whole public trace, if it is at hand.
fn trace(criterion: &mut Criterion, name: &str, path: &str, text: &str, tokens: u64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(path);
    if !path.exists() {
        eprintln!("skipped: the whole trace is not at hand ({})", path.display());
        return;
    }
    let scenario = scenario::parse(name, text, path.parent().expect("a directory"), &runner::rule_names())
        .expect("the trace can be read");
    let mut group = criterion.benchmark_group("trace");
    group.sample_size(10);
    group.throughput(Throughput::Elements(tokens));
    group.bench_function(name, |bencher| bencher.iter(|| judged(&scenario.setup)));
    group.finish();
}

fn traces(criterion: &mut Criterion) {
    let path = "azure-llm-2023-conv.csv";
    trace(criterion, "azure-conversation", path, &format!("(trace: (format: AzureCsv, path: \"{path}\"))"), 4_088_665);
    let path = "mooncake-conversation.jsonl";
    let engine = "engine: (page_size: 64, kv_tokens: 4194304, mamba_slots: 4000)";
    let text = format!("({engine}, trace: (format: MooncakeJsonl, path: \"{path}\"))");
    trace(criterion, "mooncake-conversation", path, &text, 4_122_048);
}

criterion_group!(benches, ratios, batches, traces);

fn main() {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some(ALONE) {
        return alone(args.next().and_then(|times| times.parse().ok()).expect("how many times as long"));
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
}
