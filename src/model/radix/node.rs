//! Tree storage: the node arena, the tokens and pages of a node, its children, the split.
//!
//! Owns identity and structure only. The sibling files decide which node is recent, locked or evictable; this file
//! calls them after a structural change.

use super::Radix;
use crate::record::{GrantId, PageRange, Prefix, SlotId, StreamId, Streams};

/// A node by its place in the arena. Places are reused after an eviction, so an id that no lock covers is valid only
/// until the next insert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The root: empty key, no pages, never a state, never locked, never evicted.
    pub const ROOT: NodeId = NodeId(0);
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TreeNode {
    pub(super) parent: NodeId,
    /// The tokens from the root to its end.
    pub(super) prefix: Prefix,
    /// Tokens from the root to the end of its parent.
    pub(super) start: u32,
    /// The stream at the end of its first page. Siblings have different streams.
    pub(super) key: StreamId,
    /// The admission in which its pages were allocated.
    pub(super) grant: GrantId,
    /// Number of its children.
    pub(super) child_count: u32,
    pub(super) state: Option<SlotId>,
    pub(super) kv_lock: u32,
    pub(super) state_lock: u32,
    /// KV recency stamp: larger is more recent.
    pub(super) accessed: u64,
    /// Whether the node is in `Radix::leaves`, under `accessed`.
    pub(super) is_leaf: bool,
    /// Neighbours in the order of the states, valid while `state` is set. The root closes the circular list.
    pub(super) newer: NodeId,
    pub(super) older: NodeId,
}

impl TreeNode {
    pub(super) fn new(parent: NodeId, prefix: Prefix, start: u32, key: StreamId, grant: GrantId) -> Self {
        Self {
            parent,
            prefix,
            start,
            key,
            grant,
            child_count: 0,
            state: None,
            kv_lock: 0,
            state_lock: 0,
            accessed: 0,
            is_leaf: false,
            newer: NodeId::ROOT,
            older: NodeId::ROOT,
        }
    }

    pub(super) fn root() -> Self {
        Self::new(NodeId::ROOT, Prefix::EMPTY, 0, StreamId::ROOT, GrantId::default())
    }

    pub(super) fn token_count(&self) -> u32 {
        self.prefix.len - self.start
    }
}

impl Radix {
    pub(super) fn node(&self, id: NodeId) -> &TreeNode {
        self.nodes[id.0 as usize].as_ref().expect("a node id in use names a live node")
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut TreeNode {
        self.nodes[id.0 as usize].as_mut().expect("a node id in use names a live node")
    }

    /// The pages of the tokens of a node.
    pub(super) fn pages(&self, id: NodeId) -> PageRange {
        let TreeNode { grant, start, prefix, .. } = *self.node(id);
        let page = self.config.page_size;
        PageRange { grant, from: start / page, to: prefix.len / page }
    }

    /// The stream at the end of the first page after `start` tokens.
    pub(super) fn key(&self, streams: &Streams, prefix: Prefix, start: u32) -> StreamId {
        streams.prefix(prefix.stream, start + self.config.page_size).stream
    }

    /// The child of `parent` that begins with the next page of `key`, if `key` has a page there.
    pub(super) fn child(&self, streams: &Streams, parent: NodeId, key: Prefix) -> Option<NodeId> {
        let node = self.node(parent);
        if key.len < node.prefix.len + self.config.page_size {
            return None;
        }
        let page = self.key(streams, key, node.prefix.len);
        self.children.get(&(parent, page)).copied()
    }

    /// The keys and ids of the children of a node, in the order of the keys.
    pub(super) fn children(&self, parent: NodeId) -> impl DoubleEndedIterator<Item = (StreamId, NodeId)> + '_ {
        let all = (parent, StreamId(0))..=(parent, StreamId(u32::MAX));
        self.children.range(all).map(|(&(_, key), &child)| (key, child))
    }

    fn link(&mut self, parent: NodeId, key: StreamId, child: NodeId) {
        let before = self.children.insert((parent, key), child);
        assert!(before.is_none(), "siblings begin with different pages");
        self.node_mut(parent).child_count += 1;
    }

    fn unlink_child(&mut self, parent: NodeId, key: StreamId, child: NodeId) {
        assert!(self.children.remove(&(parent, key)) == Some(child), "a parent knows its child");
        self.node_mut(parent).child_count -= 1;
    }

    /// Tokens, in whole pages, that node `id` shares with `key`, of which its parent shares all.
    pub(super) fn shared_len(&self, streams: &Streams, id: NodeId, key: Prefix) -> u32 {
        let node = self.node(id);
        let shared = streams.lineage().common_len(node.prefix, key) - node.start;
        shared - shared % self.config.page_size
    }

    /// Puts `node` into the arena and under its parent. The caller makes it recent once its children are linked.
    pub(super) fn attach(&mut self, node: TreeNode) -> NodeId {
        let parent = node.parent;
        let id = match self.vacant.pop() {
            Some(id) => {
                self.nodes[id.0 as usize] = Some(node);
                id
            }
            None => {
                let id = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
                self.nodes.push(Some(node));
                id
            }
        };
        self.link(parent, node.key, id);
        id
    }

    /// Removes a node without children from the tree and returns it. Its place becomes vacant.
    pub(super) fn detach(&mut self, id: NodeId) -> TreeNode {
        assert!(self.node(id).child_count == 0 && id != NodeId::ROOT, "only a leaf is detached");
        let (key, parent) = (self.node(id).key, self.node(id).parent);
        self.unlink_child(parent, key, id);
        self.vacant.push(id);
        let node = self.nodes[id.0 as usize].take().expect("a node id in use names a live node");
        self.refresh_leaf(parent);
        node
    }

    /// Splits `lower` after `at` tokens (whole pages, inside the node). The new upper node gets the first tokens, the
    /// KV lock and the place under the parent. `lower` keeps its id, its state and its children. Both become recent,
    /// `lower` last.
    pub(super) fn split(&mut self, streams: &Streams, lower: NodeId, at: u32) -> NodeId {
        let node = self.node(lower);
        let TreeNode { parent, prefix, start, key, grant, kv_lock, .. } = *node;
        let cut = start + at;
        assert!(start < cut && cut < prefix.len, "both halves of a split have tokens");
        let lower_key = self.key(streams, prefix, cut);
        let node = self.node_mut(lower);
        (node.start, node.key) = (cut, lower_key);
        self.unlink_child(parent, key, lower);
        let front = streams.prefix(prefix.stream, cut);
        let upper = self.attach(TreeNode { kv_lock, ..TreeNode::new(parent, front, start, key, grant) });
        self.node_mut(lower).parent = upper;
        self.link(upper, lower_key, lower);
        if self.config.split_refreshes_state && self.node(lower).state.is_some() {
            self.renew_state(lower);
        }
        self.touch(upper);
        self.touch(lower);
        upper
    }
}
