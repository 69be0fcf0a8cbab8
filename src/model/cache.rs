//! What a request hands to the radix tree and what it gives back: at its end, and after its prefill.

use crate::engine::Chooser;
use crate::record::{
    AssertKind, CacheFact, DonationOutcome, ForwardFact, GpuStream, NoDonation, Owner, PageFact, PossibleDonation,
    ReqId, Sink, SlotFact, SlotId,
};

use super::batch::Rows;
use super::machine::{Dead, Machine, Step};
use super::pages::Pages;
use super::radix::{Inserted, NodeId};
use super::request::Stage;
use super::setup::{SlotFree, Snapshot, Strategy};

/// What a donation offers.
struct Offer {
    label: u32,
    slot: SlotId,
    owner: Owner,
    /// The length of the key, floored to a page.
    key_len: u32,
}

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Donates the kept state of a finished request and frees the rest (`cache_finished_req`, `release_kv_cache`).
    pub(super) fn release_finished(&mut self, req: ReqId) -> Step {
        let lazy = self.setup.engine.strategy == Strategy::ExtraBufferLazy;
        let kept = if lazy && self.world.reqs[req.index()].decline {
            self.donate_nothing(req, NoDonation::Declined, None);
            None
        } else {
            self.donate_finished(req)?
        };
        self.release_rest(req, kept);
        self.close_request(req);
        Ok(())
    }

    /// A request is over: who waited for its end may come.
    pub(super) fn close_request(&mut self, req: ReqId) {
        self.req(req).stage = Stage::Finished;
        self.world.unfinished -= 1;
        let now = self.world.clock.cpu;
        self.world.arrivals.ended(req, now);
    }

    /// Offers the kept state. Returns the slot that the tree took.
    fn donate_finished(&mut self, req: ReqId) -> Step<Option<SlotId>> {
        let it = &self.world.reqs[req.index()];
        let committed = self.committed_to_cache(req);
        let (label, slot, owner) = match self.setup.engine.strategy {
            Strategy::NoBuffer => (committed, it.active, Owner::Active(req)),
            Strategy::ExtraBuffer | Strategy::ExtraBufferLazy => {
                let (label, idx) = self.checkpoint(req, committed);
                let slot = idx.and_then(|idx| it.track[usize::from(idx)]);
                (label, slot, Owner::Track(req, idx.unwrap_or(0)))
            }
        };
        let key_len = self.floor_to_page(label.min(committed));
        if key_len == 0 {
            self.donate_nothing(req, NoDonation::NoCheckpoint, slot);
            return Ok(None);
        }
        let Some(slot) = slot else {
            return Err(Dead { req: Some(req), kind: AssertKind::NoKeptSlot });
        };
        let inserted = self.insert(req, &Offer { label, slot, owner, key_len }, true);
        self.drop_pages(req, key_len.max(self.world.reqs[req.index()].cache_protected_len));
        Ok((!inserted.state_existed).then_some(slot))
    }

    /// How many tokens a request that ends now may cache.
    fn committed_to_cache(&self, req: ReqId) -> u32 {
        let it = &self.world.reqs[req.index()];
        let through_stop = it.prompt_len + it.finished_len.unwrap_or(it.outputs);
        match self.setup.engine.caches_through_stop {
            true => it.kv_committed_len.min(through_stop),
            false => it.kv_committed_len,
        }
    }

    /// What the request would donate from its track slots if it ended now.
    pub(super) fn offer_now(&self, req: ReqId) -> Option<PossibleDonation> {
        let committed = self.committed_to_cache(req);
        let (label, idx) = self.checkpoint(req, committed);
        let slot = self.world.reqs[req.index()].track[usize::from(idx?)]?;
        let key_len = self.floor_to_page(label.min(committed));
        (key_len > 0).then_some(PossibleDonation { label, key_len, slot })
    }

    /// Gives up what is not the tree's: a request that ends or is retracted donates no state.
    pub(super) fn donate_nothing(&mut self, req: ReqId, why: NoDonation, slot: Option<SlotId>) {
        self.emit(CacheFact::NoDonate { req, why, slot });
        self.drop_pages(req, self.world.reqs[req.index()].cache_protected_len);
    }

    /// The label and the index of the slot that a finished request donates. A label beyond `committed` falls back to the
    /// checkpoint before, if the engine can name it, or to nothing (`_select_finished_checkpoint`).
    fn checkpoint(&self, req: ReqId, committed: u32) -> (u32, Option<u8>) {
        let it = &self.world.reqs[req.index()];
        let engine = &self.setup.engine;
        let idx = self.keep_idx(req);
        let label = it.last_track_seqlen.unwrap_or(0);
        if label <= committed || !engine.previous_checkpoint {
            return (label, Some(idx));
        }
        match it.prev_track_seqlen.filter(|&previous| engine.is_pair() && previous <= committed) {
            Some(previous) => (previous, Some(1 - idx)),
            None => (0, None),
        }
    }

    /// Unlocks, then frees the active slot and the track slots but the one that the tree took.
    pub(super) fn release_rest(&mut self, req: ReqId, kept: Option<SlotId>) {
        self.unlock(req);
        let it = self.req(req);
        let active = it.active.take();
        let tracks = std::mem::take(&mut it.track);
        it.has_track = false;
        it.pages = Pages::default();
        it.holds_row = false;
        let in_flight = self.world.queue.iter().any(|pending| pending.batch.reqs.contains(&req));
        let later = self.setup.engine.slot_free == SlotFree::Deferred && in_flight;
        if let Some(slot) = active.filter(|slot| Some(*slot) != kept) {
            self.free_now_or_later(slot, Owner::Active(req), true, later);
        }
        let held: Rows<(u8, SlotId)> = (0..2)
            .filter_map(|idx| Some((idx, tracks[usize::from(idx)]?)))
            .filter(|(_, slot)| Some(*slot) != kept)
            .collect();
        for (i, &(idx, slot)) in held.iter().enumerate() {
            self.free_now_or_later(slot, Owner::Track(req, idx), i + 1 == held.len(), later);
        }
        self.world.rows_held -= 1;
    }

    /// Gives the tree the state that the prefill tracked, and goes on with a fresh slot (`cache_unfinished_req`).
    pub(super) fn cache_unfinished(&mut self, req: ReqId) -> Step {
        let it = &self.world.reqs[req.index()];
        let end = it.extend_end;
        let label = match self.setup.engine.strategy {
            Strategy::NoBuffer => Some(end),
            Strategy::ExtraBuffer | Strategy::ExtraBufferLazy => it.last_track_seqlen,
        };
        // Whatever is cached of it, the next chunk goes on from here.
        self.req(req).prefix_len = end;
        let Some(label) = label else {
            self.emit(CacheFact::NoDonate { req, why: NoDonation::NoCheckpoint, slot: None });
            return Ok(());
        };
        let Some((slot, owner)) = self.hand_over(req)? else {
            self.emit(CacheFact::NoDonate { req, why: NoDonation::NoSlot, slot: None });
            self.req(req).last_track_seqlen = None;
            return Ok(());
        };
        let key_len = self.floor_to_page(label.min(end));
        if key_len > 0 {
            let inserted = self.insert(req, &Offer { label, slot, owner, key_len }, false);
            if inserted.state_existed {
                self.free_slot(slot, owner, true);
            }
            self.relock(req, key_len, inserted.node);
        } else {
            self.emit(CacheFact::NoDonate { req, why: NoDonation::NoCheckpoint, slot: None });
            self.free_slot(slot, owner, true);
        }
        let it = self.req(req);
        it.last_track_seqlen = None;
        it.prev_track_seqlen = None;
        Ok(())
    }

    /// The slot to donate while the request goes on, and who holds it: the kept one, replaced by a fresh one; without
    /// track slots, a fresh one that receives a copy on the schedule stream.
    fn hand_over(&mut self, req: ReqId) -> Step<Option<(SlotId, Owner)>> {
        let engine = &self.setup.engine;
        if engine.strategy == Strategy::NoBuffer || engine.snapshot == Snapshot::Copy {
            let Some(slot) = self.slot_for_donation(req, Owner::Spare)? else { return Ok(None) };
            let it = &self.world.reqs[req.index()];
            let kept = if it.has_track { it.track[usize::from(self.keep_idx(req))] } else { it.active };
            let from = kept.expect("a running request has the slot that it would donate");
            self.emit(ForwardFact::CopyState { req, from, to: slot, stream: GpuStream::Schedule });
            return Ok(Some((slot, Owner::Spare)));
        }
        let idx = self.keep_idx(req);
        let owner = Owner::Track(req, idx);
        let Some(fresh) = self.slot_for_donation(req, owner)? else { return Ok(None) };
        let kept = &mut self.world.reqs[req.index()].track[usize::from(idx)];
        let slot = kept.replace(fresh).expect("prefill tracking wrote the kept slot");
        Ok(Some((slot, owner)))
    }

    /// A fresh slot, evicting a cached state if there is none (`_alloc_mamba_slot`).
    fn slot_for_donation(&mut self, req: ReqId, owner: Owner) -> Step<Option<SlotId>> {
        if let Some(slot) = self.alloc_slot(owner) {
            return Ok(Some(slot));
        }
        let engine = &self.setup.engine;
        if engine.handover_unlocks_state && engine.strategy == Strategy::ExtraBufferLazy {
            self.unlock_state(req);
        }
        self.evict(0, 1);
        let slot = self.alloc_slot(owner);
        self.or_exhausted(req, slot)
    }

    /// Inserts the first `key_len` tokens with the offered state. What the tree takes changes owner, and the pages
    /// that it had already are freed.
    fn insert(&mut self, req: ReqId, offer: &Offer, finished: bool) -> Inserted {
        let page = self.setup.engine.page_size;
        let it = &self.world.reqs[req.index()];
        let (pages, protected) = (it.pages, it.cache_protected_len / page);
        let key = self.world.streams.prefix(it.stream, offer.key_len);
        let inserted = self.world.tree.insert(&self.world.streams, key, pages.grant, Some(offer.slot));
        let cached = inserted.prefix_len / page;
        self.free_pages(pages.range(protected, cached), Owner::Request(req));
        let given = pages.range(cached, offer.key_len / page);
        if given.count() > 0 {
            self.emit(PageFact::Move { pages: given, from: Owner::Request(req), to: Owner::Tree });
        }
        let how = DonationOutcome { finished, existed: inserted.state_existed };
        let &Offer { label, slot, owner, key_len } = offer;
        self.emit(CacheFact::Donate { req, label, key_len, slot, how });
        if !inserted.state_existed {
            self.emit(SlotFact::Move { slot, from: owner, to: Owner::Tree });
        }
        inserted
    }

    /// Moves the lock to the node that the key ends on: the pages up to there are the tree's now.
    fn relock(&mut self, req: ReqId, key_len: u32, node: NodeId) {
        if self.setup.engine.rematch_after_insert {
            let it = &self.world.reqs[req.index()];
            let key = self.world.streams.prefix(it.stream, key_len);
            let found = self.world.tree.match_prefix(&self.world.streams, key);
            assert!(found.node == node, "what was just inserted is found");
        }
        self.unlock(req);
        let held = self.world.tree.lock(node);
        self.emit(CacheFact::Lock { req, node: node.0 });
        let it = &mut self.world.reqs[req.index()];
        it.lock = Some(held);
        it.last_node = node;
        it.cache_protected_len = key_len;
    }

    /// Gives the state part of the lock back early: the state that it holds has been copied.
    fn unlock_state(&mut self, req: ReqId) {
        if let Some(mut held) = self.req(req).lock.take() {
            self.world.tree.release_state(&mut held);
            self.req(req).lock = Some(held);
        }
    }

    fn unlock(&mut self, req: ReqId) {
        if let Some(held) = self.req(req).lock.take() {
            self.emit(CacheFact::Unlock { req, node: held.node().0 });
            self.world.tree.unlock(held);
        }
    }

    /// Frees the pages of a request from `from` tokens on, and the request holds none any more.
    pub(super) fn drop_pages(&mut self, req: ReqId, from: u32) {
        let page = self.setup.engine.page_size;
        let pages = std::mem::take(&mut self.req(req).pages);
        self.free_pages(pages.range(from / page, pages.count), Owner::Request(req));
    }

    fn floor_to_page(&self, len: u32) -> u32 {
        len - len % self.setup.engine.page_size
    }
}
