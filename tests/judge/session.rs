//! Interactive sessions: the run is the same as without a session, at any position, and follows the choices that are made.

use std::path::{Path, PathBuf};

use overlapsim::engine::OpenPoints;
use overlapsim::model::Vary;
use overlapsim::record::{Fact, ProbeFact, RunFact, Sink};
use overlapsim::runner::{self, Keep, Position, Session, Unit};
use overlapsim::scenario::{self, Scenario};
use overlapsim::search::Replay;

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files: Vec<_> = ["", "check"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("a folder of scenarios"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .collect();
    files.sort();
    files
}

fn load(path: &Path) -> Scenario {
    scenario::load(path, &runner::rule_names()).expect("a valid scenario")
}

fn named(name: &str) -> Scenario {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name))
}

/// What the explorer leaves open where a scenario says nothing.
fn everything(scenario: &Scenario) -> OpenPoints {
    Vary { stops: !scenario.setup.engine.fixed_length_reserves_all, ..Vary::ALL }.open()
}

fn session<'a>(scenario: &'a Scenario, rule: &str, open: OpenPoints) -> Session<'a> {
    let rule = runner::rule(rule).expect("a known rule");
    Session::new(&scenario.setup, rule, open, scenario.seed, Vec::new())
}

#[test]
fn what_is_open_and_not_used_changes_nothing() {
    for file in files() {
        let scenario = load(&file);
        for rule in runner::rule_names() {
            let keep = Keep { boundaries: true, ..Keep::default() };
            let rule = runner::rule(rule).expect("a known rule");
            let mut plain = runner::run(&scenario.setup, rule, scenario.seed, keep, None).judgement;
            let session = session(&scenario, rule.name(), everything(&scenario));
            // With aborts open, an abort by script without effect is an ordinary answer and no unused event.
            plain.events_unused.clone_from(&session.judgement().events_unused);
            assert_eq!(session.judgement(), &plain, "{} under {}", file.display(), rule.name());
            assert!(session.answers().is_empty());
        }
    }
}

/// Steps of every unit lead from the start to the end and back, and what is known is the same from both sides.
#[test]
fn steps_lead_to_the_end_and_back() {
    for file in files() {
        let scenario = load(&file);
        let mut session = session(&scenario, "mask-lookahead", OpenPoints::default());
        for unit in [Unit::Turn, Unit::Phase, Unit::Result] {
            session.seek_start();
            let mut seen = vec![(session.position(), shot(&session))];
            while session.forward(unit) {
                assert!(session.position() > seen.last().expect("there is one").0, "{}: {unit:?}", file.display());
                seen.push((session.position(), shot(&session)));
            }
            let last = seen.last().expect("there is one").0;
            session.seek_end();
            // After the last row there may be more of its turn.
            assert!(session.position() == last || unit == Unit::Result, "{}: {unit:?}", file.display());
            session.seek(last);
            for (position, view) in seen.iter().rev().skip(1) {
                assert!(session.back(unit), "{}: {unit:?}", file.display());
                assert_eq!((session.position(), &shot(&session)), (*position, view), "{}: {unit:?}", file.display());
            }
            assert!(!session.back(unit));
        }
    }
}

fn shot(session: &Session) -> String {
    let view = session.view();
    let slots: Vec<_> = view.live_view.slot_ids().map(|slot| view.slot(slot)).collect();
    format!("{:?} {:?} {:?} {}", view.live_view.now, view.live_view.reqs(), slots, session.findings().len())
}

/// Counts facts up to a number of turns.
struct Upto {
    turns: usize,
    facts: Vec<Fact>,
}

impl Sink for Upto {
    fn fact(&mut self, fact: Fact) {
        self.turns -= usize::from(matches!(fact, Fact::Run(RunFact::Turn { .. })) && self.turns > 0);
        self.facts.push(fact);
    }
}

/// Far into a long run, with states kept far apart, a turn is what it is in a run from the start.
#[test]
fn a_turn_far_out_is_that_of_a_run_from_the_start() {
    let text = r#"(
        engine: (track_interval: 4, mamba_chunk: 4),
        costs: (result: Uniform(100_000, 900_000)),
        requests: [(id: "a", prompt: Fresh(3), stop: Length(900)), (id: "b", prompt: Fresh(5), stop: Length(700))],
    )"#;
    let scenario = scenario::parse("long", text, Path::new("."), &runner::rule_names()).expect("a valid scenario");
    let mut session = session(&scenario, "committed-len", OpenPoints::default());
    let rule = session.rule();
    let mut all = Upto { turns: 0, facts: Vec::new() };
    runner::replay(&scenario.setup, rule, &mut overlapsim::engine::Seeded::new(scenario.seed), &mut all);
    let starts: Vec<usize> =
        (0..all.facts.len()).filter(|&at| matches!(all.facts[at], Fact::Run(RunFact::Turn { .. }))).collect();
    assert_eq!(starts.len(), session.turns());
    for turn in [0, 1, 127, 128, 500, 777, 640, session.turns() - 1, 3] {
        session.seek(Position { turn, fact: usize::MAX });
        let end = starts.get(turn + 1).copied().unwrap_or(all.facts.len());
        let is_no_probe = |fact: &&Fact| {
            !matches!(fact, Fact::Probe(ProbeFact::Fields { .. } | ProbeFact::Arrays { .. } | ProbeFact::Read { .. }))
        };
        let here: Vec<Fact> = session
            .record()
            .iter()
            .filter_map(|entry| match entry {
                overlapsim::record::Entry::Fact(fact) => Some(*fact),
                overlapsim::record::Entry::Tokens(..) => None,
            })
            .filter(|fact| is_no_probe(&fact))
            .collect();
        assert_eq!(here, all.facts[starts[turn]..end], "turn {turn}");
    }
}

/// Every answer to every question of a scenario leads to the history that the list of answers replays.
#[test]
fn a_choice_leads_where_its_list_of_answers_does() {
    for name in ["double-fire.ron", "check/disturbed.ron", "check/speculative.ron", "retraction.ron"] {
        let scenario = named(name);
        let open = if scenario.vary.is_nothing() { everything(&scenario) } else { scenario.vary.open() };
        let mut tried = 0;
        let mut turn = 0;
        while turn < session(&scenario, "mask-lookahead", open.clone()).turns() {
            let mut at = session(&scenario, "mask-lookahead", open.clone());
            at.seek(Position { turn, fact: 0 });
            for question in at.questions().to_vec() {
                for answer in (0..question.choice.options).filter(|&answer| answer != question.answer) {
                    let mut other = session(&scenario, "mask-lookahead", open.clone());
                    other.seek(Position { turn, fact: 0 });
                    other.choose(question.nth, answer);
                    assert_eq!(other.position().turn, turn, "{name}");
                    let asked = other.questions().iter().find(|it| it.nth == question.nth).copied();
                    assert_eq!(asked.map(|it| (it.choice, it.answer)), Some((question.choice, answer)), "{name}");
                    let mut replay = Replay::new(&open, other.answers(), Some(scenario.seed));
                    let keep = Keep { boundaries: true, ..Keep::default() };
                    let run = runner::run_with(&scenario.setup, other.rule(), &mut replay, keep, None);
                    assert_eq!(replay.misfit(), None, "{name}");
                    assert_eq!(&run.judgement, other.judgement(), "{name}: {:?}", other.answers());
                    tried += 1;
                }
            }
            turn += 1;
        }
        assert!(tried > 10, "{name}: {tried} choices");
    }
}

#[test]
fn another_rule_stands_at_the_same_point_and_back_again() {
    for name in ["double-fire.ron", "lost-checkpoint.ron", "retraction.ron", "spec-crossings.ron"] {
        let scenario = named(name);
        let mut session = session(&scenario, "mask-lookahead", everything(&scenario));
        while session.forward(Unit::Phase) {
            let (position, stop) = (session.position(), session.stop());
            for rule in runner::rule_names().into_iter().filter_map(runner::rule) {
                session.set_rule(rule);
                let there = (session.stop().begun, session.position().turn);
                assert_eq!(there, (stop.begun, position.turn), "{name} under {}", rule.name());
            }
            session.set_rule(runner::rule("mask-lookahead").expect("a known rule"));
            assert_eq!(session.position(), position, "{name}");
        }
    }
}

#[test]
fn jumps_go_to_each_boundary_and_finding_once() {
    for file in files() {
        let scenario = load(&file);
        for rule in ["mask-lookahead", "token-len"] {
            let mut session = session(&scenario, rule, OpenPoints::default());
            let name = format!("{} under {rule}", file.display());
            let mut boundaries = 0;
            while session.seek_boundary(true, |_| true) {
                boundaries += 1;
                assert_eq!(session.boundaries().0.len(), boundaries, "{name}");
            }
            assert_eq!(boundaries, session.judgement().boundaries.len(), "{name}");
            let mut back = 0;
            while session.seek_boundary(false, |_| true) {
                back += 1;
            }
            assert!(back + 1 >= boundaries, "{name}: {back} of {boundaries} on the way back");
            session.seek_start();
            let mut findings = 0;
            while session.seek_finding(true) {
                assert!(session.findings().len() > findings, "{name}");
                findings = session.findings().len();
            }
            assert_eq!(findings, session.judgement().findings.len(), "{name}");
        }
    }
}
