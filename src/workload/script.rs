//! The requests of a generated setup, one after another in the words of a scenario file.
//!
//! Owns what the format says of prompts, arrivals and fresh tokens (`docs/scenario-format.md`), so that whatever is added
//! is valid: a request whose prompt reaches into outputs arrives after they exist.

use std::sync::Arc;

use crate::model::{Arrive, Costs, Engine, Event, Prompt, RequestSpec, Setup, Ssm, Stop, turns_max};
use crate::record::{ReqId, Token};

use super::FRESH_FIRST;

/// A prompt by the words of the format.
#[derive(Clone, Debug)]
pub(super) enum Words {
    Fresh(u32),
    Tokens(Arc<[Token]>),
    Extend(ReqId, u32),
    Prefix(ReqId, u32, u32),
}

/// How a request ends: its `stop`, and the most outputs it may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub stop: Stop,
    pub max_new: u32,
}

impl End {
    pub fn length(outputs: u32) -> End {
        End { stop: Stop::Length, max_new: outputs }
    }

    pub fn token(nth: u32, spare: u32) -> End {
        End { stop: Stop::Token(nth), max_new: nth + spare }
    }

    fn outputs(self) -> u32 {
        match self.stop {
            Stop::Token(nth) => nth,
            Stop::Length => self.max_new,
        }
    }
}

/// Lengths of a request, and whose outputs its prompt is made of.
#[derive(Clone, Copy, Debug)]
struct Shape {
    prompt: u32,
    total: u32,
    needs: Option<ReqId>,
}

/// A setup in the making.
pub(super) struct Script {
    pub engine: Engine,
    pub state: Option<Ssm>,
    pub costs: Costs,
    pub events: Vec<Event>,
    requests: Vec<RequestSpec>,
    shapes: Vec<Shape>,
}

impl Script {
    /// An engine, and room for so many requests.
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

    /// Tokens of a prompt and of its outputs, as many as `stop` says.
    pub fn total(&self, req: ReqId) -> u32 {
        self.shapes[req.index()].total
    }

    /// The most outputs of a request.
    pub fn max_new(&self, req: ReqId) -> u32 {
        self.requests[req.index()].max_new
    }

    /// Adds a request. If it would come before its prompt exists, it arrives after whoever has to end first.
    pub fn add(&mut self, arrive: Arrive, words: Words, end: End) -> ReqId {
        let (prompt, len, needs) = match words {
            // What follows `fresh: 0` here is dealt at the end.
            Words::Fresh(len) => (Prompt::Fresh { fresh: 0, len }, len, None),
            Words::Tokens(tokens) => {
                let len = tokens.len() as u32;
                (Prompt::Tokens(tokens), len, None)
            }
            Words::Extend(req, len) => {
                (Prompt::Of { req, keep: None, fresh: 0, len }, self.total(req) + len, Some(req))
            }
            Words::Prefix(req, keep, len) => {
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
        self.shapes.push(Shape { prompt: len, total: len + end.outputs(), needs });
        req
    }

    /// What the first verifies of a request accept.
    pub fn accepts(&mut self, req: ReqId, accept: Vec<u32>) {
        self.requests[req.index()].accept = accept;
    }

    /// Whose first `keep` tokens these are in the end, and who must have ended for them to exist.
    fn owner(&self, named: ReqId, keep: u32) -> (ReqId, Option<ReqId>) {
        let mut owner = named;
        // Every turn goes to an earlier request.
        loop {
            let Shape { prompt, needs, .. } = self.shapes[owner.index()];
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

    /// Whether whoever arrives like this finds `needs` ended, in every timing.
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

    /// Turns the list round, so that requests stand before those that they name.
    fn turn_round(&mut self) {
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

    /// Deals fresh tokens in the order of the list, which may be `turned` round before, names the requests, and bounds the
    /// turns.
    pub fn finish(mut self, turned: bool) -> Setup {
        if turned {
            self.turn_round();
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

/// Letters as far as they go round, numbers for more requests.
fn name(i: usize, count: usize) -> String {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
    if count <= LETTERS.len() { LETTERS[i..=i].to_string() } else { format!("r{i}") }
}
