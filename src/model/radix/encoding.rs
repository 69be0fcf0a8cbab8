//! The tree written out in canonical words.
//!
//! Where nothing is ever evicted, only what a live request, or one to come, can match is written: the order of use and the
//! locks decide nothing then.

use crate::record::{ContentNames, Encoding, ReqId};

use super::node::Node;
use super::{Lock, NodeId, Radix};

/// In place of a live request.
const NOBODY: u32 = u32::MAX;

/// In place of the label of a slot about which there is nothing to say.
const PLAIN: u32 = 0xFFFF_0000;

impl Radix {
    /// Writes the tree. Where something may be short, how recent nodes are matters, and who locks them, too: `lock` tells it.
    pub fn encode<'a>(
        &self,
        ample: bool,
        names: &impl ContentNames,
        lock: impl Fn(ReqId) -> Option<&'a Lock>,
        out: &mut Encoding,
    ) {
        let Radix {
            nodes: known,
            config: _,   // The same in every run of a setup.
            vacant: _,   // Names to come.
            children: _, // Each child names its parent.
            clock: _,    // Stamps are only compared with each other: their order is written.
            // Counts and lists of what is written of the nodes.
            leaves: _,
            kv_evictable: _,
            kv_protected: _,
            state_evictable: _,
            state_protected: _,
        } = self;
        // By where they stand in the order: nodes, each with the live request that its end is a prefix of.
        let mut nodes = std::mem::take(&mut out.sorted);
        let mut ranks = std::mem::take(&mut out.ranks);
        nodes.clear();
        for (at, node) in (0..).zip(known).skip(1) {
            let Some(node) = node else { continue };
            let end = node.prefix;
            let owner = names.owner(end, out);
            // What nobody has is of no use to those who come, if they cannot have it either.
            if !ample || out.shares() || owner.is_some() {
                let key = match owner {
                    _ if !ample => u128::from(node.accessed),
                    Some(owner) => u128::from(out.label(owner) + 1) << 96 | u128::from(end.len) << 64,
                    None => u128::from(end.len) << 64 | u128::from(end.stream.0),
                };
                nodes.push((key, [at, owner.map_or(NOBODY, |owner| owner.0)]));
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
            let node = self.node(NodeId(id));
            let Node {
                parent,
                state,
                kv_lock,
                state_lock,
                prefix,
                start: _,       // How many tokens it has is written.
                key: _,         // By its tokens.
                grant: _,       // A name; there is a page for each page of tokens.
                child_count: _, // Each child names its parent.
                accessed: _,    // The order of the nodes is written.
                is_leaf: _,     // Without children and locks.
                // The order of the states is written.
                newer: _,
                older: _,
            } = node;
            let end = *prefix;
            let owner = (owner != NOBODY).then_some(ReqId(owner));
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
        if !ample {
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
                    None => out.word(u32::MAX - 1),
                }
            }
        }
        (out.sorted, out.ranks) = (nodes, ranks);
    }
}

/// Sorts what is nearly always a handful, and often sorted already.
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
