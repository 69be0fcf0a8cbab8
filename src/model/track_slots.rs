//! Track slots of a request: taken at admission and for a boundary, indexed at prefill and at a donation, given back.
//!
//! Owns every change of a track slot but those at a result, at a verify (`verify.rs`) and at a donation (`cache.rs`).
//! [`TrackPolicy`](super::TrackPolicy) says which of them a strategy makes.

use crate::engine::{Choice, ChoicePoint, Chooser};
use crate::record::{BatchFact, KeptState, Owner, ReqId, Sink, SlotFact, SlotId};

use super::batch::{Batch, Rows};
use super::machine::Machine;
use super::rule::{Keeps, Refused};
use super::setup::{Event, KernelChunk};

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Takes the first `count` track slots of a request in one allocation. `None` if the pool refuses them.
    pub(super) fn take_track_slots(&mut self, req: ReqId, count: u32) -> Option<()> {
        let mut slots = Rows::new();
        if !self.give_slots(count, &mut slots) {
            self.emit(SlotFact::Refused { req: Some(req), count });
            return None;
        }
        for (i, &slot) in slots.iter().enumerate() {
            let last = i + 1 == slots.len();
            self.emit(SlotFact::Alloc { slot, owner: Owner::Track(req, i as u8), last });
        }
        let last_track_idx = self.world.policy.first_last_track_idx();
        let it = self.req(req);
        it.track = [slots.first().copied(), slots.get(1).copied()];
        it.has_track = true;
        it.next_track_idx = 0;
        it.last_track_idx = last_track_idx;
        Some(())
    }

    /// Sets up prefill tracking, if the extend is long enough: the slot that keeps a state with the length of that
    /// state, and the end that the forward gets (`mamba_track_seqlens`).
    pub(super) fn track_extend(&mut self, req: ReqId) -> Option<(Option<(SlotId, u32)>, u32)> {
        let chunk = self.setup.engine.prefill_grid_len();
        // The releases call the larger of the two `mamba_cache_chunk_size`.
        let branch_chunk = self.setup.engine.mamba_chunk.max(self.setup.engine.page_size);
        // The kernel gives the state at the end of the extend, or after whole chunks before a given end.
        let kernel_chunk = match self.setup.engine.release.kernel_chunk() {
            KernelChunk::Model => self.setup.engine.mamba_chunk,
            KernelChunk::Cache => branch_chunk,
        };
        let flips = self.world.policy.is_ping_pong();
        let it = self.req(req);
        let extend_len = it.extend_end - it.prefix_len;
        if !it.has_track || extend_len < chunk {
            return None;
        }
        let aligned = it.prefix_len + extend_len / chunk * chunk;
        let within =
            |at: u32| it.prefix_len < at && at < it.extend_end && (at - it.prefix_len).is_multiple_of(branch_chunk);
        let by_kernel = it.prefix_len + extend_len / kernel_chunk * kernel_chunk;
        let end = if by_kernel == aligned { it.extend_end } else { aligned + 1 };
        let (len, end) = it.branching.filter(|&at| within(at)).map_or((aligned, end), |at| (at, at + 1));
        let written = it.next_track_idx;
        it.last_track_idx = written;
        if flips {
            it.next_track_idx = 1 - written;
        }
        it.last_track_seqlen = Some(len);
        Some((it.track[usize::from(written)].map(|slot| (slot, len)), end))
    }

    /// Takes the second slot for each row on a boundary, and moves the write index to it
    /// (`mamba_lazy_prealloc_at_boundary`).
    pub(super) fn prealloc_at_boundary(&mut self, batch: &Batch) {
        let grid = self.world.grid;
        for (&req, &k) in batch.reqs.iter().zip(&batch.seq_lens) {
            let it = &self.world.reqs[req.index()];
            let other = 1 - it.next_track_idx;
            if !k.is_multiple_of(grid) || it.track[usize::from(other)].is_some() {
                continue;
            }
            let owner = Owner::Track(req, other);
            let slot = if self.second_slot_refused(req) { None } else { self.alloc_second_slot(owner) };
            if slot.is_none() {
                self.go_without(req, k, self.rule.refused());
                continue;
            }
            let it = self.req(req);
            it.track[usize::from(other)] = slot;
            it.next_track_idx = other;
        }
    }

    /// Gives back the second slots that the boundary rows of a decode batch took, since the rows join a mixed batch,
    /// which keeps no state of them (`mamba_lazy_undo_prealloc_at_boundary`). Every boundary row is noted as untracked.
    pub(super) fn undo_prealloc(&mut self, decode: &Batch) {
        let grid = self.world.grid;
        for (&req, &k) in decode.reqs.iter().zip(&decode.seq_lens) {
            if !k.is_multiple_of(grid) {
                continue;
            }
            let it = self.req(req);
            it.untracked_idx = Some(it.decode_batch_idx);
            let next = it.next_track_idx;
            if it.track[usize::from(1 - next)].is_none() {
                continue;
            }
            it.next_track_idx = 1 - next;
            if let Some(slot) = it.track[usize::from(next)].take() {
                self.free_slot(slot, Owner::Track(req, next), true);
            }
        }
    }

    /// Records that step `k` got no second slot. If the step writes the kept slot in place, the label may be cleared.
    pub(super) fn go_without(&mut self, req: ReqId, k: u32, refused: Refused) {
        let in_place = refused == Refused::WritesInPlace;
        if in_place && self.setup.engine.refused_prealloc_clears_label {
            self.req(req).last_track_seqlen = None;
        }
        self.emit(BatchFact::TrackRefused { req, k, in_place });
    }

    /// Takes a second slot, after evicting a cached state if the pool is empty and the engine evicts for it.
    fn alloc_second_slot(&mut self, owner: Owner) -> Option<SlotId> {
        let slot = self.alloc_slot(owner);
        if slot.is_some() || !self.setup.engine.lazy_prealloc_evicts {
            return slot;
        }
        self.evict(0, 1);
        self.alloc_slot(owner)
    }

    /// Whether script or chooser refuses `req` a second slot in this turn.
    pub(super) fn second_slot_refused(&mut self, req: ReqId) -> bool {
        let turn = self.world.turn;
        let mut scripted = false;
        for (event, used) in self.setup.events.iter().zip(&mut self.world.events_used) {
            if *event == (Event::FailAlloc { turn, req }) {
                (scripted, *used) = (true, true);
            }
        }
        let choice =
            Choice { point: ChoicePoint::AllocFailure, subject: req.0, options: 2, default: u32::from(scripted) };
        self.chooser.choose(choice) == 1
    }

    /// The index of the track slot that a donation would take now (`get_mamba_ping_pong_keep_idx`).
    pub(super) fn keep_idx(&self, req: ReqId) -> u8 {
        let it = &self.world.reqs[req.index()];
        match self.rule.keeps() {
            Keeps::Last => it.last_track_idx,
            Keeps::FromNext => self.world.policy.keep_idx(it.next_track_idx),
        }
    }

    /// The label and the slot that a donation would take now.
    pub(super) fn kept(&self, req: ReqId) -> KeptState {
        let it = &self.world.reqs[req.index()];
        KeptState { label: it.last_track_seqlen, slot: it.track[usize::from(self.keep_idx(req))] }
    }
}
