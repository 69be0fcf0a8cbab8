//! The tree written out in canonical words.
//!
//! Where nothing is ever evicted, only what a live request, or one to come, can match is written: the order of use and the
//! locks decide nothing then.

use crate::record::{Canon, Names, ReqId, Short, State, Token};

use super::{Lock, NodeId, Radix};

/// Nodes by where they stand in the order, each with the live request that its end is a prefix of.
type Nodes = Short<(u128, NodeId, Option<ReqId>), 8>;

/// In place of the label of a slot about which there is nothing to say.
const PLAIN: u32 = 0xFFFF_0000;

impl Radix {
    /// Folds the tokens of the nodes that came since this was last called: who writes the tree again and again need not fold
    /// all of it every time.
    pub fn fold_ends(&mut self) {
        if !std::mem::take(&mut self.unfolded) {
            return;
        }
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
        let mut unfolded = Short::<&[Token], 4>::new();
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

    /// Writes the tree. Where something may be short, how recent nodes are matters, and who locks them, too: `lock` tells it.
    pub fn canon<'a>(
        &self,
        ample: bool,
        names: &impl Names,
        lock: impl Fn(ReqId) -> Option<&'a Lock>,
        out: &mut Canon,
    ) {
        let mut nodes = Nodes::new();
        for (at, node) in self.nodes.iter().enumerate().skip(1) {
            let (Some(node), id) = (node, NodeId(at as u32)) else { continue };
            let end = node.end.unwrap_or_else(|| self.end(id));
            let owner = names.owner(end, out);
            // What nobody has is of no use to those who come, if they cannot have it either.
            if !ample || out.shares() || owner.is_some() {
                let key = match owner {
                    _ if !ample => u128::from(node.accessed),
                    Some(owner) => u128::from(out.rank(owner) + 1) << 96 | u128::from(end.n) << 64,
                    None => u128::from(end.n) << 64 | u128::from(end.h),
                };
                nodes.push((key, id, owner));
            }
        }
        sort(&mut nodes);
        let mut ranks = Short::<u32, 16>::new();
        ranks.resize(self.nodes.len(), u32::MAX);
        for (rank, (_, id, _)) in nodes.iter().enumerate() {
            ranks[id.0 as usize] = rank as u32;
        }
        out.word(nodes.len() as u32);
        for &(_, id, owner) in &nodes {
            let node = self.node(id);
            let end = node.end.unwrap_or_else(|| self.end(id));
            let [how, n, low, high] = out.named(end, owner);
            let plain = node.state.and_then(|slot| names.plain(slot, end));
            let [state, donor] = match plain {
                Some((donor, wrote)) => [PLAIN | u32::from(wrote), out.rank_if_live(Some(donor))],
                None => [out.label_slot(node.state); 2],
            };
            out.put([how, n, low, high, ranks[node.parent.0 as usize], node.token_count(), state, donor]);
            if !ample {
                out.put([node.kv_lock, node.state_lock]);
            }
        }
        if !ample {
            let mut at = self.node(NodeId::ROOT).newer;
            while at != NodeId::ROOT {
                out.word(ranks[at.0 as usize]);
                at = self.node(at).newer;
            }
            for at in 0..out.reqs().len() {
                match lock(out.reqs()[at]) {
                    Some(lock) => out.put([ranks[lock.node().0 as usize], u32::from(lock.skips_state())]),
                    None => out.word(u32::MAX - 1),
                }
            }
        }
    }
}

/// Sorts what is nearly always a handful, and often sorted already.
fn sort(nodes: &mut [(u128, NodeId, Option<ReqId>)]) {
    if nodes.len() > 16 {
        return nodes.sort_unstable_by_key(|&(key, id, _)| (key, id));
    }
    for end in 1..nodes.len() {
        let mut at = end;
        while at > 0 && (nodes[at - 1].0, nodes[at - 1].1) > (nodes[at].0, nodes[at].1) {
            nodes.swap(at - 1, at);
            at -= 1;
        }
    }
}
