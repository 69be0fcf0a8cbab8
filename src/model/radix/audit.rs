//! Read access to the whole tree: the deterministic walk, the two orders of use, and the check of every invariant.
//!
//! The check recomputes every counter from the nodes.

use super::{NodeId, Radix};
use crate::record::{PageRange, Prefix, SlotId};

/// A node of [`Radix::walk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeView {
    /// The node; `NodeId::ROOT` comes first.
    pub id: NodeId,
    /// Its parent. The root is its own parent.
    pub parent: NodeId,
    /// Tokens from the root to the end of its parent.
    pub start_len: u32,
    /// The tokens from the root to the end of this node.
    pub prefix: Prefix,
    /// The pages of its own tokens.
    pub pages: PageRange,
    /// The state slot it owns: the state after its prefix.
    pub state: Option<SlotId>,
    /// Locks on this node or below it.
    pub kv_lock: u32,
    /// Locks on the state of this node alone; at most `kv_lock`.
    pub state_lock: u32,
}

/// Parents before children, children in the order of the streams that their first pages lie on. See [`Radix::walk`].
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    tree: &'a Radix,
    stack: Vec<NodeId>,
}

impl<'a> Iterator for Walk<'a> {
    type Item = NodeView;

    fn next(&mut self) -> Option<NodeView> {
        let id = self.stack.pop()?;
        let node = self.tree.node(id);
        self.stack.extend(self.tree.children(id).rev().map(|(_, child)| child));
        Some(NodeView {
            id,
            parent: node.parent,
            start_len: node.start,
            prefix: node.prefix,
            pages: self.tree.pages(id),
            state: node.state,
            kv_lock: node.kv_lock,
            state_lock: node.state_lock,
        })
    }
}

impl Radix {
    /// Every node from the root on, in an order that depends on the contents only.
    pub fn walk(&self) -> Walk<'_> {
        Walk { tree: self, stack: vec![NodeId::ROOT] }
    }

    /// Nodes that own a state, least recent first.
    pub fn states_by_age(&self) -> impl Iterator<Item = NodeId> + '_ {
        let newer = move |&at: &NodeId| Some(self.node(at).newer);
        std::iter::successors(newer(&NodeId::ROOT), newer).take_while(|&at| at != NodeId::ROOT)
    }

    /// All nodes but the root, least recent KV first. Sorts: meant for fingerprints and tests.
    pub fn nodes_by_age(&self) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.walk().skip(1).map(|view| view.id).collect();
        nodes.sort_unstable_by_key(|&id| self.node(id).accessed);
        nodes
    }

    /// Checks every invariant of the tree.
    ///
    /// # Errors
    /// The first invariant that does not hold, in words.
    pub fn check(&self) -> Result<(), String> {
        let mut seen = vec![false; self.nodes.len()];
        let mut live_count = 0_usize;
        for view in self.walk() {
            let place = &mut seen[view.id.0 as usize];
            require(!std::mem::replace(place, true), || format!("{:?} is reached twice", view.id))?;
            live_count += 1;
            self.check_node(&view)?;
            self.check_children(&view)?;
        }
        require(live_count == self.node_count() + 1, || {
            format!("{live_count} nodes reached, {} live", self.node_count() + 1)
        })?;
        self.check_orders()?;
        self.check_counters()
    }

    fn check_node(&self, view: &NodeView) -> Result<(), String> {
        let id = view.id;
        let node = self.node(id);
        let tokens = node.token_count();
        require(tokens.is_multiple_of(self.config.page_size), || {
            format!("{id:?}: {tokens} tokens are no whole pages")
        })?;
        let is_root = id == NodeId::ROOT;
        require(is_root == (tokens == 0), || format!("{id:?}: key of the wrong length"))?;
        let bare = view.state.is_none() && view.kv_lock == 0 && view.state_lock == 0;
        require(!is_root || bare, || "the root is locked or owns a state".to_owned())?;
        require(view.state_lock <= view.kv_lock, || {
            format!("{id:?}: state lock {} over KV lock {}", view.state_lock, view.kv_lock)
        })?;
        let unlocked = view.kv_lock == 0 && view.state_lock == 0;
        let is_leaf = !is_root && unlocked && node.child_count == 0;
        let filed = self.leaves.contains(&(node.accessed, id));
        require(is_leaf == node.is_leaf && is_leaf == filed, || {
            format!("{id:?}: leaf {is_leaf}, marked {}, filed {filed}", node.is_leaf)
        })
    }

    fn check_children(&self, view: &NodeView) -> Result<(), String> {
        let id = view.id;
        let (mut below, mut count) = (0, 0);
        for (key, child) in self.children(id) {
            let node = self.node(child);
            require(node.parent == id, || format!("{child:?} does not know its parent {id:?}"))?;
            require(node.key == key, || format!("{child:?} is filed under another page"))?;
            require(node.start == view.prefix.len, || format!("{child:?} does not begin where {id:?} ends"))?;
            below += node.kv_lock;
            count += 1;
        }
        require(self.node(id).child_count == count, || format!("{id:?} has {count} children, and counts others"))?;
        require(id == NodeId::ROOT || below <= view.kv_lock, || {
            format!("{id:?}: KV lock {} under {below} on its children", view.kv_lock)
        })
    }

    fn check_orders(&self) -> Result<(), String> {
        let owners = self.walk().filter(|view| view.state.is_some()).count();
        let mut older = NodeId::ROOT;
        let mut linked = 0_usize;
        for id in self.states_by_age().take(owners + 1) {
            require(self.node(id).state.is_some(), || format!("{id:?} is listed without a state"))?;
            require(self.node(id).older == older, || format!("{id:?} does not know its older"))?;
            older = id;
            linked += 1;
        }
        require(linked == owners && self.node(NodeId::ROOT).older == older, || {
            format!("{linked} states listed, {owners} owned")
        })?;
        let leaf_count = self.walk().filter(|view| self.node(view.id).is_leaf).count();
        require(leaf_count == self.leaves.len(), || "a leaf is filed twice".to_owned())?;
        let ages = self.nodes_by_age();
        let distinct = ages.windows(2).all(|w| self.node(w[0]).accessed < self.node(w[1]).accessed);
        require(distinct, || "two nodes have one stamp".to_owned())
    }

    fn check_counters(&self) -> Result<(), String> {
        let (mut kv, mut states) = ([0_u32; 2], [0_u32; 2]);
        for view in self.walk() {
            kv[usize::from(view.kv_lock > 0)] += self.node(view.id).token_count();
            states[usize::from(view.state_lock > 0)] += u32::from(view.state.is_some());
        }
        let counted = ([self.kv_evictable, self.kv_protected], [self.state_evictable, self.state_protected]);
        require((kv, states) == counted, || format!("KV {kv:?} and states {states:?}, counted as {counted:?}"))
    }
}

fn require(holds: bool, broken: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(broken()) }
}
