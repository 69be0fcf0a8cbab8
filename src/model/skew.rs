//! Skew: fields that result(N) reads newer than prepare(N) saw them, and whether the rule would act otherwise on the
//! older value. The machine compares them only on demand.

use crate::engine::Chooser;
use crate::record::{ProbeFact, ReqId, SharedField, Sink, SlotId};

use super::machine::Machine;
use super::request::Req;
use super::rule::RowView;
use super::world::PendingResult;

/// The shared fields of a request at a prepare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSnapshot {
    outputs: u32,
    kv_committed_len: u32,
    decode_batch_idx: u32,
    track: [Option<SlotId>; 2],
    next_track_idx: u8,
    last_track_idx: u8,
    last_track_seqlen: Option<u32>,
}

impl FieldSnapshot {
    /// The fields of a request now.
    fn of(it: &Req) -> Self {
        FieldSnapshot {
            outputs: it.outputs,
            kv_committed_len: it.kv_committed_len,
            decode_batch_idx: it.decode_batch_idx,
            track: it.track,
            next_track_idx: it.next_track_idx,
            last_track_idx: it.last_track_idx,
            last_track_seqlen: it.last_track_seqlen,
        }
    }

    /// Whether a field has another value in `live`.
    fn differs(&self, live: &FieldSnapshot, field: SharedField) -> bool {
        match field {
            SharedField::OutputIds => self.outputs != live.outputs,
            SharedField::KvCommittedLen => self.kv_committed_len != live.kv_committed_len,
            SharedField::DecodeBatchIdx => self.decode_batch_idx != live.decode_batch_idx,
            SharedField::TrackSlots => self.track != live.track,
            SharedField::NextTrackIdx => self.next_track_idx != live.next_track_idx,
            SharedField::LastTrackIdx => self.last_track_idx != live.last_track_idx,
            SharedField::LastTrackSeqlen => self.last_track_seqlen != live.last_track_seqlen,
        }
    }

    /// The view of a row with one field as it was at prepare. Only donations read the label, so no rule sees it.
    fn replace(&self, view: &RowView, field: SharedField) -> RowView {
        let mut view = *view;
        match field {
            // At least 1, since a decode step has an output and `token_len` subtracts one.
            SharedField::OutputIds => view.outputs = self.outputs.max(1),
            SharedField::KvCommittedLen => view.kv_committed_len = self.kv_committed_len,
            SharedField::DecodeBatchIdx => view.decode_batch_idx = self.decode_batch_idx,
            SharedField::TrackSlots => view.held = [self.track[0].is_some(), self.track[1].is_some()],
            SharedField::NextTrackIdx => view.next_track_idx = self.next_track_idx,
            SharedField::LastTrackIdx => view.last_track_idx = self.last_track_idx,
            SharedField::LastTrackSeqlen => {}
        }
        view
    }
}

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Compares every decode result with the fields at its prepare if `on` holds.
    pub fn with_skew(mut self, on: bool) -> Self {
        self.skew = on;
        self
    }

    /// The shared fields of the rows of a batch now; empty if they are not compared.
    pub(super) fn snapshot_fields(&self, rows: &[ReqId]) -> Vec<FieldSnapshot> {
        if !self.skew {
            return Vec::new();
        }
        rows.iter().map(|req| FieldSnapshot::of(&self.world.reqs[req.index()])).collect()
    }

    /// Emits for every field of row `i` whether it is newer than at prepare, and whether the rule acts otherwise on the
    /// old value.
    pub(super) fn report_skew(&mut self, pending: &PendingResult, i: usize, view: &RowView) {
        let Some(seen) = pending.batch.field_snapshots.get(i).copied() else { return };
        let (batch, req) = (pending.batch.id, pending.batch.reqs[i]);
        let live = FieldSnapshot::of(&self.world.reqs[req.index()]);
        let done = self.rule.on_result(view);
        for field in SharedField::ALL {
            let newer = seen.differs(&live, field);
            let changed = newer && self.rule.on_result(&seen.replace(view, field)) != done;
            self.emit(ProbeFact::Read { batch, req, field, newer, changed });
        }
    }
}
