//! What became of each request, for the report: kept for good.

use educe::Educe;

use crate::record::{FinishKind, ReqId};

use super::RequestOutcome;
use super::grow::entry;
use super::storage::REQS_MAX;

/// A request that was seen.
#[derive(Clone, Copy, Debug, Default)]
struct SeenRequest {
    outcome: RequestOutcome,
    /// The longest prefix with a state for it in the cache, at its last match.
    matched: u32,
    admitted: bool,
}

/// All requests.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(super) struct Outcomes {
    list: Vec<SeenRequest>,
    /// Whether a request was named that is not followed.
    pub overflow: bool,
}

impl Outcomes {
    /// The request was seen by the scheduler.
    pub fn arrive(&mut self, req: ReqId) {
        if let Some(it) = self.known(req) {
            it.outcome.arrived = true;
        }
    }

    /// A prefix of this length has a state for it in the cache.
    pub fn matched(&mut self, req: ReqId, state_len: u32) {
        if let Some(it) = self.known(req) {
            it.matched = state_len;
        }
    }

    /// It was admitted with what was matched last: how many tokens.
    pub fn admit(&mut self, req: ReqId) -> u32 {
        let Some(it) = self.known(req) else { return 0 };
        if !std::mem::replace(&mut it.admitted, true) {
            it.outcome.prefix_hit = it.matched;
        }
        it.matched
    }

    /// It has this many outputs.
    #[inline]
    pub fn output(&mut self, req: ReqId, outputs: u32) {
        if let Some(it) = self.known(req) {
            it.outcome.outputs = outputs;
        }
    }

    /// It finished.
    pub fn end(&mut self, req: ReqId, kind: FinishKind, outputs: u32) {
        if let Some(it) = self.known(req) {
            (it.outcome.outputs, it.outcome.finish) = (outputs, Some(kind));
        }
    }

    /// Whether it has finished.
    pub fn is_over(&self, req: ReqId) -> bool {
        self.list.get(req.index()).is_some_and(|it| it.outcome.finish.is_some())
    }

    /// Whether it arrived and has not finished, so that it may hold something when a bound ends the run.
    pub fn is_running(&self, req: ReqId) -> bool {
        self.list.get(req.index()).is_some_and(|it| it.outcome.arrived && it.outcome.finish.is_none())
    }

    /// What became of each request, by index.
    pub fn finish(self) -> Vec<RequestOutcome> {
        self.list.into_iter().map(|it| it.outcome).collect()
    }

    #[inline]
    fn known(&mut self, req: ReqId) -> Option<&mut SeenRequest> {
        entry(&mut self.list, req.index(), REQS_MAX, SeenRequest::default, &mut self.overflow)
    }
}
