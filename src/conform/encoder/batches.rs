//! Prepares and launches: the rows of a batch, and the events that show them.

use serde_json::Value;

use crate::model::Strategy;
use crate::record::{BatchId, Fields, Mode, ReqId, RowArrays, SlotId};

use super::rows::OpenRow;
use super::{EncoderState, option};

/// A batch from its prepare to its result.
#[derive(Debug)]
pub(super) struct OpenBatch {
    pub mode: Mode,
    pub reqs: Vec<ReqId>,
    pub seq_lens: Vec<u32>,
    /// How many of the rows are prefills; decode rows that ride along follow them.
    pub prefills: usize,
    /// What a verify accepted.
    pub accepted: Vec<(ReqId, u32)>,
}

/// A prepare under way.
#[derive(Debug)]
pub(super) struct OpenPrepare {
    pub batch: BatchId,
    pub rows: Vec<PreparedRow>,
}

/// A row that was prepared.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreparedRow {
    pub req: ReqId,
    /// The length reached; with speculation the one begun with.
    pub len: u32,
    pub kv_committed_len: u32,
    pub active: SlotId,
    pub fields: Fields,
    pub arrays: RowArrays,
    /// Prefill: where it begins.
    pub prefix_len: u32,
    /// Prefill: the length whose state is kept.
    pub tracked: Option<u32>,
    /// Decode: its counter.
    pub decode_batch_idx: Option<u32>,
}

impl EncoderState<'_> {
    /// A row was prepared.
    pub(super) fn prepare(&mut self, batch: BatchId, req: ReqId, len: u32, kv_committed_len: u32, active: SlotId) {
        let open = self.preparing.get_or_insert_with(|| OpenPrepare { batch, rows: Vec::new() });
        open.rows.push(PreparedRow {
            req,
            len,
            kv_committed_len,
            active,
            fields: Fields::default(),
            arrays: RowArrays::default(),
            prefix_len: 0,
            tracked: None,
            decode_batch_idx: None,
        });
    }

    /// The row that is being prepared.
    pub(super) fn preparing_row(&mut self) -> Option<&mut PreparedRow> {
        self.preparing.as_mut().and_then(|open| open.rows.last_mut())
    }

    /// The row of a request in the result that is being processed.
    pub(super) fn result_row(&mut self, req: ReqId) -> Option<&mut OpenRow> {
        self.result.as_mut().and_then(|result| result.row(req))
    }

    /// The fields of a request, of a row that is being prepared or processed.
    pub(super) fn fields(&mut self, req: ReqId, fields: Fields) {
        self.request(req).fields = fields;
        if let Some(row) = self.preparing_row() {
            row.fields = fields;
        } else if let Some(row) = self.result_row(req) {
            match row.before {
                None => row.before = Some(fields),
                Some(_) => row.after = Some(fields),
            }
        }
    }

    /// A prepare is complete.
    pub(super) fn prepared(&mut self, open: OpenPrepare) {
        let decodes = open.rows.first().is_some_and(|row| row.decode_batch_idx.is_some());
        if decodes {
            self.prepared_decode(&open);
        } else {
            for row in &open.rows {
                self.prepared_extend(open.batch, row);
            }
        }
        let batch = OpenBatch {
            mode: if decodes { Mode::Decode } else { Mode::Extend },
            reqs: open.rows.iter().map(|row| row.req).collect(),
            seq_lens: open.rows.iter().map(|row| row.len).collect(),
            prefills: if decodes { 0 } else { open.rows.len() },
            accepted: Vec::new(),
        };
        self.batches.insert(open.batch, batch);
    }

    fn prepared_extend(&mut self, batch: BatchId, row: &PreparedRow) {
        let (mask, slot) = row.arrays.track.map_or((false, -1), |(mask, slot)| (mask, i64::from(slot.0)));
        self.emit(
            "prepare_extend",
            vec![
                ("batch", batch.0.into()),
                ("rid", self.name(row.req)),
                ("prefix_len", row.prefix_len.into()),
                ("extend_len", (row.len - row.prefix_len).into()),
                ("mask", mask.into()),
                ("slot", slot.into()),
                ("tracked", option(row.tracked)),
                ("track_seqlen_arg", row.arrays.track_end.map_or(-1, i64::from).into()),
                ("branching", option(row.fields.branching)),
                ("active", row.active.0.into()),
                ("kv_committed", row.kv_committed_len.into()),
                ("next_idx", option(row.fields.next_track_idx)),
                ("chunked", row.fields.in_chunks.into()),
            ],
        );
    }

    fn prepared_decode(&mut self, open: &OpenPrepare) {
        let rows = &open.rows;
        let list = |value: &dyn Fn(&PreparedRow) -> Value| Value::Array(rows.iter().map(value).collect());
        // An array is there for all rows or for none.
        let array = |value: &dyn Fn(&PreparedRow) -> Option<Value>| {
            rows.iter().map(value).collect::<Option<Vec<Value>>>().map_or(Value::Null, Value::Array)
        };
        let mut fields = vec![
            ("batch", open.batch.0.into()),
            ("rids", list(&|row| self.name(row.req))),
            ("seq_lens", list(&|row| row.len.into())),
            ("decode_batch_idx", list(&|row| option(row.decode_batch_idx))),
            ("kv_committed", list(&|row| row.kv_committed_len.into())),
            ("mask", array(&|row| row.arrays.track.map(|(mask, _)| mask.into()))),
            ("next_mask", array(&|row| row.arrays.mask_next.map(Value::from))),
            ("track_slots", array(&|row| row.arrays.track.map(|(_, slot)| slot.0.into()))),
            ("next_idx", list(&|row| option(row.fields.next_track_idx))),
            ("active", list(&|row| row.active.0.into())),
        ];
        if self.setup.engine.spec.is_some() {
            fields.push(("kv_allocated", list(&|row| row.fields.kv_allocated_len.into())));
            fields.push(("plan", array(&|row| row.arrays.plan.map(Value::from))));
        }
        self.emit("prepare_decode", fields);
    }

    /// Decode rows join a prefill batch.
    pub(super) fn mix(&mut self, batch: BatchId, decode: BatchId) {
        let Some(joined) = self.batches.remove(&decode) else { return };
        let kept = self.setup.engine.mixed_tracking == crate::model::MixedTracking::Kept
            && self.setup.engine.strategy != Strategy::NoBuffer;
        let rids: Vec<Value> = joined.reqs.iter().map(|&req| self.name(req)).collect();
        let before: Vec<u32> = joined.seq_lens.iter().map(|len| len - 1).collect();
        let next: Vec<Value> =
            joined.reqs.iter().map(|req| option(self.requests[req.index()].fields.next_track_idx)).collect();
        self.emit(
            "mix",
            vec![
                ("batch", batch.0.into()),
                ("decode_batch", decode.0.into()),
                ("rids", Value::Array(rids)),
                ("seq_lens", joined.seq_lens.clone().into()),
                ("prefix_lens", before.into()),
                ("next_idx", Value::Array(next)),
                ("prefill_track_kept", kept.into()),
            ],
        );
        if let Some(batch) = self.batches.get_mut(&batch) {
            batch.mode = Mode::Mixed;
            batch.reqs.extend(joined.reqs);
            batch.seq_lens.extend(joined.seq_lens);
        }
    }

    /// A forward is queued.
    pub(super) fn launch(&mut self, id: BatchId, mode: Mode) {
        let word = match mode {
            Mode::Extend => "extend",
            Mode::Decode => "decode",
            Mode::Mixed => "mixed",
            Mode::Verify => "verify",
        };
        let reqs = self.batches.get(&id).map_or(Vec::new(), |batch| batch.reqs.clone());
        let rids = reqs.into_iter().map(|req| self.name(req)).collect();
        self.launched = Some((id, mode));
        self.emit("launch", vec![("batch", id.0.into()), ("mode", word.into()), ("rids", Value::Array(rids))]);
    }
}
