//! Aborts: a request that waits is dropped, one in chunks is torn down at the next plan, one that runs is finished by
//! the result in flight.

use crate::engine::{Choice, ChoicePoint, Chooser};
use crate::record::{AbortStage, FinishKind, NoDonation, ReqId, RequestFact, Sink};

use super::machine::{Last, Machine, Step};
use super::request::Stage;
use super::setup::Event;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Takes in the aborts of this turn, after its arrivals (`abort_request`).
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
            let live = matches!(self.world.reqs[i as usize].stage, Stage::Waiting | Stage::Running);
            let scripted = self.setup.events.contains(&Event::Abort { turn, req: ReqId(i) });
            let choice = Choice { point: ChoicePoint::Abort, subject: i, options: 2, default: u32::from(scripted) };
            if live && self.chooser.choose(choice) == 1 {
                self.abort(ReqId(i));
            }
        }
    }

    /// Aborts a request wherever it is. Says whether there was anything to abort.
    fn abort(&mut self, req: ReqId) -> bool {
        let stage = self.abort_stage(req);
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
        // A request that was retracted with its abort may be in chunks again: an abort of chunks is another one.
        let by_result = self.world.reqs[req.index()].to_abort && !in_chunks;
        let pending = by_result || self.world.chunk_abort == Some(req);
        self.emit(RequestFact::Abort { req, stage, taken: !pending });
        if pending {
            return false;
        }
        if in_chunks {
            self.world.chunk_abort = Some(req);
        }
        let in_last = matches!(&self.world.last, Last::Extend(last) if last.reqs.contains(&req));
        if in_last || self.world.running.reqs.contains(&req) {
            self.req(req).to_abort = true;
        }
        true
    }

    /// What an abort of a request meets now.
    fn abort_stage(&self, req: ReqId) -> AbortStage {
        let it = &self.world.reqs[req.index()];
        let in_last = matches!(&self.world.last, Last::Extend(last) if last.reqs.contains(&req));
        match it.stage {
            Stage::Unseen => AbortStage::Gone,
            Stage::Finished if it.dropped => AbortStage::Gone,
            Stage::Finished => AbortStage::Finished,
            Stage::Running if it.finished() => AbortStage::Finished,
            Stage::Running if self.world.chunked == Some(req) => AbortStage::Chunk,
            Stage::Waiting => AbortStage::Waiting,
            Stage::Running if in_last && it.outputs == 0 => AbortStage::Prefill,
            Stage::Running => AbortStage::Decode,
        }
    }

    /// Tears down the request in chunks that was to be aborted, before its next chunk
    /// (`process_pending_chunked_abort`). Its chunk in flight still has a result, which emits nothing.
    pub(super) fn abort_chunked(&mut self) -> Step {
        let Some(req) = self.world.chunk_abort else { return Ok(()) };
        if self.world.chunked != Some(req) {
            if self.world.reqs[req.index()].stage == Stage::Finished {
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

    /// A request ends without having finished by itself: it is gone, and holds nothing.
    fn drop_request(&mut self, req: ReqId) {
        self.req(req).dropped = true;
        let (kind, outputs) = (FinishKind::Abort, self.world.reqs[req.index()].outputs);
        self.set_finished(req, kind, outputs);
        self.emit(RequestFact::Finish { req, kind, outputs });
        self.close_request(req);
    }
}
