//! The tree written out in canonical words.
//!
//! Where nothing is ever evicted, only what a live request, or one to come, can match is written: the order of use and the
//! locks decide nothing then.

use smallvec::{SmallVec, smallvec};

use crate::record::{Canon, Names, ReqId, State, Token};

use super::{NodeId, Radix};

/// Nodes with the state at their end, and the live request that it is a prefix of.
type Nodes = SmallVec<[(NodeId, State, Option<ReqId>); 16]>;

/// In place of the label of a slot about which there is nothing to say.
const PLAIN: u32 = 0xFFFF_0000;

impl Radix {
    /// Folds the tokens of the nodes that came since this was last called: who writes the tree again and again need not fold
    /// all of it every time.
    pub fn fold_ends(&mut self) {
        for at in 0..self.nodes.len() {
            let new = self.nodes[at].as_ref().is_some_and(|node| node.end.is_none());
            if new {
                let end = self.end(NodeId(at as u32));
                self.node_mut(NodeId(at as u32)).end = Some(end);
            }
        }
    }

    /// The state of all tokens from the root through a node.
    fn end(&self, node: NodeId) -> State {
        let mut unfolded = SmallVec::<[&[Token]; 8]>::new();
        let mut known = State::ZERO;
        for id in self.ancestry(node) {
            if let Some(end) = self.node(id).end {
                known = end;
                break;
            }
            unfolded.push(self.node(id).key.items());
        }
        unfolded.iter().rev().fold(known, |state, tokens| state.fold_all(tokens))
    }

    /// Writes the tree. Returns the rank of every node, by its place in the arena; the root has the highest number.
    pub fn canon(&self, ample: bool, names: &impl Names, out: &mut Canon) -> SmallVec<[u32; 16]> {
        let mut nodes = Nodes::new();
        let mut open = SmallVec::<[_; 8]>::new();
        open.push((NodeId::ROOT, State::ZERO));
        while let Some((at, state)) = open.pop() {
            for (_, child) in self.node(at).children.iter() {
                let node = self.node(child);
                let end = node.end.unwrap_or_else(|| state.fold_all(node.key.items()));
                let owner = names.owner(end, out);
                // Longer keys under one that nobody has are nobody's either.
                if !ample || out.shares() || owner.is_some() {
                    nodes.push((child, end, owner));
                    open.push((child, end));
                }
            }
        }
        if ample {
            nodes.sort_unstable_by_key(|&(id, end, owner)| {
                let owner = owner.map(|owner| out.rank(owner));
                (owner, end.n, if owner.is_some() { 0 } else { end.h }, id)
            });
        } else {
            nodes.sort_unstable_by_key(|&(id, ..)| self.node(id).accessed);
        }
        let mut ranks = smallvec![u32::MAX; self.nodes.len()];
        for (rank, (id, ..)) in nodes.iter().enumerate() {
            ranks[id.0 as usize] = rank as u32;
        }
        out.word(nodes.len() as u32);
        for &(id, end, owner) in &nodes {
            let node = self.node(id);
            out.named(end, owner);
            out.word(ranks[node.parent.0 as usize]);
            out.word(node.token_count());
            match node.state.map(|slot| (slot, names.plain(slot, end))) {
                Some((_, Some((donor, wrote)))) => {
                    out.word(PLAIN | u32::from(wrote));
                    out.req_if_live(Some(donor));
                }
                Some((slot, None)) => out.slot(Some(slot)),
                None => out.slot(None),
            }
            if !ample {
                out.word(node.kv_lock);
                out.word(node.state_lock);
            }
        }
        if !ample {
            let mut at = self.node(NodeId::ROOT).newer;
            while at != NodeId::ROOT {
                out.word(ranks[at.0 as usize]);
                at = self.node(at).newer;
            }
        }
        ranks
    }
}
