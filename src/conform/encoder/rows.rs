//! The rows of results: each request before and after its result was processed.

use crate::record::{BatchId, ForwardMode, ReqId, RequestFields};

use super::super::event::{BoundaryMarks, DecodeRow, EndingMarks, EventBody, ExtendRow, MixedDecodeFields, ResultRow};
use super::EncoderState;
use super::requests::Ending;

/// A row of a result that is being processed.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRow {
    pub req: ReqId,
    pub outputs: u32,
    pub finished: bool,
    pub lookahead: i64,
    pub kv_committed_len: u32,
    pub before: Option<RequestFields>,
    pub after: Option<RequestFields>,
    /// The rule set label and slot, perhaps to the same values.
    pub decided: bool,
}

impl OpenRow {
    pub(super) fn new(req: ReqId, outputs: u32) -> OpenRow {
        OpenRow {
            req,
            outputs,
            finished: false,
            lookahead: 0,
            kv_committed_len: 0,
            before: None,
            after: None,
            decided: false,
        }
    }
}

/// A result that is being processed.
#[derive(Debug)]
pub(super) struct OpenResult {
    pub batch: BatchId,
    pub rows: Vec<OpenRow>,
}

impl OpenResult {
    /// The row of a request.
    pub(super) fn row(&mut self, req: ReqId) -> Option<&mut OpenRow> {
        self.rows.iter_mut().rev().find(|row| row.req == req)
    }
}

impl<'a> EncoderState<'a> {
    /// `last_track_idx`. Releases before 0.5.18 do not have it.
    fn last_idx(&self, fields: RequestFields) -> Option<u8> {
        if self.format.has_last_track_idx { fields.last_track_idx } else { None }
    }

    /// A result was processed.
    pub(super) fn result(&mut self, result: &OpenResult) {
        let batch = &self.batches[&result.batch];
        let (mode, prefills) = (batch.mode, batch.prefills);
        let (reqs, seq_lens) = (batch.reqs.clone(), batch.seq_lens.clone());
        let (mode, rows) = match mode {
            ForwardMode::Decode | ForwardMode::Verify => {
                let k_of = |req| reqs.iter().position(|&row| row == req).map_or(0, |i| seq_lens[i]);
                let rows = result.rows.iter();
                let rows = rows.map(|row| ResultRow::Decode(self.decode_row(row, k_of(row.req), result.batch)));
                (ForwardMode::Decode, rows.collect())
            }
            ForwardMode::Extend | ForwardMode::Mixed => {
                let rows = reqs.iter().enumerate();
                let rows = rows.map(|(i, &req)| ResultRow::Extend(self.extend_row(req, i >= prefills, &result.rows)));
                (mode, rows.collect())
            }
        };
        self.emit(EventBody::Result { batch: result.batch.0, mode, reqs: rows });
    }

    fn decode_row(&mut self, row: &OpenRow, k: u32, batch: BatchId) -> DecodeRow<'a> {
        let before = row.before.unwrap_or_default();
        let after = row.after.unwrap_or(before);
        let spec = self.setup.engine.spec.is_some();
        let moved = after.next_track_idx != before.next_track_idx;
        // Where the index does not flip at a result, the decision itself shows the firing.
        let flips = self.setup.engine.track_policy().flips_at_result;
        // From 0.5.18 on, except for verifies, the label is set outside the code in which recordings look for a firing.
        let labels = spec || self.format.label_shows_firing;
        let labelled = labels && after.last_track_seqlen != before.last_track_seqlen;
        let fired = !flips && row.decided || moved || labelled;
        let len = if spec { self.requests[row.req.index()].prompt_len + row.outputs - 1 } else { k };
        let accepted = || self.batches[&batch].accepted.iter().find(|(req, _)| *req == row.req);
        let accept = spec.then(|| accepted().map_or(0, |(_, count)| *count));
        let boundary = if spec { BoundaryMarks::default() } else { self.boundary_marks(row, len, fired, after) };
        if (0..2).contains(&row.lookahead) {
            self.stats.lookahead[row.lookahead as usize] += 1;
        }
        DecodeRow {
            rid: self.name(row.req),
            lookahead: row.lookahead,
            fired,
            track_seqlen: after.last_track_seqlen.filter(|_| fired),
            kv_committed: row.kv_committed_len,
            output_len: row.outputs,
            finished: row.finished,
            next_before: before.next_track_idx,
            last_seqlen_before: before.last_track_seqlen,
            seq_len: len,
            accept,
            next_idx: after.next_track_idx,
            last_idx: self.last_idx(after),
            last_track_seqlen: after.last_track_seqlen,
            boundary,
            ending: self.ending_marks(row.req),
        }
    }

    /// Repeated, unrecorded and missed boundaries of a row. Counts them.
    fn boundary_marks(&mut self, row: &OpenRow, len: u32, fired: bool, after: RequestFields) -> BoundaryMarks {
        let mut marks = BoundaryMarks::default();
        let grid = self.setup.engine.grid_len();
        let stats = &mut self.stats;
        if fired {
            stats.fired += 1;
            let ahead = !len.is_multiple_of(grid) && (len + 1).is_multiple_of(grid);
            let boundary = len + u32::from(ahead);
            let times = self.fired_at.entry((row.req, boundary)).or_default();
            *times += 1;
            if *times == 2 {
                stats.fired_same_boundary += 1;
                marks.second_fire = Some(boundary);
            }
        }
        if len.is_multiple_of(grid) && self.setup.engine.track_policy().has_track_slots() {
            stats.boundary += 1;
            if after.last_track_seqlen != Some(len) {
                stats.missed_record += 1;
                marks.unrecorded = Some(len);
            }
            if !self.fired_at.contains_key(&(row.req, len)) {
                stats.missed_boundary += 1;
                marks.missed = Some(len);
            }
        }
        marks
    }

    fn extend_row(&self, req: ReqId, decodes: bool, rows: &[OpenRow]) -> ExtendRow<'a> {
        let request = &self.requests[req.index()];
        let decode = decodes.then(|| {
            let live = rows.iter().find(|row| row.req == req).and_then(|row| row.after.or(row.before));
            let fields = live.unwrap_or(request.fields);
            // A released request no longer has slots to index. From 0.5.23 on, it no longer has a label either.
            let held = request.track_slots > 0;
            let labelled = held || self.format.released_keeps_label;
            MixedDecodeFields {
                decode: true,
                next_idx: fields.next_track_idx.filter(|_| held),
                last_idx: self.last_idx(fields).filter(|_| held),
                last_track_seqlen: fields.last_track_seqlen.filter(|_| labelled),
                kv_committed: fields.kv_committed_len,
            }
        });
        ExtendRow {
            rid: self.name(req),
            finished: request.ending != Ending::None,
            output_len: request.outputs,
            decode,
            ending: self.ending_marks(req),
        }
    }

    fn ending_marks(&self, req: ReqId) -> EndingMarks {
        let request = &self.requests[req.index()];
        EndingMarks { aborted: request.ending == Ending::Abort, retracted: request.retracted }
    }
}
