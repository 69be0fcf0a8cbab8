//! The two recency orders. KV: a stamp on each node, and the set of nodes that KV eviction may take. States: a circular
//! list through the nodes that own a state, closed by the root.
//!
//! Owns the orders only. The callers decide when a node is used and what is evicted.

use super::{NodeId, Radix};
use crate::record::SlotId;

impl Radix {
    /// Makes `id` the most recent node for KV.
    pub(super) fn touch(&mut self, id: NodeId) {
        self.clock += 1;
        let stamp = self.clock;
        self.stamp(id, stamp);
    }

    /// Makes the path from the root to `id` recent: `id` is the most recent node, and every parent comes just before
    /// its child. The root has no place in the order.
    pub(super) fn touch_path(&mut self, id: NodeId) {
        let depth = self.ancestry(id).count() as u64;
        self.clock += depth;
        let mut stamp = self.clock;
        let mut at = id;
        while at != NodeId::ROOT {
            self.stamp(at, stamp);
            stamp -= 1;
            at = self.node(at).parent;
        }
    }

    fn stamp(&mut self, id: NodeId, stamp: u64) {
        let node = self.node_mut(id);
        let previous = std::mem::replace(&mut node.accessed, stamp);
        if node.is_leaf {
            self.leaves.remove(&(previous, id));
            self.leaves.insert((stamp, id));
        }
        self.refresh_leaf(id);
    }

    /// Adds `id` to the nodes that KV eviction may take if it is a leaf without a lock, or removes it from them.
    pub(super) fn refresh_leaf(&mut self, id: NodeId) {
        let node = self.node_mut(id);
        let unlocked = node.kv_lock == 0 && node.state_lock == 0;
        let is_leaf = id != NodeId::ROOT && node.child_count == 0 && unlocked;
        let was_leaf = std::mem::replace(&mut node.is_leaf, is_leaf);
        let entry = (node.accessed, id);
        match (was_leaf, is_leaf) {
            (false, true) => assert!(self.leaves.insert(entry), "a leaf is filed once"),
            (true, false) => assert!(self.leaves.remove(&entry), "a filed leaf is found"),
            (true, true) | (false, false) => {}
        }
    }

    /// Gives `id`, which owns no state, the state in `slot`. It becomes the most recent state.
    pub(super) fn put_state(&mut self, id: NodeId, slot: SlotId) {
        let node = self.node_mut(id);
        assert!(id != NodeId::ROOT && node.state.is_none(), "a state goes to a node without one");
        node.state = Some(slot);
        // With `TombstoneLock::Count` a node without a state may be locked, and its new state is protected at once.
        if node.state_lock > 0 {
            self.state_protected += 1;
        } else {
            self.state_evictable += 1;
        }
        self.link_newest(id);
    }

    /// Removes the unlocked state of `id`.
    pub(super) fn take_state(&mut self, id: NodeId) -> SlotId {
        self.unlink(id);
        let node = self.node_mut(id);
        assert!(node.state_lock == 0, "a locked state stays");
        let slot = node.state.take().expect("the node owns a state");
        self.state_evictable -= 1;
        slot
    }

    /// Makes the state of `id` the most recent one.
    pub(super) fn renew_state(&mut self, id: NodeId) {
        assert!(self.node(id).state.is_some(), "the node owns a state");
        self.unlink(id);
        self.link_newest(id);
    }

    /// The least recent unlocked state that is more recent than that of `id`. `NodeId::ROOT` begins the order, `None`
    /// ends it.
    pub(super) fn next_unlocked_state(&self, id: NodeId) -> Option<NodeId> {
        let mut at = self.node(id).newer;
        while at != NodeId::ROOT {
            let node = self.node(at);
            if node.state_lock == 0 {
                return Some(at);
            }
            at = node.newer;
        }
        None
    }

    fn link_newest(&mut self, id: NodeId) {
        let newest = self.node(NodeId::ROOT).older;
        self.node_mut(newest).newer = id;
        self.node_mut(NodeId::ROOT).older = id;
        let node = self.node_mut(id);
        node.older = newest;
        node.newer = NodeId::ROOT;
    }

    fn unlink(&mut self, id: NodeId) {
        let (newer, older) = (self.node(id).newer, self.node(id).older);
        self.node_mut(newer).older = older;
        self.node_mut(older).newer = newer;
    }
}
