//! Facts of KV pages: allocation, moves between owners, frees.

use crate::record::{Owner, PageRange, ReqId};

/// Facts of KV pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PageFact {
    /// Pages of the KV cache were allocated.
    Alloc {
        /// The pages.
        pages: PageRange,
        /// The new owner.
        owner: Owner,
    },
    /// Pages moved from one owner to another without being freed.
    Move {
        /// The pages.
        pages: PageRange,
        /// The previous owner.
        from: Owner,
        /// The new owner.
        to: Owner,
    },
    /// Pages were freed.
    Free {
        /// The pages.
        pages: PageRange,
        /// The previous owner.
        owner: Owner,
    },
}

impl PageFact {
    /// Calls `visit` with every request that the fact names.
    pub(super) fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            PageFact::Alloc { owner, .. } | PageFact::Free { owner, .. } => owner.visit_reqs(visit),
            PageFact::Move { from, to, .. } => {
                from.visit_reqs(visit);
                to.visit_reqs(visit);
            }
        }
    }
}
