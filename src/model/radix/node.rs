//! Tree storage: the node arena, the range of a stream that a node stands for, its pages, its children, the split.
//!
//! Owns identity and structure only; which node is recent, locked or evictable is decided in the
//! sibling files, which this file calls to keep their books after a structural change.

use super::Radix;
use super::few::Few;
use crate::engine::Shared;
use crate::record::{PageId, Prefix, SlotId, StreamId, Streams};

/// A node by its place in the arena. Places are used again after an eviction: an id that no lock
/// covers is good only until the next insert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The root: empty key, no pages, never a state, never locked, never evicted.
    pub const ROOT: NodeId = NodeId(0);
}

/// A range of shared immutable storage. Splitting shares; the whole stays alive with any part.
#[derive(Debug)]
pub(super) struct Span<T> {
    data: Shared<[T]>,
    start: u32,
    end: u32,
}

impl<T> Clone for Span<T> {
    fn clone(&self) -> Self {
        let Span { data, start, end } = self;
        Span { data: data.clone(), start: *start, end: *end }
    }

    fn clone_from(&mut self, from: &Self) {
        let Span { data, start, end } = from;
        self.data.clone_from(data);
        (self.start, self.end) = (*start, *end);
    }
}

impl<T: Copy> Span<T> {
    pub(super) fn copied(items: &[T]) -> Self {
        let end = u32::try_from(items.len()).expect("a key is shorter than 2^32");
        let data = Shared::from(items);
        Self { data, start: 0, end }
    }

    pub(super) fn items(&self) -> &[T] {
        &self.data[self.start as usize..self.end as usize]
    }

    /// Keeps the part from `at` on and returns the part before it.
    fn take_front(&mut self, at: u32) -> Self {
        let cut = self.start + at;
        assert!(self.start < cut && cut < self.end, "both halves of a split hold something");
        let data = self.data.clone();
        let front = Self { data, start: self.start, end: cut };
        self.start = cut;
        front
    }
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: NodeId,
    /// The tokens from the root to its end.
    pub(super) prefix: Prefix,
    /// Tokens from the root to the end of its parent.
    pub(super) start: u32,
    /// The stream that the end of its first page lies on: no sibling has the same one.
    pub(super) key: StreamId,
    pub(super) pages: Span<PageId>,
    /// By their keys.
    pub(super) children: Few<(StreamId, NodeId)>,
    pub(super) state: Option<SlotId>,
    pub(super) kv_lock: u32,
    pub(super) state_lock: u32,
    /// KV recency stamp: larger is more recent.
    pub(super) accessed: u64,
    /// Whether the node is in `Radix::leaves`, under `accessed`.
    pub(super) is_leaf: bool,
    /// Neighbours in the state order; meaningful while `state` is set. The root closes the circle.
    pub(super) newer: NodeId,
    pub(super) older: NodeId,
}

clone_in_place!(Node
    {
        pages, children,
    }
    copied {
        parent, prefix, start, key, state, kv_lock, state_lock, accessed, is_leaf, newer, older,
    }
);

impl Node {
    pub(super) fn new(parent: NodeId, prefix: Prefix, start: u32, key: StreamId, pages: Span<PageId>) -> Self {
        Self {
            parent,
            prefix,
            start,
            key,
            pages,
            children: Few::new(),
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
        Self::new(NodeId::ROOT, Prefix::EMPTY, 0, StreamId::ROOT, Span::copied(&[]))
    }

    pub(super) fn token_count(&self) -> u32 {
        self.prefix.len - self.start
    }
}

impl Radix {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        self.nodes[id.0 as usize].as_ref().expect("a node id in use names a live node")
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        self.nodes[id.0 as usize].as_mut().expect("a node id in use names a live node")
    }

    /// The stream that the end of the first page behind `start` tokens lies on.
    pub(super) fn key(&self, streams: &Streams, prefix: Prefix, start: u32) -> StreamId {
        streams.prefix(prefix.stream, start + self.config.page_size).stream
    }

    /// The child of `parent` that begins with the page of `key` behind it, if `key` has a page there.
    pub(super) fn child(&self, streams: &Streams, parent: NodeId, key: Prefix) -> Option<NodeId> {
        let node = self.node(parent);
        if key.len < node.prefix.len + self.config.page_size {
            return None;
        }
        let page = self.key(streams, key, node.prefix.len);
        match node.children.as_list() {
            Some(list) => list.iter().find(|child| child.0 == page).map(|child| child.1),
            None => {
                node.children.from((page, NodeId::ROOT)).next().filter(|child| child.0 == page).map(|child| child.1)
            }
        }
    }

    /// Tokens, in whole pages, that node `id` shares with `key`, of which its parent shares all.
    pub(super) fn shared_len(&self, streams: &Streams, id: NodeId, key: Prefix) -> u32 {
        let node = self.node(id);
        let shared = streams.lineage().common_len(node.prefix, key) - node.start;
        shared - shared % self.config.page_size
    }

    /// Puts `node` into the arena and under its parent. The caller touches it once its children,
    /// if any, are in place.
    pub(super) fn attach(&mut self, node: Node) -> NodeId {
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
        let entry = (self.node(id).key, id);
        assert!(self.node_mut(parent).children.insert(entry), "siblings begin with different pages");
        id
    }

    /// Takes a childless node out of the tree and returns it; its place becomes vacant.
    pub(super) fn detach(&mut self, id: NodeId) -> Node {
        assert!(self.node(id).children.is_empty() && id != NodeId::ROOT, "only a leaf is detached");
        let (key, parent) = (self.node(id).key, self.node(id).parent);
        let entry = (key, id);
        assert!(self.node_mut(parent).children.remove(&entry), "a parent knows its child");
        self.vacant.push(id);
        let node = self.nodes[id.0 as usize].take().expect("a node id in use names a live node");
        self.refresh_leaf(parent);
        node
    }

    /// Cuts `lower` after `at` tokens (whole pages, inside the node). The new upper node takes the front of tokens and pages,
    /// the KV lock and the place under the parent; `lower` keeps its id, its state and its children. Both become recent, the
    /// lower one last.
    pub(super) fn split(&mut self, streams: &Streams, lower: NodeId, at: u32) -> NodeId {
        let page_count = at / self.config.page_size;
        let node = self.node(lower);
        let (parent, prefix, start, key, kv_lock) = (node.parent, node.prefix, node.start, node.key, node.kv_lock);
        let cut = start + at;
        assert!(start < cut && cut < prefix.len, "both halves of a split hold something");
        let lower_key = self.key(streams, prefix, cut);
        let node = self.node_mut(lower);
        let pages = node.pages.take_front(page_count);
        (node.start, node.key) = (cut, lower_key);
        assert!(self.node_mut(parent).children.remove(&(key, lower)), "a parent knows its child");

        let front = streams.prefix(prefix.stream, cut);
        let upper = self.attach(Node { kv_lock, ..Node::new(parent, front, start, key, pages) });
        self.node_mut(lower).parent = upper;
        self.node_mut(upper).children.insert((lower_key, lower));
        if self.config.split_refreshes_state && self.node(lower).state.is_some() {
            self.renew_state(lower);
        }
        self.touch(upper);
        self.touch(lower);
        upper
    }
}
