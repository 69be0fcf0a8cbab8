//! Rows of a decode result at which a token is appended and nothing else happens: nearly all of them.
//!
//! Owns how such a row is told from the others, and what it changes. Whatever is not quiet is left untouched, to be processed
//! as every row could be: what comes out is the same with and without this file.

use crate::engine::{Chooser, Time};
use crate::record::{Bulk, Check, Mode, Quiet, ReqId, Sink};

use super::clock::draw;
use super::features::Features;
use super::machine::{Machine, Pending};
use super::rule::RowView;
use super::setup::{ResultQueue, Strategy};

/// A place for a row.
const NO_ROW: Quiet =
    Quiet { at: Time::ZERO, lookahead: 0, req: ReqId(0), outputs: 0, kv_committed_len: 0, check: Check::None };

impl<C: Chooser, S: Sink, F: Features> Machine<'_, C, S, F> {
    /// Whether rows of this result may be quiet: nobody may end a request as he likes, nobody wants to see fields, and the
    /// batch has its own arrays.
    pub(super) fn may_be_quiet(&self, pending: &Pending) -> bool {
        let watched = F::SKEW && self.skew || F::WITNESS && self.witness;
        pending.batch.mode == Mode::Decode
            && self.setup.engine.result_queue == ResultQueue::Copy
            && !watched
            && !self.chooser.is_open("stop")
    }

    /// Processes the rows from `first` on up to one of which more comes than a token; that one is left as it is. Returns its
    /// place.
    pub(super) fn pass_quiet(&mut self, pending: &Pending, first: usize) -> usize {
        let batch = &pending.batch;
        let (setup, chooser, rule) = (self.setup, &mut *self.chooser, self.rule);
        let costs = &setup.costs;
        let masks = batch.masks.as_ref().map(super::masks::HostMasks::rows);
        let mut view = row_view(setup);
        let left = batch.reqs.len() - first;
        let quiet = self.quiet.room(left, NO_ROW);
        let mut passed = 0;
        let mut cpu = self.world.clock.cpu;
        let rows = batch.reqs[first..].iter().zip(&batch.decode_batch_idx[first..]);
        for ((i, (&req, &prepared)), row) in rows.enumerate().zip(&mut *quiet) {
            let it = &mut self.world.reqs[req.index()];
            let outputs = it.outputs + 1;
            let ends = it.finish.is_some() | it.to_abort | (outputs >= it.ends_at);
            if ends | it.retracted | (it.middle_chunks > 0) | !it.has_track {
                break;
            }
            view.masks = masks.as_ref().map(|masks| masks.row(first + i));
            it.show(&mut view);
            view.outputs = outputs;
            let check = match rule.on_result(&view) {
                Ok(action) if action.is_nothing() => action.check,
                Ok(_) | Err(_) => break,
            };
            it.outputs = outputs;
            cpu += draw(chooser, costs.result_request);
            let at = cpu;
            cpu += draw(chooser, costs.of_check(check));
            let lookahead = i64::from(it.decode_batch_idx) - i64::from(prepared);
            *row = Quiet { at, lookahead, req, outputs, kv_committed_len: it.kv_committed_len, check };
            passed += 1;
        }
        self.world.clock.cpu = cpu;
        if passed > 0 {
            self.sink.bulk(&Bulk::Quiet { batch: batch.id, rows: &quiet[..passed] });
        }
        first + passed
    }
}

/// What a rule sees of any row, but for what differs from row to row.
pub(super) fn row_view(setup: &super::setup::Setup) -> RowView {
    let engine = &setup.engine;
    RowView {
        grid: engine.grid_len(),
        lazy: engine.strategy == Strategy::ExtraBufferLazy,
        track_slots: engine.track_slots(),
        prompt_len: 0,
        outputs: 0,
        finished: false,
        kv_committed_len: 0,
        decode_batch_idx: 0,
        next_track_idx: 0,
        last_track_idx: 0,
        held: [false; 2],
        untracked_ahead: false,
        masks: None,
    }
}
