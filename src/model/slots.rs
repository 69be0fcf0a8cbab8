//! The pool of state slots: a free list in the order of the real allocator. Owns who is free, not who holds what.

use std::collections::VecDeque;

use educe::Educe;

use crate::record::SlotId;

use super::batch::Rows;

/// State slots 1..=size; slot 0 is never given out. Allocation takes from the front, freeing appends at the back
/// (`MambaSlotAllocator`, all four releases). So those never given out stand before those that came back, and are kept as
/// a range: a snapshot of a large pool is as small as what was used of it.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct SlotPool {
    /// The first one never given out, and the last one.
    fresh: (u32, u32),
    /// Those that came back, in order; all others stand before them.
    free: VecDeque<SlotId>,
    /// Slots taken in advance for the waiting queue, in order.
    spare: VecDeque<SlotId>,
}

impl SlotPool {
    /// A full pool.
    pub fn new(size: u32) -> Self {
        SlotPool { fresh: (1, size), free: VecDeque::new(), spare: VecDeque::new() }
    }

    /// How many were never given out, and those that came back, in the order in which they will be given out: between two turns that is
    /// all that there is to tell of the pool.
    pub fn free_list(&self) -> (u32, impl Iterator<Item = SlotId> + '_) {
        // The slots never given out are alike but for their numbers, which are names.
        let SlotPool { fresh: _, free, spare } = self;
        assert!(spare.is_empty(), "spare slots are given back within their turn");
        (self.fresh_count(), free.iter().copied())
    }

    fn fresh_count(&self) -> u32 {
        self.fresh.1 + 1 - self.fresh.0
    }

    /// Free slots, without the spare ones.
    pub fn available(&self) -> u32 {
        self.fresh_count() + self.free.len() as u32
    }

    /// Free slots, the spare ones too.
    pub fn available_with_spare(&self) -> u32 {
        self.available() + self.spare.len() as u32
    }

    /// Takes `count` slots into `out`, or none at all.
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

    /// The slot that would be given out next.
    pub fn front(&self) -> Option<SlotId> {
        if self.fresh.0 > self.fresh.1 { self.free.front().copied() } else { Some(SlotId(self.fresh.0)) }
    }

    /// Takes this very slot, if it is free.
    pub fn take(&mut self, slot: SlotId) -> bool {
        // Out of order: the range is no range any more.
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

    /// Takes a spare slot.
    pub fn take_spare(&mut self) -> Option<SlotId> {
        self.spare.pop_front()
    }

    /// Gives back the spare slots that nobody took, in order; says which.
    pub fn give_back(&mut self) -> Rows<SlotId> {
        let mut rest = Rows::new();
        copy_front(&self.spare, self.spare.len(), &mut rest);
        self.spare.clear();
        self.free.extend(&rest);
        rest
    }
}

/// Puts the first `count` slots of a queue behind a list.
fn copy_front(queue: &VecDeque<SlotId>, count: usize, out: &mut Rows<SlotId>) {
    let (front, back) = queue.as_slices();
    let of_front = count.min(front.len());
    out.extend_from_slice(&front[..of_front]);
    out.extend_from_slice(&back[..count - of_front]);
}
