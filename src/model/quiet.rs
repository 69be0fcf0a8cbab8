//! Rows of a decode result at which a token is appended and nothing else happens: nearly all of them.
//!
//! Owns how such a row is told from the others, and what it changes. Whatever is not quiet is left untouched, to be processed
//! as every row could be: what comes out is the same with and without this file.

use crate::engine::{Chooser, Time};
use crate::record::{Bulk, Check, Mode, Quiet, ReqId, Sink};

use super::clock::{draw, fixed};
use super::machine::{Machine, Pending};
use super::masks::MaskRows;
use super::request::Req;
use super::rule::{RowMasks, RowView, Rule};
use super::setup::{ResultQueue, Strategy};

/// A place for a row.
const NO_ROW: Quiet =
    Quiet { at: Time::ZERO, lookahead: 0, req: ReqId(0), outputs: 0, kv_committed_len: 0, check: Check::None };

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Whether rows of this result may be quiet: nobody may end a request as he likes, nobody wants to see fields, and the
    /// batch has its own arrays.
    pub(super) fn may_be_quiet(&self, pending: &Pending) -> bool {
        let watched = self.skew || self.witness;
        pending.batch.mode == Mode::Decode
            && self.setup.engine.result_queue == ResultQueue::Copy
            && !watched
            && !self.chooser.is_open("stop")
    }

    /// Processes the rows from `first` on up to one of which more comes than a token; that one is left as it is. Returns its
    /// place.
    pub(super) fn pass_quiet(&mut self, pending: &Pending, first: usize) -> usize {
        let batch = &pending.batch;
        let clock = self.row_costs().map(|costs| (&mut self.world.clock.cpu, costs));
        let dated = clock.is_some();
        let passed = self.rule.on_rows(AskedRows {
            all: &mut self.world.reqs,
            reqs: &batch.reqs[first..],
            prepared: &batch.decode_batch_idx[first..],
            masks: batch.masks.get().map(|masks| masks.rows_from(first)),
            view: row_view(self.setup),
            quiet: self.quiet.room(batch.reqs.len() - first, NO_ROW),
            clock,
        });
        if passed > 0 {
            if !dated {
                self.date(passed);
            }
            self.sink.bulk(&Bulk::Quiet { batch: batch.id, rows: &self.quiet[..passed] });
        }
        first + passed
    }

    /// What every row costs before its token is appended, and afterwards by its check, where nothing of it is drawn.
    fn row_costs(&self) -> Option<(u64, [u64; 4])> {
        let costs = &self.setup.costs;
        let mut check_ns = [0; 4];
        for check in Check::ALL {
            check_ns[check as usize] = fixed(costs.of_check(check))?;
        }
        Some((fixed(costs.result_request)?, check_ns))
    }

    /// Lets the CPU spend what `count` quiet rows cost, and says of each when its token was appended.
    fn date(&mut self, count: usize) {
        let costs = &self.setup.costs;
        let (rows, cpu) = (&mut self.quiet[..count], &mut self.world.clock.cpu);
        for row in rows {
            *cpu += draw(self.chooser, costs.result_request);
            row.at = *cpu;
            *cpu += draw(self.chooser, costs.of_check(row.check));
        }
    }
}

/// Rows of a decode result that a rule is asked about, one after the other, for as long as nothing comes of them.
#[derive(Debug)]
pub struct AskedRows<'a> {
    /// All requests.
    all: &'a mut [Req],
    /// The rows, and the counter of each at prepare.
    reqs: &'a [ReqId],
    prepared: &'a [u32],
    masks: Option<MaskRows<'a>>,
    /// What is the same for every row.
    view: RowView,
    /// What is told of each row that was passed.
    quiet: &'a mut [Quiet],
    /// The CPU's time, and what a row costs before its token and by its check; if that is drawn, rows are dated afterwards.
    clock: Option<(&'a mut Time, (u64, [u64; 4]))>,
}

impl AskedRows<'_> {
    /// Asks `rule` of every row, and appends its token, until more comes of one; that one is left as it is. Returns how many
    /// were passed.
    #[inline]
    pub fn ask<R: Rule + ?Sized>(self, rule: &R) -> usize {
        match self.masks {
            None => self.ask_with(rule, |_| None),
            Some(masks) => match masks.without_track_idx(self.reqs.len()) {
                // What masks nearly always are, with nothing to be asked of them row by row.
                Some(row) => self.ask_with(rule, |i| Some(row(i))),
                None => self.ask_with(rule, |i| Some(masks.row(i))),
            },
        }
    }

    #[inline(always)]
    fn ask_with<R: Rule + ?Sized>(self, rule: &R, masks: impl Fn(usize) -> Option<RowMasks>) -> usize {
        let mut undated = Time::ZERO;
        let (cpu, (row_ns, check_ns)) = self.clock.unwrap_or((&mut undated, Default::default()));
        let mut now = *cpu;
        let count = self.reqs.len();
        let rows = self.reqs.iter().zip(&self.prepared[..count]).zip(&mut self.quiet[..count]);
        let mut passed = 0;
        for (i, ((&req, &prepared), row)) in rows.enumerate() {
            let it = &mut self.all[req.index()];
            let outputs = it.outputs + 1;
            let ends = it.finish.is_some() | it.to_abort | (outputs >= it.ends_at);
            if ends | it.retracted | (it.middle_chunks > 0) | !it.has_track {
                break;
            }
            let mut view = RowView { masks: masks(i), ..self.view };
            it.show(&mut view);
            view.outputs = outputs;
            let check = match rule.on_result(&view) {
                Ok(action) if action.is_nothing() => action.check,
                Ok(_) | Err(_) => break,
            };
            it.outputs = outputs;
            let lookahead = i64::from(it.decode_batch_idx) - i64::from(prepared);
            let kv_committed_len = it.kv_committed_len;
            let at = now + row_ns;
            now = at + check_ns[check as usize];
            *row = Quiet { at, lookahead, req, outputs, kv_committed_len, check };
            passed = i + 1;
        }
        *cpu = now;
        passed
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
