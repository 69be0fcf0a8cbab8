//! Rows of a decode result at which a token is appended and nothing else happens: nearly all of them.
//!
//! Owns how such a row is told from the others, and what it changes. Whatever is not quiet is left untouched, to be processed
//! as every row could be: what comes out is the same with and without this file.

use crate::engine::Chooser;
use crate::record::{BatchId, Bulk, Mode, Quiet, Sink};

use super::batch::Rows;
use super::features::Features;
use super::machine::{Machine, Pending};
use super::rule::Action;

impl<C: Chooser, S: Sink, F: Features> Machine<'_, C, S, F> {
    /// Whether rows of this result may be quiet: nobody may end a request as he likes, and nobody wants to see fields.
    pub(super) fn tells_in_bulk(&self, pending: &Pending) -> bool {
        let watched = F::SKEW && self.skew || F::WITNESS && self.witness;
        pending.batch.mode == Mode::Decode && !watched && !self.chooser.is_open("stop")
    }

    /// Processes row `i`, unless more comes of it than a token: then nothing is changed.
    #[inline]
    pub(super) fn pass_quietly(&mut self, pending: &Pending, i: usize) -> Option<Quiet> {
        let batch = &pending.batch;
        let req = batch.reqs[i];
        let it = &self.world.reqs[req.index()];
        let outputs = it.outputs + 1;
        let ends = it.finished() || it.to_abort || outputs >= it.ends_at;
        if ends || it.retracted || it.middle_chunks > 0 || !it.has_track {
            return None;
        }
        let mut view = self.view(pending, i);
        view.outputs = outputs;
        let check = match self.rule.on_result(&view) {
            Ok(action) if action == Action::none(action.check) => action.check,
            Ok(_) | Err(_) => return None,
        };
        let lookahead = i64::from(view.decode_batch_idx) - i64::from(batch.decode_batch_idx[i]);
        self.spend(self.setup.costs.result_request);
        let at = self.world.clock.cpu;
        self.spend(self.cost_of(check));
        self.world.reqs[req.index()].outputs = outputs;
        Some(Quiet { at, lookahead, req, outputs, kv_committed_len: view.kv_committed_len, check })
    }

    /// Tells of quiet rows, and forgets them.
    pub(super) fn say_quiet(&mut self, batch: BatchId, rows: &mut Rows<Quiet>) {
        if !rows.is_empty() {
            self.sink.bulk(&Bulk::Quiet { batch, rows });
            rows.clear();
        }
    }
}
