//! Facts for a probe: the bookkeeping fields of requests and the arrays of batches, at the points at which a recording
//! of the real scheduler has them. The machine emits them only on demand.

use crate::engine::Chooser;
use crate::record::{ProbeFact, ReqId, RequestFields, RowArrays, Sink};

use super::batch::Batch;
use super::machine::Machine;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Emits [`ProbeFact::Fields`] and [`ProbeFact::Arrays`] if `on` holds.
    pub fn with_probe(mut self, on: bool) -> Self {
        self.probe = on;
        self
    }

    /// Emits the fields of a request as they are now.
    #[inline]
    pub(super) fn emit_fields(&mut self, req: ReqId) {
        if !self.probe {
            return;
        }
        let it = &self.world.reqs[req.index()];
        let fields = RequestFields {
            next_track_idx: it.has_track.then_some(it.next_track_idx),
            last_track_idx: it.has_track.then_some(it.last_track_idx),
            last_track_seqlen: it.last_track_seqlen,
            kept: if it.has_track { self.kept(req).slot } else { None },
            offer: if it.has_track { self.offer_now(req) } else { None },
            kv_committed_len: it.kv_committed_len,
            kv_allocated_len: it.kv_allocated_len,
            branching: it.branching,
            in_chunks: it.middle_chunks > 0,
        };
        self.emit(ProbeFact::Fields { req, fields });
    }

    /// Emits the fields of the request of row `i`, and the arrays of the batch for this row. `track_end` is the end of
    /// its tracking.
    #[inline]
    pub(super) fn emit_row(&mut self, batch: &Batch, i: usize, track_end: Option<u32>) {
        if !self.probe {
            return;
        }
        let req = batch.reqs[i];
        let arrays = RowArrays {
            track: batch.track_rows.get(i).copied(),
            track_end,
            mask_next: batch.row_masks(i).and_then(|masks| masks.mask_next),
            plan: batch.plan.as_ref().map(|plan| plan[i]),
        };
        self.emit_fields(req);
        self.emit(ProbeFact::Arrays { batch: batch.id, req, arrays });
    }
}
