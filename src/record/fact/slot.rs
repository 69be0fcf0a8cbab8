//! Facts of state slots: allocation, moves between owners, frees.

use crate::record::{ReqId, SlotId};

/// Who holds a slot or a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// Taken in advance for the waiting queue, not yet given to a request.
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
    /// A slot got its owner.
    Alloc {
        /// Which slot.
        slot: SlotId,
        /// Who holds it now.
        owner: Owner,
        /// Whether this is the last slot of one call of the allocator.
        last: bool,
    },
    /// The allocator had no slots to give.
    Refused {
        /// Who asked, if it was for a request.
        req: Option<ReqId>,
        /// How many were asked for.
        count: u32,
    },
    /// A slot went from one owner to another without being freed.
    Move {
        /// Which slot.
        slot: SlotId,
        /// Who held it.
        from: Owner,
        /// Who holds it now.
        to: Owner,
    },
    /// A slot was freed.
    Free {
        /// Which slot.
        slot: SlotId,
        /// Who held it.
        owner: Owner,
        /// Whether this is the last slot of one call of the allocator.
        last: bool,
    },
}

impl Owner {
    /// Calls `visit` with the request, if one is the owner.
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
