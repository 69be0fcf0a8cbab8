//! The result phase: tokens are appended, requests finish, the rule is run, states are donated.

use crate::engine::{Choice, ChoicePoint, Chooser, Time};
use crate::record::{
    AssertKind, BoundaryCheck, Decision, DecisionFact, FinishKind, ForwardMode, KeptState, Owner, Phase, PreparedRow,
    ReqId, RequestFact, ResultRow, RowFacts, RunFact, Sink, SkipReason,
};

use super::batch::Batch;
use super::machine::{Dead, Machine, Pending, Step};
use super::request::Req;
use super::rule::{Action, Keeps, RowView};
use super::setup::{FinishOrder, Stop, Strategy};

/// How a request ends, and how many outputs it delivers.
type End = (FinishKind, u32);

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Waits for a forward's completion event and processes its result, row by row.
    pub(super) fn process(&mut self, pending: &Pending) -> Step {
        let batch = pending.batch.id;
        self.begin(Phase::Result, Some(batch));
        self.world.clock.cpu = self.world.clock.cpu.max(pending.copied);
        self.emit(RunFact::Wait { batch, at: self.world.clock.cpu });
        self.spend(self.setup.costs.result);
        self.commit_accepted(pending);
        let prefills = pending.batch.prefills.len();
        for &req in &pending.batch.reqs[..prefills] {
            self.process_prefill(pending, req)?;
        }
        for (i, row) in (prefills..).zip(&pending.batch.prepared) {
            self.process_decode(pending, i, row)?;
        }
        self.emit_results(pending);
        if !self.world.deferred_frees.is_empty() {
            self.free_deferred();
        }
        self.end();
        Ok(())
    }

    /// A row that prefills: if that was its last chunk, its request is cached, or released if the first output ends it.
    fn process_prefill(&mut self, pending: &Pending, req: ReqId) -> Step {
        let batch = pending.batch.id;
        self.spend(self.setup.costs.result_request);
        let it = &mut self.world.reqs[req.index()];
        if it.middle_chunks > 0 && !it.retracted {
            it.middle_chunks -= 1;
            self.emit(RequestFact::MiddleChunk { batch, req });
            return Ok(());
        }
        if let Some(why) = passed(it) {
            self.emit(RequestFact::Skip { batch, req, why });
            return Ok(());
        }
        let (outputs, end) = self.append_outputs(req, 1);
        self.emit_outputs(pending, req, (outputs, self.world.clock.cpu), end);
        if end.is_some() { self.release_finished(req) } else { self.cache_unfinished(req) }
    }

    /// Row `i` of a decode, verify or mixed batch: the rule is run, but not on a row that rode along, whose forward kept no state. A row of
    /// which no more than its output is to be told is told with its neighbours.
    fn process_decode(&mut self, pending: &Pending, i: usize, prepared: &PreparedRow) -> Step {
        let req = prepared.req;
        self.spend(self.setup.costs.result_request);
        if let Some(why) = passed(&self.world.reqs[req.index()]) {
            self.emit_results(pending);
            self.emit(RequestFact::Skip { batch: pending.batch.id, req, why });
            return Ok(());
        }
        let at = self.world.clock.cpu;
        let (outputs, end) = self.append_outputs(req, pending.accepted.get(i).copied().unwrap_or(1));
        let it = &self.world.reqs[req.index()];
        let lookahead = i64::from(it.decode_batch_idx) - i64::from(prepared.decode_batch_idx);
        let row = ResultRow {
            at,
            lookahead,
            req,
            outputs,
            kv_committed_len: it.kv_committed_len,
            check: BoundaryCheck::None,
        };
        let tracked = it.has_track && pending.batch.mode != ForwardMode::Mixed;
        let asked = if tracked { self.ask_rule(pending, i, it) } else { Ok(Action::none(BoundaryCheck::None)) };
        match asked {
            Ok(action) if action.is_nothing() && end.is_none() && !self.skew && !self.probe => {
                self.results.push(ResultRow { check: action.check, ..row });
                if tracked {
                    self.spend(self.setup.costs.of_check(action.check));
                }
                Ok(())
            }
            Ok(_) | Err(_) => self.finish_row(pending, i, (row, tracked), end, asked),
        }
    }

    /// Tells row `i` of a decode, verify or mixed batch, records what the rule did, and releases the request if it ends.
    fn finish_row(
        &mut self,
        pending: &Pending,
        i: usize,
        (row, tracked): (ResultRow, bool),
        end: Option<End>,
        asked: Result<Action, AssertKind>,
    ) -> Step {
        let batch = &pending.batch;
        let ResultRow { at, lookahead, req, outputs, kv_committed_len, check: _ } = row;
        self.emit_results(pending);
        self.emit_outputs(pending, req, (outputs, at), end);
        if batch.mode != ForwardMode::Mixed {
            self.emit_fields(req);
        }
        if self.skew && tracked && batch.mode == ForwardMode::Decode {
            let view = self.view(batch, i, &self.world.reqs[req.index()]);
            self.report_skew(pending, i, &view);
        }
        let action = asked.map_err(|kind| Dead { req: Some(req), kind })?;
        let before = self.kept(req);
        let flips = self.record(req, action);
        let decision = action.record.map(|_| Decision { before, after: self.kept(req) });
        let check = action.check;
        self.emit(DecisionFact::Row { batch: batch.id, req, lookahead, kv_committed_len, check, decision });
        if tracked {
            self.spend(self.setup.costs.of_check(check));
            self.carry_out(pending, req, action, flips);
        }
        self.emit_fields(req);
        if end.is_some() { self.release_finished(req) } else { Ok(()) }
    }

    /// Tells the rows that were processed since the last time.
    fn emit_results(&mut self, pending: &Pending) {
        if !self.results.is_empty() {
            self.sink.rows(RowFacts::Results(pending.batch.id, &self.results));
            self.results.clear();
        }
    }

    /// Tells how many outputs a request has, and whether it ends with them.
    fn emit_outputs(&mut self, pending: &Pending, req: ReqId, (outputs, at): (u32, Time), end: Option<End>) {
        self.emit(RequestFact::Output { batch: pending.batch.id, req, outputs, at });
        if let Some((kind, outputs)) = end {
            self.emit(RequestFact::Finish { req, kind, outputs });
        }
    }

    /// Appends output tokens (one, or what a verify accepted) and updates the finish state: how many outputs there are, and the end of the
    /// request if it comes with them.
    #[inline(always)]
    fn append_outputs(&mut self, req: ReqId, count: u32) -> (u32, Option<End>) {
        let it = &mut self.world.reqs[req.index()];
        it.outputs += count;
        let (outputs, aborted) = (it.outputs, std::mem::take(&mut it.to_abort));
        let abort = aborted.then_some((FinishKind::Abort, outputs));
        let end = abort.or_else(|| self.end_at(req, outputs - count, outputs));
        if let Some((kind, outputs)) = end {
            self.set_finished(req, kind, outputs);
        }
        (outputs, end)
    }

    /// The end of a request by its tokens, if it comes with the outputs behind the first `before`.
    #[inline(always)]
    fn end_at(&mut self, req: ReqId, before: u32, outputs: u32) -> Option<End> {
        let spec = &self.setup.requests[req.index()];
        let stop = (before + 1..=outputs).find(|&n| {
            let scripted = spec.stop == Stop::Token(n);
            let choice = Choice { point: ChoicePoint::Stop, subject: req.0, options: 2, default: u32::from(scripted) };
            self.chooser.choose(choice) == 1
        });
        let length = outputs >= spec.max_new;
        // A stop behind the length is none.
        let token = stop.is_some_and(|n| n <= spec.max_new);
        let kind = match (token, length, self.setup.engine.finish_order) {
            (false, false, _) => return None,
            (true, false, _) | (true, true, FinishOrder::TokenFirst) => FinishKind::Token,
            (false, true, _) | (true, true, FinishOrder::LengthFirst) => FinishKind::Length,
        };
        Some((kind, if kind == FinishKind::Token { stop.unwrap_or(outputs) } else { spec.max_new }))
    }

    /// Ends a request.
    pub(super) fn set_finished(&mut self, req: ReqId, kind: FinishKind, outputs: u32) {
        let it = self.req(req);
        it.finish = Some(kind);
        it.finished_len = Some(outputs);
        self.world.unfiltered = true;
    }

    /// What the rule does at row `i` of a decode or verify result.
    #[inline(always)]
    fn ask_rule(&self, pending: &Pending, i: usize, it: &Req) -> Result<Action, AssertKind> {
        match pending.batch.mode {
            ForwardMode::Verify => Ok(self.rule.on_verify(&self.verify_view(pending, i))),
            ForwardMode::Decode | ForwardMode::Extend | ForwardMode::Mixed => {
                self.rule.on_result(&self.view(&pending.batch, i, it))
            }
        }
    }

    /// What the rule sees of row `i` of a batch, whose request is `it`.
    #[inline(always)]
    fn view(&self, batch: &Batch, i: usize, it: &Req) -> RowView {
        RowView {
            grid: self.world.grid,
            lazy: self.setup.engine.strategy == Strategy::ExtraBufferLazy,
            track_slots: self.setup.engine.track_slots(),
            prompt_len: it.prompt_len,
            outputs: it.outputs,
            finished: it.finished(),
            kv_committed_len: it.kv_committed_len,
            decode_batch_idx: it.decode_batch_idx,
            next_track_idx: it.next_track_idx,
            last_track_idx: it.last_track_idx,
            held: [it.track[0].is_some(), it.track[1].is_some()],
            untracked_ahead: it.untracked_idx == Some(it.decode_batch_idx),
            masks: self.masks_at_result(batch, i),
        }
    }

    /// Sets what an action records. Returns the write index if it is another one now.
    fn record(&mut self, req: ReqId, action: Action) -> Option<u8> {
        let pair = self.setup.engine.strategy == Strategy::ExtraBuffer;
        let it = self.req(req);
        if let Some((label, idx)) = action.record {
            if pair {
                it.prev_track_seqlen = it.last_track_seqlen;
            }
            it.last_track_seqlen = Some(label);
            it.last_track_idx = idx.unwrap_or(it.last_track_idx);
        }
        it.decline |= action.decline;
        let flips = action.next_track_idx.filter(|&next| next != it.next_track_idx);
        it.next_track_idx = flips.unwrap_or(it.next_track_idx);
        flips
    }

    /// What follows from an action that was recorded.
    fn carry_out(&mut self, pending: &Pending, req: ReqId, action: Action, flips: Option<u8>) {
        if let Some(next_track_idx) = flips {
            self.emit(DecisionFact::Flip { batch: pending.batch.id, req, next_track_idx });
        }
        if action.record.is_some() || flips.is_some() {
            self.spend(self.setup.costs.boundary_update);
        }
        if let Some(idx) = action.release_idx
            && let Some(slot) = self.req(req).track[usize::from(idx)].take()
        {
            self.free_slot(slot, Owner::Track(req, idx), true);
        }
    }

    /// The index of the track slot that a donation would take now (`get_mamba_ping_pong_keep_idx`).
    pub(super) fn keep_idx(&self, req: ReqId) -> u8 {
        let it = &self.world.reqs[req.index()];
        match self.rule.keeps() {
            Keeps::Last => it.last_track_idx,
            Keeps::FromNext if self.setup.engine.is_pair() => 1 - it.next_track_idx,
            Keeps::FromNext => it.next_track_idx,
        }
    }

    pub(super) fn kept(&self, req: ReqId) -> KeptState {
        let it = &self.world.reqs[req.index()];
        KeptState { label: it.last_track_seqlen, slot: it.track[usize::from(self.keep_idx(req))] }
    }
}

/// Why the row of a request is passed over, if it is.
#[inline(always)]
fn passed(it: &Req) -> Option<SkipReason> {
    match (it.finished(), it.retracted) {
        (true, _) => Some(SkipReason::Ended),
        (false, true) => Some(SkipReason::Retracted),
        (false, false) => None,
    }
}
