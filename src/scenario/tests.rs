//! What sound scenarios mean: defaults, references, fresh tokens, traces.

use std::path::Path;

use super::*;
use crate::engine::Time;
use crate::model::{Arrive, Cost, Costs, Engine, Event, Grid, Prompt, Release, Stop, Strategy};
use crate::record::ReqId;

const RULES: [&str; 2] = ["token-len", "mask-lookahead"];
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

#[track_caller]
fn read(text: &str) -> Scenario {
    parse("dir/a-name.ron", text, Path::new(DATA), &RULES).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

#[test]
fn all_but_requests_has_a_default() {
    let scenario = read("(requests: [(id: \"a\", prompt: Fresh(3), stop: Token(4))])");
    assert_eq!((scenario.name.as_str(), scenario.title.as_str()), ("a-name", ""));
    assert_eq!((scenario.rule, scenario.seed, scenario.expect), (None, 0, vec![]));
    let setup = scenario.setup;
    assert_eq!((setup.engine, setup.costs), (Engine::preset(Release::V0_5_17), Costs::default()));
    assert_eq!((setup.names, setup.events), (vec!["a".to_string()], vec![]));
    let request = &setup.requests[0];
    assert_eq!((request.arrive, request.stop, request.max_new), (Arrive::Turn(0), Stop::Token(4), 20));
    assert_eq!(request.prompt, Prompt::Fresh { fresh: 1000, len: 3 });
    assert_eq!(setup.turns_max, 64 + 4 * (20 + 4));
}

#[test]
fn the_example_of_the_format_is_read() {
    let text = "\u{feff}// One line on why this file exists.\r\nScenario(\r\n
        engine: (release: V0_5_23, strategy: ExtraBufferLazy, track_interval: 4, mamba_chunk: 4),
        costs: (plan: Fixed(7), launch: Uniform(1, 2_000)), seed: 9, rule: \"token-len\", turns_max: 50,
        requests: [
            (id: \"a\", arrive: Turn(0), prompt: Fresh(1), stop: Token(4)),
            (id: \"b\", arrive: Before(\"a\", 5), prompt: Fresh(1), stop: Length(1)),
            (id: \"c\", arrive: After(\"a\"), prompt: Extend(\"a\", 4), stop: Length(2)),
            (id: \"d\", arrive: At(\"12.5ms\"), prompt: Tokens([5, 1002]), stop: Length(2), max_new: 2),
        ],
        events: [(turn: 7, do: FailAlloc(\"a\"))],
        expect: [(rule: \"mask-lookahead\", verdict: Corrupt, findings: [(kind: \"unwritten\", request: \"a\", label: 4)],
            requests: [(id: \"a\", outputs: 4, prefix_hit: 0, ended: Token)], evictions: 2, leaks: 0)],
        vary: (stops: true), expect_every: [(rule: \"token-len\", verdict: Lossy, kinds: [\"lost\"])],
    )";
    let scenario = read(text);
    assert_eq!(scenario.title, "One line on why this file exists.");
    assert_eq!((scenario.rule.as_deref(), scenario.seed), (Some("token-len"), 9));
    let finding = ExpectFinding {
        kind: "unwritten".into(),
        request: Some("a".into()),
        label: Some(4),
        holds: None,
        turn: None,
        slot: None,
    };
    let request = ExpectRequest {
        id: "a".into(),
        outputs: Some(4),
        prefix_hit: Some(0),
        admitted: None,
        ended: Some(ExpectEnd::Token),
    };
    let expect = Expect {
        rule: "mask-lookahead".into(),
        verdict: ExpectVerdict::Corrupt,
        findings: vec![finding],
        requests: vec![request],
        evictions: Some(2),
        leaks: Some(0),
    };
    assert_eq!(scenario.expect, [expect]);
    let kinds = vec!["lost".to_string()];
    let every = ExpectEvery { rule: "token-len".into(), verdict: ExpectVerdict::Lossy, kinds };
    assert_eq!(scenario.expect_every, [every]);
    let setup = scenario.setup;
    assert_eq!((setup.engine.strategy, setup.engine.grid), (Strategy::ExtraBufferLazy, Grid::Lcm));
    assert_eq!((setup.costs.plan, setup.costs.launch), (Cost::Fixed(7), Cost::Uniform(1, 2000)));
    assert_eq!(setup.events, [Event::FailAlloc { turn: 7, req: ReqId(0) }]);
    assert_eq!(setup.turns_max, 50);
    let arrivals: Vec<Arrive> = setup.requests.iter().map(|request| request.arrive).collect();
    let at = Arrive::At(Time(12_500_000));
    assert_eq!(arrivals, [Arrive::Turn(0), Arrive::Before(ReqId(0), 5), Arrive::After(ReqId(0)), at]);
    // Fresh tokens start above the largest that is written out.
    assert_eq!(setup.requests[0].prompt, Prompt::Fresh { fresh: 1003, len: 1 });
    assert_eq!(setup.requests[2].prompt, Prompt::Of { req: ReqId(0), keep: None, fresh: 1005, len: 4 });
    assert_eq!(setup.requests[3].prompt, Prompt::Tokens([5, 1002].as_slice().into()));
}

/// The contract and the file format must name the same fields: a field added to the engine alone fails here.
#[test]
fn every_field_of_the_engine_can_be_set() {
    let debug = format!("{:?}", Engine::preset(Release::V0_5_17));
    let fields = debug.trim_start_matches("Engine { ").trim_end_matches(" }");
    let text = format!("(engine: ({fields}), requests: [(id: \"a\", prompt: Fresh(1), stop: Length(1))])");
    assert_eq!(read(&text).setup.engine, Engine::preset(Release::V0_5_17));
    let debug = format!("{:?}", Costs::default());
    let fields = debug.trim_start_matches("Costs { ").trim_end_matches(" }");
    let text = format!("(costs: ({fields}), requests: [(id: \"a\", prompt: Fresh(1), stop: Length(1))])");
    assert_eq!(read(&text).setup.costs, Costs::default());
    // Every value of the newest preset over the oldest one: none is read and then forgotten.
    let newest = Engine { release: Release::V0_5_16, ..Engine::preset(Release::V0_5_23) };
    let debug = format!("{newest:?}");
    let fields = debug.trim_start_matches("Engine { ").trim_end_matches(" }");
    let text = format!("(engine: ({fields}), requests: [(id: \"a\", prompt: Fresh(1), stop: Length(1))])");
    assert_eq!(read(&text).setup.engine, newest);
}

#[test]
fn a_prompt_waits_for_what_it_reaches_into() {
    let scenario = read(
        "(requests: [
            (id: \"late\", arrive: Turn(2), prompt: Prefix(\"c\", 3, 1), stop: Length(1)),
            (id: \"deep\", prompt: Prefix(\"c\", 9, 1), stop: Length(1)),
            (id: \"c\", prompt: Extend(\"a\", 4), stop: Length(2)),
            (id: \"whole\", prompt: Prefix(\"c\", 13, 0), stop: Length(1)),
            (id: \"none\", prompt: Prefix(\"c\", 0, 2), stop: Length(1)),
            (id: \"beside\", arrive: Before(\"c\", 12), prompt: Extend(\"a\", 1), stop: Length(1)),
            (id: \"a\", prompt: Fresh(4), stop: Token(3)),
        ])",
    );
    let (c, a) = (ReqId(2), ReqId(6));
    let of = |at: usize| {
        let request = &scenario.setup.requests[at];
        match &request.prompt {
            Prompt::Of { req, keep, .. } => (request.arrive, Some(*req), *keep),
            _ => (request.arrive, None, None),
        }
    };
    // Within the prompt of a, though it is c that is named.
    assert_eq!(of(0), (Arrive::Turn(2), Some(a), Some(3)));
    // Into the fresh tokens of c, behind all outputs of a: c itself need not have finished.
    assert_eq!(of(1), (Arrive::After(a), Some(c), Some(9)));
    assert_eq!(of(2), (Arrive::After(a), Some(a), None));
    assert_eq!(of(3), (Arrive::After(c), Some(c), Some(13)));
    assert_eq!(of(4), (Arrive::Turn(0), None, None));
    // c arrives after a has finished, so a request that arrives before a step of c does too.
    assert_eq!(of(5), (Arrive::Before(c, 12), Some(a), None));
    assert_eq!(scenario.setup.turns_max, 64 + 4 * (7 * 4 + 7 + 19) + 2);
}

#[test]
fn traces_become_requests() {
    for (format, path, rows) in [
        ("AzureCsv", "azure-llm-2023-conv.500.csv", 500),
        ("AzureCsv", "azure-llm-2023-code.500.csv", 500),
        ("MooncakeJsonl", "mooncake-conversation.500.jsonl", 500),
        ("MooncakeJsonl", "mooncake-synthetic.500.jsonl", 500),
    ] {
        let text = format!("(engine: (kv_tokens: 1048576), trace: (format: {format}, path: \"{path}\"))");
        let setup = read(&text).setup;
        assert_eq!((setup.requests.len(), setup.names[499].as_str()), (rows, "t499"), "{path}");
        assert_eq!(setup.requests[0].arrive, Arrive::At(Time(0)), "{path}");
    }
}

#[test]
fn time_and_rows_of_a_trace_can_be_cut() {
    let trace = "trace: (format: AzureCsv, path: \"azure-llm-2023-conv.500.csv\", limit: 3, time_scale: 0.1)";
    let setup = read(&format!("({trace})")).setup;
    let arrivals: Vec<Arrive> = setup.requests.iter().map(|request| request.arrive).collect();
    let at = |ns| Arrive::At(Time(ns));
    assert_eq!(arrivals, [at(0), at(431_457_900), at(454_187_700)]);
    let second = &setup.requests[1];
    assert_eq!(second.prompt, Prompt::Fresh { fresh: 1374, len: 396 });
    assert_eq!((second.stop, second.max_new), (Stop::Length, 109));
}

#[test]
fn costs_are_set_over_their_presets_and_written_so() {
    let text = "(costs: (cpu: \"python-0.5.16\", gpu: \"h100x8-80b-a3b\", plan: Fixed(7)),
        requests: [(id: \"a\", prompt: Fresh(1), stop: Length(4))])";
    let scenario = read(text);
    let costs = &scenario.setup.costs;
    assert_eq!((costs.plan, costs.check_recompute), (Cost::Fixed(7), Cost::Fixed(620)));
    assert_eq!(costs.result_copy, Cost::Fixed(20_000));
    let written = write(&scenario);
    assert!(written.contains("(cpu: \"python-0.5.16\", gpu: \"h100x8-80b-a3b\", plan: Fixed(7)),"), "{written}");
    let again = read(&written);
    assert_eq!((&again.setup, again.cost_names), (&scenario.setup, scenario.cost_names));
    // A setup alone has no names, and says all of its costs.
    assert_eq!(as_read(&scenario.setup).as_ref(), Some(&scenario.setup));
}

#[test]
fn a_file_that_cannot_be_read_is_told() {
    let error = load(Path::new("nowhere/x.ron"), &RULES).expect_err("no such file");
    assert_eq!((error.file(), error.line()), ("nowhere/x.ron", 0));
    let report = error.render(false);
    assert!(
        report.contains("cannot read nowhere/x.ron: there is no such file") && report.contains("help: "),
        "{report}"
    );
    let path = std::env::temp_dir().join(format!("overlapsim-not-utf8-{}.ron", std::process::id()));
    std::fs::write(&path, b"// fine\n(seed: \xff)").expect("a file");
    let error = load(&path, &RULES).expect_err("no text");
    std::fs::remove_file(&path).expect("the file goes away");
    assert_eq!((error.line(), error.column(), error.message()), (2, 8, "this byte is not UTF-8"));
}
