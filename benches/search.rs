//! How fast the searches are: the bars are figures of one core, and the ratio of two jobs to one, in one run.

use std::hint::black_box;
use std::time::{Duration, Instant};

use overlapsim::engine::ChoicePoint;
use overlapsim::runner::{self, CheckSpec, Checked, FuzzSpec, FuzzTally, SetupSource};
use overlapsim::scenario::{self, Scenario};
use overlapsim::search::{Order, SearchLimits, Style};

#[path = "common/conversation.rs"]
mod conversation;

const ROUNDS: usize = 2;
/// Unique states of the case of 24 outputs when it was pinned: most of them differed in what can never matter.
const PINNED: f64 = 1_024_177.0;

fn read(text: &str) -> Scenario {
    scenario::parse("bench", text, ".".as_ref(), &runner::rule_names()).expect("a valid scenario")
}

/// One request, and three prefills at any turn.
const INTERLEAVED: &str = include_str!("../scenarios/check/interleaved.ron");

/// Four requests of 20 outputs each, seen in any turn.
const FOUR: &str = r#"(
    engine: (track_interval: 4, mamba_chunk: 4),
    requests: [
        (id: "a", prompt: Fresh(1), stop: Length(20)),
        (id: "b", prompt: Fresh(3), stop: Length(20)),
        (id: "c", prompt: Fresh(5), stop: Length(20)),
        (id: "d", prompt: Fresh(8), stop: Length(20)),
    ],
    vary: (arrivals: true),
)"#;

fn search(scenario: &Scenario, rule: &str, order: Order, jobs: usize) -> (Checked, Duration) {
    let open = scenario.vary.open();
    let rule = runner::rule(rule).expect("a rule");
    let check = CheckSpec { setup: &scenario.setup, rule, open: &open, order, unreduced: false, jobs };
    let start = Instant::now();
    let checked = runner::check(&check, SearchLimits { states_max: u64::MAX, stop: &|_| false });
    (checked, start.elapsed())
}

/// One request and three prefills under every rule: most states are reached in many ways.
fn small(jobs: usize) -> Duration {
    let interleaved = read(INTERLEAVED);
    let each = |rule: &str| {
        let (checked, time) = search(&interleaved, rule, Order::Bfs, jobs);
        assert!(checked.is_complete());
        time
    };
    runner::rule_names().into_iter().map(each).sum()
}

/// So many random runs of the four requests.
fn random(runs: u64, jobs: usize) -> (Vec<FuzzTally>, Duration) {
    let four = read(FOUR);
    let rules = [runner::rule(runner::DEFAULT_RULE).expect("the default rule exists")];
    let style = Style::Weighted(&[(ChoicePoint::Arrival, 150)]);
    let fuzz = FuzzSpec {
        source: SetupSource::Setup(&four.setup, four.vary),
        rules: &rules,
        style,
        seeds: (0, runs, 1),
        second_judge: false,
    };
    let start = Instant::now();
    (black_box(runner::fuzz(&fuzz, jobs, &|_| ())), start.elapsed())
}

/// The best of several rounds.
fn best<T>(mut round: impl FnMut() -> (T, Duration)) -> (T, Duration) {
    let mut rounds: Vec<(T, Duration)> = (0..ROUNDS).map(|_| round()).collect();
    rounds.sort_by_key(|(_, time)| *time);
    rounds.swap_remove(0)
}

fn main() {
    // `cargo bench --bench search -- one 24`: the pinned case alone, on one job (`jobs 2`: on two; `bfs`: in that order), to be looked at
    // by a profiler; with a smaller number of outputs, by a slow one.
    // `-- runs 1000`: so many random runs alone, on one job; `-- small 9`: nine times the case with many ways to a state.
    let number = |name: &str| std::env::args().skip_while(|word| word != name).nth(1)?.parse().ok();
    let jobs = number("jobs").unwrap_or(1) as usize;
    let order = if std::env::args().any(|word| word == "bfs") { Order::Bfs } else { Order::Dfs };
    if let Some(outputs) = number("one") {
        let (checked, time) = search(&conversation::scenario(4, outputs), "mask-lookahead", order, jobs);
        let unique = checked.explored.unique;
        return println!("{unique} unique states, {:.0} a second", unique as f64 / time.as_secs_f64());
    }
    if let Some(runs) = number("runs") {
        let time = random(runs.into(), 1).1.as_secs_f64();
        return println!("{:.0} random runs a second", f64::from(runs) / time);
    }
    if let Some(rounds) = number("small") {
        let time: Duration = (0..rounds).map(|_| small(1)).sum();
        return println!("one request, three prefills, one job: {:?}", time / rounds);
    }
    let all = small(2);
    println!("one request, three prefills, {} rules, two jobs: {all:?}", runner::rule_names().len());

    let pinned = conversation::scenario(4, 24);
    let (checked, time) = best(|| search(&pinned, "mask-lookahead", Order::Dfs, 1));
    let (unique, seconds) = (checked.explored.unique, time.as_secs_f64());
    println!(
        "dfs, up to 24 outputs, one job: {seconds:.3} s for {unique} unique states; of the {PINNED} that the case was pinned with: {:.0} a second",
        PINNED / seconds
    );

    let large = conversation::scenario(4, 33);
    for order in [Order::Dfs, Order::Bfs] {
        let one = best(|| search(&large, "mask-lookahead", order, 1));
        let two = best(|| search(&large, "mask-lookahead", order, 2));
        assert!(one.0.is_complete() && one.0.explored == two.0.explored);
        let (unique, transitions) = (one.0.explored.unique, one.0.explored.transitions);
        let (one, two) = (one.1.as_secs_f64(), two.1.as_secs_f64());
        println!(
            "{order:?}, up to 33 outputs: {unique} unique states, {transitions} transitions; one job {one:.2} s, {:.0} unique states/s; \
             two jobs {two:.2} s, ratio {:.3}",
            unique as f64 / one,
            two / one
        );
    }

    let runs = 20_000;
    let (one, two) = (best(|| random(runs, 1)), best(|| random(runs, 2)));
    assert!(one.0 == two.0);
    let (one, two) = (one.1.as_secs_f64(), two.1.as_secs_f64());
    println!("fuzz: {:.0} runs/s on one core; two jobs, ratio {:.3}", runs as f64 / one, two / one);
}
