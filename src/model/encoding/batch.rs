//! Batches in canonical words: the running batch, the prefill batch launched last, and the batches whose results are
//! pending.

use crate::record::{Encoding, ReqId, or_none};

use super::END;
use crate::model::batch::Batch;
use crate::model::rule::RowMasks;
use crate::model::setup::{ResultQueue, Setup};
use crate::model::world::{PendingResult, World};

/// In place of a row whose request is over.
const ROW_OVER: u32 = END - 1;

impl World {
    /// Writes the running batch.
    pub(super) fn encode_running(&self, setup: &Setup, out: &mut Encoding) {
        let Batch {
            reqs,
            is_full,
            plan,
            // Written by `Batch::row_masks`.
            masks: _,
            // Written by `encode_rows`.
            seq_lens: _,
            // Empty: its prefill is over.
            prefills: _,
            // `encode_pending` writes whether a queued batch is this object.
            object: _,
            // Set anew when it is prepared for a decode step.
            id: _,
            mode: _,
            prepared: _,
            // Read only of a prefill batch.
            chunked: _,
            // Read only by a probe.
            track_rows: _,
            field_snapshots: _,
        } = &self.running;
        out.flag(*is_full);
        if reqs.is_empty() {
            return out.word(END);
        }
        self.encode_rows(&self.running, out);
        // Only with an aliased result queue does a result read the masks and the plan of the running batch.
        if setup.engine.result_queue == ResultQueue::Alias {
            for (i, &req) in reqs.iter().enumerate() {
                out.optional(plan.as_ref().map(|plan| u32::from(plan[i])));
                self.encode_masks(self.running.row_masks(i), req, out);
            }
        }
    }

    /// Writes the prefill batch that was launched last and will be merged into the running batch.
    pub(super) fn encode_last(&self, last: &Batch, decoded_last: u32, out: &mut Encoding) {
        let Batch {
            object,
            chunked,
            is_full,
            prefills,
            // Written by `encode_rows`.
            reqs: _,
            seq_lens: _,
            // A name; `encode_pending` writes that of the queued batch.
            id: _,
            // Written with the queued batch, and set anew when it is prepared for a decode step.
            mode: _,
            // Used up by the launch. The merge drops them, or the next prepare sets them anew.
            prepared: _,
            plan: _,
            masks: _,
            // Read only by a probe.
            track_rows: _,
            field_snapshots: _,
        } = last;
        out.word(2);
        out.flag(*object == decoded_last);
        self.encode_rows(last, out);
        out.word(prefills.len() as u32);
        out.put_req_if_live(*chunked);
        out.flag(*is_full);
    }

    /// Writes a batch whose result is pending.
    pub(super) fn encode_pending(&self, pending: &PendingResult, out: &mut Encoding) {
        // `copied` is written with the clock.
        let PendingResult { batch, copied: _, accepted } = pending;
        let Batch {
            id,
            object,
            mode,
            reqs,
            prepared,
            prefills,
            plan,
            // Written by `Batch::row_masks`.
            masks: _,
            // Used up by the launch.
            seq_lens: _,
            // A merge reads them of the batch launched last, which is not this copy.
            chunked: _,
            is_full: _,
            // Read only by a probe.
            track_rows: _,
            field_snapshots: _,
        } = &**batch;
        let (label, live) = (out.label_batch(*id), *object == self.running.object);
        out.put([END, label, *mode as u32, u32::from(live)]);
        let accepted = |i: usize| accepted.get(i).copied().unwrap_or(0);
        // A result passes over rows whose requests are over. The running batch or the batch launched last has these
        // rows too.
        for (i, &req) in reqs.iter().enumerate().filter(|(_, req)| !self.over(**req)) {
            let (label, is_prefill) = (out.label_req(req), i < prefills.len());
            let prepared = i.checked_sub(prefills.len()).map(|step| prepared[step].decode_batch_idx);
            let since = prepared.map(|prepared| self.reqs[req.index()].decode_batch_idx.wrapping_sub(prepared));
            let plan = plan.as_ref().map(|plan| u32::from(plan[i]));
            out.put([label, u32::from(is_prefill), accepted(i), or_none(since), or_none(plan)]);
            self.encode_masks(batch.row_masks(i), req, out);
        }
    }

    /// Writes the rows of a batch: each live request with its length.
    fn encode_rows(&self, batch: &Batch, out: &mut Encoding) {
        for (&req, &len) in batch.reqs.iter().zip(&batch.seq_lens) {
            if self.over(req) {
                // The row will be filtered out. Whether all, some or no rows are over decides if the filter drops the
                // masks.
                out.word(ROW_OVER);
            } else {
                let label = out.label_req(req);
                out.put([label, len]);
            }
        }
        out.word(END);
    }

    /// Writes what the host masks say of a row.
    fn encode_masks(&self, masks: Option<RowMasks>, req: ReqId, out: &mut Encoding) {
        let Some(row) = masks else { return out.word(END) };
        // Setup and rule decide whether there is a mask of the next step: it is the same in every batch.
        let RowMasks { mask, mask_next, decode_batch_idx, track_idx } = row;
        let bits = u32::from(mask) | u32::from(mask_next == Some(true)) << 1 | u32::from(track_idx) << 2;
        out.put([bits, self.reqs[req.index()].decode_batch_idx.wrapping_sub(decode_batch_idx)]);
    }
}
