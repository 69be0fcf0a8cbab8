//! The last writer of each shared field of each request, and the reads of these fields.
//!
//! A write is a change of the value in the facts. A write of the same value does not count.

use std::collections::BTreeMap;

use crate::record::{ReqId, RequestFields, SharedField};

use super::Arrow;

/// Writers by request and field, and the reads of the result that is being processed.
#[derive(Debug, Default)]
pub(super) struct Reads {
    writers: Vec<[Option<usize>; SharedField::ALL.len()]>,
    last: Vec<RequestFields>,
    open: BTreeMap<(SharedField, Option<usize>), Arrow>,
}

impl Reads {
    /// Records that a span wrote a field of a request.
    pub fn write(&mut self, req: ReqId, field: SharedField, span: Option<usize>) {
        self.of(req)[field as usize] = span;
    }

    /// Takes the fields of a request during a span. The span wrote each field whose value has changed.
    pub fn fields(&mut self, req: ReqId, fields: RequestFields, span: Option<usize>) {
        self.of(req);
        let last = std::mem::replace(&mut self.last[req.index()], fields);
        let changed = [
            (SharedField::KvCommittedLen, last.kv_committed_len != fields.kv_committed_len),
            (SharedField::NextTrackIdx, last.next_track_idx != fields.next_track_idx),
            (SharedField::LastTrackIdx, last.last_track_idx != fields.last_track_idx),
            (SharedField::LastTrackSeqlen, last.last_track_seqlen != fields.last_track_seqlen),
        ];
        for (field, _) in changed.into_iter().filter(|(_, changed)| *changed) {
            self.write(req, field, span);
        }
    }

    /// Records that a span cleared the label of a request.
    pub fn clear_label(&mut self, req: ReqId, span: Option<usize>) {
        self.of(req);
        if self.last[req.index()].last_track_seqlen.take().is_some() {
            self.write(req, SharedField::LastTrackSeqlen, span);
        }
    }

    /// Records that the result in span `to` read a field.
    pub fn read(&mut self, req: ReqId, field: SharedField, to: usize, newer: bool, changed: bool) {
        let from = self.of(req)[field as usize];
        let first = Arrow { field, from, to, req, rows: 0, newer: 0, changed: 0 };
        let arrow = self.open.entry((field, from)).or_insert(first);
        arrow.rows += 1;
        arrow.newer += u32::from(newer);
        arrow.changed += u32::from(changed);
    }

    /// Ends a result and returns its reads.
    pub fn close(&mut self) -> impl Iterator<Item = Arrow> {
        std::mem::take(&mut self.open).into_values()
    }

    fn of(&mut self, req: ReqId) -> &mut [Option<usize>; SharedField::ALL.len()] {
        if req.index() >= self.writers.len() {
            self.writers.resize(req.index() + 1, Default::default());
            self.last.resize(req.index() + 1, RequestFields::default());
        }
        &mut self.writers[req.index()]
    }
}
