//! The prepare phase: what a batch needs before its forward can be queued.

use crate::engine::{Choice, ChoicePoint, Chooser};
use crate::record::{
    AssertKind, BatchFact, BatchId, ForwardMode, GrantId, Owner, Phase, PreparedRow, ReqId, RowFacts, Sink, SlotFact,
    SlotId,
};

use super::batch::{Batch, Prefill, Rows};
use super::clock::draw_many;
use super::machine::{Dead, Machine, Step, World};
use super::masks::HostMasks;
use super::pages::Pages;
use super::request::Req;
use super::rule::{Refused, WantsMasks};
use super::setup::{Event, MixedTracking, Release, ResultQueue, SlotHeadroom, Strategy};

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Prepares a prefill batch (`prepare_for_extend`).
    pub(super) fn prepare_extend(&mut self, admitted: &[ReqId]) -> Step<Box<Batch>> {
        let mut batch = Box::new(self.new_batch(ForwardMode::Extend));
        batch.chunked = self.world.chunked;
        self.begin_prepare(&batch, admitted.len());
        self.take_request_slots(admitted)?;
        self.take_extend_pages(admitted)?;
        for &req in admitted {
            let it = self.req(req);
            it.kv_committed_len = it.extend_end;
            it.kv_allocated_len = it.extend_end;
            it.device_len = it.extend_end;
            it.retracted = false;
            batch.reqs.push(req);
            batch.seq_lens.push(it.extend_end);
            let it = &self.world.reqs[req.index()];
            let first = it.track[usize::from(it.next_track_idx)];
            let (track, track_end) = self.track_extend(req).unzip();
            let track = track.flatten();
            if self.probe
                && let Some(slot) = first
            {
                batch.track_rows.push((track.is_some(), slot));
            }
            let it = &self.world.reqs[req.index()];
            batch.prefills.push(Prefill { prefix_len: it.prefix_len, track });
            self.emit(BatchFact::PrepareExtend {
                batch: batch.id,
                req,
                prefix_len: it.prefix_len,
                seq_len: it.extend_end,
                kv_committed_len: it.kv_committed_len,
                active: it.active.expect("an admitted request has an active slot"),
                track,
                next_track_idx: it.has_track.then_some(it.next_track_idx),
            });
            self.emit_row(&batch, batch.reqs.len() - 1, track_end);
        }
        self.end();
        if self.setup.engine.mixed_chunk && !self.world.running.reqs.is_empty() {
            self.mix(&mut batch)?;
        }
        Ok(batch)
    }

    /// Lets the running batch ride along in a prefill batch (`mix_with_running`).
    fn mix(&mut self, batch: &mut Batch) -> Step {
        let newest = self.setup.engine.filter_before_prefill;
        let finishing = self.left_out();
        self.filter_running(&finishing);
        if !finishing.is_empty() {
            self.world.running.is_full = false;
        }
        let rows = self.world.running.reqs.clone();
        let own = !newest || !rows.is_empty() && self.room_for_decode(&rows);
        if !self.ask_whether(ChoicePoint::Mix, self.world.turn, own) {
            return Ok(());
        }
        let is_full = self.world.running.is_full;
        if !rows.is_empty() {
            let decode = self.prepare_decode()?;
            self.join(batch, &decode);
        }
        self.world.objects += 1;
        self.world.running = Batch { is_full, ..Batch::empty(self.world.objects) };
        Ok(())
    }

    fn join(&mut self, batch: &mut Batch, decode: &Batch) {
        match self.setup.engine.mixed_tracking {
            MixedTracking::Dropped => batch.prefills.iter_mut().for_each(|row| row.track = None),
            MixedTracking::Kept if self.setup.engine.strategy == Strategy::ExtraBufferLazy => {
                self.undo_prealloc(decode)
            }
            MixedTracking::Kept => {}
        }
        batch.mode = ForwardMode::Mixed;
        batch.merge(decode);
        batch.prepared = decode.prepared.iter().map(|&row| PreparedRow { track: None, ..row }).collect();
        for &req in &decode.reqs {
            self.emit_fields(req);
        }
        let rows = decode.reqs.len() as u32;
        self.emit(BatchFact::Mix { batch: batch.id, decode: decode.id, rows });
    }

    /// Gives the second slots back that the boundary rows of a decode batch took: their step keeps no state
    /// (`mamba_lazy_undo_prealloc_at_boundary`).
    fn undo_prealloc(&mut self, decode: &Batch) {
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

    fn begin_prepare(&mut self, batch: &Batch, rows: usize) {
        self.begin(Phase::Prepare, Some(batch.id));
        let costs = &self.setup.costs;
        self.spend(costs.prepare);
        self.world.clock.cpu += draw_many(self.chooser, costs.prepare_request, rows as u32);
    }

    /// Active and track slots of the admitted, after making room for them by eviction (`alloc_req_slots`).
    fn take_request_slots(&mut self, admitted: &[ReqId]) -> Step {
        let engine = &self.setup.engine;
        let wanted = match engine.slot_headroom {
            SlotHeadroom::PerRequest if engine.strategy == Strategy::ExtraBufferLazy => 2 * admitted.len() as u32,
            SlotHeadroom::PerRequest => 3 * admitted.len() as u32,
            SlotHeadroom::Exact => {
                let own = |req: &ReqId| {
                    let it = &self.world.reqs[req.index()];
                    u32::from(it.active.is_none()) + if it.has_track { 0 } else { engine.slots_at_admission() - 1 }
                };
                admitted.iter().map(own).sum()
            }
        };
        let available = self.world.slots.available();
        if available < wanted {
            self.evict(0, wanted - available);
        }
        let tracks = engine.slots_at_admission() - 1;
        for &req in admitted {
            if !std::mem::replace(&mut self.req(req).holds_row, true) {
                self.world.rows_held += 1;
            }
        }
        for &req in admitted {
            let out = Dead { req: Some(req), kind: AssertKind::OutOfSlots };
            if self.world.reqs[req.index()].active.is_none() {
                let slot = self.alloc_slot(Owner::Active(req)).ok_or(out)?;
                let it = self.req(req);
                it.active = Some(slot);
                it.needs_clear = true;
            }
            if tracks > 0 && !self.world.reqs[req.index()].has_track {
                self.take_track_slots(req, tracks).ok_or(out)?;
            }
        }
        Ok(())
    }

    fn take_track_slots(&mut self, req: ReqId, count: u32) -> Option<()> {
        let mut slots = Rows::new();
        if !self.give_slots(count, &mut slots) {
            self.emit(SlotFact::Refused { req: Some(req), count });
            return None;
        }
        for (i, &slot) in slots.iter().enumerate() {
            let last = i + 1 == slots.len();
            self.emit(SlotFact::Alloc { slot, owner: Owner::Track(req, i as u8), last });
        }
        let pair = self.setup.engine.is_pair();
        let it = self.req(req);
        it.track = [slots.first().copied(), slots.get(1).copied()];
        it.has_track = true;
        it.next_track_idx = 0;
        it.last_track_idx = u8::from(pair);
        Some(())
    }

    /// KV pages for the new tokens of the admitted; the cached prefix brings the tree's own.
    fn take_extend_pages(&mut self, admitted: &[ReqId]) -> Step {
        let page = self.setup.engine.page_size;
        let mut wanted = 0;
        for &req in admitted {
            let it = &self.world.reqs[req.index()];
            wanted += it.extend_end - it.prefix_len + if page > 1 { page } else { 0 };
        }
        self.make_kv_room(wanted);
        for &req in admitted {
            let it = &mut self.world.reqs[req.index()];
            if it.pages.count == 0 {
                self.world.grants += 1;
                it.pages = Pages { grant: GrantId(self.world.grants), count: it.prefix_len / page };
            }
            let new = it.extend_end.div_ceil(page) - it.prefix_len.div_ceil(page);
            self.take_pages(req, new)?;
        }
        Ok(())
    }

    /// Sets up prefill tracking: which slot keeps the state of which length, if this extend is long enough, and the end
    /// that the forward is told (`mamba_track_seqlens`).
    fn track_extend(&mut self, req: ReqId) -> Option<(Option<(SlotId, u32)>, u32)> {
        let chunk = self.setup.engine.prefill_grid_len();
        // The releases call the larger of the two `mamba_cache_chunk_size`.
        let branch_chunk = self.setup.engine.mamba_chunk.max(self.setup.engine.page_size);
        // The kernel gives the state at the end of the extend, or after whole chunks of the model before a given end.
        let newest = self.setup.engine.release >= Release::V0_5_23;
        let kernel_chunk = if newest { self.setup.engine.mamba_chunk } else { branch_chunk };
        let flips = self.setup.engine.is_pair();
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

    /// Takes the running batch to be prepared under a new number; until [`Machine::queue_copy`] gives it back, a batch without rows stands in
    /// for it.
    pub(super) fn take_running(&mut self, mode: ForwardMode) -> Box<Batch> {
        self.world.batches += 1;
        let mut batch = Box::new(std::mem::replace(&mut self.world.running, Batch::empty(0)));
        batch.id = BatchId(self.world.batches);
        batch.mode = mode;
        assert!(batch.prefills.is_empty(), "the prefill that became the running batch is over");
        self.world.decoded = batch.object;
        self.begin_prepare(&batch, batch.reqs.len());
        batch
    }

    /// Prepares the running batch for one decode step (`prepare_for_decode`).
    pub(super) fn prepare_decode(&mut self) -> Step<Box<Batch>> {
        let mut batch = self.take_running(ForwardMode::Decode);
        let page = self.setup.engine.page_size;
        let wanted = if page > 1 { page } else { 1 } * batch.reqs.len() as u32;
        self.make_kv_room(wanted);
        self.take_decode_pages(&batch)?;
        self.advance(&mut batch);
        if self.setup.engine.strategy == Strategy::ExtraBufferLazy {
            self.prealloc_at_boundary(&batch);
        }
        self.capture_rows(&mut batch);
        self.build_masks(&mut batch);
        self.emit_rows(&mut batch);
        batch.glimpses = self.glimpse(&batch.reqs);
        self.end();
        Ok(self.queue_copy(batch))
    }

    /// Puts a prepared batch back as the running one, and returns the copy that is queued.
    pub(super) fn queue_copy(&mut self, mut batch: Box<Batch>) -> Box<Batch> {
        let prepared = match self.setup.engine.result_queue {
            ResultQueue::Copy => std::mem::take(&mut batch.prepared),
            ResultQueue::Alias => batch.prepared.clone(),
        };
        self.world.running.clone_from(&batch);
        batch.prepared = prepared;
        batch
    }

    /// A page for each row whose next token begins one.
    fn take_decode_pages(&mut self, batch: &Batch) -> Step {
        let page = self.setup.engine.page_size;
        let rows = batch.reqs.iter().zip(&batch.seq_lens);
        let mut reqs = rows.filter(|(_, len)| page == 1 || len.is_multiple_of(page)).map(|(req, _)| *req);
        let World { pages, reqs: all, .. } = &mut *self.world;
        let free = (pages.available() / page) as usize;
        self.paged.clear();
        self.paged.extend(reqs.by_ref().take(free).map(|req| (req, all[req.index()].pages.append(1))));
        assert!(pages.alloc(self.paged.len() as u32), "no more pages are taken than are free");
        if !self.paged.is_empty() {
            self.sink.rows(RowFacts::PagesAlloc(&self.paged));
        }
        match reqs.next() {
            Some(req) => Err(Dead { req: Some(req), kind: AssertKind::OutOfPages }),
            None => Ok(()),
        }
    }

    /// Lengths and counters of a decode step.
    fn advance(&mut self, batch: &mut Batch) {
        for (req, len) in batch.reqs.iter().zip(&mut batch.seq_lens) {
            let it = &mut self.world.reqs[req.index()];
            it.kv_committed_len += 1;
            it.decode_batch_idx += 1;
            *len += 1;
        }
    }

    /// Lazy: takes the second slot for the rows on a boundary (`mamba_lazy_prealloc_at_boundary`).
    fn prealloc_at_boundary(&mut self, batch: &Batch) {
        let grid = self.world.grid;
        for (&req, &k) in batch.reqs.iter().zip(&batch.seq_lens) {
            let it = &self.world.reqs[req.index()];
            let other = 1 - it.next_track_idx;
            if !k.is_multiple_of(grid) || it.track[usize::from(other)].is_some() {
                continue;
            }
            let owner = Owner::Track(req, other);
            let slot = if self.refused(req) { None } else { self.second_slot(owner) };
            if slot.is_none() {
                self.go_without(req, k, self.rule.refused());
                continue;
            }
            let it = self.req(req);
            it.track[usize::from(other)] = slot;
            it.next_track_idx = other;
        }
    }

    /// The second slot for step `k` was not to be had: if the step writes in place, the label may go.
    pub(super) fn go_without(&mut self, req: ReqId, k: u32, refused: Refused) {
        let in_place = refused == Refused::WritesInPlace;
        if in_place && self.setup.engine.refused_prealloc_clears_label {
            self.req(req).last_track_seqlen = None;
        }
        self.emit(BatchFact::TrackRefused { req, k, in_place });
    }

    fn second_slot(&mut self, owner: Owner) -> Option<SlotId> {
        let slot = self.alloc_slot(owner);
        if slot.is_some() || !self.setup.engine.lazy_prealloc_evicts {
            return slot;
        }
        self.evict(0, 1);
        self.alloc_slot(owner)
    }

    /// Whether the second slot of `req` is refused in this turn, by script or by choice.
    pub(super) fn refused(&mut self, req: ReqId) -> bool {
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

    fn build_masks(&mut self, batch: &mut Batch) {
        let engine = &self.setup.engine;
        let wants = self.rule.wants_masks();
        batch.masks = None;
        if wants == WantsMasks::No || engine.strategy == Strategy::NoBuffer {
            return;
        }
        let masks = HostMasks::new(wants, self.world.grid, engine.overlap);
        let bytes = masks.row_bytes() * batch.prepared.len() as u64;
        self.emit(BatchFact::HostMasks { batch: batch.id, bytes });
        batch.masks = Some(masks);
    }

    /// Captures what the forward and the result will use of each row, the track slot among it.
    fn capture_rows(&mut self, batch: &mut Batch) {
        let grid = self.world.grid;
        let lazy = self.setup.engine.strategy == Strategy::ExtraBufferLazy;
        // Lazy: the write index still names the kept slot if the second one was refused.
        let spares_kept = lazy && self.rule.refused() == Refused::WritesNothing;
        let all = &self.world.reqs[..];
        let row = |(&req, &k): (&ReqId, &u32)| {
            let it = &all[req.index()];
            let spared = spares_kept && it.next_track_idx == it.last_track_idx;
            let keeps = k.is_multiple_of(grid) && it.has_track && !spared;
            let track = if keeps { it.track[usize::from(it.next_track_idx)] } else { None };
            prepared(req, it, k, track)
        };
        batch.prepared = batch.reqs.iter().zip(&batch.seq_lens).map(row).collect();
    }

    /// Tells that the rows of a decode batch were prepared.
    fn emit_rows(&mut self, batch: &mut Batch) {
        if !self.probe {
            return self.sink.rows(RowFacts::Prepared(batch.id, &batch.prepared));
        }
        batch.track_rows.clear();
        for row in &batch.prepared {
            let it = &self.world.reqs[row.req.index()];
            let next = it.track[usize::from(it.next_track_idx)];
            batch.track_rows.extend(next.map(|slot| (row.track.is_some(), slot)));
        }
        for (i, row) in batch.prepared.iter().enumerate() {
            self.sink.fact(row.fact(batch.id));
            self.emit_row(batch, i, None);
        }
    }
}

/// A row that was prepared for a step of length `k`, which may keep its state in `track`.
pub(super) fn prepared(req: ReqId, it: &Req, k: u32, track: Option<SlotId>) -> PreparedRow {
    PreparedRow {
        req,
        k,
        decode_batch_idx: it.decode_batch_idx,
        kv_committed_len: it.kv_committed_len,
        active: it.active.expect("a running request has an active slot"),
        track,
        next_track_idx: it.has_track.then_some(it.next_track_idx),
    }
}
