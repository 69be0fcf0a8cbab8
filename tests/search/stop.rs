//! A search that is stopped: every thread stops in the middle of a block, and what comes after the search stops too.

use std::cell::Cell;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use overlapsim::engine::{Choice, ChoicePoint, Chooser, OpenPoints};
use overlapsim::history::{concrete, concrete_while};
use overlapsim::runner;
use overlapsim::scenario;
use overlapsim::search::{Bound, Order, Replay, SearchLimits, StepOutcome, System, explore};
use overlapsim::shrink;

use super::tools::Folder;

/// States without end. From each one `ways` ways lead on, the first `new` of them to states of their own.
struct Chain {
    ways: u64,
    new: u64,
    steps: AtomicU64,
}

impl System for Chain {
    type State = u64;
    type Kind = u64;
    type Scratch = ();

    fn start(&self) -> u64 {
        0
    }

    fn step(&self, state: u64, chooser: &mut impl Chooser) -> (u64, StepOutcome<u64>) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let way =
            chooser.choose(Choice { point: ChoicePoint::Arrival, subject: 0, options: self.ways as u32, default: 0 });
        let after = state * self.new + 1 + u64::from(way).min(self.new - 1);
        (after, StepOutcome { over: false, cut: None, found: Vec::new(), goals: 0 })
    }

    fn scratch(&self) {}

    fn fingerprint(&self, state: &u64, (): &mut ()) -> u128 {
        u128::from(*state) << 64 | u128::from(*state)
    }
}

#[test]
fn a_search_is_stopped_in_the_middle_of_a_block() {
    for order in [Order::Bfs, Order::Dfs] {
        // One way on, two, and very many: from few states or many.
        for (ways, new) in [(1, 1), (2, 2), (16_000, 1), (16_000, 2), (16_000, 8_000)] {
            for jobs in [1, 2, 5] {
                let chain = Chain { ways, new, steps: AtomicU64::new(0) };
                let steps = || chain.steps.load(Ordering::Relaxed);
                let limits = SearchLimits { states_max: 30_000, stop: &|_| steps() >= 500 };
                let explored = explore(&chain, &OpenPoints(vec![ChoicePoint::Arrival]), order, jobs, limits);
                assert_eq!(explored.bound, Some(Bound::Stopped), "{ways} ways, {new} new, {order:?}, {jobs} threads");
                assert!(steps() < 600, "{} steps, {ways} ways, {new} new, {order:?}, {jobs} threads", steps());
                // What was expanded by then is in the sum.
                assert_eq!(explored.transitions, steps());
                assert!(explored.unique <= steps() + 1);
            }
        }
    }
}

/// A fault within few turns, in runs that go on for very long after it.
const LONG: &str = r#"(
    engine: (release: V0_5_17, track_interval: 4, mamba_chunk: 4, kv_tokens: 33554432),
    requests: [
        (id: "a", prompt: Fresh(1), stop: Length(12)),
        (id: "b", prompt: Fresh(1), stop: Length(1)),
        (id: "c", prompt: Fresh(1), stop: Length(1)),
        (id: "d", prompt: Fresh(1), stop: Length(1)),
        (id: "z", prompt: Fresh(1), stop: Length(500000)),
    ],
    vary: (arrivals: true, stops: true),
)"#;

/// What a search finds there.
const CHOICES: &[u32] = &[1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1];

#[test]
fn what_comes_after_a_search_stops_in_the_middle_of_a_run() {
    let scenario = scenario::parse("x.ron", LONG, Path::new(""), &runner::rule_names()).expect("it is valid");
    let rule = runner::rule("mask-lookahead").expect("it exists");
    let open = scenario.vary.open();
    let asked = Cell::new(0_u32);
    let stop_after = |most: u32| {
        asked.set(0);
        let asked = &asked;
        move || {
            asked.set(asked.get() + 1);
            asked.get() > most
        }
    };
    let replay = || Replay::new(&open, CHOICES, None);
    let (judgement, whole) = runner::run_while(&scenario.setup, rule, &mut replay(), &mut |turns| turns < 12);
    assert!(!whole && judgement.turns <= 12);
    let kind = judgement.findings.first().expect("the fault is there by then").kind;
    let script = concrete_while(&scenario.setup, rule, &mut replay(), scenario::turns_max, &stop_after(100));
    assert!(script.is_none() && asked.get() == 101, "{} questions", asked.get());
    // A shorter setup, because the search for a script runs it to its end.
    let mut short = scenario.setup;
    short.requests[4].max_new = 500;
    let script = concrete(&short, rule, &mut replay(), scenario::turns_max).expect("a script repeats it");
    let tries = 20_000;
    let reduce = |most| {
        let stop = stop_after(most);
        shrink::shrink_while(script.clone(), rule, kind, &scenario::as_read, tries, &stop)
    };
    assert_eq!(reduce(100), script, "stopped before the end of its first run");
    let (some, least) = (reduce(5_000), reduce(u32::MAX));
    assert!(some != script && some != least, "stopped on the way");
    assert_eq!(least, shrink::shrink(script.clone(), rule, kind, &scenario::as_read, tries));
}

#[test]
fn the_command_ends_at_its_time_in_every_order_and_with_any_number_of_threads() {
    // One run of a million turns, with questions in every one of them; and the one above, whose findings are made small.
    let chain = r#"(requests: [(id: "a", prompt: Fresh(1), stop: Length(1000000))],
        engine: (kv_tokens: 33554432), vary: (stops: true, arrivals: true))"#;
    let folder = Folder::new("time");
    folder.write("chain.ron", chain);
    folder.write("long.ron", LONG);
    for file in ["chain.ron", "long.ron"] {
        for order in ["bfs", "dfs"] {
            for jobs in ["1", "2", "5"] {
                let mut command = Command::new(env!("CARGO_BIN_EXE_overlapsim"));
                command.args(["check", file, "--rule", "mask-lookahead", "--strategy", order, "--jobs", jobs]);
                command.args(["--max-time", "300ms", "--out", "found"]).current_dir(folder.path());
                let mut child = command.stdout(Stdio::null()).spawn().expect("the binary runs");
                // Far more than the limit, for a machine with other work; the whole would take minutes.
                let end = Instant::now() + Duration::from_secs(30);
                let code = loop {
                    match child.try_wait().expect("it can be waited for") {
                        Some(status) => break status.code(),
                        None if Instant::now() < end => thread::sleep(Duration::from_millis(10)),
                        None => {
                            child.kill().expect("it can be killed");
                            panic!("{file}, {order}, {jobs} threads: it does not end");
                        }
                    }
                };
                assert!(matches!(code, Some(1 | 3)), "{file}, {order}, {jobs} threads: {code:?}");
            }
        }
    }
}
