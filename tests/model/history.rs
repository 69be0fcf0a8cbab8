//! A history written as a script runs as the history did and can be a file; the smaller setups of shrinking are smaller.

use crate::common::setups::{setups, wide_setups};
use overlapsim::engine::{ChoicePoint, Chooser, Scripted, Time};
use overlapsim::history::{concrete, measure, smaller};
use overlapsim::judge::{Finding, FindingKind};
use overlapsim::model::{Event, Prompt, Rule, Setup, Strategy, Vary};
use overlapsim::record::{CacheFact, DecisionFact, Fact, ForwardFact, Record, ReqId, RequestFact, RunFact};
use overlapsim::runner::{self, Keep, RunOutcome};
use overlapsim::scenario::{self, Scenario};
use overlapsim::search::{RandomChooser, Style};
use overlapsim::shrink;
use proptest::prelude::*;

/// A style with long runs: ends, aborts and retractions are rare.
const RARE: Style = Style::Weighted(&[
    (ChoicePoint::Arrival, 300),
    (ChoicePoint::Stop, 60),
    (ChoicePoint::Abort, 15),
    (ChoicePoint::Retract, 50),
    (ChoicePoint::AllocFailure, 200),
]);

/// The setup as a file has it, without events that no file may hold.
fn read(setup: &Setup) -> Option<Setup> {
    let scenario = Scenario::of(setup.clone());
    scenario::parse("x.ron", &scenario::write(&scenario), ".".as_ref(), &[]).ok().map(|scenario| scenario.setup)
}

type Seen = (FindingKind, Option<String>, Option<u32>, Option<u32>, u32);

/// What was found, in an order that does not depend on the places of requests in the setup.
fn findings(setup: &Setup, outcome: &RunOutcome) -> Vec<Seen> {
    let name = |req: ReqId| setup.name(req).to_string();
    let of = |finding: &Finding| (finding.kind, finding.req.map(name), finding.label, finding.holds, finding.turn);
    let mut findings: Vec<Seen> = outcome.judgement.findings.iter().map(of).collect();
    findings.sort();
    findings
}

/// Launches, forward effects, decisions, donations and ends, with names in place of ids and without times.
fn course(setup: &Setup, record: &Record) -> Vec<(u32, Fact, Option<String>)> {
    let (mut turn_now, at) = (0, Time::ZERO);
    let mut course = Vec::new();
    for fact in record.facts() {
        let (bare, req) = match fact {
            Fact::Run(RunFact::Turn { turn, .. }) => {
                turn_now = turn;
                continue;
            }
            Fact::Forward(ForwardFact::Launch { batch, mode, rows, .. }) => {
                (Fact::Forward(ForwardFact::Launch { batch, mode, rows, start: at, end: at, copied: at }), None)
            }
            Fact::Forward(
                ForwardFact::Extend { req, .. } | ForwardFact::Step { req, .. } | ForwardFact::Verify { req, .. },
            )
            | Fact::Decision(DecisionFact::Row { req, decision: Some(_), .. })
            | Fact::Cache(CacheFact::Donate { req, .. })
            | Fact::Request(RequestFact::Finish { req, .. } | RequestFact::Retract { req, .. }) => (fact, Some(req)),
            _ => continue,
        };
        let bare = match bare {
            Fact::Forward(ForwardFact::Extend { batch, slot, from, to, track, .. }) => {
                Fact::Forward(ForwardFact::Extend { batch, req: ReqId(0), slot, from, to, track })
            }
            Fact::Forward(ForwardFact::Step { batch, slot, k, track, .. }) => {
                Fact::Forward(ForwardFact::Step { batch, req: ReqId(0), slot, k, track })
            }
            Fact::Forward(ForwardFact::Verify { batch, slot, from, to, track, target, .. }) => {
                Fact::Forward(ForwardFact::Verify { batch, req: ReqId(0), slot, from, to, track, target })
            }
            Fact::Decision(DecisionFact::Row { batch, lookahead, kv_committed_len, check, decision, .. }) => {
                Fact::Decision(DecisionFact::Row { batch, req: ReqId(0), lookahead, kv_committed_len, check, decision })
            }
            Fact::Cache(CacheFact::Donate { label, key_len, slot, how, .. }) => {
                Fact::Cache(CacheFact::Donate { req: ReqId(0), label, key_len, slot, how })
            }
            Fact::Request(RequestFact::Finish { kind, outputs, .. }) => {
                Fact::Request(RequestFact::Finish { req: ReqId(0), kind, outputs })
            }
            Fact::Request(RequestFact::Retract { outputs, .. }) => {
                Fact::Request(RequestFact::Retract { req: ReqId(0), outputs })
            }
            other => other,
        };
        course.push((turn_now, bare, req.map(|req| setup.name(req).to_string())));
    }
    course
}

fn run(setup: &Setup, rule: &dyn Rule, chooser: &mut impl Chooser) -> RunOutcome {
    runner::run_with(setup, rule, chooser, Keep { record: true, ..Keep::default() }, None)
}

fn may_be_a_file(mut setup: Setup) -> Setup {
    if setup.engine.strategy != Strategy::ExtraBufferLazy {
        setup.events.retain(|event| !matches!(event, Event::FailAlloc { .. }));
    }
    setup
}

fn try_one(setup: &Setup, style: Style, seed: u64) -> Result<(), TestCaseError> {
    let open = Vary::ALL.open();
    let rule = runner::release_rule(setup.engine.release);
    let mut draw = RandomChooser::new(&open, style, seed);
    let history = run(setup, rule, &mut draw);
    let script = concrete(setup, rule, &mut RandomChooser::new(&open, style, seed), scenario::turns_max);
    if history.judgement.requests.iter().all(|request| !request.arrived) {
        prop_assert!(script.is_none());
        return Ok(());
    }
    let Some(script) = script else {
        return Err(TestCaseError::fail(format!("no script: bound {:?}", history.judgement.bound)));
    };
    let again = run(&script, rule, &mut Scripted);
    prop_assert_eq!(findings(setup, &history), findings(&script, &again));
    let course_of = |setup, outcome: &RunOutcome| course(setup, outcome.record.as_ref().unwrap());
    prop_assert_eq!(course_of(setup, &history), course_of(&script, &again));
    prop_assert_eq!(history.judgement.verdict, again.judgement.verdict);
    if read(setup).is_some() {
        let text = scenario::write(&Scenario::of(script.clone()));
        let back = scenario::parse("x.ron", &text, ".".as_ref(), &[]);
        prop_assert!(back.is_ok(), "{:?}\n{text}", back.err());
        prop_assert_eq!(&back.unwrap().setup, &script, "{}", text);
    }
    for candidate in smaller(&script) {
        prop_assert!(measure(&candidate) < measure(&script));
        prop_assert_eq!(shrink::subject(&candidate), shrink::subject(&script));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_history_as_a_script_does_the_same(setup in setups(), seed in any::<u64>(), rare in any::<bool>()) {
        try_one(&may_be_a_file(setup), if rare { RARE } else { Style::Uniform }, seed)?;
    }

    #[test]
    fn a_history_of_any_engine_as_a_script_does_the_same(setup in wide_setups(), seed in any::<u64>(), rare in any::<bool>()) {
        try_one(&may_be_a_file(setup), if rare { RARE } else { Style::Uniform }, seed)?;
    }
}

fn parse(text: &str) -> Setup {
    scenario::parse("x.ron", text, ".".as_ref(), &[]).unwrap().setup
}

#[test]
fn a_run_without_open_questions_is_a_history() {
    let setup = parse(
        r#"(
        engine: (track_interval: 4, mamba_chunk: 4),
        requests: [
            (id: "b", arrive: Before("a", 5), prompt: Fresh(1), stop: Length(1)),
            (id: "a", prompt: Fresh(1), stop: Token(4)),
        ],
    )"#,
    );
    let rule = runner::rule("mask-lookahead").unwrap();
    let script = concrete(&setup, rule, &mut Scripted, scenario::turns_max).unwrap();
    assert_eq!(script.names, ["a", "b"]);
    assert_eq!(read(&script).unwrap(), script);
}

/// A prompt with outputs of another request that arrives late is written as tokens, and shrinking finds the request again.
#[test]
fn a_late_continuation_is_spelled_out() {
    let setup = parse(
        r#"(
        engine: (track_interval: 4, mamba_chunk: 4),
        requests: [
            (id: "a", prompt: Fresh(3), stop: Length(6)),
            (id: "b", prompt: Extend("a", 2), stop: Length(4)),
        ],
    )"#,
    );
    let open = Vary { arrivals: true, ..Vary::default() }.open();
    let rule = runner::rule("token-len").unwrap();
    let (mut soon, mut late) = (0, 0);
    for seed in 0..32 {
        let mut draw = RandomChooser::new(&open, Style::Uniform, seed);
        let script = concrete(&setup, rule, &mut draw, scenario::turns_max).unwrap();
        match script.requests[1].prompt {
            Prompt::Of { keep: None, .. } => soon += 1,
            Prompt::Tokens(_) => {
                late += 1;
                let of = |setup: &Setup| {
                    let prompt = setup.requests.get(1).map(|spec| &spec.prompt);
                    matches!(prompt, Some(Prompt::Of { keep: None, len: 2, .. }))
                };
                assert!(smaller(&script).iter().any(of));
            }
            ref other => panic!("{other:?}"),
        }
    }
    assert!(soon > 0 && late > 0);
}

#[test]
fn a_history_without_an_ingested_request_has_no_script() {
    let mut setup = parse(r#"(requests: [(id: "a", prompt: Fresh(3), stop: Length(6))])"#);
    setup.turns_max = 50;
    let open = Vary::ALL.open();
    let mut draw = RandomChooser::new(&open, Style::Weighted(&[(ChoicePoint::Arrival, 0)]), 0);
    assert_eq!(concrete(&setup, runner::rule("token-len").unwrap(), &mut draw, scenario::turns_max), None);
}
