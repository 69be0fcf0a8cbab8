//! Prefix cache: a radix tree over pages of tokens, with KV pages and at most one recurrent state on each node.
//!
//! Owns the tree, its two recency orders (KV, state), its two lock counts (KV: path from a node to the root; state: one
//! node), and the choice of what is evicted. It owns no pool: the caller allocates, and receives freed pages and slots
//! in [`Freed`]. The tree knows no requests, labels or rules, and has no host tier.
//!
//! Behaves as `UnifiedRadixCache` with the Full and Mamba components on the device (SGLang 0.5.16
//! `mem_cache/unified_radix_cache.py`, later releases `unified_cache/unified_tree_core.py`); what
//! differs between releases is a field of [`RadixConfig`].
//!
//! Lengths are in tokens from the root unless a name says pages or slots.

mod audit;
mod encoding;
mod evict;
mod insert;
mod lock;
mod lookup;
mod node;
mod order;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use educe::Educe;

use crate::record::{PageRange, SlotId, StreamId};

pub use audit::{NodeView, Walk};
pub use evict::Evicted;
pub use insert::Inserted;
pub use lock::{Lock, TombstoneLock};
pub use lookup::Match;
pub use node::NodeId;

use node::TreeNode;

/// The behaviour of the tree in a release. Every field is fixed for the life of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadixConfig {
    /// Tokens in a KV page, at least 1. Nodes begin and end on multiples of it.
    pub page_size: u32,
    /// Grid, in tokens, on which a branching point lies; at least 1. With `c = max(mamba_chunk, page)` it is `c` up to
    /// 0.5.17 and `lcm(c, page)` from 0.5.18 (the same number where one divides the other).
    pub state_chunk: u32,
    /// A branching point is reported only beyond the state match (0.5.17 and later). Up to 0.5.16
    /// it is reported whenever the KV match is longer, and may lie at or before the state match.
    pub branching_beyond_state: bool,
    /// Splitting a node makes the state of its lower half the most recent one (up to 0.5.18); in
    /// 0.5.23 a split leaves the state order alone.
    pub split_refreshes_state: bool,
    /// The effect of a lock on the state lock of a node without a state.
    pub tombstone_lock: TombstoneLock,
}

/// Slots and pages that the tree freed, in the order of the real calls. The caller returns them to the pools. The tree
/// never clears the lists, so a buffer can collect several operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// State slots. Each slot is a free call of its own, as in the real tree.
    pub slots: Vec<SlotId>,
    /// KV pages of evicted leaves.
    pub pages: Vec<PageRange>,
}

/// The prefix cache. A clone copies the nodes.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct Radix {
    config: RadixConfig,
    nodes: Vec<Option<TreeNode>>,
    vacant: Vec<NodeId>,
    /// The children of every node, by the stream at the end of their first page.
    children: BTreeMap<(NodeId, StreamId), NodeId>,
    /// The last KV recency stamp. Every use of a node increases it.
    clock: u64,
    /// Nodes that KV eviction may take now, by recency stamp, least recent first.
    leaves: BTreeSet<(u64, NodeId)>,
    kv_evictable: u32,
    kv_protected: u32,
    state_evictable: u32,
    state_protected: u32,
}

impl Radix {
    /// An empty tree.
    pub fn new(config: RadixConfig) -> Self {
        assert!(config.page_size >= 1, "page_size is at least 1");
        assert!(config.state_chunk >= 1, "state_chunk is at least 1");
        Self {
            config,
            nodes: vec![Some(TreeNode::root())],
            vacant: Vec::new(),
            children: BTreeMap::new(),
            clock: 0,
            leaves: BTreeSet::new(),
            kv_evictable: 0,
            kv_protected: 0,
            state_evictable: 0,
            state_protected: 0,
        }
    }

    /// The settings given to [`Radix::new`].
    pub fn config(&self) -> RadixConfig {
        self.config
    }

    /// Tokens of KV on nodes that no lock covers.
    pub fn kv_evictable(&self) -> u32 {
        self.kv_evictable
    }

    /// Tokens of KV on nodes under at least one lock.
    pub fn kv_protected(&self) -> u32 {
        self.kv_protected
    }

    /// States on nodes whose state is not locked, in slots.
    pub fn state_evictable(&self) -> u32 {
        self.state_evictable
    }

    /// States that are locked, in slots.
    pub fn state_protected(&self) -> u32 {
        self.state_protected
    }

    /// The state slot that `node` owns. `node` must be live.
    pub fn state(&self, node: NodeId) -> Option<SlotId> {
        self.node(node).state
    }

    /// Nodes without the root.
    pub fn node_count(&self) -> usize {
        self.nodes.len() - self.vacant.len() - 1
    }
}
