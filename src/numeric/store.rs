//! What every state slot holds, in numbers: an emulation of the slots from the forward effects in the record.
//!
//! Owns contents, and beside each the token sequence that was folded into it, so that a reader can tell a right state
//! without numbers. Refuses to know owners: taking, moving and freeing a slot changes nothing in it.

use crate::record::{SlotId, TokenFold};

/// Slots beyond this index are not followed; the judge, which follows as many, then calls the run inconclusive.
const SLOTS_MAX: usize = 1 << 20;

/// A state: its numbers, and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Content {
    /// The numbers.
    pub h: Vec<f32>,
    /// The tokens folded; `None` after a token that the record does not tell, and then the numbers mean nothing.
    pub of: Option<TokenFold>,
}

/// All slots.
#[derive(Clone, Debug)]
pub(super) struct Store {
    dim: usize,
    slots: Vec<Option<Content>>,
}

impl Store {
    /// A pool of zero states of `dim` numbers.
    pub fn new(dim: usize) -> Store {
        Store { dim, slots: Vec::new() }
    }

    /// The state before any token.
    pub fn zero(&self) -> Content {
        Content { h: vec![0.0; self.dim], of: Some(TokenFold::ZERO) }
    }

    /// A copy of what a slot holds after all launched forwards; zero if nobody has written it.
    pub fn read(&self, slot: SlotId) -> Content {
        self.slots.get(slot.index()).cloned().flatten().unwrap_or_else(|| self.zero())
    }

    /// Takes the content out of a slot that is about to be written.
    pub fn take(&mut self, slot: SlotId) -> Content {
        self.slots.get_mut(slot.index()).and_then(Option::take).unwrap_or_else(|| self.zero())
    }

    /// Writes a slot.
    pub fn write(&mut self, slot: SlotId, content: Content) {
        if slot.index() >= SLOTS_MAX {
            return;
        }
        if slot.index() >= self.slots.len() {
            self.slots.resize(slot.index() + 1, None);
        }
        self.slots[slot.index()] = Some(content);
    }

    /// Clears a slot.
    pub fn clear(&mut self, slot: SlotId) {
        if let Some(slot) = self.slots.get_mut(slot.index()) {
            *slot = None;
        }
    }

    /// Which tokens a slot holds.
    pub fn provenance(&self, slot: SlotId) -> Option<TokenFold> {
        match self.slots.get(slot.index()) {
            Some(Some(content)) => content.of,
            Some(None) | None => Some(TokenFold::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unwritten_slot_is_zero_and_a_cleared_one_too() {
        let mut store = Store::new(2);
        let slot = SlotId(3);
        assert_eq!(store.read(slot), store.zero());
        let content = Content { h: vec![1.0, 2.0], of: Some(TokenFold::ZERO.fold(7)) };
        store.write(slot, content.clone());
        assert_eq!(store.read(slot), content);
        assert_eq!(store.provenance(slot), content.of);
        store.clear(slot);
        assert_eq!((store.read(slot), store.provenance(slot)), (store.zero(), Some(TokenFold::ZERO)));
    }

    #[test]
    fn an_absurd_slot_is_not_followed() {
        let mut store = Store::new(2);
        store.write(SlotId(u32::MAX), Content { h: vec![1.0; 2], of: None });
        assert_eq!(store.read(SlotId(u32::MAX)), store.zero());
    }
}
