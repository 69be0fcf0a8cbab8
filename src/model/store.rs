//! Allocation, release and eviction of slots and pages, with their facts.

use crate::engine::{ChoicePoint, Chooser};
use crate::record::{AssertKind, Fact, Owner, PageFact, PageRange, ReqId, Sink, SlotFact, SlotId};

use super::batch::Rows;
use super::machine::{Attempt, FailedAssert, Machine};
use super::radix::Freed;
use super::setup::{Exhaustion, KvEviction};
use super::world::PendingResult;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Takes one slot from the free list.
    pub(super) fn alloc_slot(&mut self, owner: Owner) -> Option<SlotId> {
        let slot = if self.chooser.is_open(ChoicePoint::Slot) {
            let mut given = Rows::new();
            self.give_slots(1, &mut given);
            given.last().copied()
        } else {
            self.world.slots.alloc_one()
        };
        self.sink.fact(match slot {
            Some(slot) => Fact::Slot(SlotFact::Alloc { slot, owner, last: true }),
            None => Fact::Slot(SlotFact::Refused { req: holder(owner), count: 1 }),
        });
        slot
    }

    /// The slot, if the allocation succeeded after eviction. Otherwise an assertion fails, or the caller continues
    /// without a slot (`Exhaustion`).
    pub(super) fn or_exhausted(&self, req: ReqId, slot: Option<SlotId>) -> Attempt<Option<SlotId>> {
        match (slot, self.setup.engine.exhaustion) {
            (None, Exhaustion::Assert) => Err(FailedAssert { req: Some(req), kind: AssertKind::OutOfSlots }),
            (slot, _) => Ok(slot),
        }
    }

    /// Frees a slot. `last` marks the last slot of one call of the allocator.
    pub(super) fn free_slot(&mut self, slot: SlotId, owner: Owner, last: bool) {
        self.world.slots.free(slot);
        self.emit(SlotFact::Free { slot, owner, last });
    }

    /// Frees a slot now, or keeps it for its owner until no forward in flight can write it.
    pub(super) fn free_now_or_later(&mut self, slot: SlotId, owner: Owner, last: bool, later: bool) {
        if later {
            self.world.deferred_frees.push((slot, owner));
        } else {
            self.free_slot(slot, owner, last);
        }
    }

    /// Frees the slots whose owner is in no batch of the result queue any more.
    pub(super) fn free_deferred(&mut self) {
        for (slot, owner) in std::mem::take(&mut self.world.deferred_frees) {
            let req = holder(owner);
            let in_flight = |pending: &PendingResult| req.is_some_and(|req| pending.batch.reqs.contains(&req));
            let later = self.world.queue.iter().any(in_flight);
            self.free_now_or_later(slot, owner, true, later);
        }
    }

    /// Takes `count` pages for a request and appends them to its own.
    pub(super) fn take_pages(&mut self, req: ReqId, count: u32) -> Attempt {
        if !self.world.pages.alloc(count) {
            return Err(FailedAssert { req: Some(req), kind: AssertKind::OutOfPages });
        }
        let pages = self.req(req).pages.append(count);
        if count > 0 {
            self.emit(PageFact::Alloc { pages, owner: Owner::Request(req) });
        }
        Ok(())
    }

    /// Frees pages, if the range is not empty.
    pub(super) fn free_pages(&mut self, pages: PageRange, owner: Owner) {
        self.world.pages.free(pages);
        if pages.count() > 0 {
            self.emit(PageFact::Free { pages, owner });
        }
    }

    /// Evicts KV if less than `tokens` are free (`evict_from_tree_cache`). Locked nodes stay, so it may free less.
    pub(super) fn make_kv_room(&mut self, tokens: u32) {
        let available = self.world.pages.available();
        if available < tokens {
            let wanted = match self.setup.engine.kv_eviction {
                KvEviction::Whole => tokens,
                KvEviction::Shortfall => tokens - available,
            };
            self.evict(wanted, 0);
        }
    }

    /// Evicts `kv_tokens` of KV and `states` states, least recent first, and frees their pages and slots.
    pub(super) fn evict(&mut self, kv_tokens: u32, states: u32) {
        let mut freed = Freed::default();
        let _ = self.world.tree.evict(kv_tokens, states, &mut freed);
        for slot in freed.slots {
            self.free_slot(slot, Owner::Tree, true);
        }
        for pages in freed.pages {
            self.free_pages(pages, Owner::Tree);
        }
    }

    /// Whether the next decode step of `rows` fits, after evicting KV for it (`check_decode_mem`).
    pub(super) fn room_for_decode(&mut self, rows: &[ReqId]) -> bool {
        let page = self.setup.engine.page_size;
        let new_page = |req: &&ReqId| self.world.reqs[req.index()].kv_committed_len.is_multiple_of(page);
        let wanted = match &self.setup.engine.spec {
            None if page == 1 => rows.len() as u32,
            None => rows.iter().filter(new_page).count() as u32 * page,
            Some(_) => rows.iter().map(|&req| self.verify_needs(req)).sum(),
        };
        self.make_kv_room(wanted);
        self.world.pages.available() >= wanted
    }
}

/// The request of an owner; `None` for the tree and for slots set aside.
pub(super) fn holder(owner: Owner) -> Option<ReqId> {
    match owner {
        Owner::Active(req) | Owner::Track(req, _) | Owner::Request(req) => Some(req),
        Owner::Spare | Owner::Tree => None,
    }
}
