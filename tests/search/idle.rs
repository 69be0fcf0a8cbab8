//! Idle turns in which every request that may be seen is held back: the clock jumps to the next arrival, and no order of what happens is lost.

use std::collections::BTreeSet;

use overlapsim::engine::{Choice, ChoicePoint, Chooser, Time};
use overlapsim::model::{
    Arrive, Cost, Costs, Engine, Machine, Prompt, Release, RequestSpec, Setup, Stop, Strategy, Vary,
};
use overlapsim::record::{Fact, ForwardFact, Record, ReqId, RequestFact, RunFact};
use overlapsim::runner::{self, CheckSpec};
use overlapsim::scenario;
use overlapsim::search::{Bound, Order, SearchLimits};

use super::small::Dice;
use super::tools::{Folder, overlapsim, texts};

/// Turns after which requests that were held back are seen.
const HELD_MAX: u32 = 9;

/// Shows each request in a turn of its own, from its moment on. Where it says that arrivals are open, idle turns are passed over.
struct Shown<'a> {
    from: &'a [u32],
    turn: u32,
    passes: bool,
}

impl Chooser for Shown<'_> {
    fn choose(&mut self, choice: Choice) -> u32 {
        match choice.point {
            ChoicePoint::Turn => {
                self.turn += 1;
                choice.default
            }
            ChoicePoint::Arrival => u32::from(self.turn > self.from[choice.subject as usize]),
            _ => choice.default,
        }
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        point == ChoicePoint::Turn || point == ChoicePoint::Arrival && self.passes
    }

    fn duration_ns(&mut self, lo_ns: u64, _: u64) -> u64 {
        lo_ns
    }
}

/// What happens in the turns that are not idle: who is seen and what is launched.
fn happens(setup: &Setup, from: &[u32], passes: bool) -> Option<Vec<Vec<(u32, u32)>>> {
    let (mut record, mut chooser) = (Record::default(), Shown { from, turn: 0, passes });
    let rule = runner::rule("paired").expect("a rule");
    Machine::new(setup, rule, &mut chooser, &mut record).run();
    let mut turns: Vec<Vec<(u32, u32)>> = Vec::new();
    let mut done = false;
    for fact in record.facts() {
        match fact {
            Fact::Run(RunFact::Turn { .. }) => turns.push(Vec::new()),
            Fact::Request(RequestFact::Arrive { req, .. }) => turns.last_mut().expect("a turn").push((0, req.0)),
            Fact::Forward(ForwardFact::Launch { mode, rows, .. }) => {
                turns.last_mut().expect("a turn").push((1 + mode as u32, rows));
            }
            Fact::Request(RequestFact::Output { req, .. }) => turns.last_mut().expect("a turn").push((9, req.0)),
            Fact::Run(RunFact::Done { .. }) => done = true,
            _ => {}
        }
    }
    turns.retain(|turn| !turn.is_empty());
    done.then_some(turns)
}

/// All that can happen if each request may be held back for so many turns.
fn all(setup: &Setup, held_max: u32, passes: bool) -> BTreeSet<Vec<Vec<(u32, u32)>>> {
    let count = setup.requests.len();
    let mut from = vec![0; count];
    let mut all = BTreeSet::new();
    loop {
        all.extend(happens(setup, &from, passes));
        let Some(at) = (0..count).find(|&at| from[at] < held_max) else { return all };
        from[at] += 1;
        from[..at].fill(0);
    }
}

/// Three requests, at least one of which comes at a time, and turns that are long.
fn timed(seed: u64) -> Setup {
    let mut dice = Dice(seed);
    let mut engine = Engine::preset(Release::V0_5_17);
    (engine.strategy, engine.track_interval, engine.mamba_chunk) = (Strategy::ExtraBuffer, 4, 4);
    let turn_ns = if dice.one_in(4) { 0 } else { 1_000_000 };
    let short = Cost::Fixed(dice.of(&[100_000, 700_000]));
    let costs = Costs {
        ingest: Cost::Fixed(turn_ns / 2),
        plan: Cost::Fixed(turn_ns / 2),
        gpu_extend: short,
        gpu_decode: short,
        ..Costs::default()
    };
    let at = |dice: &mut Dice| Arrive::At(Time(u64::from(dice.between(1, 4)) * 900_000));
    let requests: Vec<RequestSpec> = (0..3)
        .map(|nth| {
            let arrive = match (nth, dice.below(4)) {
                (0, 0) | (2, _) => at(&mut dice),
                (1, 0) => Arrive::After(ReqId(0)),
                (1, 1) => Arrive::Before(ReqId(0), 3),
                (_, 2) => at(&mut dice),
                _ => Arrive::Turn(dice.of(&[0, 0, 2])),
            };
            let prompt = Prompt::Fresh { fresh: 1000 + 10 * nth, len: 1 + nth };
            RequestSpec { arrive, prompt, stop: Stop::Length, max_new: 1 + dice.below(3), accept: Vec::new() }
        })
        .collect();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    Setup { engine, state: None, costs, names, turns_max: 60, requests, events: Vec::new() }
}

/// A request that comes at the end of another one, while a third one runs: whether it stands before or behind a request that comes at a
/// time depends on when the others began.
fn follows() -> Setup {
    let mut setup = timed(1);
    let fixed = Cost::Fixed(500_000);
    (setup.costs.ingest, setup.costs.plan) = (fixed, fixed);
    let request = |nth: u32, arrive, max_new| {
        let prompt = Prompt::Fresh { fresh: 1000 + 10 * nth, len: 1 + nth };
        RequestSpec { arrive, prompt, stop: Stop::Length, max_new, accept: Vec::new() }
    };
    setup.requests = vec![
        request(0, Arrive::Turn(0), 1),
        request(1, Arrive::Turn(0), 4),
        request(2, Arrive::After(ReqId(0)), 1),
        request(3, Arrive::At(Time(10_000_000)), 1),
    ];
    setup.names = ["a", "b", "c", "d"].map(String::from).to_vec();
    setup
}

#[test]
fn passing_over_idle_turns_loses_no_order_of_things() {
    let mut orders = 0;
    let setups = (0..40).map(|seed| (seed, timed(seed), HELD_MAX));
    for (seed, setup, held_max) in setups.chain([(40, follows(), 11)]) {
        let one_by_one = all(&setup, held_max, false);
        let passed = all(&setup, held_max, true);
        let lost: Vec<_> = one_by_one.difference(&passed).collect();
        assert!(
            lost.is_empty(),
            "seed {seed}: {} of {} are lost: {:?}\n{setup:?}",
            lost.len(),
            one_by_one.len(),
            lost[0]
        );
        orders += one_by_one.len();
    }
    assert!(orders > 1_000, "{orders}");
}

const AT: &str = r#"(
    engine: (release: V0_5_17, strategy: ExtraBuffer, track_interval: 4),
    requests: [
        (id: "a", prompt: Fresh(5), arrive: Turn(0), stop: Length(6)),
        (id: "b", prompt: Fresh(5), arrive: At("20ms"), stop: Length(6)),
    ],
    vary: (arrivals: true),
)"#;

#[test]
fn a_wait_for_a_time_does_not_use_up_the_turns() {
    let free = AT.replace("vary:", "costs: (ingest: Fixed(0), plan: Fixed(0)),\n    vary:");
    let late = AT.replace("20ms", "3600s");
    let order = AT.replace("arrivals: true", "arrivals: true, order: true");
    for text in [AT, &free, &late, &order] {
        let scenario = scenario::parse("x.ron", text, ".".as_ref(), &[]).expect("a valid scenario");
        let rule = runner::rule("paired").expect("a rule");
        let open = Vary { arrivals: true, ..scenario.vary }.open();
        for unreduced in [false, true] {
            let check = CheckSpec { setup: &scenario.setup, rule, open: &open, order: Order::Bfs, unreduced, jobs: 1 };
            let checked = runner::check(&check, SearchLimits { states_max: 20_000, stop: &mut |_| false });
            assert_eq!(checked.explored.bound, None::<Bound>, "{text}");
        }
    }
}

/// Where the order hangs on how long requests are held back, the idle turns are taken one by one, and the bound on turns is named.
const ONE_BY_ONE: &str = r#"Scenario(
    engine: (release: V0_5_17, strategy: ExtraBuffer, track_interval: 4),
    requests: [
        (id: "a", prompt: Fresh(5), arrive: Turn(0), stop: Length(6)),
        (id: "b", prompt: Fresh(5), arrive: At("20ms"), stop: Length(6)),
        (id: "c", prompt: Fresh(5), arrive: After("a"), stop: Length(6)),
    ],
    vary: (arrivals: true),
)"#;

#[test]
fn a_bound_is_named_with_the_request_and_the_remedy() {
    let folder = Folder::new("bounds");
    folder.write("x.ron", ONE_BY_ONE);
    let said = |args: &[&str]| {
        let (text, error) = texts(&overlapsim(folder.path(), args));
        assert!(error.is_empty(), "{error}");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let remedy = "request b arrives at 20 ms: 286 idle turns exceed turns_max (184). Open `order` too, use After/Turn, or turns_max: 500";
    let text = said(&["check", "x.ron", "--rule", "paired"]);
    assert!(text.contains("complete no: ended by a bound within ") && text.contains(remedy), "{text}");
    let text = said(&["run", "x.ron", "--rule", "paired", "--choices", "0x184"]);
    assert!(text.contains(&format!("warning: {remedy}")), "{text}");
    // The remedies are ones.
    folder.write("x.ron", &ONE_BY_ONE.replace("vary:", "turns_max: 500,\n    vary:"));
    assert!(said(&["check", "x.ron", "--rule", "paired"]).contains("complete yes"));
    folder.write("x.ron", &ONE_BY_ONE.replace("arrivals: true", "arrivals: true, order: true"));
    assert!(said(&["check", "x.ron", "--rule", "paired"]).contains("complete yes"));
    // A run that is cut short while it serves a request.
    let short = AT.replace("vary:", "turns_max: 5,\n    vary:");
    folder.write("x.ron", &short);
    let text = said(&["fuzz", "x.ron", "--rule", "paired", "--seeds", "0..20", "--strategy", "uniform"]);
    let names = text.contains(" outputs of at most 6: turns_max (5) ended the run before. Use turns_max: 200");
    assert!(names && text.contains("bound ended ") && text.contains("first seed "), "{text}");
    folder.write(
        "x.ron",
        &short.replace("vary: (arrivals: true)", "expect: [(rule: \"paired\", verdict: Inconclusive)]"),
    );
    let text = said(&["test", "x.ron"]);
    assert!(text.contains("request a has 4 outputs of at most 6: turns_max (5) ended the run before."), "{text}");
}
