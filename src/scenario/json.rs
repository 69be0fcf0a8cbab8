//! A scenario as JSON, for other programs, with everything resolved. Costs are left out: they only matter to virtual
//! time.

use serde_json::{Map, Value as Json, json};

use crate::escape;
use crate::model::{Accept, Arrive, Event, FieldValue, Prompt, RequestSpec, Setup, Spec, Ssm, Stop};
use crate::record::{ReqId, Token};

use super::Scenario;
use super::fields::{self, Value};

/// One object with a line break (`docs/output.md`).
pub fn json(scenario: &Scenario, default_rule: &str) -> String {
    let setup = &scenario.setup;
    let mut engine = Map::new();
    engine.insert("release".into(), setup.engine.release.version().into());
    engine.extend(fields::fields(setup).into_iter().map(|(name, value)| (name.to_string(), spell(&value))));
    let differences = fields::release_differences();
    let set = fields::deviations(setup).into_iter().map(|(name, _)| name);
    let beyond_preset: Vec<&str> = set.filter(|name| differences.contains(name)).collect();
    let requests: Vec<Json> = (0..setup.requests.len()).map(|i| request(setup, i)).collect();
    let events: Vec<Json> = setup.events.iter().map(|event| spell_event(setup, *event)).collect();
    let open = scenario.vary.fields().into_iter().filter(|(.., open)| *open);
    let vary: Vec<&str> = open.map(|(name, ..)| name).collect();
    let object = json!({
        "name": scenario.name,
        "rule": scenario.rule.as_deref().unwrap_or(default_rule),
        "seed": scenario.seed,
        "turns_max": setup.turns_max,
        "engine": engine,
        "preset": beyond_preset,
        "requests": requests,
        "events": events,
        "vary": vary,
    });
    format!("{}\n", escape::json(&object.to_string()))
}

/// `ExtraBufferLazy` as `extra_buffer_lazy`.
fn snake(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn spell(value: &Value) -> Json {
    match value {
        Value::Engine(FieldValue::Word(word)) => snake(word).into(),
        Value::Engine(FieldValue::Switch(yes)) => (*yes).into(),
        Value::Engine(FieldValue::Size(size)) => (*size).into(),
        Value::Engine(FieldValue::Factor(factor)) => json!(factor),
        Value::Engine(FieldValue::Spec(Some(Spec { draft, accept }))) => {
            let accept = match accept {
                Accept::Fixed(counts) => json!({ "fixed": counts }),
                Accept::Seeded(millionths) => json!({ "seeded": f64::from(*millionths) / 1e6 }),
            };
            json!({ "draft": draft, "accept": accept })
        }
        Value::State(Some(Ssm { dim, vocab, seed })) => json!({ "ssm": { "dim": dim, "vocab": vocab, "seed": seed } }),
        Value::Engine(FieldValue::Spec(None)) | Value::State(None) => Json::Null,
    }
}

fn request(setup: &Setup, i: usize) -> Json {
    let RequestSpec { arrive, prompt, stop, max_new, accept } = &setup.requests[i];
    let name = |req: ReqId| setup.name(req);
    let fresh = |first: Token, len: u32| (first..first + len).collect::<Vec<Token>>();
    let arrive = match *arrive {
        Arrive::Turn(turn) => json!({ "turn": turn }),
        Arrive::At(at) => json!({ "at_ns": at.ns() }),
        Arrive::After(other) => json!({ "after": name(other) }),
        Arrive::Before(other, step) => json!({ "before": { "request": name(other), "step": step } }),
    };
    let prompt = match prompt {
        Prompt::Tokens(tokens) => json!({ "tokens": **tokens }),
        Prompt::Fresh { fresh: first, len } => json!({ "tokens": fresh(*first, *len) }),
        Prompt::Of { req, keep, fresh: first, len } => {
            json!({ "of": { "request": name(*req), "keep": keep, "tokens": fresh(*first, *len) } })
        }
        Prompt::Blocks { firsts, block_len, len } => {
            let tokens = firsts.iter().flat_map(|&first| first..first + block_len).take(*len as usize);
            json!({ "tokens": tokens.collect::<Vec<_>>() })
        }
    };
    let stop = match stop {
        Stop::Token(nth) => json!({ "token": nth }),
        Stop::Length => "length".into(),
    };
    let mut object = json!({
        "id": setup.names[i],
        "arrive": arrive,
        "prompt": prompt,
        "stop": stop,
        "max_new": max_new,
    });
    if !accept.is_empty() {
        object["accepts"] = json!(accept);
    }
    object
}

fn spell_event(setup: &Setup, event: Event) -> Json {
    let (turn, req) = event.at();
    let act = match event {
        Event::FailAlloc { .. } => "fail_alloc",
        Event::Abort { .. } => "abort",
        Event::Retract { .. } => "retract",
    };
    json!({ "turn": turn, "do": act, "request": setup.name(req) })
}
