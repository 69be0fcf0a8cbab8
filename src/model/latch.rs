//! Waiting requests that only the admission latch keeps out: the running batch is marked full (`batch_is_full`),
//! although admission would take the first request of the queue now.
//!
//! Owns the check whether admission would take the request without the mark. The check changes no state: no recency, no
//! split, no slot.

use crate::engine::Chooser;
use crate::record::{ProbeFact, ReqId, Sink};

use super::budget::{AddReqResult, Budget};
use super::machine::Machine;

#[cfg(test)]
impl super::world::World {
    /// Clears the mark of a full running batch. Returns whether it was set.
    pub(crate) fn take_latch(&mut self) -> bool {
        std::mem::take(&mut self.running.is_full)
    }
}

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Emits [`ProbeFact::Latched`] in every turn in which the latch alone keeps the first waiting request out.
    pub fn with_latch(mut self, on: bool) -> Self {
        self.latch = on;
        self
    }

    /// Emits the first waiting request if the running batch is marked full and admission would otherwise add the
    /// request to the `admitted` ones.
    pub(super) fn report_latch(&mut self, budget: &Budget, admitted: &[ReqId]) {
        let Some(&req) = self.world.waiting.first().filter(|_| self.world.running.is_full) else { return };
        if self.would_admit(req, budget, admitted) {
            self.emit(ProbeFact::Latched { req });
        }
    }

    /// Whether admission would take a request if the running batch were not marked full. Cheap conditions come first,
    /// since the queue may wait for many turns.
    fn would_admit(&self, req: ReqId, budget: &Budget, admitted: &[ReqId]) -> bool {
        let room = self.room();
        let closed = self.setup.engine.filter_before_prefill && budget.state(room) == AddReqResult::Other;
        if closed || admitted.len() as u32 >= self.allocatable_reqs(admitted) || !self.slots_left(admitted) {
            return false;
        }
        let it = &self.world.reqs[req.index()];
        let outputs_left = self.setup.requests[req.index()].max_new.saturating_sub(it.outputs);
        // Every hit leaves at least one token to prefill.
        if !budget.fits(1, outputs_left, room) {
            return false;
        }
        let key = self.world.streams.prefix(it.stream, it.known_len() - 1);
        let (prefix_len, locked) = self.world.tree.peek(&self.world.streams, key);
        let extend_len = it.known_len() - prefix_len;
        budget.fits(extend_len, outputs_left, room - locked)
            && budget.input_fits(extend_len)
            && budget.chunk(prefix_len, extend_len).is_some()
    }
}
