//! The prompts and arrivals of a history in the form of a scenario file. In a file, a request whose prompt uses outputs
//! must arrive `After` the request that made them. If the history saw it later than that, its prompt is spelled out
//! token by token, and so is every prompt that shares tokens with it.

use std::sync::Arc;

use crate::model::{Arrive, Prompt, RequestSpec, Setup};
use crate::record::{ReqId, Token};

use super::happened::NotedRun;

/// The first fresh token; sampled ones are below.
const FRESH_FIRST: Token = 1000;

/// Prompts and arrivals of the requests seen, with the request ids of the setup.
pub(super) struct ScriptPrompts<'a> {
    setup: &'a Setup,
    happened: &'a NotedRun,
    /// Tokens in prompt and outputs of each request, if it ends as the script says.
    total: Vec<u32>,
    seen_at: Vec<Option<u32>>,
    /// Requests whose prompts are spelled out.
    spelled: Vec<bool>,
}

/// The source of the first tokens of a prompt.
struct Taken {
    owner: ReqId,
    /// The number of tokens.
    keep: u32,
    /// The request that must have finished for them to exist.
    needs: Option<ReqId>,
}

impl<'a> ScriptPrompts<'a> {
    /// `specs` are those of `setup` with the ends of the history. `after` allows that a request arrives after another.
    pub fn new(setup: &'a Setup, specs: &[RequestSpec], happened: &'a NotedRun, after: bool) -> Self {
        let len = |i: usize| happened.prompts.get(&ReqId(i as u32)).map_or(0, |tokens| tokens.len() as u32);
        let total = specs.iter().enumerate().map(|(i, spec)| len(i) + spec.outputs()).collect();
        let mut seen_at = vec![None; specs.len()];
        for &(req, turn) in &happened.seen {
            seen_at[req.index()] = Some(turn);
        }
        let spelled = vec![false; specs.len()];
        let mut prompts = ScriptPrompts { setup, happened, total, seen_at, spelled };
        for &(req, _) in &happened.seen {
            prompts.spelled[req.index()] = prompts.must_be_spelled(req, after);
        }
        prompts.spread();
        prompts
    }

    fn len(&self, req: ReqId) -> u32 {
        self.happened.prompts.get(&req).map_or(0, |tokens| tokens.len() as u32)
    }

    /// The request from which `req` took its first tokens, and their number.
    fn source(&self, req: ReqId) -> Option<(ReqId, u32)> {
        match self.setup.requests[req.index()].prompt {
            Prompt::Of { req: source, len, .. } => Some((source, self.len(req) - len)),
            Prompt::Tokens(_) | Prompt::Fresh { .. } | Prompt::Blocks { .. } => None,
        }
    }

    /// The owner of the first tokens of a prompt. A prefix that lies wholly in tokens taken over from another request
    /// belongs to that request.
    fn taken(&self, req: ReqId) -> Option<Taken> {
        let (mut owner, keep) = self.source(req)?;
        // Every step follows a reference, and references are without cycles.
        loop {
            if keep > self.len(owner) {
                return Some(Taken { owner, keep, needs: Some(owner) });
            }
            match self.source(owner) {
                Some((before, taken)) if keep <= taken => owner = before,
                Some(_) => return Some(Taken { owner, keep, needs: self.taken(owner).and_then(|taken| taken.needs) }),
                None => return Some(Taken { owner, keep, needs: None }),
            }
        }
    }

    fn must_be_spelled(&self, req: ReqId, after: bool) -> bool {
        let mut at = req;
        while let Prompt::Of { req: source, .. } = self.setup.requests[at.index()].prompt {
            if self.seen_at[source.index()].is_none() {
                return true;
            }
            at = source;
        }
        let Some(Taken { owner, keep, needs }) = self.taken(req) else { return false };
        needs.is_some_and(|needs| !(after && self.follows(req, needs)))
            || keep > self.total[owner.index()] && !self.takes_all(req)
    }

    /// Whether `req` was seen as soon as `other` had ended.
    fn follows(&self, req: ReqId, other: ReqId) -> bool {
        self.happened.ends.get(&other).is_some_and(|end| self.seen_at[req.index()] == Some(end.turn + 1))
    }

    fn takes_all(&self, req: ReqId) -> bool {
        matches!(self.setup.requests[req.index()].prompt, Prompt::Of { keep: None, .. })
    }

    /// Spells out every prompt that shares tokens with a prompt that is spelled out, since fresh tokens are assigned
    /// anew.
    fn spread(&mut self) {
        let edges: Vec<(usize, usize)> = self
            .setup
            .requests
            .iter()
            .enumerate()
            .filter_map(|(i, spec)| match spec.prompt {
                Prompt::Of { req, .. } => Some((i, req.index())),
                Prompt::Tokens(_) | Prompt::Fresh { .. } | Prompt::Blocks { .. } => None,
            })
            .collect();
        loop {
            let half = edges.iter().copied().find(|&(a, b)| self.spelled[a] != self.spelled[b]);
            let Some((a, b)) = half else { return };
            (self.spelled[a], self.spelled[b]) = (true, true);
        }
    }

    /// The prompt of a request that was seen.
    pub fn prompt(&self, req: ReqId) -> Prompt {
        let tokens = || Prompt::Tokens(Arc::from(self.happened.prompts[&req].as_slice()));
        if self.spelled[req.index()] {
            return tokens();
        }
        match &self.setup.requests[req.index()].prompt {
            prompt @ (Prompt::Tokens(_) | Prompt::Fresh { .. }) => prompt.clone(),
            Prompt::Blocks { .. } => tokens(),
            Prompt::Of { fresh, len, .. } => {
                let (fresh, len) = (*fresh, *len);
                let Some(Taken { owner, keep, .. }) = self.taken(req) else { return tokens() };
                let whole = self.takes_all(req) && keep >= self.total[owner.index()];
                match keep {
                    0 => Prompt::Fresh { fresh, len },
                    _ if whole => Prompt::Of { req: owner, keep: None, fresh, len },
                    _ => Prompt::Of { req: owner, keep: Some(keep), fresh, len },
                }
            }
        }
    }

    /// The arrival of a request that was seen in `turn`.
    pub fn arrive(&self, req: ReqId, turn: u32) -> Arrive {
        let needs = self.taken(req).filter(|_| !self.spelled[req.index()]).and_then(|taken| taken.needs);
        needs.map_or(Arrive::Turn(turn), Arrive::After)
    }
}

/// Assigns fresh tokens as the reader of a file does: consecutive in the order of requests, above every token that is
/// spelled out.
pub(super) fn deal_fresh(requests: &mut [RequestSpec]) {
    let mut next = FRESH_FIRST;
    for spec in requests.iter() {
        let most = match &spec.prompt {
            Prompt::Tokens(tokens) => tokens.iter().max().copied(),
            Prompt::Blocks { firsts, block_len, .. } => firsts.iter().max().map(|first| first + block_len - 1),
            Prompt::Fresh { .. } | Prompt::Of { .. } => None,
        };
        next = next.max(most.map_or(0, |token| token + 1));
    }
    for spec in requests {
        if let Prompt::Fresh { fresh, len } | Prompt::Of { fresh, len, .. } = &mut spec.prompt {
            *fresh = next;
            next += *len;
        }
    }
}
