//! Locks: a request holds the KV of its whole prefix, and the state of the node it matched.
//!
//! Owns the two counts and the evictable/protected books that follow from them. A lock is a
//! receipt: what it took is what its release gives back, and only its holder can release it.

use serde::Deserialize;

use super::{NodeId, Radix};

/// What a lock on a node without a state does to the state lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum TombstoneLock {
    /// Takes none; the release, not knowing, takes one off whoever holds one by then (0.5.16).
    Steal,
    /// Takes none, and the receipt says so (0.5.17, 0.5.18).
    Skip,
    /// Counts like any other: a state donated under it is protected at once (0.5.23).
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

    /// All that it is: the locked node, and whether the release leaves the state lock alone.
    pub fn parts(&self) -> (NodeId, bool) {
        let Lock { node, skip_state } = self;
        (*node, *skip_state)
    }

    /// Forgets that the node had no state when it was locked, as prefill admission does up to
    /// 0.5.18 (`_req_inc_lock_ref` clears the request's skip set): the release will steal.
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

    /// Releases the state part of `lock` early and keeps its KV part (0.5.23, lazy strategy: the
    /// matched state has been copied, and the slot pool is empty). Does nothing a second time.
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
