//! The kind of an event, and its fields as JSON values in the order of comparison.

use serde::Serialize;
use serde_json::Value;

use crate::record::{AbortStage, ForwardMode};

use super::{EmptyOffer, EventBody, PrepareDecode, PrepareExtend, SpecLists};

/// Names and values of fields, in the order of comparison.
pub type FieldList = Vec<(&'static str, Value)>;

/// Pairs of name and value of the fields of those names.
macro_rules! fields {
    ($($name:ident),+ $(,)?) => {
        vec![$((stringify!($name), json($name))),+]
    };
}

impl EventBody<'_> {
    /// Its kind: `ev` of a recording.
    pub fn kind(&self) -> &'static str {
        match self {
            EventBody::Arrive { .. } => "arrive",
            EventBody::Abort { .. } => "abort",
            EventBody::AbortOutput { .. } => "abort_output",
            EventBody::SlotAlloc { .. } => "slot_alloc",
            EventBody::SlotFree { .. } => "slot_free",
            EventBody::Match { .. } => "match",
            EventBody::PrepareExtend(_) => "prepare_extend",
            EventBody::PrepareDecode(_) => "prepare_decode",
            EventBody::Mix { .. } => "mix",
            EventBody::Launch { .. } => "launch",
            EventBody::Clear { .. } => "clear",
            EventBody::Cow { .. } => "cow",
            EventBody::Copy { .. } => "copy",
            EventBody::TrackWrite { .. } => "track_write",
            EventBody::Verify { .. } => "verify",
            EventBody::ActiveMismatch { .. } => "active_mismatch",
            EventBody::Result { .. } => "result",
            EventBody::Donate { .. } => "donate",
            EventBody::NoInsert { .. } => "no_insert",
            EventBody::Retract { .. } => "retract",
            EventBody::Assert { .. } => "assert",
            EventBody::TreeMismatch { .. } => "tree_mismatch",
            EventBody::End { .. } => "end",
        }
    }

    /// Its fields but `i` and `ev`, in the order of comparison.
    pub fn fields(&self) -> FieldList {
        match self {
            EventBody::Arrive { rid, prompt, max_new_tokens, stop_token } => {
                fields![rid, prompt, max_new_tokens, stop_token]
            }
            EventBody::Abort { rid, stage } => vec![("rid", json(rid)), ("where", stage_name(*stage).into())],
            EventBody::AbortOutput { rid } => fields![rid],
            EventBody::SlotAlloc { slots, n, free } => fields![slots, n, free],
            EventBody::SlotFree { slots, free } => fields![slots, free],
            EventBody::Match { rid, prefix_len, slot, branching, n } => fields![rid, prefix_len, slot, branching, n],
            EventBody::PrepareExtend(row) => row.fields(),
            EventBody::PrepareDecode(batch) => batch.fields(),
            EventBody::Mix { batch, decode_batch, rids, seq_lens, prefix_lens, next_idx, prefill_track_kept } => {
                fields![batch, decode_batch, rids, seq_lens, prefix_lens, next_idx, prefill_track_kept]
            }
            EventBody::Launch { batch, mode, rids } => {
                vec![("batch", json(batch)), ("mode", mode_name(*mode).into()), ("rids", json(rids))]
            }
            EventBody::Clear { slot } => fields![slot],
            EventBody::Cow { src, dst, n } => fields![src, dst, n],
            EventBody::Copy { src, dst, n } => {
                let mut all = fields![src, dst, n];
                all.push(("stream", "schedule".into()));
                all
            }
            EventBody::TrackWrite { rid, slot, n } => fields![rid, slot, n],
            EventBody::Verify { rid, seq_len, accept, track_step, slot } => {
                fields![rid, seq_len, accept, track_step, slot]
            }
            EventBody::ActiveMismatch { rid, seq_len, n } => fields![rid, seq_len, n],
            EventBody::Result { batch, mode, reqs } => {
                vec![("batch", json(batch)), ("mode", mode_name(*mode).into()), ("reqs", json(reqs))]
            }
            EventBody::Donate { rid, label, slot, n, hash, expected, ok, reason, already_in_tree, tainted } => {
                fields![rid, label, slot, n, hash, expected, ok, reason, already_in_tree, tainted]
            }
            EventBody::NoInsert { rid, reason, offer } => {
                let mut all = fields![rid, reason];
                match offer {
                    EmptyOffer::Refused { label, slot } => all.extend(fields![label, slot]),
                    EmptyOffer::Prepared(prepared) => all.extend(fields![prepared]),
                }
                all
            }
            EventBody::Retract { rid, output_len } => fields![rid, output_len],
            EventBody::Assert { assertion, kind } => fields![assertion, kind],
            EventBody::TreeMismatch { label, slot, n } => fields![label, slot, n],
            EventBody::End { free, tree, total, leak, free_reqs, stats } => {
                fields![free, tree, total, leak, free_reqs, stats]
            }
        }
    }

    /// The request, of an event about one request.
    pub fn rid(&self) -> Option<String> {
        let rid = self.fields().into_iter().find(|(name, _)| *name == "rid");
        rid.and_then(|(_, value)| value.as_str().map(str::to_string))
    }
}

impl PrepareExtend<'_> {
    fn fields(&self) -> FieldList {
        let PrepareExtend {
            batch,
            rid,
            prefix_len,
            extend_len,
            mask,
            slot,
            tracked,
            track_seqlen_arg,
            branching,
            active,
            kv_committed,
            next_idx,
            chunked,
        } = self;
        fields![
            batch,
            rid,
            prefix_len,
            extend_len,
            mask,
            slot,
            tracked,
            track_seqlen_arg,
            branching,
            active,
            kv_committed,
            next_idx,
            chunked
        ]
    }
}

impl PrepareDecode<'_> {
    fn fields(&self) -> FieldList {
        let PrepareDecode {
            batch,
            rids,
            seq_lens,
            decode_batch_idx,
            kv_committed,
            mask,
            next_mask,
            track_slots,
            next_idx,
            active,
            spec,
        } = self;
        let mut all = fields![
            batch,
            rids,
            seq_lens,
            decode_batch_idx,
            kv_committed,
            mask,
            next_mask,
            track_slots,
            next_idx,
            active
        ];
        if let Some(SpecLists { kv_allocated, plan }) = spec {
            all.extend(fields![kv_allocated, plan]);
        }
        all
    }
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("plain data always serializes")
}

/// A mode as recordings name it.
pub fn mode_name(mode: ForwardMode) -> &'static str {
    match mode {
        ForwardMode::Extend => "extend",
        ForwardMode::Decode => "decode",
        ForwardMode::Mixed => "mixed",
        ForwardMode::Verify => "verify",
    }
}

fn stage_name(stage: AbortStage) -> &'static str {
    match stage {
        AbortStage::Waiting => "waiting",
        AbortStage::Chunk => "chunk",
        AbortStage::Prefill => "prefill",
        AbortStage::Decode => "decode",
        AbortStage::Finished => "finished",
        AbortStage::Gone => "gone",
    }
}
