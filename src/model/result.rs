//! The result phase: tokens are appended, requests finish, the rule is run, states are donated.

use crate::engine::{Choice, Chooser};
use crate::record::{Check, Fact, FinishKind, Kept, Mode, Passed, Phase, ReqId, Sink};

use super::machine::{Dead, Machine, Pending, Step};
use super::quiet::row_view;
use super::rule::{Action, Keeps, RowView};
use super::setup::{FinishOrder, Stop, Strategy};

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Waits for a forward's completion event and processes its result, row by row.
    pub(super) fn process(&mut self, pending: &Pending) -> Step {
        let batch = pending.batch.id;
        self.begin(Phase::Result, Some(batch));
        self.world.clock.cpu = self.world.clock.cpu.max(pending.copied);
        self.sink.fact(Fact::Wait { batch, at: self.world.clock.cpu });
        self.spend(self.setup.costs.result);
        self.commit_accepted(pending);
        let may_be_quiet = self.may_be_quiet(pending);
        let mut next = 0;
        loop {
            if may_be_quiet {
                next = self.pass_quiet(pending, next);
            }
            let i = next;
            let Some(&req) = pending.batch.reqs.get(i) else { break };
            next += 1;
            self.spend(self.setup.costs.result_request);
            let it = &mut self.world.reqs[req.index()];
            let prefills = i < pending.batch.prefix_lens.len();
            if prefills && it.middle_chunks > 0 && !it.retracted {
                it.middle_chunks -= 1;
                self.sink.fact(Fact::MiddleChunk { batch, req });
                continue;
            }
            if it.finished() || it.retracted {
                let why = if it.finished() { Passed::Ended } else { Passed::Retracted };
                self.sink.fact(Fact::Skip { batch, req, why });
                continue;
            }
            self.append_outputs(pending, i);
            match pending.batch.mode {
                Mode::Mixed if !prefills => {
                    self.pass_untracked(pending, i);
                    if self.world.reqs[req.index()].finished() {
                        self.release_finished(req)?;
                    }
                }
                Mode::Extend | Mode::Mixed if self.world.reqs[req.index()].finished() => self.release_finished(req)?,
                Mode::Extend | Mode::Mixed => self.cache_unfinished(req)?,
                Mode::Decode | Mode::Verify => {
                    self.run_rule(pending, i)?;
                    self.say_fields(req);
                    if self.world.reqs[req.index()].finished() {
                        self.release_finished(req)?;
                    }
                }
            }
        }
        if !self.world.deferred_frees.is_empty() {
            self.free_deferred();
        }
        self.end();
        Ok(())
    }

    /// Appends the output tokens of row `i` (one, or what a verify accepted) and updates the finish state.
    fn append_outputs(&mut self, pending: &Pending, i: usize) {
        let req = pending.batch.reqs[i];
        let spec = &self.setup.requests[req.index()];
        let at = self.world.clock.cpu;
        let before = self.world.reqs[req.index()].outputs;
        let outputs = before + pending.accepted.get(i).copied().unwrap_or(1);
        self.req(req).outputs = outputs;
        self.sink.fact(Fact::Output { batch: pending.batch.id, req, outputs, at });
        if std::mem::take(&mut self.req(req).to_abort) {
            return self.finish(req, FinishKind::Abort, outputs);
        }
        let stop = (before + 1..=outputs).find(|&n| {
            let scripted = spec.stop == Stop::Token(n);
            let choice = Choice { site: "stop", subject: req.0, options: 2, default: u32::from(scripted) };
            self.chooser.choose(choice) == 1
        });
        let length = outputs >= spec.max_new;
        // A stop behind the length is none.
        let token = stop.is_some_and(|n| n <= spec.max_new);
        let kind = match (token, length, self.setup.engine.finish_order) {
            (false, false, _) => return,
            (true, false, _) | (true, true, FinishOrder::TokenFirst) => FinishKind::Token,
            (false, true, _) | (true, true, FinishOrder::LengthFirst) => FinishKind::Length,
        };
        let outputs = if kind == FinishKind::Token { stop.unwrap_or(outputs) } else { spec.max_new };
        self.finish(req, kind, outputs);
    }

    pub(super) fn finish(&mut self, req: ReqId, kind: FinishKind, outputs: u32) {
        let it = self.req(req);
        it.finish = Some(kind);
        it.finished_len = Some(outputs);
        self.world.unfiltered = true;
        self.sink.fact(Fact::Finish { req, kind, outputs });
    }

    /// A decode row of a mixed batch: no rule is run on it, and its forward kept no state.
    fn pass_untracked(&mut self, pending: &Pending, i: usize) {
        let batch = &pending.batch;
        let req = batch.reqs[i];
        let it = &self.world.reqs[req.index()];
        let prepared = batch.decode_batch_idx[i - batch.prefix_lens.len()];
        self.sink.fact(Fact::Row {
            batch: batch.id,
            req,
            lookahead: i64::from(it.decode_batch_idx) - i64::from(prepared),
            kv_committed_len: it.kv_committed_len,
            check: Check::None,
        });
        self.say_fields(req);
    }

    /// Runs the rule on row `i` and carries its action out.
    fn run_rule(&mut self, pending: &Pending, i: usize) -> Step {
        let batch = &pending.batch;
        let req = batch.reqs[i];
        self.say_fields(req);
        let it = &self.world.reqs[req.index()];
        let lookahead = i64::from(it.decode_batch_idx) - i64::from(batch.decode_batch_idx[i]);
        let kv_committed_len = it.kv_committed_len;
        let row = |check| Fact::Row { batch: batch.id, req, lookahead, kv_committed_len, check };
        if !it.has_track {
            self.sink.fact(row(Check::None));
            return Ok(());
        }
        if batch.mode == Mode::Verify {
            let action = self.rule.on_verify(&self.verify_view(pending, i));
            self.sink.fact(row(action.check));
            self.carry_out(pending, req, action);
            return Ok(());
        }
        let view = self.view(pending, i);
        if self.skew {
            self.report_skew(pending, i, &view);
        }
        match self.rule.on_result(&view) {
            Err(kind) => Err(Dead { req: Some(req), kind }),
            Ok(action) => {
                self.sink.fact(row(action.check));
                self.carry_out(pending, req, action);
                Ok(())
            }
        }
    }

    /// What the rule sees of row `i`.
    fn view(&self, pending: &Pending, i: usize) -> RowView {
        let it = &self.world.reqs[pending.batch.reqs[i].index()];
        let masks = self.masks_at_result(pending, i).map(|(masks, row)| masks.row(row));
        let mut view = RowView { masks, ..row_view(self.setup) };
        it.show(&mut view);
        view
    }

    fn carry_out(&mut self, pending: &Pending, req: ReqId, action: Action) {
        let batch = pending.batch.id;
        self.spend(self.setup.costs.of_check(action.check));
        let before = self.kept(req);
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
        if let Some(next) = action.next_track_idx {
            it.next_track_idx = next;
        }
        if action.record.is_some() {
            let after = self.kept(req);
            self.sink.fact(Fact::Decision { batch, req, before, after });
        }
        if let Some(next_track_idx) = flips {
            self.sink.fact(Fact::Flip { batch, req, next_track_idx });
        }
        if action.record.is_some() || flips.is_some() {
            self.spend(self.setup.costs.boundary_update);
        }
        if let Some(idx) = action.release_idx
            && let Some(slot) = self.req(req).track[usize::from(idx)].take()
        {
            self.free_slot(slot, crate::record::Owner::Track(req, idx), true);
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

    pub(super) fn kept(&self, req: ReqId) -> Kept {
        let it = &self.world.reqs[req.index()];
        Kept { label: it.last_track_seqlen, slot: it.track[usize::from(self.keep_idx(req))] }
    }
}
