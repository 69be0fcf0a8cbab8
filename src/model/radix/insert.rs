//! Insert: a computed prefix, its pages and its state become the tree's.
//!
//! The tree keeps what it already has: pages of the caller that duplicate cached ones are freed
//! here; a duplicate state is not, the caller is told and frees it.

use super::node::{Node, Span};
use super::{Freed, NodeId, Radix};
use crate::record::{PageId, Prefix, SlotId, Streams};

/// What [`Radix::insert`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the donated state is still the caller's if state_existed"]
pub struct Inserted {
    /// The node that ends the inserted prefix; the root if the prefix was empty.
    pub node: NodeId,
    /// Tokens that were in the tree before.
    pub prefix_len: u32,
    /// `node` owned a state already (or is the root): the donated slot was not taken, and the
    /// caller frees it.
    pub state_existed: bool,
}

impl Radix {
    /// Inserts `key` (whole pages) with `pages` (one per page, in order) and donates `state`.
    ///
    /// The tree takes the pages of the new part. Of the part that was cached already, the caller's
    /// pages from `prev_prefix_len` on go to `out`; before it, the caller holds the tree's own
    /// pages. Every walked node becomes recent for KV, children after parents; the donated (or
    /// existing) state becomes the most recent state. Without a state the end node is left as it
    /// is, which no release does. Source: `_insert_helper` (0.5.16), `begin_insert` (later),
    /// `commit_insert_component_data`.
    pub fn insert(
        &mut self,
        streams: &Streams,
        key: Prefix,
        pages: &[PageId],
        state: Option<SlotId>,
        prev_prefix_len: u32,
        out: &mut Freed,
    ) -> Inserted {
        let page_size = self.config.page_size;
        assert!(key.len as usize == pages.len() * page_size as usize, "one page for each page of tokens");
        if key.len == 0 {
            return Inserted { node: NodeId::ROOT, prefix_len: 0, state_existed: true };
        }
        let kept_pages = (prev_prefix_len / page_size) as usize;
        let (at, prefix_len) = self.walk_down(streams, key);
        let prefix_pages = (prefix_len / page_size) as usize;
        if kept_pages < prefix_pages {
            out.pages.extend_from_slice(&pages[kept_pages..prefix_pages]);
        }

        let is_new = prefix_len < key.len;
        let node = if is_new { self.add_leaf(streams, at, key, &pages[prefix_pages..]) } else { at };
        let state_existed = state.is_some_and(|slot| !self.donate(node, slot, is_new));
        Inserted { node, prefix_len, state_existed }
    }

    /// Follows `key` as far as the tree goes, touching each node before it is split.
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

    fn add_leaf(&mut self, streams: &Streams, parent: NodeId, key: Prefix, pages: &[PageId]) -> NodeId {
        let start = self.node(parent).prefix.len;
        let page = self.key(streams, key, start);
        let leaf = self.attach(Node::new(parent, key, start, page, Span::copied(pages)));
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
