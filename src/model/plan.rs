//! The plan phase: merge the last prefill into the running batch, then admit a new prefill batch, or else decode the
//! running batch.

use crate::engine::{ChoicePoint, Chooser};
use crate::record::{BatchFact, ForwardMode, Phase, ReqId, Sink};

use super::batch::{Batch, Rows};
use super::machine::{Attempt, Machine};
use super::world::LastBatch;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Plans and prepares the next batch (`get_next_batch_to_run`).
    pub(super) fn plan(&mut self) -> Attempt<Option<Box<Batch>>> {
        self.begin(Phase::Plan, None);
        self.spend(self.setup.costs.plan);
        self.abort_chunked()?;
        self.stash_chunk()?;
        self.merge_last_extend();
        if self.setup.engine.filter_before_prefill {
            let before = self.world.running.reqs.len();
            self.filter_running(&[]);
            if self.world.running.reqs.len() < before {
                self.world.running.is_full = false;
            }
        }
        let admitted = self.admit()?;
        let decodes = admitted.is_empty() && self.update_running_batch()?;
        self.end();
        let batch = if !admitted.is_empty() {
            Some(self.prepare_extend(&admitted)?)
        } else if !decodes {
            None
        } else if self.setup.engine.spec.is_some() {
            Some(self.prepare_verify()?)
        } else {
            Some(self.prepare_decode()?)
        };
        self.check_pins();
        Ok(batch)
    }

    /// Caches the last launched chunk of a request in chunks, before its result (`stash_chunked_request`).
    fn stash_chunk(&mut self) -> Attempt {
        match self.world.chunked {
            Some(req) if self.world.reqs[req.index()].extend_end > self.world.reqs[req.index()].prefix_len => {
                self.cache_unfinished(req)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Filters finished requests out of the last prefill batch, and merges the rest into the running batch.
    fn merge_last_extend(&mut self) {
        let LastBatch::Extend(mut last) = std::mem::replace(&mut self.world.last, LastBatch::None) else { return };
        let before = last.reqs.len();
        let reqs = &self.world.reqs;
        let in_chunks = [self.world.chunked, last.chunked];
        last.filter(|req| !reqs[req.index()].finished() && !in_chunks.contains(&Some(req)));
        if last.reqs.len() < before {
            self.world.running.is_full = false;
        }
        if !last.reqs.is_empty() {
            // The launch has used them up.
            last.prefills.clear();
            if self.world.running.reqs.is_empty() {
                self.world.running = *last;
            } else if self.world.running.merge(&last) {
                self.emit(BatchFact::MasksDropped { batch: self.world.running.id });
            }
        }
    }

    /// Filters finished requests, and those in `exclude`, out of the running batch.
    pub(super) fn filter_running(&mut self, exclude: &[ReqId]) {
        // Requests that join the batch have not finished, so most turns have nothing to filter.
        if !std::mem::replace(&mut self.world.unfiltered, false) && exclude.is_empty() {
            return;
        }
        let reqs = &self.world.reqs[..];
        let goes_on = |req: ReqId| !reqs[req.index()].finished();
        let dropped = if exclude.is_empty() {
            self.world.running.filter(goes_on)
        } else {
            self.world.running.filter(|req| goes_on(req) && !exclude.contains(&req))
        };
        if dropped {
            self.emit(BatchFact::MasksDropped { batch: self.world.running.id });
        }
    }

    /// Makes the running batch ready for a decode step (`update_running_batch`). Returns whether it has rows to run.
    fn update_running_batch(&mut self) -> Attempt<bool> {
        if self.world.running.reqs.is_empty() {
            return Ok(false);
        }
        let before = self.world.running.reqs.len();
        let finishing = self.left_out();
        self.filter_running(&finishing);
        if self.world.running.reqs.is_empty() {
            self.world.running.is_full = false;
            return Ok(false);
        }
        let rows = self.world.running.reqs.clone();
        let fits = self.room_for_decode(&rows);
        let decodes = self.ask_whether(ChoicePoint::Decode, self.world.turn, fits || finishing.is_empty());
        let forced = if decodes { self.forced_retraction(&rows) } else { None };
        if !decodes {
            // The result in flight will free the pages of the finishing requests, so the batch decodes in the next
            // turn.
            self.world.running.is_full = false;
            return Ok(false);
        }
        let short = !fits || forced.is_some();
        if !self.ask_whether(ChoicePoint::Short, self.world.turn, short) {
            self.world.ratio.decay_step();
        } else {
            self.retract(&rows, forced)?;
        }
        if self.world.running.reqs.len() < before {
            self.world.running.is_full = false;
        }
        Ok(!self.world.running.reqs.is_empty())
    }

    /// The running requests that the result in flight will end by length (`_reqs_finishing_inflight`).
    pub(super) fn finishing_in_flight(&self) -> Rows<ReqId> {
        let engine = &self.setup.engine;
        let Some(pending) = self.world.queue.first().filter(|_| engine.skip_finishing_decode && engine.overlap) else {
            return Rows::new();
        };
        let ends = |req: &ReqId| {
            let it = &self.world.reqs[req.index()];
            it.outputs + 1 >= self.setup.requests[req.index()].max_new
        };
        let queued = &pending.batch.reqs;
        self.world.running.reqs.iter().copied().filter(|req| ends(req) && queued.contains(req)).collect()
    }

    /// The unfinished running requests that the next decode step leaves out.
    pub(super) fn left_out(&mut self) -> Rows<ReqId> {
        let finishing = self.finishing_in_flight();
        if !self.chooser.is_open(ChoicePoint::Row) {
            return finishing;
        }
        let rows = self.world.running.reqs.clone();
        rows.iter()
            .copied()
            .filter(|req| !self.ask_whether(ChoicePoint::Row, req.0, !finishing.contains(req)))
            .collect()
    }

    /// A new batch with its number.
    pub(super) fn new_batch(&mut self, mode: ForwardMode) -> Batch {
        self.world.batches += 1;
        self.world.objects += 1;
        let id = crate::record::BatchId(self.world.batches);
        Batch { id, mode, ..Batch::empty(self.world.objects) }
    }
}
