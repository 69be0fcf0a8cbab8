//! Lookahead patterns: a setup in which given decode results of one request have a given lookahead.
//!
//! Owns how a pattern is put into a setup: for a 0, a filler is pinned before the next step and takes its turn. Only
//! the facts of a run show whether the lookahead came about: a filler may not be admitted, the engine may have no
//! overlap, or another request may take a turn.

use std::fmt;
use std::ops::RangeInclusive;

use crate::model::{Arrive, Prompt, RequestSpec, Setup, Stop, prompt_len, turns_max};
use crate::record::ReqId;

use super::prompts::deal_fresh;
use super::smaller::keep;

/// Most steps for which every pattern is made: 4096 patterns, each a run under every rule. A boundary depends on the
/// lookahead of two results, so 12 steps cover every combination over several boundaries.
pub const ALL_MAX: u32 = 12;

/// The lookahead of decode results in a row: whether the next step was prepared before the result was processed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern(Vec<bool>);

impl Pattern {
    /// Reads a pattern, as in `1101`.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let bit = |(at, c): (usize, char)| match c {
            '0' => Ok(false),
            '1' => Ok(true),
            other => Err(format!("has `{}` at place {}", other.escape_debug(), at + 1)),
        };
        let bits = text.chars().enumerate().map(bit).collect::<Result<Vec<bool>, String>>()?;
        if bits.is_empty() { Err("is empty".to_string()) } else { Ok(Pattern(bits)) }
    }

    /// Every pattern of `len` results, at most [`ALL_MAX`], in the order of binary numbers.
    pub fn all(len: u32) -> Vec<Pattern> {
        assert!(len <= ALL_MAX, "patterns of {len} results are too many");
        (0..1u32 << len).map(|number| Pattern((0..len).rev().map(|at| number >> at & 1 == 1).collect())).collect()
    }

    /// The number of results.
    #[expect(clippy::len_without_is_empty, reason = "no pattern is empty")]
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// The lookahead of each result.
    pub fn bits(&self) -> &[bool] {
        &self.0
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|bit| f.write_str(if *bit { "1" } else { "0" }))
    }
}

/// The decode steps of a request whose results are processed if it ends by itself, by the lengths that they reach. The
/// first output is that of the prefill, so there may be none. With speculation, which has no steps of one token, these
/// are only the lengths.
pub fn decode_steps(setup: &Setup, req: ReqId) -> RangeInclusive<u32> {
    let prompt = prompt_len(&setup.requests, req.index()) as u32;
    prompt + 1..=prompt + setup.requests[req.index()].outputs() - 1
}

/// The default first step of a pattern of `len` results: two steps before the first boundary of the
/// request, or as near to it as its steps allow.
pub fn usual_first_step(setup: &Setup, req: ReqId, len: u32) -> u32 {
    let steps = decode_steps(setup, req);
    let grid = setup.engine.grid_len();
    let boundary = steps.start().div_ceil(grid).saturating_mul(grid);
    let latest = (steps.end() + 1).saturating_sub(len);
    boundary.saturating_sub(2).min(latest).max(*steps.start())
}

/// Requests that act as a filler behind a step of `steps` and do nothing else: one prompt token, one output, pinned
/// before the step after, and named by no other request or event. A pattern replaces them.
pub fn stand_ins(setup: &Setup, req: ReqId, steps: RangeInclusive<u32>) -> Vec<ReqId> {
    let named = |of: ReqId| {
        let refers = |spec: &RequestSpec| {
            matches!(spec.arrive, Arrive::After(other) | Arrive::Before(other, _) if other == of)
                || matches!(spec.prompt, Prompt::Of { req: other, .. } if other == of)
        };
        setup.requests.iter().any(refers) || setup.events.iter().any(|event| event.at().1 == of)
    };
    let all = (0..setup.requests.len()).map(|i| ReqId(i as u32));
    all.filter(|of| {
        let spec = &setup.requests[of.index()];
        behind(spec, req).is_some_and(|k| steps.contains(&k)) && is_filler(spec) && !named(*of)
    })
    .collect()
}

/// The setup in which the result of step `from` of `req` has the first lookahead of the pattern, the result of the next
/// step the second, and so on, as far as a script can achieve it: a filler that takes the turn of the step after gives
/// L = 0. A stand-in for a filler stays where the pattern has a 0 and is removed where it has a 1. All other requests
/// stay.
///
/// # Panics
/// If the pattern reaches beyond the decode steps of the request.
pub fn with_pattern(setup: &Setup, req: ReqId, from: u32, pattern: &Pattern) -> Setup {
    let (steps, last) = (decode_steps(setup, req), from + pattern.len() - 1);
    assert!(steps.contains(&from) && steps.contains(&last), "steps {from} to {last} are not among {steps:?}");
    let mut out = setup.clone();
    let ahead = |k: u32| pattern.bits()[(k - from) as usize];
    let stand_ins = stand_ins(setup, req, from..=last);
    let step = |of: &ReqId| behind(&setup.requests[of.index()], req).expect("it is pinned");
    let gone: Vec<ReqId> = stand_ins.iter().copied().filter(|of| ahead(step(of))).collect();
    let mut req = req;
    if !gone.is_empty() {
        keep(&mut out, |i| !gone.contains(&ReqId(i as u32)));
        req.0 -= gone.iter().filter(|of| **of < req).count() as u32;
    }
    for k in (from..=last).filter(|&k| !ahead(k) && !stand_ins.iter().any(|of| step(of) == k)) {
        let name = free_name(&out.names, k + 1);
        out.names.push(name);
        out.requests.push(filler(req, k + 1));
    }
    deal_fresh(&mut out.requests);
    if setup.turns_max == turns_max(&setup.requests, &setup.events) {
        out.turns_max = turns_max(&out.requests, &out.events);
    }
    out
}

/// The step of `req` at whose result the prefill of this request is meant to be in flight.
fn behind(spec: &RequestSpec, req: ReqId) -> Option<u32> {
    match spec.arrive {
        Arrive::Before(other, next) if other == req => next.checked_sub(1),
        Arrive::Before(..) | Arrive::Turn(_) | Arrive::At(_) | Arrive::After(_) => None,
    }
}

fn is_filler(spec: &RequestSpec) -> bool {
    let one_token = match &spec.prompt {
        Prompt::Fresh { len, .. } => *len == 1,
        Prompt::Tokens(tokens) => tokens.len() == 1,
        Prompt::Of { .. } | Prompt::Blocks { .. } => false,
    };
    one_token && spec.outputs() == 1
}

fn filler(req: ReqId, next: u32) -> RequestSpec {
    RequestSpec {
        arrive: Arrive::Before(req, next),
        prompt: Prompt::Fresh { fresh: 0, len: 1 },
        stop: Stop::Length,
        max_new: 1,
        accept: Vec::new(),
    }
}

/// An unused name for a filler, with the step before which it comes.
fn free_name(names: &[String], next: u32) -> String {
    let mut name = format!("f{next}");
    while names.contains(&name) {
        name.push('\'');
    }
    name
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Costs, Engine, Event, Release};

    fn request(arrive: Arrive, prompt: u32, stop: Stop, max_new: u32) -> RequestSpec {
        RequestSpec { arrive, prompt: Prompt::Fresh { fresh: 0, len: prompt }, stop, max_new, accept: Vec::new() }
    }

    /// `a` of four outputs, and `b` that takes the turn of its step 5, on a grid of 4.
    fn double_fire() -> Setup {
        let mut requests = vec![
            request(Arrive::Turn(0), 1, Stop::Token(4), 5),
            request(Arrive::Before(ReqId(0), 5), 1, Stop::Length, 1),
        ];
        deal_fresh(&mut requests);
        let engine = Engine { track_interval: 4, mamba_chunk: 4, ..Engine::preset(Release::V0_5_17) };
        let turns_max = turns_max(&requests, &[]);
        let names = vec!["a".to_string(), "b".to_string()];
        Setup { engine, state: None, costs: Costs::default(), requests, names, events: Vec::new(), turns_max }
    }

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text).unwrap()
    }

    #[test]
    fn patterns_are_read_and_counted_through() {
        assert_eq!(pattern("1101").bits(), [true, true, false, true]);
        assert_eq!(Pattern::parse("1x"), Err("has `x` at place 2".to_string()));
        assert_eq!(Pattern::parse(""), Err("is empty".to_string()));
        let all: Vec<String> = Pattern::all(2).iter().map(Pattern::to_string).collect();
        assert_eq!(all, ["00", "01", "10", "11"]);
        assert_eq!(Pattern::all(ALL_MAX).len(), 4096);
    }

    #[test]
    fn the_steps_of_a_request_are_those_after_its_first_output() {
        let mut setup = double_fire();
        assert_eq!(decode_steps(&setup, ReqId(0)), 2..=4);
        assert!(decode_steps(&setup, ReqId(1)).is_empty());
        setup.requests[0] = request(Arrive::Turn(0), 10, Stop::Length, 20);
        assert_eq!(decode_steps(&setup, ReqId(0)), 11..=29);
    }

    #[test]
    fn a_pattern_lies_around_the_first_boundary_as_far_as_there_are_steps() {
        let mut setup = double_fire();
        let mut first = |prompt: u32, outputs: u32, len: u32| {
            setup.requests[0] = request(Arrive::Turn(0), prompt, Stop::Length, outputs);
            usual_first_step(&setup, ReqId(0), len)
        };
        assert_eq!(first(1, 8, 4), 2, "boundary 4");
        assert_eq!(first(3, 8, 4), 4, "the first step is the boundary");
        assert_eq!(first(4, 12, 4), 6, "boundary 8");
        assert_eq!(first(4, 6, 4), 6, "the last four steps: 6 to 9");
        assert_eq!(first(4, 5, 4), 5, "as many as there are");
        assert_eq!(first(5, 2, 1), 6, "no boundary at all");
    }

    #[test]
    fn a_zero_pins_a_filler_and_a_one_takes_its_stand_in_away() {
        let setup = double_fire();
        assert_eq!(with_pattern(&setup, ReqId(0), 2, &pattern("110")), setup, "the scenario is a pattern of itself");
        let level = with_pattern(&setup, ReqId(0), 2, &pattern("010"));
        assert_eq!(level.names, ["a", "b", "f3"]);
        assert_eq!(level.requests[2].arrive, Arrive::Before(ReqId(0), 3));
        let ahead = with_pattern(&setup, ReqId(0), 2, &pattern("111"));
        assert_eq!(ahead.names, ["a"]);
        assert_eq!(ahead.turns_max, turns_max(&ahead.requests, &[]));
    }

    #[test]
    fn a_request_that_does_more_than_a_filler_stays() {
        let mut setup = double_fire();
        assert_eq!(stand_ins(&setup, ReqId(0), 2..=4), [ReqId(1)]);
        assert!(stand_ins(&setup, ReqId(0), 2..=3).is_empty(), "pinned elsewhere");
        setup.events = vec![Event::Abort { turn: 9, req: ReqId(1) }];
        assert!(stand_ins(&setup, ReqId(0), 2..=4).is_empty(), "an event names it");
        setup.events.clear();
        setup.requests[1].max_new = 2;
        let longer = with_pattern(&setup, ReqId(0), 2, &pattern("111"));
        assert_eq!(longer.names, ["a", "b"], "it decodes");
        setup.names[1] = "f5".to_string();
        assert_eq!(with_pattern(&setup, ReqId(0), 4, &pattern("0")).names, ["a", "f5", "f5'"]);
    }

    #[test]
    fn requests_before_it_may_go() {
        let mut setup = double_fire();
        setup.requests.swap(0, 1);
        setup.names.swap(0, 1);
        setup.requests[0].arrive = Arrive::Before(ReqId(1), 5);
        let fewer = with_pattern(&setup, ReqId(1), 3, &pattern("01"));
        assert_eq!(fewer.names, ["a", "f4"]);
        assert_eq!(fewer.requests[1].arrive, Arrive::Before(ReqId(0), 4));
    }

    #[test]
    fn a_bound_on_turns_of_its_own_stays() {
        let setup = Setup { turns_max: 9, ..double_fire() };
        assert_eq!(with_pattern(&setup, ReqId(0), 2, &pattern("000")).turns_max, 9);
    }

    #[test]
    fn spelled_out_tokens_are_one_token_too() {
        let mut setup = double_fire();
        setup.requests[1].prompt = Prompt::Tokens(Arc::from([7]));
        assert_eq!(stand_ins(&setup, ReqId(0), 4..=4), [ReqId(1)]);
    }
}
