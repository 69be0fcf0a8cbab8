//! The rows of a result event: what each request looked like before and after its result was processed.

use serde_json::{Map, Value};

use crate::model::{Release, Strategy};
use crate::record::{BatchId, Fields, Mode, ReqId};

use super::requests::Ending;
use super::{EncoderState, option};

/// A decode row under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRow {
    pub req: ReqId,
    pub outputs: u32,
    pub finished: bool,
    pub lookahead: i64,
    pub kv_committed_len: u32,
    pub before: Option<Fields>,
    pub after: Option<Fields>,
    /// The rule set label and slot, perhaps to what they were.
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

/// A result under way.
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

impl EncoderState<'_> {
    /// `last_track_idx` as the release has it: the field came with 0.5.18.
    fn last_idx(&self, fields: Fields) -> Value {
        if self.setup.engine.release < Release::V0_5_18 { Value::Null } else { option(fields.last_track_idx) }
    }

    /// The event fields of the result that is complete now.
    pub(super) fn result_fields(&mut self, result: OpenResult) -> Vec<(&'static str, Value)> {
        let batch = &self.batches[&result.batch];
        let (mode, prefills) = (batch.mode, batch.prefills);
        let (reqs, seq_lens) = (batch.reqs.clone(), batch.seq_lens.clone());
        let (word, rows) = match mode {
            Mode::Decode | Mode::Verify => {
                let k_of = |req| reqs.iter().position(|&row| row == req).map_or(0, |i| seq_lens[i]);
                let lens: Vec<u32> = result.rows.iter().map(|row| k_of(row.req)).collect();
                let rows = result.rows.iter().zip(lens).map(|(row, k)| self.decode_row(row, k, result.batch)).collect();
                ("decode", rows)
            }
            Mode::Extend | Mode::Mixed => {
                let rows = reqs.iter().enumerate();
                let rows = rows.map(|(i, &req)| self.extend_row(req, i >= prefills, &result.rows)).collect();
                (if mode == Mode::Mixed { "mixed" } else { "extend" }, rows)
            }
        };
        vec![("batch", result.batch.0.into()), ("mode", word.into()), ("reqs", Value::Array(rows))]
    }

    fn decode_row(&mut self, row: &OpenRow, k: u32, batch: BatchId) -> Value {
        let before = row.before.unwrap_or_default();
        let after = row.after.unwrap_or(before);
        let spec = self.setup.engine.spec.is_some();
        let moved = after.next_track_idx != before.next_track_idx;
        let lazy = self.setup.engine.strategy == Strategy::ExtraBufferLazy;
        // From 0.5.18 on a label is set elsewhere than where the recordings look for a firing, but for verifies.
        let labels = spec || self.setup.engine.release < Release::V0_5_18;
        let labelled = labels && after.last_track_seqlen != before.last_track_seqlen;
        let fired = lazy && row.decided || moved || labelled;
        let len = if spec { self.requests[row.req.index()].prompt_len + row.outputs - 1 } else { k };
        let mut map = Map::new();
        let mut put = |name: &str, value: Value| map.insert(name.to_string(), value);
        put("rid", self.setup.name(row.req).into());
        put("lookahead", row.lookahead.into());
        put("fired", fired.into());
        put("track_seqlen", if fired { option(after.last_track_seqlen) } else { Value::Null });
        put("kv_committed", row.kv_committed_len.into());
        put("output_len", row.outputs.into());
        put("finished", row.finished.into());
        put("next_before", option(before.next_track_idx));
        put("last_seqlen_before", option(before.last_track_seqlen));
        put("seq_len", len.into());
        if spec {
            let accepted = self.batches[&batch].accepted.iter().find(|(req, _)| *req == row.req);
            put("accept", accepted.map_or(0, |(_, count)| *count).into());
        }
        put("next_idx", option(after.next_track_idx));
        put("last_idx", self.last_idx(after));
        put("last_track_seqlen", option(after.last_track_seqlen));
        if !spec {
            self.count_row(row, len, fired, after, &mut map);
        }
        if (0..2).contains(&row.lookahead) {
            self.totals.lookahead[row.lookahead as usize] += 1;
        }
        self.mark_ending(row.req, &mut map);
        Value::Object(map)
    }

    /// Marks repeated and missed boundaries, and counts.
    fn count_row(&mut self, row: &OpenRow, len: u32, fired: bool, after: Fields, map: &mut Map<String, Value>) {
        let grid = self.setup.engine.grid_len();
        let totals = &mut self.totals;
        if fired {
            totals.fired += 1;
            let ahead = !len.is_multiple_of(grid) && (len + 1).is_multiple_of(grid);
            let boundary = len + u32::from(ahead);
            let times = totals.fired_at.entry((row.req, boundary)).or_default();
            *times += 1;
            if *times == 2 {
                totals.fired_same_boundary += 1;
                map.insert("second_fire".into(), boundary.into());
            }
        }
        if len.is_multiple_of(grid) && self.setup.engine.strategy != Strategy::NoBuffer {
            totals.boundary += 1;
            if after.last_track_seqlen != Some(len) {
                totals.missed_record += 1;
                map.insert("unrecorded".into(), len.into());
            }
            if !totals.fired_at.contains_key(&(row.req, len)) {
                totals.missed_boundary += 1;
                map.insert("missed".into(), len.into());
            }
        }
    }

    fn extend_row(&self, req: ReqId, rides: bool, rows: &[OpenRow]) -> Value {
        let request = &self.requests[req.index()];
        let mut map = Map::new();
        map.insert("rid".into(), self.setup.name(req).into());
        map.insert("finished".into(), (request.ending != Ending::None).into());
        map.insert("output_len".into(), request.outputs.into());
        if rides {
            let live = rows.iter().find(|row| row.req == req).and_then(|row| row.after.or(row.before));
            let fields = live.unwrap_or(request.fields);
            // A request that was released has no slots to index any more; from 0.5.23 on its label is gone as well.
            let held = request.track_slots > 0;
            let labelled = held || self.setup.engine.release < Release::V0_5_23;
            let shown = |shown: bool, value: Value| if shown { value } else { Value::Null };
            map.insert("decode".into(), true.into());
            map.insert("next_idx".into(), shown(held, option(fields.next_track_idx)));
            map.insert("last_idx".into(), shown(held, self.last_idx(fields)));
            map.insert("last_track_seqlen".into(), shown(labelled, option(fields.last_track_seqlen)));
            map.insert("kv_committed".into(), fields.kv_committed_len.into());
        }
        self.mark_ending(req, &mut map);
        Value::Object(map)
    }

    fn mark_ending(&self, req: ReqId, map: &mut Map<String, Value>) {
        let request = &self.requests[req.index()];
        if request.ending == Ending::Abort {
            map.insert("aborted".into(), true.into());
        }
        if request.retracted {
            map.insert("retracted".into(), true.into());
        }
    }
}
