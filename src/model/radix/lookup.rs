//! Lookup: the longest cached prefix, the state to start from, the branching point.
//!
//! A lookup changes the tree: it splits a node if the match ends inside it, and refreshes both orders of use. The
//! caller allocates the slot of a hit and copies the state.

use super::{NodeId, Radix};
use crate::record::{Prefix, SlotId, Streams};

/// The result of [`Radix::match_prefix`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The deepest matched node that owns a state; the root if none does.
    pub node: NodeId,
    /// Usable prefix: tokens from the root to the end of `node`.
    pub state_len: u32,
    /// Tokens whose KV is cached, with or without a state; at least `state_len`.
    pub kv_len: u32,
    /// The state slot of `node`; `None` if and only if `node` is the root.
    pub state: Option<SlotId>,
    /// The branching point: the prefix length, on the grid of `state_chunk`, at which the next prefill should leave a
    /// state. Its KV is cached, a state is not.
    pub branching: Option<u32>,
}

impl Radix {
    /// Looks up the whole pages of `key`. A key without a whole page refreshes nothing.
    ///
    /// The matched state becomes the most recent state, and the path to its node the most recent
    /// KV. KV matched beyond that node is not refreshed, except that a split refreshes both halves.
    /// Source: `_match_prefix_helper` and `_match_post_processor`.
    pub fn match_prefix(&mut self, streams: &Streams, key: Prefix) -> Match {
        let key = streams.prefix(key.stream, key.len - key.len % self.config.page_size);
        let mut at = NodeId::ROOT;
        let mut kv_len = 0;
        let (mut best, mut state_len) = (NodeId::ROOT, 0);
        while let Some(child) = self.child(streams, at, key) {
            let shared = self.shared_len(streams, child, key);
            let partial = shared < self.node(child).token_count();
            at = if partial { self.split(streams, child, shared) } else { child };
            kv_len += shared;
            if self.node(at).state.is_some() {
                (best, state_len) = (at, kv_len);
            }
            if partial {
                break;
            }
        }
        if best != NodeId::ROOT {
            self.renew_state(best);
            self.touch_path(best);
        }
        let state = self.node(best).state;
        let branching = self.branching(state_len, kv_len);
        Match { node: best, state_len, kv_len, state, branching }
    }

    /// The usable prefix that [`Radix::match_prefix`] would find, and the tokens of it that no lock covers, by which a
    /// lock would reduce the evictable KV. It refreshes and splits nothing.
    pub fn peek(&self, streams: &Streams, key: Prefix) -> (u32, u32) {
        let key = streams.prefix(key.stream, key.len - key.len % self.config.page_size);
        let mut at = NodeId::ROOT;
        let (mut len, mut unlocked) = (0, 0);
        let mut found = (0, 0);
        while let Some(child) = self.child(streams, at, key) {
            let node = self.node(child);
            // A match that ends inside a node finds no state there: the state is that of the node's end.
            if self.shared_len(streams, child, key) < node.token_count() {
                break;
            }
            len += node.token_count();
            unlocked += if node.kv_lock == 0 { node.token_count() } else { 0 };
            if node.state.is_some() {
                found = (len, unlocked);
            }
            at = child;
        }
        found
    }

    /// Source: the Mamba component's `finalize_match_result` (0.5.16) and `finalize_match_result_in_tree_core` (later).
    fn branching(&self, state_len: u32, kv_len: u32) -> Option<u32> {
        let aligned = kv_len - kv_len % self.config.state_chunk;
        let reported =
            if self.config.branching_beyond_state { aligned > state_len } else { kv_len > state_len && aligned > 0 };
        reported.then_some(aligned)
    }

    /// `id`, its parent, and so on, without the root.
    pub(super) fn ancestry(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let step = move |&at: &NodeId| Some(self.node(at).parent);
        std::iter::successors(Some(id), step).take_while(|&at| at != NodeId::ROOT)
    }
}
