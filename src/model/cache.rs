//! Donations to the radix tree and releases: at the end of a request (`cache_finished_req`) and after a prefill
//! (`cache_unfinished_req`).

use crate::engine::Chooser;
use crate::record::{
    AssertKind, CacheFact, DonationOutcome, ForwardFact, GpuStream, NoDonation, Owner, PageFact, PossibleDonation,
    ReqId, Sink, SlotFact, SlotId,
};

use super::batch::Rows;
use super::machine::{Attempt, FailedAssert, Machine};
use super::pages::ReqPages;
use super::radix::{Inserted, NodeId};
use super::request::ReqStage;
use super::setup::{SlotFree, Snapshot};

/// The state that a donation offers.
struct DonationOffer {
    label: u32,
    slot: SlotId,
    owner: Owner,
    /// The length of the key: the label, or fewer tokens if fewer may be cached, rounded down to a page.
    key_len: u32,
}

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Donates the kept state of a finished request and frees the rest (`cache_finished_req`, `release_kv_cache`).
    pub(super) fn release_finished(&mut self, req: ReqId) -> Attempt {
        let kept = if self.world.policy.may_decline && self.world.reqs[req.index()].decline {
            self.donate_nothing(req, NoDonation::Declined, None);
            None
        } else {
            self.donate_finished(req)?
        };
        self.release_rest(req, kept);
        self.close_request(req);
        Ok(())
    }

    /// Ends a request. The requests that arrive at its end become due.
    pub(super) fn close_request(&mut self, req: ReqId) {
        self.req(req).stage = ReqStage::Finished;
        self.world.unfinished -= 1;
        let now = self.world.clock.cpu;
        self.world.arrivals.ended(req, now);
    }

    /// Donates the kept state. Returns the slot that the tree took.
    fn donate_finished(&mut self, req: ReqId) -> Attempt<Option<SlotId>> {
        let it = &self.world.reqs[req.index()];
        let committed = self.committed_to_cache(req);
        let (label, slot, owner) = if self.world.policy.has_track_slots() {
            let (label, idx) = self.checkpoint(req, committed);
            let slot = idx.and_then(|idx| it.track[usize::from(idx)]);
            (label, slot, Owner::Track(req, idx.unwrap_or(0)))
        } else {
            (committed, it.active, Owner::Active(req))
        };
        let key_len = self.floor_to_page(label.min(committed));
        if key_len == 0 {
            self.donate_nothing(req, NoDonation::NoCheckpoint, slot);
            return Ok(None);
        }
        let Some(slot) = slot else {
            return Err(FailedAssert { req: Some(req), kind: AssertKind::NoKeptSlot });
        };
        let inserted = self.insert(req, &DonationOffer { label, slot, owner, key_len }, true);
        self.drop_pages(req, key_len.max(self.world.reqs[req.index()].cache_protected_len));
        Ok((!inserted.state_existed).then_some(slot))
    }

    /// Number of tokens that a request may cache if it ends now.
    fn committed_to_cache(&self, req: ReqId) -> u32 {
        let it = &self.world.reqs[req.index()];
        let through_stop = it.prompt_len + it.finished_len.unwrap_or(it.outputs);
        match self.setup.engine.caches_through_stop {
            true => it.kv_committed_len.min(through_stop),
            false => it.kv_committed_len,
        }
    }

    /// The donation from the track slots if the request ended now.
    pub(super) fn offer_now(&self, req: ReqId) -> Option<PossibleDonation> {
        let committed = self.committed_to_cache(req);
        let (label, idx) = self.checkpoint(req, committed);
        let slot = self.world.reqs[req.index()].track[usize::from(idx?)]?;
        let key_len = self.floor_to_page(label.min(committed));
        (key_len > 0).then_some(PossibleDonation { label, key_len, slot })
    }

    /// Donates no state for a request that ends or is retracted, and frees the pages that are not the tree's.
    pub(super) fn donate_nothing(&mut self, req: ReqId, why: NoDonation, slot: Option<SlotId>) {
        self.emit(CacheFact::NoDonate { req, why, slot });
        self.drop_pages(req, self.world.reqs[req.index()].cache_protected_len);
    }

    /// The label and the slot index that a finished request donates (`_select_finished_checkpoint`). For a label beyond
    /// `committed`, an engine with `previous_checkpoint` falls back to the previous label, if the other slot still
    /// holds its state, or else donates nothing.
    fn checkpoint(&self, req: ReqId, committed: u32) -> (u32, Option<u8>) {
        let it = &self.world.reqs[req.index()];
        let idx = self.keep_idx(req);
        let label = it.last_track_seqlen.unwrap_or(0);
        if label <= committed || !self.setup.engine.previous_checkpoint {
            return (label, Some(idx));
        }
        let pair = self.world.policy.is_ping_pong();
        match it.prev_track_seqlen.filter(|&previous| pair && previous <= committed) {
            Some(previous) => (previous, Some(1 - idx)),
            None => (0, None),
        }
    }

    /// Unlocks the prefix, then frees the active slot and the track slots, except for the slot that the tree took.
    pub(super) fn release_rest(&mut self, req: ReqId, kept: Option<SlotId>) {
        self.unlock(req);
        let it = self.req(req);
        let active = it.active.take();
        let tracks = std::mem::take(&mut it.track);
        it.has_track = false;
        it.pages = ReqPages::default();
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

    /// Donates the state that the prefill tracked. The request continues with a fresh track slot
    /// (`cache_unfinished_req`).
    pub(super) fn cache_unfinished(&mut self, req: ReqId) -> Attempt {
        let it = &self.world.reqs[req.index()];
        let end = it.extend_end;
        let label = if self.world.policy.has_track_slots() { it.last_track_seqlen } else { Some(end) };
        // The next chunk starts here, however much of the prefix is cached.
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
            let inserted = self.insert(req, &DonationOffer { label, slot, owner, key_len }, false);
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

    /// The slot to donate while the request continues, and its owner. This is the kept slot, which a fresh slot
    /// replaces; without track slots, or with `Snapshot::Copy`, it is a fresh slot with a copy made on the schedule
    /// stream.
    fn hand_over(&mut self, req: ReqId) -> Attempt<Option<(SlotId, Owner)>> {
        if !self.world.policy.has_track_slots() || self.setup.engine.snapshot == Snapshot::Copy {
            let Some(slot) = self.slot_for_donation(req, Owner::Spare)? else { return Ok(None) };
            let it = &self.world.reqs[req.index()];
            let kept = if it.has_track { it.track[usize::from(self.keep_idx(req))] } else { it.active };
            let from = kept.expect("a running request has a slot to donate");
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

    /// A free slot, after evicting a cached state if no slot is free (`_alloc_mamba_slot`).
    fn slot_for_donation(&mut self, req: ReqId, owner: Owner) -> Attempt<Option<SlotId>> {
        if let Some(slot) = self.alloc_slot(owner) {
            return Ok(Some(slot));
        }
        if self.setup.engine.handover_unlocks_state && self.world.policy.may_unlock_source {
            self.unlock_state(req);
        }
        self.evict(0, 1);
        let slot = self.alloc_slot(owner);
        self.or_exhausted(req, slot)
    }

    /// Inserts the first `key_len` tokens with the offered state. The tree becomes the owner of the new pages, and of
    /// the state if it had none. Pages that duplicate those of the tree are freed.
    fn insert(&mut self, req: ReqId, offer: &DonationOffer, finished: bool) -> Inserted {
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
        let &DonationOffer { label, slot, owner, key_len } = offer;
        self.emit(CacheFact::Donate { req, label, key_len, slot, how });
        if !inserted.state_existed {
            self.emit(SlotFact::Move { slot, from: owner, to: Owner::Tree });
        }
        inserted
    }

    /// Moves the lock to the node at the end of the key. The pages up to this node are now the tree's.
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

    /// Releases the state part of the lock early: the state was copied at the hit.
    fn unlock_state(&mut self, req: ReqId) {
        if let Some(mut held) = self.req(req).lock.take() {
            self.world.tree.release_state(&mut held);
            self.req(req).lock = Some(held);
        }
    }

    /// Releases the lock of a request, if it has one.
    fn unlock(&mut self, req: ReqId) {
        if let Some(held) = self.req(req).lock.take() {
            self.emit(CacheFact::Unlock { req, node: held.node().0 });
            self.world.tree.unlock(held);
        }
    }

    /// Frees the pages of a request from `from` tokens on. The request holds no pages afterwards.
    pub(super) fn drop_pages(&mut self, req: ReqId, from: u32) {
        let page = self.setup.engine.page_size;
        let pages = std::mem::take(&mut self.req(req).pages);
        self.free_pages(pages.range(from / page, pages.count), Owner::Request(req));
    }

    /// The length rounded down to a page.
    fn floor_to_page(&self, len: u32) -> u32 {
        len - len % self.setup.engine.page_size
    }
}
