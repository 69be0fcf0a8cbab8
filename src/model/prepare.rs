//! The prepare phase: slots, pages, lengths, captured rows and host masks of a batch, before its forward is queued.
//!
//! `track_slots.rs` has the track slots, `verify.rs` the prepare of a verify step.

use crate::engine::{ChoicePoint, Chooser};
use crate::record::{
    AssertKind, BatchFact, BatchId, ForwardMode, GrantId, Owner, Phase, PreparedRow, ReqId, RowFacts, Sink, SlotId,
};

use super::batch::{Batch, Prefill};
use super::clock::draw_many;
use super::machine::{Attempt, FailedAssert, Machine};
use super::masks::HostMasks;
use super::pages::ReqPages;
use super::request::Req;
use super::rule::{Refused, WantsMasks};
use super::setup::{MixedTracking, ResultQueue, SlotHeadroom};
use super::world::World;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Prepares a prefill batch (`prepare_for_extend`).
    pub(super) fn prepare_extend(&mut self, admitted: &[ReqId]) -> Attempt<Box<Batch>> {
        let mut batch = Box::new(self.new_batch(ForwardMode::Extend));
        batch.chunked = self.world.chunked;
        self.begin_prepare(&batch, admitted.len());
        self.take_request_slots(admitted)?;
        self.take_extend_pages(admitted)?;
        for &req in admitted {
            self.prepare_extend_row(&mut batch, req);
        }
        self.end();
        if self.setup.engine.mixed_chunk && !self.world.running.reqs.is_empty() {
            self.mix(&mut batch)?;
        }
        Ok(batch)
    }

    /// Adds a request to a prefill batch: its lengths, and the track slot that its forward writes.
    fn prepare_extend_row(&mut self, batch: &mut Batch, req: ReqId) {
        let it = self.req(req);
        it.kv_committed_len = it.extend_end;
        it.kv_allocated_len = it.extend_end;
        it.device_len = it.extend_end;
        it.retracted = false;
        batch.reqs.push(req);
        batch.seq_lens.push(it.extend_end);
        let it = &self.world.reqs[req.index()];
        let next_slot = it.track[usize::from(it.next_track_idx)];
        let (track, track_end) = self.track_extend(req).unzip();
        let track = track.flatten();
        if self.probe
            && let Some(slot) = next_slot
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
        self.emit_row(batch, batch.reqs.len() - 1, track_end);
    }

    /// Prepares the running batch for one decode step (`prepare_for_decode`).
    pub(super) fn prepare_decode(&mut self) -> Attempt<Box<Batch>> {
        let mut batch = self.take_running(ForwardMode::Decode);
        let page = self.setup.engine.page_size;
        let wanted = page * batch.reqs.len() as u32;
        self.make_kv_room(wanted);
        self.take_decode_pages(&batch)?;
        self.advance(&mut batch);
        if self.world.policy.second_slot_on_demand {
            self.prealloc_at_boundary(&batch);
        }
        self.capture_rows(&mut batch);
        self.build_masks(&mut batch);
        self.emit_rows(&mut batch);
        batch.field_snapshots = self.snapshot_fields(&batch.reqs);
        self.end();
        Ok(self.queue_copy(batch))
    }

    /// Adds the rows of the running batch to a prefill batch (`mix_with_running`).
    fn mix(&mut self, batch: &mut Batch) -> Attempt {
        let asks_for_kv = self.setup.engine.filter_before_prefill;
        let finishing = self.left_out();
        self.filter_running(&finishing);
        if !finishing.is_empty() {
            self.world.running.is_full = false;
        }
        let rows = self.world.running.reqs.clone();
        let own = !asks_for_kv || !rows.is_empty() && self.room_for_decode(&rows);
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

    /// Appends prepared decode rows to a prefill batch. Their forward keeps no state of them.
    fn join(&mut self, batch: &mut Batch, decode: &Batch) {
        match self.setup.engine.mixed_tracking {
            MixedTracking::Dropped => batch.prefills.iter_mut().for_each(|row| row.track = None),
            MixedTracking::Kept if self.world.policy.second_slot_on_demand => self.undo_prealloc(decode),
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

    /// Takes the running batch under a new number, and begins its prepare. An empty batch takes its place until
    /// [`Machine::queue_copy`].
    pub(super) fn take_running(&mut self, mode: ForwardMode) -> Box<Batch> {
        self.world.batches += 1;
        let mut batch = Box::new(std::mem::replace(&mut self.world.running, Batch::empty(0)));
        batch.id = BatchId(self.world.batches);
        batch.mode = mode;
        assert!(batch.prefills.is_empty(), "the prefills of the running batch are over");
        self.world.decoded = batch.object;
        self.begin_prepare(&batch, batch.reqs.len());
        batch
    }

    /// Makes a prepared batch the running batch again, and returns the copy for the result queue.
    pub(super) fn queue_copy(&mut self, mut batch: Box<Batch>) -> Box<Batch> {
        let prepared = match self.setup.engine.result_queue {
            ResultQueue::Copy => std::mem::take(&mut batch.prepared),
            ResultQueue::Alias => batch.prepared.clone(),
        };
        self.world.running.clone_from(&batch);
        batch.prepared = prepared;
        batch
    }

    /// Begins the phase, and spends its cost.
    fn begin_prepare(&mut self, batch: &Batch, rows: usize) {
        self.begin(Phase::Prepare, Some(batch.id));
        let costs = &self.setup.costs;
        self.spend(costs.prepare);
        self.world.clock.cpu += draw_many(self.chooser, costs.prepare_request, rows as u32);
    }

    /// Takes active and track slots for the admitted requests, after evicting states for them (`alloc_req_slots`).
    fn take_request_slots(&mut self, admitted: &[ReqId]) -> Attempt {
        let policy = self.world.policy;
        let tracks = u32::from(policy.track_slots_at_admission);
        let wanted = match self.setup.engine.slot_headroom {
            SlotHeadroom::PerRequest => u32::from(policy.headroom_per_request) * admitted.len() as u32,
            SlotHeadroom::Exact => {
                let own = |req: &ReqId| {
                    let it = &self.world.reqs[req.index()];
                    u32::from(it.active.is_none()) + if it.has_track { 0 } else { tracks }
                };
                admitted.iter().map(own).sum()
            }
        };
        let available = self.world.slots.available();
        if available < wanted {
            self.evict(0, wanted - available);
        }
        for &req in admitted {
            if !std::mem::replace(&mut self.req(req).holds_row, true) {
                self.world.rows_held += 1;
            }
        }
        for &req in admitted {
            let out = FailedAssert { req: Some(req), kind: AssertKind::OutOfSlots };
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

    /// Takes KV pages for the new tokens of the admitted requests. The pages of a cached prefix are the tree's.
    fn take_extend_pages(&mut self, admitted: &[ReqId]) -> Attempt {
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
                it.pages = ReqPages { grant: GrantId(self.world.grants), count: it.prefix_len / page };
            }
            let new = it.extend_end.div_ceil(page) - it.prefix_len.div_ceil(page);
            self.take_pages(req, new)?;
        }
        Ok(())
    }

    /// Takes a page for each row whose next token begins a page.
    fn take_decode_pages(&mut self, batch: &Batch) -> Attempt {
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
            Some(req) => Err(FailedAssert { req: Some(req), kind: AssertKind::OutOfPages }),
            None => Ok(()),
        }
    }

    /// Advances lengths and counters by one decode step.
    fn advance(&mut self, batch: &mut Batch) {
        for (req, len) in batch.reqs.iter().zip(&mut batch.seq_lens) {
            let it = &mut self.world.reqs[req.index()];
            it.kv_committed_len += 1;
            it.decode_batch_idx += 1;
            *len += 1;
        }
    }

    /// Builds the host masks that the rule wants. Without track slots there are none.
    fn build_masks(&mut self, batch: &mut Batch) {
        let wants = self.rule.wants_masks();
        batch.masks = None;
        if wants == WantsMasks::No || !self.world.policy.has_track_slots() {
            return;
        }
        let masks = HostMasks::new(wants, self.world.grid, self.setup.engine.overlap);
        let bytes = masks.row_bytes() * batch.prepared.len() as u64;
        self.emit(BatchFact::HostMasks { batch: batch.id, bytes });
        batch.masks = Some(masks);
    }

    /// Captures each row for its forward and its result, with the track slot that the step writes.
    fn capture_rows(&mut self, batch: &mut Batch) {
        let grid = self.world.grid;
        // If the second slot was refused, the write index still names the kept slot. Some rules then write nothing.
        let never_in_place = self.world.policy.second_slot_on_demand && self.rule.refused() == Refused::WritesNothing;
        let all = &self.world.reqs[..];
        let row = |(&req, &k): (&ReqId, &u32)| {
            let it = &all[req.index()];
            let without_slot = never_in_place && it.next_track_idx == it.last_track_idx;
            let keeps = k.is_multiple_of(grid) && it.has_track && !without_slot;
            let track = if keeps { it.track[usize::from(it.next_track_idx)] } else { None };
            prepared(req, it, k, track)
        };
        batch.prepared = batch.reqs.iter().zip(&batch.seq_lens).map(row).collect();
    }

    /// Emits the prepared rows of a decode batch.
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

/// The captured row of a step that reaches length `k` and writes its state to `track`, if that is given.
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
