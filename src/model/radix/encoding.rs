//! The tree in canonical words.
//!
//! Where nothing is ever evicted, the order of use and the locks decide nothing. Then only the nodes are written that a
//! live or a later request can match.

use crate::record::{ContentNames, Encoding, ReqId};

use super::node::TreeNode;
use super::{Lock, NodeId, Radix};

/// In place of a live request.
const NO_OWNER: u32 = u32::MAX;

/// In place of the label of a slot whose content is plain (`Names::plain`).
const PLAIN: u32 = 0xFFFF_0000;

/// In place of the lock of a request that has none.
const NO_LOCK: u32 = u32::MAX - 1;

impl Radix {
    /// Writes the tree. If `ample` does not hold, it also writes the order of use and the locks; `lock` gives that of a
    /// request.
    pub fn encode<'a>(
        &self,
        ample: bool,
        names: &impl ContentNames,
        lock: impl Fn(ReqId) -> Option<&'a Lock>,
        out: &mut Encoding,
    ) {
        let Radix {
            nodes: known,
            config: _,   // Fixed by the setup.
            vacant: _,   // Names of nodes to come.
            children: _, // Each child names its parent.
            clock: _,    // Stamps are only compared with each other, and their order is written.
            // Counts and lists that follow from the nodes.
            leaves: _,
            kv_evictable: _,
            kv_protected: _,
            state_evictable: _,
            state_protected: _,
        } = self;
        // A sort key, then the node and the live request that its end is a prefix of.
        let mut nodes = std::mem::take(&mut out.sorted);
        let mut ranks = std::mem::take(&mut out.ranks);
        nodes.clear();
        for (at, node) in (0..).zip(known).skip(1) {
            let Some(node) = node else { continue };
            let end = node.prefix;
            let owner = names.owner(end, out);
            // If prompts share no tokens, a later request cannot match a node that no live request owns.
            if !ample || out.shares() || owner.is_some() {
                let key = match owner {
                    _ if !ample => u128::from(node.accessed),
                    Some(owner) => u128::from(out.label(owner) + 1) << 96 | u128::from(end.len) << 64,
                    None => u128::from(end.len) << 64 | u128::from(end.stream.0),
                };
                nodes.push((key, [at, owner.map_or(NO_OWNER, |owner| owner.0)]));
            }
        }
        sort(&mut nodes);
        ranks.clear();
        ranks.resize(known.len(), u32::MAX);
        for (rank, (_, [id, _])) in (0..).zip(&nodes) {
            ranks[*id as usize] = rank;
        }
        assert!(nodes.len() < 1 << 29, "the rank of a node takes less than a word");
        out.word(nodes.len() as u32);
        for &(_, [id, owner]) in &nodes {
            let owner = (owner != NO_OWNER).then_some(ReqId(owner));
            self.encode_node(self.node(NodeId(id)), owner, &ranks, ample, names, out);
        }
        if !ample {
            self.encode_orders(&ranks, lock, out);
        }
        (out.sorted, out.ranks) = (nodes, ranks);
    }

    /// Writes a node: its parent by rank, its tokens, its state.
    fn encode_node(
        &self,
        node: &TreeNode,
        owner: Option<ReqId>,
        ranks: &[u32],
        ample: bool,
        names: &impl ContentNames,
        out: &mut Encoding,
    ) {
        let TreeNode {
            parent,
            state,
            kv_lock,
            state_lock,
            prefix,
            start: _,       // The number of its tokens is written.
            key: _,         // Follows from its tokens.
            grant: _,       // A name; there is a page for each page of tokens.
            child_count: _, // Each child names its parent.
            accessed: _,    // The order of the nodes is written.
            is_leaf: _,     // Follows from children and locks.
            // The order of the states is written.
            newer: _,
            older: _,
        } = node;
        let end = *prefix;
        let name = out.content_name(end, owner);
        let plain = state.and_then(|slot| names.intact_donation(slot, end));
        let donor = plain.and_then(|(donor, _)| out.is_live(donor).then_some(donor));
        let state_word = match plain {
            Some((_, wrote)) => PLAIN | u32::from(donor.is_some()) << 1 | u32::from(wrote),
            None => out.label_slot(*state),
        };
        // The root is 0.
        let parent = ranks[parent.0 as usize].wrapping_add(1);
        out.put([parent << 2 | name[0], name[1], name[2], node.token_count(), state_word]);
        out.put_name_rest(name, end, names);
        if donor.is_some() {
            out.word(out.label_if_live(donor));
        }
        if !ample {
            out.put([*kv_lock, *state_lock]);
        }
    }

    /// Writes the order of the states, and the lock of every live request.
    fn encode_orders<'a>(&self, ranks: &[u32], lock: impl Fn(ReqId) -> Option<&'a Lock>, out: &mut Encoding) {
        let mut at = self.node(NodeId::ROOT).newer;
        while at != NodeId::ROOT {
            out.word(ranks[at.0 as usize]);
            at = self.node(at).newer;
        }
        for at in 0..out.reqs().len() {
            match lock(out.reqs()[at]) {
                Some(lock) => {
                    let (node, skips_state) = lock.parts();
                    out.put([ranks[node.0 as usize], u32::from(skips_state)]);
                }
                None => out.word(NO_LOCK),
            }
        }
    }
}

/// Sorts the nodes: insertion sort for the usual few, which are often sorted already.
fn sort(nodes: &mut [(u128, [u32; 2])]) {
    if nodes.len() > 16 {
        return nodes.sort_unstable();
    }
    for end in 1..nodes.len() {
        let mut at = end;
        while at > 0 && (nodes[at - 1].0, nodes[at - 1].1[0]) > (nodes[at].0, nodes[at].1[0]) {
            nodes.swap(at - 1, at);
            at -= 1;
        }
    }
}
