//! What result(N) reads that is newer than what prepare(N) saw, and whether it mattered to the rule. Only on demand.

use crate::engine::Chooser;
use crate::record::{ProbeFact, ReqId, SharedField, Sink, SlotId};

use super::machine::{Machine, Pending};
use super::request::Req;
use super::rule::RowView;

/// The shared fields of one request as its batch's prepare left them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glimpse {
    outputs: u32,
    kv_committed_len: u32,
    decode_batch_idx: u32,
    track: [Option<SlotId>; 2],
    next_track_idx: u8,
    last_track_idx: u8,
    last_track_seqlen: Option<u32>,
}

impl Glimpse {
    fn of(it: &Req) -> Self {
        Glimpse {
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
    fn differs(&self, live: &Glimpse, field: SharedField) -> bool {
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

    /// The view of a row with one field as it was at prepare. The label is read by donations only, no rule sees it.
    fn replace(&self, view: &RowView, field: SharedField) -> RowView {
        let mut view = *view;
        match field {
            // At least the one that every decode step has: a length of prompt and outputs less one is computed from it.
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
    /// Has every decode result compared with what its prepare saw.
    pub fn with_skew(mut self, on: bool) -> Self {
        self.skew = on;
        self
    }

    /// The shared fields of the rows of a batch, now.
    pub(super) fn glimpse(&self, rows: &[ReqId]) -> Vec<Glimpse> {
        if !self.skew {
            return Vec::new();
        }
        rows.iter().map(|req| Glimpse::of(&self.world.reqs[req.index()])).collect()
    }

    /// Reports every field of row `i` that is newer than prepare saw it, and whether the rule would have done something
    /// else with the old value.
    pub(super) fn report_skew(&mut self, pending: &Pending, i: usize, view: &RowView) {
        let Some(seen) = pending.batch.glimpses.get(i).copied() else { return };
        let (batch, req) = (pending.batch.id, pending.batch.reqs[i]);
        let live = Glimpse::of(&self.world.reqs[req.index()]);
        let done = self.rule.on_result(view);
        for field in SharedField::ALL {
            let newer = seen.differs(&live, field);
            let changed = newer && self.rule.on_result(&seen.replace(view, field)) != done;
            self.emit(ProbeFact::Read { batch, req, field, newer, changed });
        }
    }
}
