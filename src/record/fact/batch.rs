//! Facts of prepare: the rows of a batch and its host masks.

use crate::record::{BatchId, ReqId, SlotId};

/// Facts of prepare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BatchFact {
    /// A prefill row was prepared.
    PrepareExtend {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The length at which this forward begins: tokens already computed.
        prefix_len: u32,
        /// Tokens that exist once this forward has run.
        seq_len: u32,
        /// `kv_committed_len` after prepare.
        kv_committed_len: u32,
        /// The active slot.
        active: SlotId,
        /// The slot that will keep a state, and the length of that state, if this extend is tracked.
        track: Option<(SlotId, u32)>,
        /// `next_track_idx` after prepare, if the strategy has track slots.
        next_track_idx: Option<u8>,
    },
    /// A decode row was prepared.
    PrepareDecode {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// `seq_lens[i]`: the length k that this step reaches; with speculation, the length at which the previous step
        /// began.
        k: u32,
        /// `decode_batch_idx` after prepare.
        decode_batch_idx: u32,
        /// `kv_committed_len` after prepare.
        kv_committed_len: u32,
        /// The active slot.
        active: SlotId,
        /// The track slot in which the forward will keep the state, if it keeps it.
        track: Option<SlotId>,
        /// `next_track_idx` after prepare, if the strategy has track slots.
        next_track_idx: Option<u8>,
    },
    /// The host masks of a decode batch were built.
    HostMasks {
        /// The batch.
        batch: BatchId,
        /// Size of the arrays, in bytes.
        bytes: u64,
    },
    /// A filter or a merge dropped the host masks of a live batch.
    MasksDropped {
        /// The batch for which they were built.
        batch: BatchId,
    },
    /// Decode rows joined a prefill batch. Their own decode batch was prepared just before.
    Mix {
        /// The prefill batch.
        batch: BatchId,
        /// The decode batch.
        decode: BatchId,
        /// The number of rows that joined.
        rows: u32,
    },
    /// A boundary step requested a track slot, and none was available.
    TrackRefused {
        /// The request.
        req: ReqId,
        /// The length of the boundary step.
        k: u32,
        /// Whether its forward writes in place instead; otherwise it keeps no state.
        in_place: bool,
    },
}

impl BatchFact {
    /// Calls `visit` with every request that the fact names.
    pub(super) fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            BatchFact::PrepareExtend { req, .. }
            | BatchFact::PrepareDecode { req, .. }
            | BatchFact::TrackRefused { req, .. } => visit(req),
            BatchFact::HostMasks { .. } | BatchFact::MasksDropped { .. } | BatchFact::Mix { .. } => {}
        }
    }
}
