//! Facts that the machine tells only if asked: fields and arrays as recordings note them, reads of shared fields, the admission latch.

use crate::record::{BatchId, ReqId, SlotId};

/// A field of the request object that batches share.
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
    /// All of them, in the order in which they are written up.
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

/// A state that could be donated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PossibleDonation {
    /// The label, in tokens.
    pub label: u32,
    /// The length of the key that it would be cached under: no more than is committed, in whole pages.
    pub key_len: u32,
    /// The slot.
    pub slot: SlotId,
}

/// The fields of a request that the bookkeeping lives on, as they are at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestFields {
    /// `next_track_idx`, if it has track slots.
    pub next_track_idx: Option<u8>,
    /// `last_track_idx`, if it has track slots.
    pub last_track_idx: Option<u8>,
    /// `last_track_seqlen`: the label, in tokens.
    pub last_track_seqlen: Option<u32>,
    /// The track slot that the label belongs to.
    pub kept: Option<SlotId>,
    /// What a donation would hand over, if it came now.
    pub offer: Option<PossibleDonation>,
    /// `kv_committed_len`, in tokens.
    pub kv_committed_len: u32,
    /// Tokens of KV reserved: beyond the committed length with speculative decoding only.
    pub kv_allocated_len: u32,
    /// Where its prefill should leave a state for others.
    pub branching: Option<u32>,
    /// Chunks launched whose results emit nothing are still to come.
    pub in_chunks: bool,
}

/// What the arrays of a batch say of one of its rows after prepare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowArrays {
    /// `mamba_track_mask` and `mamba_track_indices`, if the batch has them.
    pub track: Option<(bool, SlotId)>,
    /// `mamba_track_seqlens` of a prefill row that is tracked, in tokens.
    pub track_end: Option<u32>,
    /// Host mask of the step after this one, if the batch has it.
    pub mask_next: Option<bool>,
    /// Speculative decoding, lazy: the track index planned.
    pub plan: Option<u8>,
}

/// Facts that the machine tells only if asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProbeFact {
    /// The fields of a request at a moment of note: after a prepare, before and after a result; told only on demand.
    Fields {
        /// The request.
        req: ReqId,
        /// Their values.
        fields: RequestFields,
    },
    /// What the arrays of a batch say of a row after its prepare; told only on demand.
    Arrays {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// What they say.
        arrays: RowArrays,
    },
    /// A result read a shared field; told only on demand.
    Read {
        /// The batch whose result it is.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The field.
        field: SharedField,
        /// Whether the value is newer than the one that the batch's prepare saw.
        newer: bool,
        /// Whether the rule would have done something else with the older one.
        changed: bool,
    },
    /// The first waiting request is not looked at in this turn because the running batch is marked full, although admission would take
    /// it in: rows, slots and KV for it are there. Told only on demand.
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
