//! Facts of the radix tree: matches, hits, locks, and donations of states.

use crate::record::{ReqId, SlotId};

/// When a state was offered to the radix tree, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DonationOutcome {
    /// Whether the request had finished; otherwise it goes on running.
    pub finished: bool,
    /// Whether the node already owned a state, so that the offered slot was freed again.
    pub existed: bool,
}

/// Why no state was offered to the radix tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoDonation {
    /// No checkpoint is recorded, or none of at least one page.
    NoCheckpoint,
    /// A guard declined because the kept slot may have been or may still be overwritten.
    Declined,
    /// The request was retracted.
    Retracted,
    /// The request was aborted in the middle of its prefill.
    Aborted,
    /// No slot could be had for the donation, and the engine skips it.
    NoSlot,
}

/// Facts of the radix tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CacheFact {
    /// The prefix of a request was matched for admission.
    Match {
        /// Which request.
        req: ReqId,
        /// Length of the longest prefix whose node owns a state.
        state_len: u32,
        /// Length of the longest prefix whose KV is cached.
        kv_len: u32,
        /// Where this prefill should leave a state behind for others, if anywhere.
        branching: Option<u32>,
        /// The slot of the state matched: what a hit will copy.
        source: Option<SlotId>,
    },
    /// A cached state will be copied into the active slot of a request: a cache hit.
    Hit {
        /// The request that starts from it.
        req: ReqId,
        /// The slot of the tree node.
        source: SlotId,
        /// The depth of the node: the length that the state is cached under.
        len: u32,
    },
    /// A request locked its prefix in the tree.
    Lock {
        /// Which request.
        req: ReqId,
        /// The tree node, by its index.
        node: u32,
    },
    /// A request gave its lock back.
    Unlock {
        /// Which request.
        req: ReqId,
        /// The tree node, by its index.
        node: u32,
    },
    /// A state was offered to the radix tree.
    Donate {
        /// The request that offers it.
        req: ReqId,
        /// `last_track_seqlen`: the length that the request believes the slot holds.
        label: u32,
        /// The length of the key it is cached under.
        key_len: u32,
        /// The slot.
        slot: SlotId,
        /// When it was offered and what became of it.
        how: DonationOutcome,
    },
    /// No state was offered to the radix tree at a release.
    NoDonate {
        /// The request.
        req: ReqId,
        /// Why.
        why: NoDonation,
        /// The slot that would have been offered, where it came to choosing one.
        slot: Option<SlotId>,
    },
}

impl CacheFact {
    /// Calls `visit` with every request that the fact names.
    pub(super) fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            CacheFact::Match { req, .. }
            | CacheFact::Hit { req, .. }
            | CacheFact::Lock { req, .. }
            | CacheFact::Unlock { req, .. }
            | CacheFact::Donate { req, .. }
            | CacheFact::NoDonate { req, .. } => visit(req),
        }
    }
}
