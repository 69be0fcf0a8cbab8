//! The rows of processed results: puts a row and its decision together, classes them, counts them.
//!
//! Owns the one row that is still open (its decision may come before or after it) and the counts by row. Refuses to
//! interpret masks: how a rule found out is only counted.

use std::collections::BTreeMap;

use crate::record::{BatchId, Check, Kept, Phase, ReqId};

use super::coverage::{classed, jitter};
use super::live::{Live, Requests};
use super::loss::Due;
use super::window::{Before, Seen};
use super::{Boundary, Checkpoints, Class, Decisions, Goal, Goals, MaskReuse};

/// A row whose decision may still come, or a decision whose row may. Overwritten field by field, as one is opened for
/// every output token.
#[derive(Clone, Copy, Debug)]
struct Open {
    is_open: bool,
    has_row: bool,
    fired: bool,
    check: Check,
    batch: BatchId,
    req: ReqId,
    turn: u32,
    phase: Phase,
    seen: Seen,
    lookahead: i64,
    after: Kept,
}

/// Counts over all rows, and the row that is open.
#[derive(Debug)]
pub(super) struct Rows {
    open: Open,
    keep_boundaries: bool,
    /// Processed decode rows.
    pub decode_results: u64,
    /// Rows by lookahead 0 and 1; the others.
    near: [u64; 2],
    far: BTreeMap<i64, u64>,
    /// Classes.
    pub decisions: Decisions,
    /// How the rule found out.
    pub mask_reuse: MaskReuse,
    /// Rows worth a line.
    pub boundaries: Vec<Boundary>,
    /// Goals reached by rows, but for those that follow from the counts.
    goals: Goals,
}

clone_in_place!(Rows
    {
        far, boundaries,
    }
    copied {
        open, keep_boundaries, decode_results, near, decisions, mask_reuse, goals,
    }
);

/// Rows to which no decision belongs, counted aside: by how the rule found out, and by lookahead 0 and 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed([[u64; 2]; Check::ALL.len()]);

impl Rows {
    /// Nothing processed yet.
    pub fn new(keep_boundaries: bool) -> Rows {
        let open = Open {
            is_open: false,
            has_row: false,
            fired: false,
            check: Check::None,
            batch: BatchId(0),
            req: ReqId(0),
            turn: 0,
            phase: Phase::Result,
            seen: Seen::default(),
            lookahead: 0,
            after: Kept { label: None, slot: None },
        };
        Rows {
            open,
            keep_boundaries,
            decode_results: 0,
            near: [0; 2],
            far: BTreeMap::new(),
            decisions: Decisions::default(),
            mask_reuse: MaskReuse::default(),
            boundaries: Vec::new(),
            goals: Goals::NONE,
        }
    }

    /// A row of a processed decode result. `now` is the turn and the phase.
    #[inline]
    pub fn row(
        &mut self,
        (batch, req): (BatchId, ReqId),
        said: i64,
        check: Check,
        now: (u32, Phase),
        requests: &mut Requests,
        counts: &mut Checkpoints,
    ) {
        let (mut seen, mut lookahead) = (Seen::default(), said);
        if let Some(live) = requests.get(req) {
            seen = live.window.process(batch);
            seen.refused = live.dues.was_refused(seen.k);
            lookahead = seen.lookahead.map_or(said, i64::from);
            let now = Before::of(lookahead);
            let before = live.window.follow(now);
            if seen.due.is_some() {
                self.reach(jitter(before, now));
            }
        }
        self.count(1, lookahead, check);
        self.open_row((batch, req), (seen, lookahead, check), now, requests, counts);
    }

    #[inline]
    fn open_row(
        &mut self,
        (batch, req): (BatchId, ReqId),
        (seen, lookahead, check): (Seen, i64, Check),
        now: (u32, Phase),
        requests: &mut Requests,
        counts: &mut Checkpoints,
    ) {
        if !self.open.is(batch, req) || self.open.has_row {
            self.close(requests, counts);
            self.open.begin((batch, req), now);
        }
        let open = &mut self.open;
        (open.has_row, open.check, open.lookahead) = (true, check, lookahead);
        (open.seen.k, open.seen.due, open.seen.ahead) = (seen.k, seen.due, seen.ahead);
        open.seen.refused = seen.refused;
    }

    /// A row of a processed decode result to which no decision belongs, neither before nor after it. Says whether it was: if
    /// more is to be looked at, nothing is changed. The row that is open is to be closed after it.
    #[inline]
    pub fn pass(&mut self, (batch, req): (BatchId, ReqId), check: Check, live: &mut Live, passed: &mut Passed) -> bool {
        if self.open.is(batch, req) || !live.dues.none_refused() {
            return false;
        }
        let Some((_, lookahead)) = live.window.pass(batch) else { return false };
        live.window.follow(Before::of(lookahead.into()));
        self.count_passed(1, lookahead, check, passed);
        true
    }

    /// Counts rows that were passed, aside if their lookahead is 0 or 1.
    #[inline]
    pub fn count_passed(&mut self, rows: u64, lookahead: u32, check: Check, passed: &mut Passed) {
        match passed.0[check as usize].get_mut(lookahead as usize) {
            Some(count) => *count += rows,
            None => self.passed(rows, lookahead.into(), check),
        }
    }

    /// Adds what was passed.
    pub fn add(&mut self, passed: Passed) {
        for check in Check::ALL {
            let [level, ahead] = passed.0[check as usize];
            self.passed(level, 0, check);
            self.passed(ahead, 1, check);
        }
    }

    fn passed(&mut self, rows: u64, lookahead: i64, check: Check) {
        if rows > 0 {
            self.count(rows, lookahead, check);
            self.decisions.agree += rows;
        }
    }

    /// The rule fired.
    pub fn decision(
        &mut self,
        (batch, req): (BatchId, ReqId),
        after: Kept,
        now: (u32, Phase),
        requests: &mut Requests,
        counts: &mut Checkpoints,
    ) {
        if !self.open.is(batch, req) || self.open.fired {
            self.close(requests, counts);
            self.open.begin((batch, req), now);
        }
        (self.open.fired, self.open.after) = (true, after);
    }

    /// Classes the open row: nothing that belongs to it can come any more. A decision without a row is classed as
    /// one of a step that the record does not have.
    #[inline]
    pub fn close(&mut self, requests: &mut Requests, counts: &mut Checkpoints) {
        if !self.open.is_open {
            return;
        }
        self.open.is_open = false;
        if self.open.seen.due.is_none() && !self.open.fired {
            self.decisions.agree += 1;
            counts.skipped += u64::from(self.open.seen.refused);
        } else {
            self.close_boundary(requests, counts);
        }
    }

    #[inline(never)]
    fn close_boundary(&mut self, requests: &mut Requests, counts: &mut Checkpoints) {
        let Open { batch, req, turn, phase, check, seen, lookahead, fired, after, .. } = self.open;
        let Some(live) = requests.get_or_new(req) else { return };
        let decision = fired.then_some(after);
        let (class, names) = live.marks.judge(seen, decision, turn, |len| live.dues.slot(len));
        if let Some(len) = names {
            live.dues.record(len, counts);
        }
        if let (Some(k), Some(slot)) = (seen.k, seen.due) {
            let withheld = decision.is_some_and(|after| after.label == Some(k) && after.slot.is_none());
            let due = Due { k, slot, turn, phase, withheld };
            live.dues.process(due, live.marks.named(k), counts);
        } else {
            counts.skipped += u64::from(seen.refused);
        }
        self.decisions.add(class);
        self.reach(classed(class, seen.due.is_some()));
        if self.keep_boundaries {
            let (label, slot) = decision.map_or((None, None), |after| (after.label, after.slot));
            let (k, due) = (seen.k.unwrap_or(0), seen.due);
            self.boundaries.push(Boundary { turn, batch, req, k, lookahead, check, fired, label, slot, due, class });
        }
    }

    /// Whether no row is open: all else that it has is counts, and boundaries for a report.
    pub fn is_closed(&self) -> bool {
        let Rows {
            open,
            keep_boundaries: _,
            decode_results: _,
            near: _,
            far: _,
            decisions: _,
            mask_reuse: _,
            boundaries: _,
            goals: _,
        } = self;
        !open.is_open
    }

    /// Forgets what is only counted.
    pub fn forget_counts(&mut self) {
        (self.decode_results, self.near) = (0, [0; 2]);
        if !self.far.is_empty() {
            self.far.clear();
        }
        self.goals = Goals::NONE;
        (self.decisions, self.mask_reuse) = (Decisions::default(), MaskReuse::default());
    }

    /// Processed rows by lookahead.
    pub fn lookahead(&self) -> BTreeMap<i64, u64> {
        let near = [0, 1].into_iter().zip(self.near).filter(|&(_, count)| count > 0);
        self.far.iter().map(|(&lookahead, &count)| (lookahead, count)).chain(near).collect()
    }

    /// The goals reached by rows.
    pub fn goals(&self) -> Goals {
        let counted = [
            (self.near[0], Goal::LookaheadLevel),
            (self.near[1], Goal::LookaheadAhead),
            (self.mask_reuse.lost, Goal::MasksLost),
        ];
        let counted = counted.into_iter().filter(|&(count, _)| count > 0).map(|(_, goal)| goal);
        self.goals.union(counted.collect())
    }

    fn reach(&mut self, goal: Option<Goal>) {
        if let Some(goal) = goal {
            self.goals.insert(goal);
        }
    }

    #[inline]
    fn count(&mut self, rows: u64, lookahead: i64, check: Check) {
        self.decode_results += rows;
        match lookahead {
            0 => self.near[0] += rows,
            1 => self.near[1] += rows,
            far => *self.far.entry(far).or_default() += rows,
        }
        let reuse = &mut self.mask_reuse;
        match check {
            Check::None => {}
            Check::Mask => reuse.reused += rows,
            Check::Recompute => reuse.recomputed += rows,
            Check::MaskLost => {
                reuse.recomputed += rows;
                reuse.lost += rows;
            }
        }
    }
}

impl Open {
    #[inline]
    fn is(&self, batch: BatchId, req: ReqId) -> bool {
        self.is_open && self.batch == batch && self.req == req
    }

    /// Neither row nor decision yet.
    #[inline]
    fn begin(&mut self, (batch, req): (BatchId, ReqId), (turn, phase): (u32, Phase)) {
        (self.is_open, self.has_row, self.fired) = (true, false, false);
        (self.batch, self.req, self.turn, self.phase) = (batch, req, turn, phase);
        (self.seen.k, self.seen.due, self.seen.ahead, self.seen.refused) = (None, None, None, false);
        (self.check, self.lookahead) = (Check::None, 0);
    }
}

impl Decisions {
    fn add(&mut self, class: Class) {
        let count = match class {
            Class::Agree => &mut self.agree,
            Class::Early => &mut self.early,
            Class::Settled => &mut self.settled,
            Class::Repeat => &mut self.repeat,
            Class::Missed => &mut self.missed,
            Class::WrongLabel => &mut self.wrong_label,
            Class::WrongSlot => &mut self.wrong_slot,
        };
        *count += 1;
    }
}
