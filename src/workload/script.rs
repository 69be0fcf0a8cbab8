//! The requests of a generated setup, one after another in the words of a scenario file.
//!
//! Owns the rules of the format on prompts, arrivals and fresh tokens (`docs/scenario-format.md`), so that every setup
//! is valid: a request whose prompt uses outputs arrives after they exist.

use std::sync::Arc;

use crate::model::{Arrive, Costs, Engine, Event, Prompt, RequestSpec, Setup, Ssm, Stop, turns_max};
use crate::record::{ReqId, Token};

use super::FRESH_FIRST;

/// A prompt by the words of the format.
#[derive(Clone, Debug)]
pub(super) enum PromptWords {
    Fresh(u32),
    Tokens(Arc<[Token]>),
    Extend(ReqId, u32),
    Prefix(ReqId, u32, u32),
}

/// How a request ends: its `stop`, and the most outputs it may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScriptEnd {
    pub stop: Stop,
    pub max_new: u32,
}

impl ScriptEnd {
    pub fn length(outputs: u32) -> ScriptEnd {
        ScriptEnd { stop: Stop::Length, max_new: outputs }
    }

    pub fn token(nth: u32, spare: u32) -> ScriptEnd {
        ScriptEnd { stop: Stop::Token(nth), max_new: nth + spare }
    }

    fn outputs(self) -> u32 {
        match self.stop {
            Stop::Token(nth) => nth,
            Stop::Length => self.max_new,
        }
    }
}

/// Lengths of a request, and the request whose outputs its prompt uses.
#[derive(Clone, Copy, Debug)]
struct RequestLens {
    prompt: u32,
    total: u32,
    needs: Option<ReqId>,
}

/// A setup under construction.
pub(super) struct Script {
    pub engine: Engine,
    pub state: Option<Ssm>,
    pub costs: Costs,
    pub events: Vec<Event>,
    requests: Vec<RequestSpec>,
    shapes: Vec<RequestLens>,
}

impl Script {
    /// An empty script of an engine, with room for `count` requests.
    pub fn new(engine: Engine, count: u32) -> Script {
        let count = count as usize;
        Script {
            engine,
            state: None,
            costs: Costs::default(),
            events: Vec::new(),
            requests: Vec::with_capacity(count),
            shapes: Vec::with_capacity(count),
        }
    }

    /// Requests so far.
    pub fn count(&self) -> u32 {
        self.requests.len() as u32
    }

    /// Tokens of a prompt.
    pub fn prompt(&self, req: ReqId) -> u32 {
        self.shapes[req.index()].prompt
    }

    /// Tokens of a prompt and of its outputs up to `stop`.
    pub fn total(&self, req: ReqId) -> u32 {
        self.shapes[req.index()].total
    }

    /// The most outputs of a request.
    pub fn max_new(&self, req: ReqId) -> u32 {
        self.requests[req.index()].max_new
    }

    /// Adds a request. If its prompt would not exist yet, it arrives after the request that has to end first.
    pub fn add(&mut self, arrive: Arrive, words: PromptWords, end: ScriptEnd) -> ReqId {
        let (prompt, len, needs) = match words {
            // `fresh: 0` is replaced by `finish`.
            PromptWords::Fresh(len) => (Prompt::Fresh { fresh: 0, len }, len, None),
            PromptWords::Tokens(tokens) => {
                let len = tokens.len() as u32;
                (Prompt::Tokens(tokens), len, None)
            }
            PromptWords::Extend(req, len) => {
                (Prompt::Of { req, keep: None, fresh: 0, len }, self.total(req) + len, Some(req))
            }
            PromptWords::Prefix(req, keep, len) => {
                let (owner, needs) = self.owner(req, keep);
                (Prompt::Of { req: owner, keep: Some(keep), fresh: 0, len }, keep + len, needs)
            }
        };
        let arrive = match needs {
            Some(needs) if !self.comes_after(arrive, needs) => Arrive::After(needs),
            Some(_) | None => arrive,
        };
        let req = ReqId(self.count());
        self.requests.push(RequestSpec { arrive, prompt, stop: end.stop, max_new: end.max_new, accept: Vec::new() });
        self.shapes.push(RequestLens { prompt: len, total: len + end.outputs(), needs });
        req
    }

    /// What the first verifies of a request accept.
    pub fn accepts(&mut self, req: ReqId, accept: Vec<u32>) {
        self.requests[req.index()].accept = accept;
    }

    /// The request that owns the first `keep` tokens of `named`, and the request that must have ended for them to
    /// exist.
    fn owner(&self, named: ReqId, keep: u32) -> (ReqId, Option<ReqId>) {
        let mut owner = named;
        // Every turn goes to an earlier request.
        loop {
            let RequestLens { prompt, needs, .. } = self.shapes[owner.index()];
            if keep > prompt {
                return (owner, Some(owner));
            }
            match &self.requests[owner.index()].prompt {
                Prompt::Of { req, keep: taken, .. } if keep <= taken.unwrap_or(self.total(*req)) => owner = *req,
                Prompt::Of { .. } => return (owner, needs),
                Prompt::Tokens(_) | Prompt::Fresh { .. } | Prompt::Blocks { .. } => return (owner, None),
            }
        }
    }

    /// Whether a request with this arrival is seen only after `needs` has ended, in every timing.
    fn comes_after(&self, arrive: Arrive, needs: ReqId) -> bool {
        let mut arrive = arrive;
        // Every turn goes to an earlier request.
        loop {
            arrive = match arrive {
                Arrive::After(req) if req == needs => return true,
                Arrive::After(req) | Arrive::Before(req, _) => self.requests[req.index()].arrive,
                Arrive::Turn(_) | Arrive::At(_) => return false,
            };
        }
    }

    /// The smallest KV pool in which each request can be admitted alone.
    pub fn kv_least(&self) -> u32 {
        let page = self.engine.page_size;
        let spec = self.engine.spec.as_ref().map_or(0, |spec| spec.reserve() + spec.accept_max());
        let lens = self.requests.iter().zip(&self.shapes).map(|(spec, shape)| shape.prompt + spec.max_new);
        lens.max().map_or(0, |len| (len + spec).next_multiple_of(page)) + 2 * page
    }

    /// Reverses the list, so that requests come before those that they name.
    fn reverse(&mut self) {
        let last = self.count() - 1;
        let moved = |req: &mut ReqId| req.0 = last - req.0;
        self.requests.reverse();
        for spec in &mut self.requests {
            match &mut spec.arrive {
                Arrive::After(req) | Arrive::Before(req, _) => moved(req),
                Arrive::Turn(_) | Arrive::At(_) => {}
            }
            match &mut spec.prompt {
                Prompt::Of { req, .. } => moved(req),
                Prompt::Tokens(_) | Prompt::Fresh { .. } | Prompt::Blocks { .. } => {}
            }
        }
        for event in &mut self.events {
            let (Event::FailAlloc { req, .. } | Event::Abort { req, .. } | Event::Retract { req, .. }) = event;
            moved(req);
        }
    }

    /// Reverses the list if asked to, assigns fresh tokens in its order, names the requests, and sets the bound on
    /// turns.
    pub fn finish(mut self, is_reversed: bool) -> Setup {
        if is_reversed {
            self.reverse();
        }
        let Script { engine, state, costs, events, mut requests, .. } = self;
        let mut next = FRESH_FIRST;
        for spec in &mut requests {
            match &mut spec.prompt {
                Prompt::Fresh { fresh, len } | Prompt::Of { fresh, len, .. } => {
                    *fresh = next;
                    next += *len;
                }
                Prompt::Tokens(_) | Prompt::Blocks { .. } => {}
            }
        }
        let names = (0..requests.len()).map(|i| name(i, requests.len())).collect();
        let turns_max = turns_max(&requests, &events);
        Setup { engine, state, costs, requests, names, events, turns_max }
    }
}

/// A letter if there are letters for all requests, a number otherwise.
fn name(i: usize, count: usize) -> String {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
    if count <= LETTERS.len() { LETTERS[i..=i].to_string() } else { format!("r{i}") }
}
