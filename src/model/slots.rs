//! The pool of state slots: a free list in the order of the real allocator. It does not know the owners of slots.

use std::collections::VecDeque;

use educe::Educe;

use crate::record::SlotId;

use super::batch::Rows;

/// State slots 1..=size. Slot 0 is the padding slot and is never handed out. Allocation takes from the front of the
/// free list, freeing appends at the back (`MambaSlotAllocator`, all four releases). The never-used slots therefore
/// come before the freed ones and are kept as a range, so that a snapshot of a large pool is small.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct SlotPool {
    /// The first and the last never-used slot.
    fresh: (u32, u32),
    /// Freed slots in order. The never-used slots come before them.
    free: VecDeque<SlotId>,
    /// Slots set aside for the waiting queue, in order.
    spare: VecDeque<SlotId>,
}

impl SlotPool {
    /// A full pool.
    pub fn new(size: u32) -> Self {
        SlotPool { fresh: (1, size), free: VecDeque::new(), spare: VecDeque::new() }
    }

    /// The number of never-used slots, and the freed slots in the order in which they will be handed out. Between two
    /// turns this is the whole state of the pool.
    pub fn free_list(&self) -> (u32, impl Iterator<Item = SlotId> + '_) {
        // Never-used slots differ only in their numbers, which are names.
        let SlotPool { fresh: _, free, spare } = self;
        assert!(spare.is_empty(), "spare slots are given back within their turn");
        (self.fresh_count(), free.iter().copied())
    }

    fn fresh_count(&self) -> u32 {
        self.fresh.1 + 1 - self.fresh.0
    }

    /// Number of free slots, without those set aside.
    pub fn available(&self) -> u32 {
        self.fresh_count() + self.free.len() as u32
    }

    /// Number of free slots, with those set aside.
    pub fn available_with_spare(&self) -> u32 {
        self.available() + self.spare.len() as u32
    }

    /// Takes `count` slots into `out`, or none. Returns whether it took them.
    pub fn alloc(&mut self, count: u32, out: &mut Rows<SlotId>) -> bool {
        if count > self.available() {
            return false;
        }
        let fresh = count.min(self.fresh_count());
        out.extend((self.fresh.0..self.fresh.0 + fresh).map(SlotId));
        self.fresh.0 += fresh;
        let back = (count - fresh) as usize;
        copy_front(&self.free, back, out);
        self.free.drain(..back);
        true
    }

    /// Takes one slot.
    pub fn alloc_one(&mut self) -> Option<SlotId> {
        if self.fresh.0 > self.fresh.1 {
            return self.free.pop_front();
        }
        self.fresh.0 += 1;
        Some(SlotId(self.fresh.0 - 1))
    }

    /// The slot that is handed out next.
    pub fn front(&self) -> Option<SlotId> {
        if self.fresh.0 > self.fresh.1 { self.free.front().copied() } else { Some(SlotId(self.fresh.0)) }
    }

    /// Takes the slot `slot` if it is free. Returns whether it was.
    pub fn take(&mut self, slot: SlotId) -> bool {
        // The slot may be anywhere in the free list, so the range becomes a list.
        for fresh in (self.fresh.0..=self.fresh.1).rev() {
            self.free.push_front(SlotId(fresh));
        }
        self.fresh = (1, 0);
        let Some(at) = self.free.iter().position(|&free| free == slot) else { return false };
        self.free.remove(at);
        true
    }

    /// Undoes a [`SlotPool::take`].
    pub fn put_back(&mut self, slot: SlotId) {
        self.free.push_front(slot);
    }

    /// Returns a slot.
    pub fn free(&mut self, slot: SlotId) {
        self.free.push_back(slot);
    }

    /// Sets slots aside for the waiting queue.
    pub fn set_aside(&mut self, slots: &[SlotId]) {
        assert!(self.spare.is_empty(), "the spare slots of the last admission were given back");
        self.spare.extend(slots);
    }

    /// Takes a slot that was set aside.
    pub fn take_spare(&mut self) -> Option<SlotId> {
        self.spare.pop_front()
    }

    /// Gives back the slots set aside that were not taken. Returns them in order.
    pub fn give_back(&mut self) -> Rows<SlotId> {
        let mut rest = Rows::new();
        copy_front(&self.spare, self.spare.len(), &mut rest);
        self.spare.clear();
        self.free.extend(&rest);
        rest
    }
}

/// Appends the first `count` slots of a queue to a list.
fn copy_front(queue: &VecDeque<SlotId>, count: usize, out: &mut Rows<SlotId>) {
    let (front, back) = queue.as_slices();
    let of_front = count.min(front.len());
    out.extend_from_slice(&front[..of_front]);
    out.extend_from_slice(&back[..count - of_front]);
}
