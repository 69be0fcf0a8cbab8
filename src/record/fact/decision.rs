//! Facts of the rule: what it recorded at a result.

use crate::record::{BatchId, ReqId, SlotId};

/// How a rule found out whether a result is a boundary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoundaryCheck {
    /// It was not asked: the strategy keeps no track slots.
    #[default]
    None,
    /// From the batch's host masks.
    Mask,
    /// By computing the remainder again for this request.
    Recompute,
    /// By computing it again because the masks were gone.
    MaskLost,
}

impl BoundaryCheck {
    /// Every way, in the order of their numbers.
    pub const ALL: [BoundaryCheck; 4] =
        [BoundaryCheck::None, BoundaryCheck::Mask, BoundaryCheck::Recompute, BoundaryCheck::MaskLost];
}

/// A label and the slot kept under it: what a donation would hand over now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeptState {
    /// `last_track_seqlen`, in tokens.
    pub label: Option<u32>,
    /// The physical slot that a donation would take.
    pub slot: Option<SlotId>,
}

/// A firing of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decision {
    /// Label and kept slot before it.
    pub before: KeptState,
    /// Label and kept slot after it.
    pub after: KeptState,
}

/// Facts of the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DecisionFact {
    /// The rule was run for a decode row of a processed result.
    Row {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// Live `decode_batch_idx` minus the value at this batch's prepare.
        lookahead: i64,
        /// Live `kv_committed_len`.
        kv_committed_len: u32,
        /// How it found out.
        check: BoundaryCheck,
        /// What it recorded: the label and the kept slot (perhaps what they were before). Nothing if the rule did not fire.
        decision: Option<Decision>,
    },
    /// `next_track_idx` was flipped at a result.
    Flip {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// Its value now.
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
