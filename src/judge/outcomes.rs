//! The outcome of each request, for the report.
//!
//! Owns arrival, prefix hit, outputs and end of every request, also after its release. Makes no findings.

use educe::Educe;

use crate::record::{FinishKind, ReqId};

use super::RequestOutcome;
use super::grow::entry;
use super::storage::REQS_MAX;

/// A request in the record.
#[derive(Clone, Copy, Debug, Default)]
struct SeenRequest {
    outcome: RequestOutcome,
    /// The length of the cached state at its last match.
    matched: u32,
    /// Whether it was admitted before.
    admitted: bool,
}

/// The outcomes of all requests.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(super) struct Outcomes {
    list: Vec<SeenRequest>,
    /// Whether the record has a request from [`REQS_MAX`] on.
    pub overflow: bool,
}

impl Outcomes {
    /// The request arrived.
    pub fn arrive(&mut self, req: ReqId) {
        if let Some(it) = self.entry_of(req) {
            it.outcome.arrived = true;
        }
    }

    /// The longest prefix of the request with a cached state has this length.
    pub fn matched(&mut self, req: ReqId, state_len: u32) {
        if let Some(it) = self.entry_of(req) {
            it.matched = state_len;
        }
    }

    /// The request was admitted. Returns the number of tokens from the cache: those of its last match.
    pub fn admit(&mut self, req: ReqId) -> u32 {
        let Some(it) = self.entry_of(req) else { return 0 };
        if !std::mem::replace(&mut it.admitted, true) {
            it.outcome.prefix_hit = it.matched;
        }
        it.matched
    }

    /// The request has this number of outputs.
    #[inline]
    pub fn output(&mut self, req: ReqId, outputs: u32) {
        if let Some(it) = self.entry_of(req) {
            it.outcome.outputs = outputs;
        }
    }

    /// The request finished.
    pub fn end(&mut self, req: ReqId, kind: FinishKind, outputs: u32) {
        if let Some(it) = self.entry_of(req) {
            (it.outcome.outputs, it.outcome.finish) = (outputs, Some(kind));
        }
    }

    /// Whether the request has finished.
    pub fn is_over(&self, req: ReqId) -> bool {
        self.list.get(req.index()).is_some_and(|it| it.outcome.finish.is_some())
    }

    /// Whether the request has arrived and not finished: it may own slots when a bound ends the run.
    pub fn is_running(&self, req: ReqId) -> bool {
        self.list.get(req.index()).is_some_and(|it| it.outcome.arrived && it.outcome.finish.is_none())
    }

    /// The outcome of each request, by index.
    pub fn finish(self) -> Vec<RequestOutcome> {
        self.list.into_iter().map(|it| it.outcome).collect()
    }

    /// The entry of a request; added if there is none. `None` if the request is not tracked.
    #[inline]
    fn entry_of(&mut self, req: ReqId) -> Option<&mut SeenRequest> {
        entry(&mut self.list, req.index(), REQS_MAX, SeenRequest::default, &mut self.overflow)
    }
}
