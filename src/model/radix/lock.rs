//! Locks: a request locks the KV of its whole prefix, and the state of the node that it matched.
//!
//! Owns the two lock counts and the sums of evictable and protected KV and states. A [`Lock`] is a receipt: only its
//! holder can release it, and the release gives back what the lock took.

use serde::Deserialize;

use super::{NodeId, Radix};

/// The effect of a lock on the state lock of a node without a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum TombstoneLock {
    /// The lock takes no state lock, but its release still removes one, which may be that of another request (0.5.16).
    Steal,
    /// The lock takes no state lock, and its release removes none (0.5.17, 0.5.18).
    Skip,
    /// The lock takes a state lock. A state donated under it is protected at once (0.5.23).
    Count,
}

/// A receipt of [`Radix::lock`], given back to [`Radix::unlock`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a lock is released through its receipt"]
pub struct Lock {
    node: NodeId,
    /// The release leaves the state lock alone: not taken, or given back early.
    skip_state: bool,
}

impl Lock {
    /// The locked node; the root for a request without a cached prefix.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The locked node, and whether the release leaves the state lock alone.
    pub fn parts(&self) -> (NodeId, bool) {
        let Lock { node, skip_state } = self;
        (*node, *skip_state)
    }

    /// Forgets that the node had no state when it was locked, as prefill admission does up to 0.5.18
    /// (`_req_inc_lock_ref` clears the skip set of the request). The release then acts as with
    /// [`TombstoneLock::Steal`].
    pub fn forget_skip(&mut self) {
        self.skip_state = false;
    }
}

impl Radix {
    /// Locks the KV from `node` to the root, and the state of `node`. The root locks nothing.
    pub fn lock(&mut self, node: NodeId) -> Lock {
        let mut at = node;
        while at != NodeId::ROOT {
            let entry = self.node_mut(at);
            entry.kv_lock += 1;
            let (first, tokens, parent) = (entry.kv_lock == 1, entry.token_count(), entry.parent);
            if first {
                self.kv_evictable -= tokens;
                self.kv_protected += tokens;
                self.refresh_leaf(at);
            }
            at = parent;
        }
        let tombstone = node != NodeId::ROOT && self.node(node).state.is_none();
        let counted = match self.config.tombstone_lock {
            TombstoneLock::Count => true,
            TombstoneLock::Skip | TombstoneLock::Steal => !tombstone,
        };
        if counted && node != NodeId::ROOT {
            self.acquire_state(node);
        }
        let skip_state = self.config.tombstone_lock == TombstoneLock::Skip && tombstone;
        Lock { node, skip_state }
    }

    /// Releases what `lock` holds.
    pub fn unlock(&mut self, mut lock: Lock) {
        self.release_state(&mut lock);
        let mut at = lock.node;
        while at != NodeId::ROOT {
            let entry = self.node_mut(at);
            assert!(entry.kv_lock > 0, "a KV lock is released once");
            entry.kv_lock -= 1;
            let (last, tokens, parent) = (entry.kv_lock == 0, entry.token_count(), entry.parent);
            if last {
                self.kv_evictable += tokens;
                self.kv_protected -= tokens;
                self.refresh_leaf(at);
            }
            at = parent;
        }
    }

    /// Releases the state part of `lock` early and keeps its KV part (0.5.23 with `extra_buffer_lazy`, when the matched
    /// state has been copied and the slot pool is empty). A second call has no effect.
    pub fn release_state(&mut self, lock: &mut Lock) {
        let skip = std::mem::replace(&mut lock.skip_state, true);
        if skip || lock.node == NodeId::ROOT {
            return;
        }
        let strict = self.config.tombstone_lock == TombstoneLock::Count;
        let entry = self.node_mut(lock.node);
        assert!(entry.state_lock > 0 || !strict, "a counted state lock is released once");
        if entry.state_lock == 0 {
            return;
        }
        entry.state_lock -= 1;
        if entry.state_lock == 0 {
            if entry.state.is_some() {
                self.state_evictable += 1;
                self.state_protected -= 1;
            }
            self.refresh_leaf(lock.node);
        }
    }

    fn acquire_state(&mut self, id: NodeId) {
        let entry = self.node_mut(id);
        entry.state_lock += 1;
        if entry.state_lock == 1 {
            if entry.state.is_some() {
                self.state_evictable -= 1;
                self.state_protected += 1;
            }
            self.refresh_leaf(id);
        }
    }
}
