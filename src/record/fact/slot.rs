//! Facts of state slots: allocation, moves between owners, frees.

use crate::record::{ReqId, SlotId};

/// The owner of a slot or page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// Reserved for the waiting queue, not yet assigned to a request.
    #[default]
    Spare,
    /// The active state of a request.
    Active(ReqId),
    /// A track slot of a request, by its index in the ping-pong pair.
    Track(ReqId, u8),
    /// The KV pages of a request.
    Request(ReqId),
    /// A node of the radix tree.
    Tree,
}

/// Facts of state slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlotFact {
    /// A slot was allocated.
    Alloc {
        /// The slot.
        slot: SlotId,
        /// The new owner.
        owner: Owner,
        /// Whether this is the last slot of this call of the allocator.
        last: bool,
    },
    /// The allocator had not enough slots.
    Refused {
        /// The request for which the slots were requested, if any.
        req: Option<ReqId>,
        /// The number of slots requested.
        count: u32,
    },
    /// A slot moved from one owner to another without being freed.
    Move {
        /// The slot.
        slot: SlotId,
        /// The previous owner.
        from: Owner,
        /// The new owner.
        to: Owner,
    },
    /// A slot was freed.
    Free {
        /// The slot.
        slot: SlotId,
        /// The previous owner.
        owner: Owner,
        /// Whether this is the last slot of this call of the allocator.
        last: bool,
    },
}

impl Owner {
    /// Calls `visit` with the request, if the owner is a request.
    pub(super) fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            Owner::Active(req) | Owner::Track(req, _) | Owner::Request(req) => visit(req),
            Owner::Spare | Owner::Tree => {}
        }
    }
}

impl SlotFact {
    /// Calls `visit` with every request that the fact names.
    pub(super) fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            SlotFact::Alloc { owner, .. } | SlotFact::Free { owner, .. } => owner.visit_reqs(visit),
            SlotFact::Move { from, to, .. } => {
                from.visit_reqs(visit);
                to.visit_reqs(visit);
            }
            SlotFact::Refused { req, .. } => req.iter_mut().for_each(visit),
        }
    }
}
