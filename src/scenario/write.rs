//! A scenario as a file: RON that reads back as the same setup. A value that is the default is left out.

use std::fmt::Write as _;

use crate::escape;
use crate::model::{Accept, Arrive, Cost, Costs, Event, FieldValue, Prompt, RequestSpec, Spec, Ssm, Stop, turns_max};
use crate::record::ReqId;

use super::fields::{self, Value};
use super::{CostNames, Expect, ExpectEvery, ExpectFinding, ExpectRequest, Scenario};

/// The text of a scenario file. A title becomes the comment of its first line.
///
/// Requests of a trace are written out one by one, with their tokens.
pub fn write(scenario: &Scenario) -> String {
    let setup = &scenario.setup;
    let mut out = String::new();
    if !scenario.title.is_empty() {
        let _ = writeln!(out, "// {}", escape::line(&scenario.title));
    }
    out.push_str("Scenario(\n");
    let mut engine = vec![format!("release: {:?}", setup.engine.release)];
    engine.extend(fields::deviations(setup).into_iter().map(|(name, value)| format!("{name}: {}", spell(&value))));
    block(&mut out, "engine", &engine);
    let costs = costs(&setup.costs, scenario.cost_names);
    if !costs.is_empty() {
        block(&mut out, "costs", &costs);
    }
    if let Some(rule) = &scenario.rule {
        let _ = writeln!(out, "    rule: {},", quote(rule));
    }
    if scenario.seed != 0 {
        let _ = writeln!(out, "    seed: {},", scenario.seed);
    }
    if setup.turns_max != turns_max(&setup.requests, &setup.events) {
        let _ = writeln!(out, "    turns_max: {},", setup.turns_max);
    }
    out.push_str("    requests: [\n");
    for (i, spec) in setup.requests.iter().enumerate() {
        let _ = writeln!(out, "        ({}),", request(&setup.names, i, spec));
    }
    out.push_str("    ],\n");
    if !setup.events.is_empty() {
        out.push_str("    events: [\n");
        for event in &setup.events {
            let _ = writeln!(out, "        {},", spell_event(&setup.names, *event));
        }
        out.push_str("    ],\n");
    }
    if !scenario.vary.is_nothing() {
        let open = scenario.vary.fields().into_iter().filter(|(.., open)| *open);
        let fields: Vec<String> = open.map(|(name, ..)| format!("{name}: true")).collect();
        block(&mut out, "vary", &fields);
    }
    if !scenario.expect.is_empty() {
        out.push_str("    expect: [\n");
        for expect in &scenario.expect {
            write_expect(&mut out, expect);
        }
        out.push_str("    ],\n");
    }
    if !scenario.expect_every.is_empty() {
        out.push_str("    expect_every: [\n");
        for ExpectEvery { rule, verdict, kinds } in &scenario.expect_every {
            let kinds: Vec<String> = kinds.iter().map(|kind| quote(kind)).collect();
            let _ =
                writeln!(out, "        (rule: {}, verdict: {verdict:?}, kinds: [{}]),", quote(rule), kinds.join(", "));
        }
        out.push_str("    ],\n");
    }
    out.push_str(")\n");
    out
}

fn quote(text: &str) -> String {
    escape::line(&ron::to_string(text).expect("a text can be spelled")).into_owned()
}

/// `name: (a, b)`, broken into lines of a readable length.
fn block(out: &mut String, name: &str, parts: &[String]) {
    const WIDTH: usize = 110;
    let line = format!("    {name}: ({}),", parts.join(", "));
    if line.len() <= WIDTH {
        out.push_str(&line);
        out.push('\n');
        return;
    }
    let _ = writeln!(out, "    {name}: (");
    let mut row = String::new();
    for part in parts {
        if !row.is_empty() && 8 + row.len() + 2 + part.len() > WIDTH {
            let _ = writeln!(out, "        {row},");
            row.clear();
        }
        if !row.is_empty() {
            row.push_str(", ");
        }
        row.push_str(part);
    }
    let _ = writeln!(out, "        {row},\n    ),");
}

fn spell(value: &Value) -> String {
    match value {
        Value::Engine(FieldValue::Word(word)) => word.to_string(),
        Value::Engine(FieldValue::Switch(yes)) => yes.to_string(),
        Value::Engine(FieldValue::Size(Some(size))) => size.to_string(),
        Value::Engine(FieldValue::Factor(factor)) => format!("{factor:?}"),
        Value::Engine(FieldValue::Spec(Some(Spec { draft, accept }))) => {
            let accept = match accept {
                Accept::Fixed(counts) => format!("Fixed({counts:?})"),
                Accept::Seeded(millionths) => format!("Seeded({:?})", f64::from(*millionths) / 1e6),
            };
            format!("(draft: {draft}, accept: {accept})")
        }
        Value::State(Some(Ssm { dim, vocab, seed })) => format!("Ssm(dim: {dim}, vocab: {vocab}, seed: {seed})"),
        Value::Engine(FieldValue::Size(None) | FieldValue::Spec(None)) | Value::State(None) => "None".to_string(),
    }
}

fn costs(costs: &Costs, names: CostNames) -> Vec<String> {
    let default = names.costs();
    let mut set = Vec::new();
    set.extend(names.cpu.map(|name| format!("cpu: {}", quote(name))));
    set.extend(names.gpu.map(|name| format!("gpu: {}", quote(name))));
    for ((name, cost), default) in Costs::NAMES.into_iter().zip(costs.each()).zip(default.each()) {
        if cost != default {
            set.push(match cost {
                Cost::Fixed(ns) => format!("{name}: Fixed({ns})"),
                Cost::Uniform(lo, hi) => format!("{name}: Uniform({lo}, {hi})"),
            });
        }
    }
    set
}

fn request(names: &[String], i: usize, spec: &RequestSpec) -> String {
    let name = |req: ReqId| quote(&names[req.index()]);
    let mut parts = vec![format!("id: {}", quote(&names[i]))];
    parts.push(match spec.arrive {
        Arrive::Turn(turn) => format!("arrive: Turn({turn})"),
        Arrive::At(at) => format!("arrive: At(\"{}ns\")", at.ns()),
        Arrive::After(other) => format!("arrive: After({})", name(other)),
        Arrive::Before(other, k) => format!("arrive: Before({}, {k})", name(other)),
    });
    parts.push(match &spec.prompt {
        Prompt::Tokens(tokens) => format!("prompt: Tokens({tokens:?})"),
        Prompt::Fresh { len, .. } => format!("prompt: Fresh({len})"),
        Prompt::Of { req, keep: None, len, .. } => format!("prompt: Extend({}, {len})", name(*req)),
        Prompt::Of { req, keep: Some(keep), len, .. } => format!("prompt: Prefix({}, {keep}, {len})", name(*req)),
        Prompt::Blocks { firsts, block_len, len } => {
            let tokens = firsts.iter().flat_map(|&first| first..first + block_len).take(*len as usize);
            format!("prompt: Tokens({:?})", tokens.collect::<Vec<_>>())
        }
    });
    match spec.stop {
        Stop::Token(nth) => parts.extend([format!("stop: Token({nth})"), format!("max_new: {}", spec.max_new)]),
        Stop::Length => parts.push(format!("stop: Length({})", spec.max_new)),
    }
    if !spec.accept.is_empty() {
        parts.push(format!("accepts: {:?}", spec.accept));
    }
    parts.join(", ")
}

fn spell_event(names: &[String], event: Event) -> String {
    let (turn, req) = event.at();
    let act = match event {
        Event::FailAlloc { .. } => "FailAlloc",
        Event::Abort { .. } => "Abort",
        Event::Retract { .. } => "Retract",
    };
    format!("(turn: {turn}, do: {act}({}))", quote(&names[req.index()]))
}

fn write_expect(out: &mut String, expect: &Expect) {
    let Expect { rule, verdict, findings, requests, evictions, leaks } = expect;
    let mut head = format!("rule: {}, verdict: {verdict:?}", quote(rule));
    for (name, value) in [("evictions", evictions), ("leaks", leaks)] {
        if let Some(value) = value {
            let _ = write!(head, ", {name}: {value}");
        }
    }
    let findings: Vec<String> = findings.iter().map(spell_finding).collect();
    let requests: Vec<String> = requests.iter().map(spell_outcome).collect();
    let lists = [("findings", findings), ("requests", requests)];
    let lists: Vec<_> = lists.into_iter().filter(|(_, items)| !items.is_empty()).collect();
    let _ = write!(out, "        ({head}");
    for (name, items) in &lists {
        let _ = writeln!(out, ", {name}: [");
        for item in items {
            let _ = writeln!(out, "            ({item}),");
        }
        out.push_str("        ]");
    }
    out.push_str("),\n");
}

fn spell_finding(finding: &ExpectFinding) -> String {
    let ExpectFinding { kind, request, label, holds, turn, slot } = finding;
    let mut parts = vec![format!("kind: {}", quote(kind))];
    parts.extend(request.as_ref().map(|request| format!("request: {}", quote(request))));
    parts.extend(numbers([("label", *label), ("holds", *holds), ("turn", *turn), ("slot", *slot)]));
    parts.join(", ")
}

fn spell_outcome(request: &ExpectRequest) -> String {
    let ExpectRequest { id, outputs, prefix_hit, admitted, ended } = request;
    let mut parts = vec![format!("id: {}", quote(id))];
    parts.extend(numbers([("outputs", *outputs), ("prefix_hit", *prefix_hit), ("admitted", *admitted)]));
    parts.extend(ended.map(|ended| format!("ended: {ended:?}")));
    parts.join(", ")
}

/// The fields that are given.
fn numbers<const N: usize>(fields: [(&str, Option<u32>); N]) -> Vec<String> {
    fields.into_iter().filter_map(|(name, value)| value.map(|value| format!("{name}: {value}"))).collect()
}
