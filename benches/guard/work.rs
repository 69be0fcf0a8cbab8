//! What is measured: fixed work of the simulator, each in an amount that is asked for.

use std::hint::black_box;
use std::path::Path;

use overlapsim::command::{Answers, FailOnVerdict, Format, OutsidePaths, RunArgs, run_to_text};
use overlapsim::model::{Arrive, HostMasks, Prompt, RequestSpec, RowMasks, Setup, Stop, WantsMasks};
use overlapsim::record::{PreparedRow, ReqId};
use overlapsim::runner::{self, CheckSpec, FuzzSpec, Keep, SetupSource};
use overlapsim::scenario;
use overlapsim::search::{Order, SearchLimits, Style};
use overlapsim::workload::Preset;

use crate::{ROOT, decode};

/// One kind of work.
pub struct Work {
    /// What tables and pins call it.
    pub name: &'static str,
    /// Does it in an amount of its own unit.
    pub run: fn(u32),
    /// Amounts whose difference in instructions is counted, so that what comes before the work cancels out.
    pub counted: (u32, u32),
    /// The amount that is timed.
    pub timed: u32,
}

/// Everything that is measured.
pub const ALL: &[Work] = &[
    Work { name: "decode, batch 4", run: |steps| decode(4, steps), counted: (1000, 11_000), timed: 3000 },
    Work { name: "decode, batch 64", run: |steps| decode(64, steps), counted: (100, 1100), timed: 250 },
    Work { name: "decode, batch 512", run: |steps| decode(512, steps), counted: (10, 160), timed: 32 },
    Work { name: "jitter", run: jitter, counted: (100, 1600), timed: 800 },
    Work { name: "prefill", run: prefill, counted: (10, 210), timed: 400 },
    Work { name: "fuzz", run: fuzz, counted: (10, 310), timed: 120 },
    Work { name: "check", run: check, counted: (2, 7), timed: 8 },
    Work { name: "masks", run: masks, counted: (100, 10_100), timed: 3000 },
    Work { name: "run, within", run: runs, counted: (10, 110), timed: 50 },
];

fn judged(setup: &Setup) {
    let rule = runner::rule(runner::DEFAULT_RULE).expect("the default rule exists");
    black_box(runner::run(setup, rule, 0, Keep::default(), None).judgement.decode_results);
}

/// Requests that decode together: replay with the judge on.
fn decode(batch: u32, steps: u32) {
    judged(&decode::setup(batch, steps));
}

/// The same, with a prefill in every third turn: lookahead changes all the time.
fn jitter(steps: u32) {
    let mut setup = decode::setup(16, steps);
    setup.engine.max_running += 4;
    setup.engine.mamba_slots += 20;
    for nth in 0..steps / 3 {
        let prompt = Prompt::Fresh { fresh: 100_000 + nth, len: 1 };
        setup.names.push(format!("p{nth}"));
        setup.requests.push(request(3 + 3 * nth, prompt, 1));
    }
    judged(&setup);
}

/// Prompts of 1024 tokens, half of each that of the one before, into a cache that holds few of them.
fn prefill(requests: u32) {
    let mut setup = decode::setup(8, 16);
    (setup.engine.kv_tokens, setup.engine.mamba_slots) = (65_536, 100);
    for nth in 0..requests {
        let (req, fresh) = (ReqId(7 + nth), 1_000_000 + 1024 * nth);
        let prompt = match nth % 8 {
            0 => Prompt::Fresh { fresh, len: 1024 },
            _ => Prompt::Of { req, keep: Some(512), fresh, len: 512 },
        };
        setup.names.push(format!("p{nth}"));
        setup.requests.push(request(20 + nth, prompt, 2));
    }
    judged(&setup);
}

fn request(turn: u32, prompt: Prompt, max_new: u32) -> RequestSpec {
    RequestSpec { arrive: Arrive::Turn(turn), prompt, stop: Stop::Length, max_new, accept: Vec::new() }
}

/// Random timings of random scenarios.
fn fuzz(seeds: u32) {
    let rules = [runner::rule(runner::DEFAULT_RULE).expect("the default rule exists")];
    let seeds = (0, u64::from(seeds), 1);
    let fuzz = FuzzSpec {
        source: SetupSource::Preset(Preset::Small),
        rules: &rules,
        style: Style::Uniform,
        seeds,
        second_judge: false,
    };
    black_box(runner::fuzz(&fuzz, 1, &|_| ()));
}

/// Every timing of one request of so many outputs and three prefills of others.
fn check(outputs: u32) {
    let text = format!(
        r#"(
            engine: (track_interval: 4, mamba_chunk: 4),
            requests: [
                (id: "a", prompt: Fresh(1), stop: Length({outputs})),
                (id: "b", prompt: Fresh(1), stop: Length(1)),
                (id: "c", prompt: Fresh(1), stop: Length(1)),
                (id: "d", prompt: Fresh(1), stop: Length(1)),
            ],
            vary: (arrivals: true, stops: true),
        )"#
    );
    let scenario = scenario::parse("guard", &text, ".".as_ref(), &[]).expect("a valid scenario");
    let rule = runner::rule(runner::DEFAULT_RULE).expect("the default rule exists");
    let open = scenario.vary.open();
    let check = CheckSpec { setup: &scenario.setup, rule, open: &open, order: Order::Bfs, unreduced: false, jobs: 1 };
    let checked = runner::check(&check, SearchLimits { states_max: u64::MAX, stop: &|_| false });
    assert!(checked.is_complete());
}

/// The host masks of a batch of 512.
fn masks(steps: u32) {
    let mut lens: Vec<u32> = (0..512).map(|i| 1 + 37 * i % 256).collect();
    let host = HostMasks::new(WantsMasks::Masks, black_box(256), true);
    for _ in 0..steps {
        lens.iter_mut().for_each(|len| *len += 1);
        let row = |&k: &u32| host.row(&PreparedRow { k, ..PreparedRow::default() });
        black_box(black_box(&lens).iter().map(row).collect::<Vec<RowMasks>>());
    }
}

/// A small scenario read, run and rendered.
fn runs(times: u32) {
    let file = Path::new(ROOT).join("scenarios/double-fire.ron");
    let args = RunArgs {
        outside: OutsidePaths::default(),
        file,
        rule: None,
        seed: None,
        format: Format::Text,
        timeline: false,
        turns: None,
        skew: false,
        answers: Answers::default(),
        fail_on: FailOnVerdict::default(),
    };
    for _ in 0..times {
        black_box(run_to_text(&args).expect("the scenario can be read").0);
    }
}
