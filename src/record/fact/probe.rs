//! Facts that the machine emits on demand only: fields and arrays as recordings contain them, reads of shared fields,
//! and the admission latch.

use crate::record::{BatchId, ReqId, SlotId};

/// A field of the request object, which all batches of the request share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SharedField {
    /// Output tokens and finish state.
    OutputIds,
    /// `kv_committed_len`.
    KvCommittedLen,
    /// `decode_batch_idx`.
    DecodeBatchIdx,
    /// The track slots.
    TrackSlots,
    /// `next_track_idx`.
    NextTrackIdx,
    /// `last_track_idx`.
    LastTrackIdx,
    /// `last_track_seqlen`: the label.
    LastTrackSeqlen,
}

impl SharedField {
    /// All of them, in the order of reports.
    pub const ALL: [SharedField; 7] = [
        SharedField::OutputIds,
        SharedField::KvCommittedLen,
        SharedField::DecodeBatchIdx,
        SharedField::TrackSlots,
        SharedField::NextTrackIdx,
        SharedField::LastTrackIdx,
        SharedField::LastTrackSeqlen,
    ];
}

/// The donation that a release would make now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PossibleDonation {
    /// The label, in tokens.
    pub label: u32,
    /// The length of the key: at most `kv_committed_len`, in whole pages.
    pub key_len: u32,
    /// The slot.
    pub slot: SlotId,
}

/// The bookkeeping fields of a request at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestFields {
    /// `next_track_idx`, if the request has track slots.
    pub next_track_idx: Option<u8>,
    /// `last_track_idx`, if the request has track slots.
    pub last_track_idx: Option<u8>,
    /// `last_track_seqlen`: the label, in tokens.
    pub last_track_seqlen: Option<u32>,
    /// The track slot kept under the label.
    pub kept: Option<SlotId>,
    /// The donation that a release would make now, if any.
    pub offer: Option<PossibleDonation>,
    /// `kv_committed_len`, in tokens.
    pub kv_committed_len: u32,
    /// Allocated KV, in tokens: beyond the committed length only with speculative decoding.
    pub kv_allocated_len: u32,
    /// The length at which its prefill should leave a state for other requests, if any.
    pub branching: Option<u32>,
    /// Whether results of launched chunks that do not end the prompt are outstanding.
    pub in_chunks: bool,
}

/// The values for one row in the arrays of a batch after prepare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowArrays {
    /// `mamba_track_mask` and `mamba_track_indices`, if the batch has them.
    pub track: Option<(bool, SlotId)>,
    /// `mamba_track_seqlens` of a prefill row that is tracked, in tokens.
    pub track_end: Option<u32>,
    /// The host mask of the next step, if the batch has it.
    pub mask_next: Option<bool>,
    /// Speculative decoding, lazy: the planned track index.
    pub plan: Option<u8>,
}

/// Facts that the machine emits on demand only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProbeFact {
    /// The fields of a request after a prepare, before a result, or after a result.
    Fields {
        /// The request.
        req: ReqId,
        /// The values.
        fields: RequestFields,
    },
    /// The values for a row in the arrays of a batch after prepare.
    Arrays {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The values.
        arrays: RowArrays,
    },
    /// A result read a shared field.
    Read {
        /// The batch of the result.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The field.
        field: SharedField,
        /// Whether the value differs from the value at the prepare of the batch.
        newer: bool,
        /// Whether the rule would have acted differently with the value at prepare.
        changed: bool,
    },
    /// The first waiting request was not considered for admission in this turn because the running batch is marked
    /// full, although rows, slots and KV for it are available.
    Latched {
        /// The request.
        req: ReqId,
    },
}

impl ProbeFact {
    /// Calls `visit` with every request that the fact names.
    pub(super) fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            ProbeFact::Fields { req, .. }
            | ProbeFact::Arrays { req, .. }
            | ProbeFact::Read { req, .. }
            | ProbeFact::Latched { req, .. } => visit(req),
        }
    }
}
