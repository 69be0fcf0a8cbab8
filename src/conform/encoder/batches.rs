//! The rows of batches, and the events of prepares, mixes and launches.

use crate::record::{BatchId, ForwardMode, ReqId, RequestFields, RowArrays, SlotId};

use super::super::event::{EventBody, PrepareDecode, PrepareExtend, SpecLists};
use super::EncoderState;
use super::rows::OpenRow;

/// A batch from its prepare to its result.
#[derive(Debug)]
pub(super) struct OpenBatch {
    pub mode: ForwardMode,
    pub reqs: Vec<ReqId>,
    pub seq_lens: Vec<u32>,
    /// How many of the rows are prefill rows; decode rows of a mixed batch follow them.
    pub prefills: usize,
    /// How many tokens each row of a verify accepted.
    pub accepted: Vec<(ReqId, u32)>,
}

/// A prepare that is under way.
#[derive(Debug)]
pub(super) struct OpenPrepare {
    pub batch: BatchId,
    pub rows: Vec<PreparedRow>,
}

/// A row that was prepared.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreparedRow {
    pub req: ReqId,
    /// The length that the forward reaches; with speculation, the length from which it begins.
    pub len: u32,
    pub kv_committed_len: u32,
    pub active: SlotId,
    pub fields: RequestFields,
    pub arrays: RowArrays,
    /// Prefill: the length from which it begins.
    pub prefix_len: u32,
    /// Prefill: the length whose state is kept.
    pub tracked: Option<u32>,
    /// Decode: the counter.
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
            fields: RequestFields::default(),
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

    /// Keeps the fields of a request, also in the row that is being prepared or processed.
    pub(super) fn fields(&mut self, req: ReqId, fields: RequestFields) {
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
            mode: if decodes { ForwardMode::Decode } else { ForwardMode::Extend },
            reqs: open.rows.iter().map(|row| row.req).collect(),
            seq_lens: open.rows.iter().map(|row| row.len).collect(),
            prefills: if decodes { 0 } else { open.rows.len() },
            accepted: Vec::new(),
        };
        self.batches.insert(open.batch, batch);
    }

    fn prepared_extend(&mut self, batch: BatchId, row: &PreparedRow) {
        let (mask, slot) = row.arrays.track.map_or((false, -1), |(mask, slot)| (mask, i64::from(slot.0)));
        self.emit(EventBody::PrepareExtend(PrepareExtend {
            batch: batch.0,
            rid: self.name(row.req),
            prefix_len: row.prefix_len,
            extend_len: row.len - row.prefix_len,
            mask,
            slot,
            tracked: row.tracked,
            track_seqlen_arg: row.arrays.track_end.map_or(-1, i64::from),
            branching: row.fields.branching,
            active: row.active.0,
            kv_committed: row.kv_committed_len,
            next_idx: row.fields.next_track_idx,
            chunked: row.fields.in_chunks,
        }));
    }

    fn prepared_decode(&mut self, open: &OpenPrepare) {
        let rows = &open.rows;
        let spec = self.setup.engine.spec.is_some().then(|| SpecLists {
            kv_allocated: rows.iter().map(|row| row.fields.kv_allocated_len).collect(),
            plan: rows.iter().map(|row| row.arrays.plan).collect(),
        });
        // A batch has an array for all of its rows or for none.
        self.emit(EventBody::PrepareDecode(PrepareDecode {
            batch: open.batch.0,
            rids: rows.iter().map(|row| self.name(row.req)).collect(),
            seq_lens: rows.iter().map(|row| row.len).collect(),
            decode_batch_idx: rows.iter().map(|row| row.decode_batch_idx).collect(),
            kv_committed: rows.iter().map(|row| row.kv_committed_len).collect(),
            mask: rows.iter().map(|row| row.arrays.track.map(|(mask, _)| mask)).collect(),
            next_mask: rows.iter().map(|row| row.arrays.mask_next).collect(),
            track_slots: rows.iter().map(|row| row.arrays.track.map(|(_, slot)| slot.0)).collect(),
            next_idx: rows.iter().map(|row| row.fields.next_track_idx).collect(),
            active: rows.iter().map(|row| row.active.0).collect(),
            spec,
        }));
    }

    /// Decode rows join a prefill batch.
    pub(super) fn mix(&mut self, batch: BatchId, decode: BatchId) {
        let Some(joined) = self.batches.remove(&decode) else { return };
        let kept = self.setup.engine.mixed_tracking == crate::model::MixedTracking::Kept
            && self.setup.engine.track_policy().has_track_slots();
        self.emit(EventBody::Mix {
            batch: batch.0,
            decode_batch: decode.0,
            rids: joined.reqs.iter().map(|&req| self.name(req)).collect(),
            seq_lens: joined.seq_lens.clone(),
            prefix_lens: joined.seq_lens.iter().map(|len| len - 1).collect(),
            next_idx: joined.reqs.iter().map(|req| self.requests[req.index()].fields.next_track_idx).collect(),
            prefill_track_kept: kept,
        });
        if let Some(batch) = self.batches.get_mut(&batch) {
            batch.mode = ForwardMode::Mixed;
            batch.reqs.extend(joined.reqs);
            batch.seq_lens.extend(joined.seq_lens);
        }
    }

    /// A forward is launched.
    pub(super) fn launch(&mut self, id: BatchId, mode: ForwardMode) {
        let rids =
            self.batches.get(&id).map_or(Vec::new(), |batch| batch.reqs.iter().map(|&req| self.name(req)).collect());
        self.launched = Some((id, mode));
        self.emit(EventBody::Launch { batch: id.0, mode, rids });
    }
}
