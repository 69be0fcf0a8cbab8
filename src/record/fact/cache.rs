//! Facts of the radix tree: matches, hits, locks, and donations of states.

use crate::record::{ReqId, SlotId};

/// The circumstances of a donation, and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DonationOutcome {
    /// Whether the request had finished; otherwise it continues to run.
    pub finished: bool,
    /// Whether the node already owned a state, so that the offered slot was freed.
    pub existed: bool,
}

/// The reason why a release, or the hand-over of a prefill, offered no state to the radix tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoDonation {
    /// No checkpoint is recorded, or it is shorter than a page.
    NoCheckpoint,
    /// A guard of the rule declined: the kept slot may have been overwritten, or may be overwritten by a step in
    /// flight.
    Declined,
    /// The request was retracted.
    Retracted,
    /// The request was aborted during its chunked prefill.
    Aborted,
    /// No slot was available for the donation, and the engine skips it.
    NoSlot,
}

/// Facts of the radix tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CacheFact {
    /// The prefix of a request was matched for admission.
    Match {
        /// The request.
        req: ReqId,
        /// Length of the longest prefix whose node owns a state.
        state_len: u32,
        /// Length of the longest prefix whose KV is cached.
        kv_len: u32,
        /// The length at which this prefill should leave a state for other requests, if any.
        branching: Option<u32>,
        /// The slot of the matched state, which a hit will copy.
        source: Option<SlotId>,
    },
    /// A cached state will be copied into the active slot of a request: a cache hit.
    Hit {
        /// The request that starts from the cached state.
        req: ReqId,
        /// The slot of the tree node.
        source: SlotId,
        /// The depth of the node: the length under which the state is cached.
        len: u32,
    },
    /// A request locked its prefix in the tree.
    Lock {
        /// The request.
        req: ReqId,
        /// The index of the tree node.
        node: u32,
    },
    /// A request released its lock.
    Unlock {
        /// The request.
        req: ReqId,
        /// The index of the tree node.
        node: u32,
    },
    /// A state was offered to the radix tree.
    Donate {
        /// The donor.
        req: ReqId,
        /// `last_track_seqlen`: the length of the state that the slot should hold by the bookkeeping of the request.
        label: u32,
        /// The length of the key under which the state is cached.
        key_len: u32,
        /// The slot.
        slot: SlotId,
        /// The circumstances and the result.
        how: DonationOutcome,
    },
    /// A release offered no state to the radix tree.
    NoDonate {
        /// The request.
        req: ReqId,
        /// The reason.
        why: NoDonation,
        /// The slot that would have been offered, if it had been chosen already.
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
