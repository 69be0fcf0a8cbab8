//! The planted wrong rules: both searches find each of them, and what they find becomes small.

use overlapsim::engine::{ChoicePoint, OpenPoints};
use overlapsim::history::concrete;
use overlapsim::judge::FindingKind;
use overlapsim::model::{Rule, Setup, Vary};
use overlapsim::runner::{self, CheckSpec, FuzzSpec, SetupSource, drawn};
use overlapsim::scenario;
use overlapsim::search::{Order, RandomChooser, Replay, SearchLimits, Style};
use overlapsim::shrink;

use crate::common::planted::{RIGHT, RIGHT_LAZY, WRONG, WRONG_LAZY};

const TRIES_MAX: usize = 100_000;
const JITTER: Style = Style::Weighted(&[(ChoicePoint::Arrival, 150), (ChoicePoint::Stop, 60)]);

fn setup(strategy: &str) -> (Setup, Vary) {
    let text = format!(
        r#"(
            engine: (release: V0_5_17, strategy: {strategy}, track_interval: 4, mamba_chunk: 4),
            requests: [
                (id: "a", prompt: Fresh(1), stop: Length(9)),
                (id: "b", prompt: Fresh(3), stop: Length(6)),
                (id: "c", prompt: Fresh(1), stop: Length(1)),
                (id: "d", prompt: Fresh(1), stop: Length(1)),
                (id: "e", prompt: Fresh(1), stop: Length(1)),
            ],
            vary: (arrivals: true, stops: true),
        )"#
    );
    let scenario = scenario::parse("x.ron", &text, ".".as_ref(), &[]).expect("a valid scenario");
    (scenario.setup, scenario.vary)
}

/// The kinds that the exhaustive search finds, each with the choices that lead there.
fn check(setup: &Setup, rule: &dyn Rule, open: &OpenPoints) -> Vec<(FindingKind, Vec<u32>)> {
    let check = CheckSpec { setup, rule, open, order: Order::Bfs, unreduced: false, jobs: 2 };
    let checked = runner::check(&check, SearchLimits { states_max: 100_000, stop: &|_| false });
    assert!(checked.is_complete());
    checked.findings.into_iter().map(|found| (found.finding.kind, found.path.answers)).collect()
}

/// The kinds that random runs find, each with the first seed.
fn fuzz(setup: &Setup, vary: Vary, rule: &'static dyn Rule) -> Vec<(FindingKind, u64)> {
    let rules = [rule];
    let fuzz = FuzzSpec {
        source: SetupSource::Setup(setup, vary),
        rules: &rules,
        style: JITTER,
        seeds: (0, 200, 1),
        second_judge: false,
    };
    let tally = runner::fuzz(&fuzz, 2, &|_| ()).remove(0);
    tally.kinds.into_iter().map(|(kind, times)| (kind, times.seed)).collect()
}

fn becomes_small(script: Option<Setup>, rule: &dyn Rule, kind: FindingKind) {
    let script = script.and_then(|script| scenario::as_read(&script)).expect("a history can be written as a script");
    let small = shrink::shrink(script, rule, kind, &scenario::as_read, TRIES_MAX);
    assert!(small.requests.len() <= 3, "{}: {kind:?}", rule.name());
    let judgement = runner::run(&small, rule, 0, runner::Keep::default(), None).judgement;
    assert!(judgement.findings.iter().any(|finding| finding.kind == kind), "{}: {kind:?}", rule.name());
}

fn find(setup: &Setup, vary: Vary, rule: &'static dyn Rule, kinds: &[FindingKind]) {
    let open = vary.open();
    let wanted = |kind: FindingKind| kinds.contains(&kind);
    let searched = check(setup, rule, &open);
    let (kind, answers) = searched.iter().find(|(kind, _)| wanted(*kind)).expect("check finds it");
    becomes_small(concrete(setup, rule, &mut Replay::new(&open, answers, None), scenario::turns_max), rule, *kind);
    let random = fuzz(setup, vary, rule);
    assert!(random.iter().all(|(kind, _)| searched.iter().any(|(found, _)| found == kind)), "{}", rule.name());
    let (kind, seed) = *random.iter().find(|(kind, _)| wanted(*kind)).expect("fuzz finds it");
    let (drawn, open) = drawn(SetupSource::Setup(setup, vary), seed);
    becomes_small(
        concrete(&drawn, rule, &mut RandomChooser::new(&open, JITTER, seed), scenario::turns_max),
        rule,
        kind,
    );
}

#[test]
fn both_searches_find_every_wrong_rule() {
    let (setup, vary) = setup("ExtraBuffer");
    assert!(check(&setup, &RIGHT, &vary.open()).is_empty());
    for (rule, kinds) in WRONG {
        find(&setup, vary, rule, kinds);
    }
}

#[test]
fn both_searches_find_every_wrong_lazy_rule() {
    let (setup, vary) = setup("ExtraBufferLazy");
    assert!(check(&setup, &RIGHT_LAZY, &vary.open()).is_empty());
    for (rule, kinds) in WRONG_LAZY {
        find(&setup, vary, rule, kinds);
    }
}
