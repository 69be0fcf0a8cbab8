//! What is kept of each request while it lives: its true tokens, and the hit that it is being compared for.
//!
//! Refuses to guess a token that the record does not tell.

use std::collections::VecDeque;

use crate::record::{BatchId, ReqId, Token, TokenFold};

use super::scan::Scan;
use super::severity::{HitKl, Severity};

/// Requests beyond this index are not followed; the judge, which follows as many, then calls the run inconclusive.
const REQS_MAX: usize = 1 << 22;

/// Outputs whose results are awaited. A pipeline has two in flight, and a batch may emit several; the rest is slack.
const AWAITED_MAX: usize = 256;

/// A request that has not finished.
#[derive(Clone, Debug, Default)]
pub(super) struct Live {
    /// Prompt and sampled tokens.
    pub tokens: Vec<Token>,
    /// A hit that no prefill has started from yet: it may still be given back.
    pub hit: Option<HitKl>,
    /// The hit that it started from, if it runs on a cached state.
    pub watch: Option<Watch>,
    /// Forwards whose results are awaited.
    awaited: VecDeque<Compared>,
    /// Outputs of a verify, with their numbers, until it is known whether the request ends among them.
    emitted: Vec<(u32, Compared)>,
}

/// A hit under comparison.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// Its position in [`Severity::hits`].
    pub hit: usize,
    /// The cold prefill of the same tokens.
    pub cold: Scan,
}

/// A forward that was compared and whose result has not been processed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    /// The batch of the forward.
    pub batch: BatchId,
    /// Position of the hit.
    pub hit: usize,
    /// KL(cold || from the cache), in nats.
    pub kl: f64,
    /// Whether the most likely token is another one.
    pub differs: bool,
}

impl Live {
    /// Token number `len + 1` was sampled. Sampling it again changes nothing unless it came out differently, and then
    /// the comparison ends; a token after a gap is ignored.
    pub fn sampled(&mut self, len: u32, token: Token) {
        let len = len as usize;
        if self.tokens.get(len).is_some_and(|known| *known != token) {
            self.tokens.truncate(len);
            self.unwatch();
        }
        if len == self.tokens.len() {
            self.tokens.push(token);
        }
    }

    /// The state after the first `len` tokens, if they are known.
    pub fn truth(&self, len: u32) -> Option<TokenFold> {
        Some(TokenFold::ZERO.fold_all(self.tokens.get(..len as usize)?))
    }

    /// A forward of `batch` was compared; its result decides whether that was an output.
    pub fn awaits(&mut self, compared: Compared) {
        if self.awaited.len() == AWAITED_MAX {
            self.awaited.pop_front();
        }
        self.awaited.push_back(compared);
    }

    /// The outputs of `batch` were appended, the last one is number `outputs`. What was compared for an earlier batch
    /// never became one.
    pub fn output(&mut self, batch: BatchId, outputs: u32, severity: &mut Severity) {
        let of_batch = |compared: &Compared| compared.batch == batch;
        let Some(first) = self.awaited.iter().position(of_batch) else { return };
        self.awaited.drain(..first);
        let count = self.awaited.iter().take_while(|compared| of_batch(compared)).count();
        let before = outputs.saturating_sub(count as u32);
        self.emitted.extend((before + 1..).zip(self.awaited.drain(..count)));
        if count == 1 {
            self.settle(outputs, severity);
        }
    }

    /// The outputs so far count, up to number `kept`.
    pub fn settle(&mut self, kept: u32, severity: &mut Severity) {
        for (output, compared) in self.emitted.drain(..).filter(|(output, _)| *output <= kept) {
            severity.add(compared.hit, output, compared.kl, compared.differs);
        }
    }

    /// Its state is not a continuation of the hit any more.
    pub fn unwatch(&mut self) {
        self.hit = None;
        self.watch = None;
        self.awaited.clear();
    }
}

/// All requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    live: Vec<Option<Box<Live>>>,
}

impl Requests {
    /// A request, made up if it was never seen; `None` beyond the bound.
    pub fn get(&mut self, req: ReqId) -> Option<&mut Live> {
        if req.index() >= self.live.len() {
            if req.index() >= REQS_MAX {
                return None;
            }
            self.live.resize(req.index() + 1, None);
        }
        Some(self.live[req.index()].get_or_insert_default())
    }

    /// A request, if it is alive and was seen before.
    pub fn known(&mut self, req: ReqId) -> Option<&mut Live> {
        self.live.get_mut(req.index())?.as_deref_mut()
    }

    /// It has finished: forgets it.
    pub fn forget(&mut self, req: ReqId) {
        if let Some(live) = self.live.get_mut(req.index()) {
            *live = None;
        }
    }
}
