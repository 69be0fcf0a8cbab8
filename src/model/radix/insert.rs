//! Insert: the tree takes a computed prefix with its pages and its state.
//!
//! The tree keeps the pages and the state that it already has. The result says how much that is, and the caller frees
//! the duplicates.

use super::node::TreeNode;
use super::{NodeId, Radix};
use crate::record::{GrantId, Prefix, SlotId, Streams};

/// The result of [`Radix::insert`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the donated state is still the caller's if state_existed"]
pub struct Inserted {
    /// The node that ends the inserted prefix; the root if the prefix was empty.
    pub node: NodeId,
    /// Tokens that were in the tree before.
    pub prefix_len: u32,
    /// `node` owned a state already, or is the root. The tree did not take the donated slot, and the caller frees it.
    pub state_existed: bool,
}

impl Radix {
    /// Inserts `key` (whole pages) with the pages of `grant` and donates `state`.
    ///
    /// The tree takes the pages of the new part. Every node on the path becomes recent for KV, children after parents.
    /// The donated or existing state becomes the most recent state. Without a state the end node stays as it is, which
    /// no release does. Source: `_insert_helper` (0.5.16), `begin_insert` (later), `commit_insert_component_data`.
    pub fn insert(&mut self, streams: &Streams, key: Prefix, grant: GrantId, state: Option<SlotId>) -> Inserted {
        assert!(key.len.is_multiple_of(self.config.page_size), "a key is whole pages");
        if key.len == 0 {
            return Inserted { node: NodeId::ROOT, prefix_len: 0, state_existed: true };
        }
        let (at, prefix_len) = self.walk_down(streams, key);
        let is_new = prefix_len < key.len;
        let node = if is_new { self.add_leaf(streams, at, key, grant) } else { at };
        let state_existed = state.is_some_and(|slot| !self.donate(node, slot, is_new));
        Inserted { node, prefix_len, state_existed }
    }

    /// Follows `key` to the last node that shares tokens with it. Each node becomes recent before it is split.
    fn walk_down(&mut self, streams: &Streams, key: Prefix) -> (NodeId, u32) {
        let mut at = NodeId::ROOT;
        let mut prefix_len = 0;
        while let Some(child) = self.child(streams, at, key) {
            self.touch(child);
            let shared = self.shared_len(streams, child, key);
            let partial = shared < self.node(child).token_count();
            at = if partial { self.split(streams, child, shared) } else { child };
            prefix_len += shared;
        }
        (at, prefix_len)
    }

    fn add_leaf(&mut self, streams: &Streams, parent: NodeId, key: Prefix, grant: GrantId) -> NodeId {
        let start = self.node(parent).prefix.len;
        let page = self.key(streams, key, start);
        let leaf = self.attach(TreeNode::new(parent, key, start, page, grant));
        self.kv_evictable += self.node(leaf).token_count();
        self.touch(leaf);
        self.refresh_leaf(parent);
        leaf
    }

    /// Whether the tree took the state.
    fn donate(&mut self, node: NodeId, slot: SlotId, is_new: bool) -> bool {
        let vacant = self.node(node).state.is_none();
        if vacant {
            self.put_state(node, slot);
        } else {
            self.renew_state(node);
        }
        if !is_new {
            self.touch(node);
        }
        vacant
    }
}
