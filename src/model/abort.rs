//! Aborts (`abort_request`). A waiting request is dropped at once, a request in chunks at the next plan, and a running
//! request is finished by its next result.

use crate::engine::{Choice, ChoicePoint, Chooser};
use crate::record::{AbortStage, FinishKind, NoDonation, ReqId, RequestFact, Sink};

use super::machine::{Attempt, Machine};
use super::request::ReqStage;
use super::setup::Event;
use super::world::LastBatch;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Applies the aborts of this turn, after its arrivals.
    pub(super) fn ingest_aborts(&mut self) {
        let turn = self.world.turn;
        if !self.chooser.is_open(ChoicePoint::Abort) {
            for (i, event) in self.setup.events.iter().enumerate() {
                if let Event::Abort { turn: at, req } = *event
                    && at == turn
                {
                    self.world.events_used[i] |= self.abort(req);
                }
            }
            return;
        }
        for i in 0..self.world.reqs.len() as u32 {
            let live = matches!(self.world.reqs[i as usize].stage, ReqStage::Waiting | ReqStage::Running);
            let scripted = self.setup.events.contains(&Event::Abort { turn, req: ReqId(i) });
            let choice = Choice { point: ChoicePoint::Abort, subject: i, options: 2, default: u32::from(scripted) };
            if live && self.chooser.choose(choice) == 1 {
                self.abort(ReqId(i));
            }
        }
    }

    /// Aborts a request at any stage. Returns whether the abort had an effect.
    fn abort(&mut self, req: ReqId) -> bool {
        let stage = self.stage(req);
        match stage {
            AbortStage::Finished | AbortStage::Gone => {
                self.emit(RequestFact::Abort { req, stage, taken: false });
                return false;
            }
            AbortStage::Waiting => {
                self.world.waiting.retain(|&waiting| waiting != req);
                self.emit(RequestFact::Abort { req, stage, taken: true });
                self.drop_request(req);
                return true;
            }
            AbortStage::Chunk | AbortStage::Prefill | AbortStage::Decode => {}
        }
        let in_chunks = self.world.chunked == Some(req);
        // A request that was retracted with a pending abort may be in chunks again. The abort of the chunks is then a
        // new abort.
        let by_result = self.world.reqs[req.index()].to_abort && !in_chunks;
        let pending = by_result || self.world.chunk_abort == Some(req);
        self.emit(RequestFact::Abort { req, stage, taken: !pending });
        if pending {
            return false;
        }
        if in_chunks {
            self.world.chunk_abort = Some(req);
        }
        let in_last = matches!(&self.world.last, LastBatch::Extend(last) if last.reqs.contains(&req));
        if in_last || self.world.running.reqs.contains(&req) {
            self.req(req).to_abort = true;
        }
        true
    }

    /// Where an abort finds a request now.
    fn stage(&self, req: ReqId) -> AbortStage {
        let it = &self.world.reqs[req.index()];
        let in_last = matches!(&self.world.last, LastBatch::Extend(last) if last.reqs.contains(&req));
        match it.stage {
            ReqStage::Unseen => AbortStage::Gone,
            ReqStage::Finished if it.dropped => AbortStage::Gone,
            ReqStage::Finished => AbortStage::Finished,
            ReqStage::Running if it.finished() => AbortStage::Finished,
            ReqStage::Running if self.world.chunked == Some(req) => AbortStage::Chunk,
            ReqStage::Waiting => AbortStage::Waiting,
            ReqStage::Running if in_last && it.outputs == 0 => AbortStage::Prefill,
            ReqStage::Running => AbortStage::Decode,
        }
    }

    /// Drops the request in chunks that is to be aborted, before its next chunk (`process_pending_chunked_abort`). The
    /// result of its chunk in flight is still processed, and produces no output.
    pub(super) fn abort_chunked(&mut self) -> Attempt {
        let Some(req) = self.world.chunk_abort else { return Ok(()) };
        if self.world.chunked != Some(req) {
            if self.world.reqs[req.index()].stage == ReqStage::Finished {
                self.world.chunk_abort = None;
            }
            return Ok(());
        }
        self.req(req).to_abort = false;
        self.donate_nothing(req, NoDonation::Aborted, None);
        self.release_rest(req, None);
        self.world.chunked = None;
        self.world.chunk_abort = None;
        self.drop_request(req);
        Ok(())
    }

    /// Ends a request that holds nothing and has not finished by itself.
    fn drop_request(&mut self, req: ReqId) {
        self.req(req).dropped = true;
        let (kind, outputs) = (FinishKind::Abort, self.world.reqs[req.index()].outputs);
        self.set_finished(req, kind, outputs);
        self.emit(RequestFact::Finish { req, kind, outputs });
        self.close_request(req);
    }
}
