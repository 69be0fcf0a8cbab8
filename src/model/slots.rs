//! The pool of state slots: a free list in the order of the real allocator. Owns who is free, not who holds what.

use std::collections::VecDeque;

use crate::record::SlotId;

/// State slots 1..=size; slot 0 is never given out. Allocation takes from the front, freeing appends at the back
/// (`MambaSlotAllocator`, all four releases).
#[derive(Clone, Debug)]
pub struct SlotPool {
    free: VecDeque<SlotId>,
    /// Slots taken in advance for the waiting queue, in order.
    spare: VecDeque<SlotId>,
}

impl SlotPool {
    /// A full pool.
    pub fn new(size: u32) -> Self {
        SlotPool { free: (1..=size).map(SlotId).collect(), spare: VecDeque::new() }
    }

    /// Free slots, without the spare ones.
    pub fn available(&self) -> u32 {
        self.free.len() as u32
    }

    /// Free slots, the spare ones too.
    pub fn available_with_spare(&self) -> u32 {
        (self.free.len() + self.spare.len()) as u32
    }

    /// Takes `count` slots into `out`, or none at all.
    pub fn alloc(&mut self, count: u32, out: &mut Vec<SlotId>) -> bool {
        if (count as usize) > self.free.len() {
            return false;
        }
        out.extend(self.free.drain(..count as usize));
        true
    }

    /// Takes one slot.
    pub fn alloc_one(&mut self) -> Option<SlotId> {
        self.free.pop_front()
    }

    /// The slot that would be given out next.
    pub fn front(&self) -> Option<SlotId> {
        self.free.front().copied()
    }

    /// Takes this very slot, if it is free.
    pub fn take(&mut self, slot: SlotId) -> bool {
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
    pub fn give_back(&mut self) -> Vec<SlotId> {
        let rest: Vec<SlotId> = self.spare.drain(..).collect();
        self.free.extend(&rest);
        rest
    }
}
