//! Tree storage: the node arena, a node's tokens and pages, the children of a node, the split.
//!
//! Owns identity and structure only; which node is recent, locked or evictable is decided in the
//! sibling files, which this file calls to keep their books after a structural change.

use super::Radix;
use super::few::Few;
use crate::engine::Shared;
use crate::record::{PageId, SlotId, State, Token};

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
    pub(super) key: Span<Token>,
    pub(super) pages: Span<PageId>,
    /// Keyed by the first page's [`page_key`]; the id makes two pages with one hash two entries.
    pub(super) children: Few<(u64, NodeId)>,
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
    /// The state of all tokens from the root through this node, once somebody asked for it ([`Radix::fold_ends`]).
    pub(super) end: Option<State>,
}

clone_in_place!(Node
    {
        key, pages, children,
    }
    copied {
        parent, state, kv_lock, state_lock, accessed, is_leaf, newer, older, end,
    }
);

impl Node {
    pub(super) fn new(parent: NodeId, key: Span<Token>, pages: Span<PageId>) -> Self {
        Self {
            parent,
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
            end: None,
        }
    }

    pub(super) fn root() -> Self {
        Self::new(NodeId::ROOT, Span::copied(&[]), Span::copied(&[]))
    }

    pub(super) fn token_count(&self) -> u32 {
        self.key.end - self.key.start
    }
}

/// What tells the children of a node apart: the token itself where a page is one token, otherwise
/// a fixed hash (FNV-1a) of the page's tokens, verified by whoever looks one up.
fn page_key(page: &[Token]) -> u64 {
    if let [token] = page {
        return u64::from(*token);
    }
    page.iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &token| (hash ^ u64::from(token)).wrapping_mul(0x0000_0100_0000_01b3))
}

impl Radix {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        self.nodes[id.0 as usize].as_ref().expect("a node id in use names a live node")
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        self.nodes[id.0 as usize].as_mut().expect("a node id in use names a live node")
    }

    /// The entry that `child` has, or would have, in the children of its parent.
    pub(super) fn child_entry(&self, child: NodeId) -> (u64, NodeId) {
        let page_size = self.config.page_size as usize;
        (page_key(&self.node(child).key.items()[..page_size]), child)
    }

    /// The child of `parent` whose key begins with the first page of `rest`, if `rest` has a page.
    pub(super) fn child(&self, parent: NodeId, rest: &[Token]) -> Option<NodeId> {
        let page = rest.get(..self.config.page_size as usize)?;
        let key = page_key(page);
        // The key of a page of one token is the token.
        let begins = |id: NodeId| page.len() == 1 || self.node(id).key.items().starts_with(page);
        let children = &self.node(parent).children;
        if let Some(list) = children.as_list() {
            return list.iter().find(|&&(hash, id)| hash == key && begins(id)).map(|&(_, id)| id);
        }
        children.from((key, NodeId(0))).take_while(|entry| entry.0 == key).map(|(_, id)| id).find(|&id| begins(id))
    }

    /// Tokens, in whole pages, that the key of `id` shares with the front of `rest`.
    pub(super) fn shared_len(&self, id: NodeId, rest: &[Token]) -> u32 {
        let shared = common_prefix(self.node(id).key.items(), rest);
        let page_size = self.config.page_size;
        u32::try_from(shared).expect("bounded by a key") / page_size * page_size
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
        let entry = self.child_entry(id);
        self.node_mut(parent).children.insert(entry);
        self.unfolded = true;
        id
    }

    /// Takes a childless node out of the tree and returns it; its place becomes vacant.
    pub(super) fn detach(&mut self, id: NodeId) -> Node {
        assert!(self.node(id).children.is_empty() && id != NodeId::ROOT, "only a leaf is detached");
        let entry = self.child_entry(id);
        let parent = self.node(id).parent;
        assert!(self.node_mut(parent).children.remove(&entry), "a parent knows its child");
        self.vacant.push(id);
        let node = self.nodes[id.0 as usize].take().expect("a node id in use names a live node");
        self.refresh_leaf(parent);
        node
    }

    /// Cuts `lower` after `at` tokens (whole pages, inside the key). The new upper node takes the
    /// front of key and pages, the KV lock and the place under the parent; `lower` keeps its id,
    /// its state and its children. Both become recent, the lower one last.
    pub(super) fn split(&mut self, lower: NodeId, at: u32) -> NodeId {
        let page_count = at / self.config.page_size;
        let entry = self.child_entry(lower);
        let node = self.node_mut(lower);
        let parent = node.parent;
        let key = node.key.take_front(at);
        let pages = node.pages.take_front(page_count);
        let kv_lock = node.kv_lock;
        assert!(self.node_mut(parent).children.remove(&entry), "a parent knows its child");

        let upper = self.attach(Node { kv_lock, ..Node::new(parent, key, pages) });
        self.node_mut(lower).parent = upper;
        let entry = self.child_entry(lower);
        self.node_mut(upper).children.insert(entry);
        if self.config.split_refreshes_state && self.node(lower).state.is_some() {
            self.renew_state(lower);
        }
        self.touch(upper);
        self.touch(lower);
        upper
    }
}

/// Compares by blocks, so that long equal runs cost a memory compare and not a loop over tokens.
fn common_prefix(left: &[Token], right: &[Token]) -> usize {
    const BLOCK: usize = 256;
    let limit = left.len().min(right.len());
    let (left, right) = (&left[..limit], &right[..limit]);
    let equal_blocks = left.chunks(BLOCK).zip(right.chunks(BLOCK)).take_while(|(l, r)| l == r).count();
    let start = (equal_blocks * BLOCK).min(limit);
    let tail = left[start..].iter().zip(&right[start..]);
    start + tail.take_while(|(l, r)| l == r).count()
}
