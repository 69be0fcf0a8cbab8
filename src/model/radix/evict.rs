//! Eviction: least recent first, KV and states apart, locked nodes stay.
//!
//! Owns the choice of victims. It frees nothing itself: pages and slots go to [`Freed`] in the order of the real calls.
//! An eviction may reach less than requested; the caller checks its pool.

use super::{Freed, NodeId, Radix};

/// What one [`Radix::evict`] removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evicted {
    /// Tokens of KV.
    pub kv_tokens: u32,
    /// States, in slots.
    pub states: u32,
}

impl Radix {
    /// Evicts until at least `kv_tokens` tokens of KV and `states` states are evicted, or nothing more can be evicted.
    ///
    /// KV comes first: the least recent unlocked leaf is evicted with its state, and its parent may become the next
    /// leaf. Then states, with those of evicted leaves counted: the least recent unlocked state first. A leaf is
    /// evicted whole; an inner node, or a leaf under a KV lock, loses only its state. An inner node that becomes a leaf
    /// without a state stays, since its KV can still be hit. Source: `evict`, `drive_eviction` of the Full and Mamba
    /// components (0.5.16), `_evict_components` and `_evict_device_next_node` (later).
    pub fn evict(&mut self, kv_tokens: u32, states: u32, out: &mut Freed) -> Evicted {
        let mut gone = Evicted::default();
        while gone.kv_tokens < kv_tokens {
            let Some(&(_, leaf)) = self.leaves.first() else {
                break;
            };
            self.evict_leaf(leaf, &mut gone, out);
        }
        if gone.states < states {
            self.evict_states(states, &mut gone, out);
        }
        gone
    }

    fn evict_states(&mut self, states: u32, gone: &mut Evicted, out: &mut Freed) {
        let mut victim = self.next_unlocked_state(NodeId::ROOT);
        while let Some(id) = victim {
            // The next victim is found first, since evicting `id` unlinks it. An eviction never changes a newer state.
            victim = self.next_unlocked_state(id);
            if self.node(id).is_leaf {
                self.evict_leaf(id, gone, out);
            } else {
                out.slots.push(self.take_state(id));
                gone.states += 1;
            }
            if gone.states >= states {
                break;
            }
        }
    }

    fn evict_leaf(&mut self, id: NodeId, gone: &mut Evicted, out: &mut Freed) {
        let node = self.node_mut(id);
        assert!(node.is_leaf, "only an unlocked leaf goes whole");
        node.is_leaf = false;
        let entry = (node.accessed, id);
        let has_state = node.state.is_some();
        assert!(self.leaves.remove(&entry), "a filed leaf is found");
        let slot = has_state.then(|| self.take_state(id));
        let pages = self.pages(id);
        let node = self.detach(id);
        self.kv_evictable -= node.token_count();
        gone.kv_tokens += node.token_count();
        out.pages.push(pages);
        if let Some(slot) = slot {
            gone.states += 1;
            out.slots.push(slot);
        }
    }
}
