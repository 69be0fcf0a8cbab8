//! The live requests of the gauge: for each its true tokens, and the hit whose outputs are compared. Tokens that the
//! record does not have are not guessed.

use std::collections::VecDeque;

use crate::record::{BatchId, ReqId, Token, TokenFold};

use super::scan::Scan;
use super::severity::{HitKl, Severity};

/// Requests from this index on are ignored. The judge has the same limit and calls such a run inconclusive.
const REQS_MAX: usize = 1 << 22;

/// Most compared forwards of a request without a result. Two batches are in flight, and a verify has several outputs;
/// the rest is slack.
const AWAITED_MAX: usize = 256;

/// A request that has not finished.
#[derive(Clone, Debug, Default)]
pub(super) struct GaugedRequest {
    /// Prompt and sampled tokens.
    pub tokens: Vec<Token>,
    /// A hit whose prefill is not launched yet; the request may still be put back.
    pub hit: Option<HitKl>,
    /// The comparison of the hit that the request runs on, if it started from a cached state.
    pub comparison: Option<HitComparison>,
    /// Compared forwards without a result, oldest first.
    awaited: VecDeque<ComparedOutput>,
    /// Outputs of a verify, with their numbers, until the record says which of them the request keeps.
    emitted: Vec<(u32, ComparedOutput)>,
}

/// The comparison of a hit with a cold prefill.
#[derive(Clone, Debug)]
pub(super) struct HitComparison {
    /// The index of the hit in [`Severity::hits`].
    pub hit: usize,
    /// The cold prefill of the same tokens.
    pub cold: Scan,
}

/// The logits of a forward compared with those after a cold prefill.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparedOutput {
    /// The batch of the forward.
    pub batch: BatchId,
    /// The index of the hit.
    pub hit: usize,
    /// KL(cold || from the cache), in nats.
    pub kl: f64,
    /// Whether the most likely tokens differ.
    pub differs: bool,
}

impl GaugedRequest {
    /// Token number `len + 1` was sampled. If it was known with another value, the comparison ends and the later tokens
    /// are dropped. A token after a gap is ignored.
    pub fn sampled(&mut self, len: u32, token: Token) {
        let len = len as usize;
        if self.tokens.get(len).is_some_and(|known| *known != token) {
            self.tokens.truncate(len);
            self.stop_comparison();
        }
        if len == self.tokens.len() {
            self.tokens.push(token);
        }
    }

    /// The state after the first `len` tokens, if they are known.
    pub fn truth(&self, len: u32) -> Option<TokenFold> {
        Some(TokenFold::ZERO.fold_all(self.tokens.get(..len as usize)?))
    }

    /// Adds a compared forward. Its result decides whether it has an output.
    pub fn push_awaited(&mut self, compared: ComparedOutput) {
        if self.awaited.len() == AWAITED_MAX {
            self.awaited.pop_front();
        }
        self.awaited.push_back(compared);
    }

    /// The result of `batch` was processed; `outputs` is the number of its last output. Compared forwards of earlier
    /// batches had no outputs and are dropped.
    pub fn output(&mut self, batch: BatchId, outputs: u32, severity: &mut Severity) {
        let of_batch = |compared: &ComparedOutput| compared.batch == batch;
        let Some(first) = self.awaited.iter().position(of_batch) else { return };
        self.awaited.drain(..first);
        let count = self.awaited.iter().take_while(|compared| of_batch(compared)).count();
        let before = outputs.saturating_sub(count as u32);
        self.emitted.extend((before + 1..).zip(self.awaited.drain(..count)));
        if count == 1 {
            self.flush(outputs, severity);
        }
    }

    /// Adds the outputs so far to `severity`, up to number `kept`.
    pub fn flush(&mut self, kept: u32, severity: &mut Severity) {
        for (output, compared) in self.emitted.drain(..).filter(|(output, _)| *output <= kept) {
            severity.add(compared.hit, output, compared.kl, compared.differs);
        }
    }

    /// Ends the comparison: the state no longer continues the hit.
    pub fn stop_comparison(&mut self) {
        self.hit = None;
        self.comparison = None;
        self.awaited.clear();
    }
}

/// The live requests, by index.
#[derive(Clone, Debug, Default)]
pub(super) struct GaugedRequests {
    live: Vec<Option<Box<GaugedRequest>>>,
}

impl GaugedRequests {
    /// A request, created if it is new; `None` from [`REQS_MAX`] on.
    pub fn get(&mut self, req: ReqId) -> Option<&mut GaugedRequest> {
        if req.index() >= self.live.len() {
            if req.index() >= REQS_MAX {
                return None;
            }
            self.live.resize(req.index() + 1, None);
        }
        Some(self.live[req.index()].get_or_insert_default())
    }

    /// A request, if it is live and was seen before.
    pub fn known(&mut self, req: ReqId) -> Option<&mut GaugedRequest> {
        self.live.get_mut(req.index())?.as_deref_mut()
    }

    /// Removes a finished request.
    pub fn forget(&mut self, req: ReqId) {
        if let Some(live) = self.live.get_mut(req.index()) {
            *live = None;
        }
    }
}
