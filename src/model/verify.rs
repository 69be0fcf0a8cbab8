//! Speculative decoding: prepare of a verify step, its forward, and the commit of its result.
//!
//! `kv_committed_len` changes at the result. With overlap it is one verify behind the device, so a step reserves and
//! plans for twice the tokens that it can accept.

use crate::engine::{Choice, ChoicePoint, Chooser};
use crate::record::{ForwardFact, ForwardMode, Owner, PreparedRow, ReqId, Sink};

use super::batch::{Batch, Rows};
use super::machine::{Attempt, Machine};
use super::prepare::prepared;
use super::rule::{Refused, VerifyView};
use super::setup::{Accept, ResultQueue};
use super::world::PendingResult;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Prepares the running batch for one verify step (`spec_prepare_for_decode`).
    pub(super) fn prepare_verify(&mut self) -> Attempt<Box<Batch>> {
        let mut batch = self.take_running(ForwardMode::Verify);
        batch.plan = self.plan_tracks(&batch.reqs);
        let wanted: Rows<u32> = batch.reqs.iter().map(|&req| self.verify_needs(req)).collect();
        self.make_kv_room(wanted.iter().sum());
        batch.prepared.clear();
        for (i, &req) in batch.reqs.iter().enumerate() {
            self.take_pages(req, wanted[i])?;
            let it = &mut self.world.reqs[req.index()];
            it.kv_allocated_len += wanted[i];
            it.decode_batch_idx += 1;
            let idx = batch.plan.as_ref().map_or(it.next_track_idx, |plan| plan[i]);
            let track = if it.has_track { it.track[usize::from(idx)] } else { None };
            let row = prepared(req, it, batch.seq_lens[i], track);
            batch.prepared.push(row);
            // The accepted tokens decide at the launch whether the step writes its track slot.
            self.sink.fact(PreparedRow { track: None, ..row }.fact(batch.id));
            self.emit_row(&batch, i, None);
        }
        self.end();
        Ok(self.queue_copy(batch))
    }

    /// Tokens of KV that the next verify of a request must allocate.
    pub(super) fn verify_needs(&self, req: ReqId) -> u32 {
        let it = &self.world.reqs[req.index()];
        (it.kv_committed_len + self.setup.engine.spec_reserve()).saturating_sub(it.kv_allocated_len)
    }

    /// With a second slot on demand: the index that the step of each row writes if it crosses a boundary
    /// (`mamba_lazy_spec_prepare`). If a boundary is in reach, the second slot is taken. The write index stays until a
    /// result confirms the crossing.
    fn plan_tracks(&mut self, rows: &[ReqId]) -> Option<Rows<u8>> {
        if !self.world.policy.second_slot_on_demand {
            return None;
        }
        let mut plan = Rows::with_capacity(rows.len());
        for &req in rows {
            let keep = self.world.reqs[req.index()].next_track_idx;
            let other = 1 - keep;
            if !self.boundary_in_reach(req) {
                plan.push(keep);
                continue;
            }
            if self.world.reqs[req.index()].track[usize::from(other)].is_none() {
                self.take_pending(req, other);
            }
            let pending = self.world.reqs[req.index()].track[usize::from(other)].is_some();
            plan.push(if pending { other } else { keep });
        }
        Some(plan)
    }

    /// Takes the second slot of a row whose step may cross a boundary.
    fn take_pending(&mut self, req: ReqId, other: u8) {
        let slot = if self.second_slot_refused(req) { None } else { self.alloc_slot(Owner::Track(req, other)) };
        let it = self.req(req);
        it.track[usize::from(other)] = slot;
        let k = it.kv_committed_len;
        if slot.is_none() {
            self.go_without(req, k, Refused::WritesInPlace);
        }
    }

    /// Whether a step launched now can cross a boundary, by `kv_committed_len` (`mamba_lazy_spec_in_window`).
    fn boundary_in_reach(&self, req: ReqId) -> bool {
        let grid = self.world.grid;
        let window = self.setup.engine.spec_reserve();
        let len = self.world.reqs[req.index()].kv_committed_len;
        len / grid != (len + window) / grid
    }

    /// A verify forward: each row advances its active slot over the accepted tokens, and copies the state at the last
    /// boundary that it crosses to its track slot. Returns the accepted tokens of each row.
    pub(super) fn forward_verify(&mut self, batch: &Batch) -> Rows<u32> {
        let grid = self.world.grid;
        let mut accepted = Rows::with_capacity(batch.reqs.len());
        for (i, &req) in batch.reqs.iter().enumerate() {
            let count = self.accept(req);
            let it = self.req(req);
            let from = it.device_len;
            let to = from + count;
            it.device_len = to;
            it.verifies += 1;
            for len in from + 1..=to {
                self.sample(req, len);
            }
            let crossed = from / grid != to / grid;
            let PreparedRow { active: slot, track: target, .. } = batch.prepared[i];
            let track = target.filter(|_| crossed).map(|track| (track, to / grid * grid));
            self.emit(ForwardFact::Verify { batch: batch.id, req, slot, from, to, track, target });
            // The length on the host is behind the device: it is the length before this step.
            self.world.running.seq_lens[i] = from;
            accepted.push(count);
        }
        accepted
    }

    /// Number of tokens that the next verify of a request accepts.
    fn accept(&mut self, req: ReqId) -> u32 {
        let Some(spec) = &self.setup.engine.spec else { return 1 };
        let nth = self.world.reqs[req.index()].verifies as usize;
        let given = self.setup.requests[req.index()].accept.get(nth).copied();
        let scripted = match &spec.accept {
            _ if given.is_some() => given.unwrap_or(1),
            Accept::Fixed(counts) => counts[nth % counts.len()],
            Accept::Seeded(millionths) => {
                let chooser = &mut *self.chooser;
                let taken = |_: &u32| chooser.duration_ns(0, 999_999) < u64::from(*millionths);
                1 + (0..spec.draft).take_while(taken).count() as u32
            }
        };
        let options = spec.accept_max();
        1 + self.chooser.choose(Choice { point: ChoicePoint::Accept, subject: req.0, options, default: scripted - 1 })
    }

    /// Commits the accepted tokens of all rows, before the first row is processed (`_resolve_spec_v2_tokens`).
    pub(super) fn commit_accepted(&mut self, pending: &PendingResult) {
        for (&req, &count) in pending.batch.reqs.iter().zip(&pending.accepted) {
            let it = self.req(req);
            if !it.finished() && !it.retracted {
                it.kv_committed_len += count;
            }
        }
    }

    /// The view of the rule on row `i` of a verify result.
    pub(super) fn verify_view(&self, pending: &PendingResult, i: usize) -> VerifyView {
        let req = pending.batch.reqs[i];
        let it = &self.world.reqs[req.index()];
        VerifyView {
            grid: self.world.grid,
            policy: self.world.policy,
            prompt_len: it.prompt_len,
            outputs: it.outputs,
            accepted: pending.accepted[i],
            finished: it.finished(),
            next_track_idx: it.next_track_idx,
            held: [it.track[0].is_some(), it.track[1].is_some()],
            planned_idx: self.plan_at_result(pending, i),
            boundary_in_reach: self.boundary_in_reach(req),
        }
    }

    /// The planned index of row `i` at the result: that of its batch, or with an aliased queue that of the running
    /// batch.
    fn plan_at_result(&self, pending: &PendingResult, i: usize) -> Option<u8> {
        let own = pending.batch.plan.as_ref().map(|plan| plan[i]);
        let live = &self.world.running;
        match self.setup.engine.result_queue {
            ResultQueue::Alias if live.object == pending.batch.object => {
                let row = live.reqs.iter().position(|&req| req == pending.batch.reqs[i])?;
                live.plan.as_ref().map(|plan| plan[row])
            }
            ResultQueue::Copy | ResultQueue::Alias => own,
        }
    }
}
