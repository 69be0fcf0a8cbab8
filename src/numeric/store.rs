//! The contents of all state slots: numbers, and the token sequence that was folded into them.
//!
//! Only writes change a slot: allocation, moves and frees change nothing in it.

use crate::record::{SlotId, TokenFold};

/// Slots from this index on are ignored. The judge has the same limit and calls such a run inconclusive.
const SLOTS_MAX: usize = 1 << 20;

/// A recurrent state: its numbers, and the tokens that they were computed from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NumericState {
    /// The numbers.
    pub h: Vec<f32>,
    /// The name of the token sequence; `None` after a token that the record does not have. Then the numbers mean
    /// nothing.
    pub provenance: Option<TokenFold>,
}

/// All slots.
#[derive(Clone, Debug)]
pub(super) struct Store {
    dim: usize,
    slots: Vec<Option<NumericState>>,
}

impl Store {
    /// Slots with zero states of `dim` numbers.
    pub fn new(dim: usize) -> Store {
        Store { dim, slots: Vec::new() }
    }

    /// The state before any token.
    pub fn zero(&self) -> NumericState {
        NumericState { h: vec![0.0; self.dim], provenance: Some(TokenFold::ZERO) }
    }

    /// A copy of the content of a slot after all launched forwards; zero if it was never written.
    pub fn read(&self, slot: SlotId) -> NumericState {
        self.slots.get(slot.index()).cloned().flatten().unwrap_or_else(|| self.zero())
    }

    /// Moves the content out of a slot. The caller writes the slot next.
    pub fn take(&mut self, slot: SlotId) -> NumericState {
        self.slots.get_mut(slot.index()).and_then(Option::take).unwrap_or_else(|| self.zero())
    }

    /// Writes a slot.
    pub fn write(&mut self, slot: SlotId, content: NumericState) {
        if slot.index() >= SLOTS_MAX {
            return;
        }
        if slot.index() >= self.slots.len() {
            self.slots.resize(slot.index() + 1, None);
        }
        self.slots[slot.index()] = Some(content);
    }

    /// Sets a slot to the zero state.
    pub fn clear(&mut self, slot: SlotId) {
        if let Some(slot) = self.slots.get_mut(slot.index()) {
            *slot = None;
        }
    }

    /// The name of the token sequence in a slot, if it is known.
    pub fn provenance(&self, slot: SlotId) -> Option<TokenFold> {
        match self.slots.get(slot.index()) {
            Some(Some(content)) => content.provenance,
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
        let content = NumericState { h: vec![1.0, 2.0], provenance: Some(TokenFold::ZERO.fold(7)) };
        store.write(slot, content.clone());
        assert_eq!(store.read(slot), content);
        assert_eq!(store.provenance(slot), content.provenance);
        store.clear(slot);
        assert_eq!((store.read(slot), store.provenance(slot)), (store.zero(), Some(TokenFold::ZERO)));
    }

    #[test]
    fn a_slot_beyond_the_limit_is_ignored() {
        let mut store = Store::new(2);
        store.write(SlotId(u32::MAX), NumericState { h: vec![1.0; 2], provenance: None });
        assert_eq!(store.read(SlotId(u32::MAX)), store.zero());
    }
}
