//! The result phase: outputs are appended, requests finish, the rule decides, states are donated
//! (`process_batch_result_prefill`, `process_batch_result_decode`). `cache.rs` has the donations.

use crate::engine::{Choice, ChoicePoint, Chooser, Time};
use crate::record::{
    AssertKind, BoundaryCheck, Decision, DecisionFact, FinishKind, ForwardMode, Owner, Phase, PreparedRow, ReqId,
    RequestFact, ResultRow, RowFacts, RunFact, Sink, SkipReason,
};

use super::batch::Batch;
use super::machine::{Attempt, FailedAssert, Machine};
use super::request::Req;
use super::rule::{Action, RowView};
use super::setup::{FinishOrder, Stop};
use super::world::PendingResult;

/// How a request ends, and the number of its outputs.
type RequestEnd = (FinishKind, u32);

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Waits for the completion event of a forward, and processes its result row by row.
    pub(super) fn process_batch_result(&mut self, pending: &PendingResult) -> Attempt {
        let batch = pending.batch.id;
        self.begin(Phase::Result, Some(batch));
        self.world.clock.cpu = self.world.clock.cpu.max(pending.copied);
        self.emit(RunFact::Wait { batch, at: self.world.clock.cpu });
        self.spend(self.setup.costs.result);
        self.commit_accepted(pending);
        let prefills = pending.batch.prefills.len();
        for &req in &pending.batch.reqs[..prefills] {
            self.process_result_prefill(pending, req)?;
        }
        for (i, row) in (prefills..).zip(&pending.batch.prepared) {
            self.process_result_decode(pending, i, row)?;
        }
        self.emit_results(pending);
        if !self.world.deferred_frees.is_empty() {
            self.free_deferred();
        }
        self.end();
        Ok(())
    }

    /// Processes a prefill row. After its last chunk the request is cached, or released if its first output ends it.
    fn process_result_prefill(&mut self, pending: &PendingResult, req: ReqId) -> Attempt {
        let batch = pending.batch.id;
        self.spend(self.setup.costs.result_request);
        let it = &mut self.world.reqs[req.index()];
        if it.middle_chunks > 0 && !it.retracted {
            it.middle_chunks -= 1;
            self.emit(RequestFact::MiddleChunk { batch, req });
            return Ok(());
        }
        if let Some(why) = skip_reason(it) {
            self.emit(RequestFact::Skip { batch, req, why });
            return Ok(());
        }
        let (outputs, end) = self.append_outputs(req, 1);
        self.emit_outputs(pending, req, (outputs, self.world.clock.cpu), end);
        if end.is_some() { self.release_finished(req) } else { self.cache_unfinished(req) }
    }

    /// Processes row `i` of a decode, verify or mixed batch. The rule decides the row, except in a mixed batch, whose
    /// forward keeps no state of it. A row without an action and without an end is emitted later, in one slice with its
    /// neighbours.
    fn process_result_decode(&mut self, pending: &PendingResult, i: usize, prepared: &PreparedRow) -> Attempt {
        let req = prepared.req;
        self.spend(self.setup.costs.result_request);
        if let Some(why) = skip_reason(&self.world.reqs[req.index()]) {
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
            Ok(_) | Err(_) => self.process_row(pending, i, (row, tracked), end, asked),
        }
    }

    /// Emits row `i` by itself, applies the action of the rule, and releases the request if it ends.
    fn process_row(
        &mut self,
        pending: &PendingResult,
        i: usize,
        (row, tracked): (ResultRow, bool),
        end: Option<RequestEnd>,
        asked: Result<Action, AssertKind>,
    ) -> Attempt {
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
        let action = asked.map_err(|kind| FailedAssert { req: Some(req), kind })?;
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

    /// Emits the rows that have been processed and not emitted.
    fn emit_results(&mut self, pending: &PendingResult) {
        if !self.results.is_empty() {
            self.sink.rows(RowFacts::Results(pending.batch.id, &self.results));
            self.results.clear();
        }
    }

    /// Emits the number of outputs of a request, and its end if it ends with them.
    fn emit_outputs(
        &mut self,
        pending: &PendingResult,
        req: ReqId,
        (outputs, at): (u32, Time),
        end: Option<RequestEnd>,
    ) {
        self.emit(RequestFact::Output { batch: pending.batch.id, req, outputs, at });
        if let Some((kind, outputs)) = end {
            self.emit(RequestFact::Finish { req, kind, outputs });
        }
    }

    /// Appends output tokens (one, or those that a verify accepted) and updates the finish state. Returns the number of
    /// outputs, and the end of the request if it ends with them.
    #[inline(always)]
    fn append_outputs(&mut self, req: ReqId, count: u32) -> (u32, Option<RequestEnd>) {
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

    /// The end of a request by length or stop token, if one of the outputs after the first `before` ends it.
    #[inline(always)]
    fn end_at(&mut self, req: ReqId, before: u32, outputs: u32) -> Option<RequestEnd> {
        let spec = &self.setup.requests[req.index()];
        let stop = (before + 1..=outputs).find(|&n| {
            let scripted = spec.stop == Stop::Token(n);
            let choice = Choice { point: ChoicePoint::Stop, subject: req.0, options: 2, default: u32::from(scripted) };
            self.chooser.choose(choice) == 1
        });
        let length = outputs >= spec.max_new;
        // A stop token after the last allowed output has no effect.
        let token = stop.is_some_and(|n| n <= spec.max_new);
        let kind = match (token, length, self.setup.engine.finish_order) {
            (false, false, _) => return None,
            (true, false, _) | (true, true, FinishOrder::TokenFirst) => FinishKind::Token,
            (false, true, _) | (true, true, FinishOrder::LengthFirst) => FinishKind::Length,
        };
        Some((kind, if kind == FinishKind::Token { stop.unwrap_or(outputs) } else { spec.max_new }))
    }

    /// Marks a request as finished.
    pub(super) fn set_finished(&mut self, req: ReqId, kind: FinishKind, outputs: u32) {
        let it = self.req(req);
        it.finish = Some(kind);
        it.finished_len = Some(outputs);
        self.world.unfiltered = true;
    }

    /// The action of the rule at row `i` of a decode or verify result.
    #[inline(always)]
    fn ask_rule(&self, pending: &PendingResult, i: usize, it: &Req) -> Result<Action, AssertKind> {
        match pending.batch.mode {
            ForwardMode::Verify => Ok(self.rule.on_verify(&self.verify_view(pending, i))),
            ForwardMode::Decode | ForwardMode::Extend | ForwardMode::Mixed => {
                self.rule.on_result(&self.view(&pending.batch, i, it))
            }
        }
    }

    /// The view of the rule on row `i` of a batch, whose request is `it`.
    #[inline(always)]
    fn view(&self, batch: &Batch, i: usize, it: &Req) -> RowView {
        RowView {
            grid: self.world.grid,
            policy: self.world.policy,
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

    /// Sets the fields that an action changes. Returns the new write index if it changed.
    fn record(&mut self, req: ReqId, action: Action) -> Option<u8> {
        let keeps_previous_label = self.world.policy.keeps_previous_label;
        let it = self.req(req);
        if let Some((label, idx)) = action.record {
            if keeps_previous_label {
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

    /// Emits a flip, spends the cost of the update, and gives back the slot that the action releases.
    fn carry_out(&mut self, pending: &PendingResult, req: ReqId, action: Action, flips: Option<u8>) {
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
}

/// The reason why a result passes over the row of a request, if it does.
#[inline(always)]
fn skip_reason(it: &Req) -> Option<SkipReason> {
    match (it.finished(), it.retracted) {
        (true, _) => Some(SkipReason::Ended),
        (false, true) => Some(SkipReason::Retracted),
        (false, false) => None,
    }
}
