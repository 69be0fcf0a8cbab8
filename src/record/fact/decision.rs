//! Facts of the rule: its decisions at results.

use crate::record::{BatchId, ReqId, SlotId};

/// How a rule determined whether a result is a boundary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoundaryCheck {
    /// The rule was not asked: the strategy has no track slots.
    #[default]
    None,
    /// From the batch's host masks.
    Mask,
    /// By computing the remainder for this request again.
    Recompute,
    /// By computing the remainder again, because the host masks had been dropped.
    MaskLost,
}

impl BoundaryCheck {
    /// All of them, in declaration order.
    pub const ALL: [BoundaryCheck; 4] =
        [BoundaryCheck::None, BoundaryCheck::Mask, BoundaryCheck::Recompute, BoundaryCheck::MaskLost];
}

/// A label and the slot kept under it: what a donation would take now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeptState {
    /// `last_track_seqlen`, in tokens.
    pub label: Option<u32>,
    /// The physical slot that a donation would take.
    pub slot: Option<SlotId>,
}

/// A decision of the rule: it fired at a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decision {
    /// Label and kept slot before the decision.
    pub before: KeptState,
    /// Label and kept slot after the decision.
    pub after: KeptState,
}

/// Facts of the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DecisionFact {
    /// The rule ran for a decode row of a processed result.
    Row {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// Live `decode_batch_idx` minus the value at this batch's prepare.
        lookahead: i64,
        /// Live `kv_committed_len`.
        kv_committed_len: u32,
        /// How the rule determined whether the result is a boundary.
        check: BoundaryCheck,
        /// The decision; label and kept slot can be the same as before. `None` if the rule did not fire.
        decision: Option<Decision>,
    },
    /// `next_track_idx` was flipped at a result.
    Flip {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The value after the flip.
        next_track_idx: u8,
    },
}

impl DecisionFact {
    /// Calls `visit` with every request that the fact names.
    pub(super) fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            DecisionFact::Row { req, .. } | DecisionFact::Flip { req, .. } => visit(req),
        }
    }
}
