//! Who wrote each shared field of each request last, and the reads that saw it.
//!
//! Owns the table of writers. A write is a change of the value as the facts tell it, so a write of the same value is none.

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
    /// A span wrote a field of a request.
    pub fn write(&mut self, req: ReqId, field: SharedField, span: Option<usize>) {
        self.of(req)[field as usize] = span;
    }

    /// The fields of a request as they are in a span: what is another value than before was written by it.
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

    /// The label of a request was cleared by a span.
    pub fn clear_label(&mut self, req: ReqId, span: Option<usize>) {
        self.of(req);
        if self.last[req.index()].last_track_seqlen.take().is_some() {
            self.write(req, SharedField::LastTrackSeqlen, span);
        }
    }

    /// The result in span `to` read a field.
    pub fn read(&mut self, req: ReqId, field: SharedField, to: usize, newer: bool, changed: bool) {
        let from = self.of(req)[field as usize];
        let first = Arrow { field, from, to, req, rows: 0, newer: 0, changed: 0 };
        let arrow = self.open.entry((field, from)).or_insert(first);
        arrow.rows += 1;
        arrow.newer += u32::from(newer);
        arrow.changed += u32::from(changed);
    }

    /// The reads of a result that is over.
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
