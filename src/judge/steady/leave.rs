//! How a row that lags catches up, and before which facts.
//!
//! Owns what a fact names. Refuses to guess what becomes of it: who is named catches up.

use std::ops::Range;

use crate::judge::court::Judge;
use crate::record::{Fact, ReqId, SlotId, State, Token};

use super::{STEPS_MAX, Steady, TOGETHER};

impl Judge {
    /// Whether all rows are known to be alive and in order.
    #[inline]
    pub(in crate::judge) fn all_lag(&self, reqs: &[ReqId]) -> bool {
        self.steady.as_ref().is_some_and(|steady| steady.all_lag(reqs))
    }

    /// Lets whom a fact names catch up.
    #[inline(always)]
    pub(in crate::judge) fn catch_up_before(&mut self, fact: &Fact) {
        if self.steady.is_some() {
            let (req, slots) = named(fact);
            if req.is_some() || slots != [None; 3] {
                self.catch_up_named(req, slots);
            }
        }
    }

    // In one place, and not wherever a fact is told.
    #[inline(never)]
    fn catch_up_named(&mut self, req: Option<ReqId>, slots: [Option<SlotId>; 3]) {
        if let Some(req) = req {
            self.catch_up_req(req);
        }
        slots.into_iter().flatten().for_each(|slot| self.catch_up_slot(slot));
    }

    /// Lets a request catch up.
    pub(in crate::judge) fn catch_up_req(&mut self, req: ReqId) {
        if self.requests.lags(req) {
            self.catch_up_rows(|steady| steady.reqs.binary_search(&req).map_or(0..0, |row| row..row + 1));
        }
    }

    fn catch_up_slot(&mut self, slot: SlotId) {
        if self.store.lags(slot) {
            let is_it = |steady: &Steady, row: usize| steady.lags[row] && steady.slots[row] == slot;
            self.catch_up_rows(|steady| {
                (0..steady.reqs.len()).find(|&row| is_it(steady, row)).map_or(0..0, |row| row..row + 1)
            });
        }
    }

    /// Lets all rows catch up.
    pub(in crate::judge) fn catch_up(&mut self) {
        self.catch_up_rows(|steady| 0..steady.reqs.len());
    }

    /// The same, and forgets who they were.
    pub(in crate::judge) fn forget_steady(&mut self) {
        self.catch_up();
        self.steady = None;
    }

    #[inline(never)]
    fn catch_up_rows(&mut self, which: impl Fn(&Steady) -> Range<usize>) {
        let Some(mut steady) = self.steady.take() else { return };
        which(&steady).for_each(|row| self.leave_if_lagging(&mut steady, row));
        self.steady = Some(steady);
    }

    pub(super) fn leave_if_lagging(&mut self, steady: &mut Steady, row: usize) {
        if steady.lags[row] {
            self.leave(steady, row);
        }
    }

    /// A row catches up and lags no more.
    pub(super) fn leave(&mut self, steady: &mut Steady, row: usize) {
        let steps = steady.since[row] as usize..steady.launches.len();
        let mut tokens = [0; STEPS_MAX];
        let run = &mut tokens[..steps.len()];
        for (step, token) in steps.zip(&mut *run) {
            *token = steady.column(step)[row];
        }
        self.catch_up_row(steady, row, run);
        steady.lags[row] = false;
        if let Err(at) = steady.others.binary_search(&(row as u32)) {
            steady.others.insert(at, row as u32);
        }
        let told = steady.result.as_ref().filter(|result| row < result.rows);
        let window = told.map_or(&steady.window, |result| &result.window);
        let req = steady.reqs[row];
        let live = self.requests.row(req).expect("a row that lags is alive");
        (live.lags, live.window) = (false, window.shifted(steady.shift(row)));
        self.store.set_lags(steady.slots[row], false);
        self.requests.set_outputs(req, steady.outputs[row]);
    }

    /// All rows that lag catch up, but for their windows and outputs.
    pub(super) fn catch_up_by_step(&mut self, steady: &mut Steady) {
        let (rows, steps) = (steady.reqs.len(), steady.launches.len());
        let mut tokens = [[0; STEPS_MAX]; TOGETHER];
        for first in (0..rows).step_by(TOGETHER) {
            let end = rows.min(first + TOGETHER);
            for step in 0..steps {
                let column = &steady.column(step)[first..end];
                column.iter().zip(&mut tokens).for_each(|(&token, run)| run[step] = token);
            }
            for (row, run) in (first..end).zip(&tokens) {
                if steady.lags[row] {
                    self.catch_up_row(steady, row, &run[steady.since[row] as usize..steps]);
                }
            }
        }
        steady.launches.clear();
        steady.since.fill(0);
    }

    /// What the newest steps of a row, which sampled these tokens, did to its tokens and its slot.
    fn catch_up_row(&mut self, steady: &Steady, row: usize, run: &[Token]) {
        let (req, k, steps) = (steady.reqs[row], steady.ks[row], run.len());
        let live = self.requests.row(req).expect("a row that lags is alive");
        let hashes = live.truth.extend(run);
        let newest = steps.min(hashes.len());
        let states =
            (0..newest).map(|i| State { n: k - (newest - 1 - i) as u32, h: hashes[hashes.len() - newest + i] });
        let launches = &steady.launches[steady.launches.len() - newest..];
        // A slot holds what the last launch wrote, and remembers what the last two wrote over: three states, as no two of the steps
        // are of one launch.
        self.store.write_each(steady.slots[row], launches.iter().copied().zip(states), req);
    }
}

/// Whether a fact looks at a window, or may: where one is looked at without a name, the row that waits is minded there
/// (`Judge::rows_changed`, `Judge::settle`).
#[inline(always)]
pub(in crate::judge) fn names_req(fact: &Fact) -> bool {
    named(fact).0.is_some()
}

/// Whose window, tokens or outputs a fact looks at or changes, and which slots: every request and slot that it names, but for who
/// holds pages and locks. Of a slot that changes hands the slot alone: the row in it no longer steps in its own.
#[inline(always)]
fn named(fact: &Fact) -> (Option<ReqId>, [Option<SlotId>; 3]) {
    match *fact {
        Fact::Turn { .. }
        | Fact::Begin { .. }
        | Fact::End { .. }
        | Fact::SlotRefused { .. }
        | Fact::PageAlloc { .. }
        | Fact::PageMove { .. }
        | Fact::PageFree { .. }
        | Fact::Lock { .. }
        | Fact::Unlock { .. }
        | Fact::PrepareExtend { .. }
        | Fact::HostMasks { .. }
        | Fact::MasksDropped { .. }
        | Fact::Launch { .. }
        | Fact::Wait { .. }
        | Fact::Flip { .. }
        | Fact::Read { .. }
        | Fact::Fields { .. }
        | Fact::Arrays { .. }
        | Fact::EventUnused { .. }
        | Fact::Latched { .. }
        | Fact::PinMissed { .. }
        | Fact::PinEnded { .. }
        | Fact::Mix { .. }
        | Fact::MiddleChunk { .. }
        | Fact::Assert { .. }
        | Fact::Bound { .. }
        | Fact::Done { .. } => (None, [None; 3]),
        Fact::SlotAlloc { slot, .. } | Fact::SlotFree { slot, .. } | Fact::SlotMove { slot, .. } => {
            (None, [Some(slot), None, None])
        }
        Fact::Arrive { req, .. }
        | Fact::Match { req, .. }
        | Fact::Admit { req }
        | Fact::PrepareDecode { req, .. }
        | Fact::Sampled { req, .. }
        | Fact::Skip { req, .. }
        | Fact::Output { req, .. }
        | Fact::Finish { req, .. }
        | Fact::Row { req, .. }
        | Fact::Decision { req, .. }
        | Fact::TrackRefused { req, .. }
        | Fact::Retract { req, .. }
        | Fact::Abort { req, .. } => (Some(req), [None; 3]),
        Fact::NoDonate { req, slot, .. } => (Some(req), [slot, None, None]),
        Fact::Donate { req, slot, .. } | Fact::Clear { req, slot } => (Some(req), [Some(slot), None, None]),
        Fact::Hit { req, source, .. } => (Some(req), [Some(source), None, None]),
        Fact::CopyState { req, from, to, .. } => (Some(req), [Some(from), Some(to), None]),
        Fact::Extend { req, slot, track, .. } => (Some(req), [Some(slot), track.map(|track| track.0), None]),
        Fact::Step { req, slot, track, .. } => (Some(req), [Some(slot), track, None]),
        Fact::Verify { req, slot, track, target, .. } => (Some(req), [Some(slot), track.map(|track| track.0), target]),
    }
}
