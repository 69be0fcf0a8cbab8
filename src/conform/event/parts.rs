//! Rows, offers and counts within events.

use serde::Serialize;

/// A row of a prefill batch.
#[derive(Clone, Debug, PartialEq)]
pub struct PrepareExtend<'a> {
    pub batch: u32,
    pub rid: &'a str,
    pub prefix_len: u32,
    pub extend_len: u32,
    pub mask: bool,
    /// The track slot; -1 without one.
    pub slot: i64,
    /// The length whose state is kept.
    pub tracked: Option<u32>,
    /// The length argument of the forward; -1 without one.
    pub track_seqlen_arg: i64,
    pub branching: Option<u32>,
    pub active: u32,
    pub kv_committed: u32,
    pub next_idx: Option<u8>,
    pub chunked: bool,
}

/// A decode batch: each list has a value a row. A list that the batch does not have is null.
#[derive(Clone, Debug, PartialEq)]
pub struct PrepareDecode<'a> {
    pub batch: u32,
    pub rids: Vec<&'a str>,
    pub seq_lens: Vec<u32>,
    pub decode_batch_idx: Vec<Option<u32>>,
    pub kv_committed: Vec<u32>,
    pub mask: Option<Vec<bool>>,
    pub next_mask: Option<Vec<bool>>,
    pub track_slots: Option<Vec<u32>>,
    pub next_idx: Vec<Option<u8>>,
    pub active: Vec<u32>,
    /// Two more fields, with speculative decoding only.
    pub spec: Option<SpecLists>,
}

/// Lists of a decode batch with speculative decoding.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecLists {
    pub kv_allocated: Vec<u32>,
    pub plan: Option<Vec<u8>>,
}

/// When a state was offered, or why none was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Finished,
    Unfinished,
    Retract,
}

/// What a `no_insert` says of the offer.
#[derive(Clone, Debug, PartialEq)]
pub enum EmptyOffer<'a> {
    /// An offer without a length reached the tree, which refused it: fields `label` and `slot`.
    Refused { label: u32, slot: Option<u32> },
    /// The offer was prepared and not made, or not even prepared: field `prepared`.
    Prepared(Option<PreparedOffer<'a>>),
}

/// An offer that was prepared and not made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PreparedOffer<'a> {
    pub rid: &'a str,
    pub label: u32,
    pub slot: Option<u32>,
    pub finished: bool,
}

/// A row of a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ResultRow<'a> {
    Decode(DecodeRow<'a>),
    Extend(ExtendRow<'a>),
}

/// A row of a decode result: the request before and after the result was processed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DecodeRow<'a> {
    pub rid: &'a str,
    pub lookahead: i64,
    /// The write index flipped; with the lazy strategy, the boundary was committed.
    pub fired: bool,
    pub track_seqlen: Option<u32>,
    pub kv_committed: u32,
    pub output_len: u32,
    pub finished: bool,
    pub next_before: Option<u8>,
    pub last_seqlen_before: Option<u32>,
    pub seq_len: u32,
    /// With speculative decoding only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept: Option<u32>,
    pub next_idx: Option<u8>,
    /// Null before 0.5.18.
    pub last_idx: Option<u8>,
    pub last_track_seqlen: Option<u32>,
    #[serde(flatten)]
    pub boundary: BoundaryMarks,
    #[serde(flatten)]
    pub ending: EndingMarks,
}

/// Fields of a decode row that is not as it should be at a boundary: the length of that boundary. Each is left out if
/// it does not apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BoundaryMarks {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_fire: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<u32>,
}

/// Fields of a row whose request was aborted or retracted; left out otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EndingMarks {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub aborted: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub retracted: bool,
}

/// A row of a prefill result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExtendRow<'a> {
    pub rid: &'a str,
    pub finished: bool,
    pub output_len: u32,
    /// Of decode rows in a mixed batch only.
    #[serde(flatten)]
    pub decode: Option<MixedDecodeFields>,
    #[serde(flatten)]
    pub ending: EndingMarks,
}

/// What a prefill result adds for a decode row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MixedDecodeFields {
    /// Always true.
    pub decode: bool,
    pub next_idx: Option<u8>,
    pub last_idx: Option<u8>,
    pub last_track_seqlen: Option<u32>,
    pub kv_committed: u32,
}

/// Counts of a run: `stats` of `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Decode rows by lookahead.
    pub lookahead: [u32; 2],
    pub donate: u32,
    pub donate_bad: u32,
    pub donate_finished_bad: u32,
    /// Wrong donations of requests that had not started from a wrong state.
    pub donate_bad_root: u32,
    /// Of these, those at the end of a request; left out if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub donate_bad_root_finished: Option<u32>,
    /// Of these, those after a prefill; left out if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub donate_bad_root_unfinished: Option<u32>,
    pub active_bad: u32,
    pub tree_bad: u32,
    pub retract: u32,
    pub fired: u32,
    pub fired_same_boundary: u32,
    pub missed_boundary: u32,
    pub missed_record: u32,
    pub boundary: u32,
    pub leak: i64,
    pub asserts: u32,
    pub unfinished: u32,
    pub iters: u32,
}
