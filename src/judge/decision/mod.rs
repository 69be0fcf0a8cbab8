//! The decision diff: compares the decisions of the rule with the writes of the forwards to track slots.
//!
//! Owns, for each request, the decode steps between prepare and result and the lengths recorded, due and lost; and the
//! counts over all rows. Does not know the contents of slots (`storage`), host masks, or labels from before the
//! decision: its reference is the write of the forward.

mod cause;
mod classify;
mod loss;
mod window;

use std::collections::BTreeMap;

use educe::Educe;

use crate::record::{BatchId, BoundaryCheck, Decision, Encoding, Phase, ReqId, SlotId};

use super::coverage::{boundary_goal, class_goal};
use super::findings::Findings;
use super::live_table::LiveTable;
use super::{Boundary, CheckpointCounts, Class, ClassCounts, Goal, Goals, MaskReuse, Overwritten};

use cause::TrackWrite;
use classify::RecordedLens;
use loss::{DueCheckpoint, DueCheckpoints};
use window::ProcessedStep;
pub(super) use window::{LookaheadKind, StepWindow};

/// The state of a request that has not been released.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
struct Bookkeeping {
    /// Its decode steps between prepare and result.
    window: StepWindow,
    /// The checkpoints due and not recorded.
    dues: DueCheckpoints,
    /// The lengths recorded in its track slots.
    recorded: RecordedLens,
}

/// A row of a processed decode result.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecisionRow {
    pub batch: BatchId,
    pub req: ReqId,
    /// The lookahead according to the machine. Used only if the record lacks the prepare.
    pub lookahead: i64,
    pub check: BoundaryCheck,
    pub decision: Option<Decision>,
}

/// The state of all live requests, and the counts over all rows.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub(super) struct DecisionDiff {
    requests: LiveTable<Bookkeeping>,
    keep_boundaries: bool,
    /// The number of processed decode rows with lookahead 0, and with lookahead 1.
    lookahead_0_1: [u64; 2],
    /// The number of processed decode rows with any other lookahead, by lookahead.
    lookahead_other: BTreeMap<i64, u64>,
    /// Rows by class.
    pub classes: ClassCounts,
    /// Counts of checkpoints.
    pub counts: CheckpointCounts,
    /// Rows by how the rule determined whether the result is a boundary.
    pub mask_reuse: MaskReuse,
    /// Rows with a decision or a due checkpoint, if they are kept.
    pub boundaries: Vec<Boundary>,
    /// Goals reached by rows, except those that follow from the counts.
    goals: Goals,
}

impl DecisionDiff {
    /// The state before the first fact.
    pub fn new(keep_boundaries: bool) -> DecisionDiff {
        DecisionDiff {
            requests: LiveTable::default(),
            keep_boundaries,
            lookahead_0_1: [0; 2],
            lookahead_other: BTreeMap::new(),
            classes: ClassCounts::default(),
            counts: CheckpointCounts::default(),
            mask_reuse: MaskReuse::default(),
            boundaries: Vec::new(),
            goals: Goals::NONE,
        }
    }

    /// A decode step was prepared.
    #[inline]
    pub fn prepare(&mut self, batch: BatchId, req: ReqId, k: u32) {
        if let Some(it) = self.requests.get_or_new(req) {
            it.window.prepare(batch, k);
        }
    }

    /// A decode step was launched in `turn`. Its forward writes the state to `track`, if any.
    #[inline]
    pub fn launch(&mut self, batch: BatchId, req: ReqId, k: u32, track: Option<SlotId>, turn: u32) {
        if let Some(it) = self.requests.get_or_new(req) {
            it.window.launch(batch, k, track);
            if let Some(slot) = track {
                it.recorded.trail.wrote(TrackWrite { slot, len: k, batch, turn });
            }
        }
    }

    /// A verify was launched that reaches `to`. If it crosses a boundary, `track` is the slot that receives the state,
    /// and the length of that state.
    pub fn launch_verify(&mut self, batch: BatchId, req: ReqId, to: u32, track: Option<(SlotId, u32)>) {
        if let Some(it) = self.requests.get_or_new(req) {
            it.window.launch(batch, track.map_or(to, |(_, len)| len), track.map(|(slot, _)| slot));
        }
    }

    /// A prefill or verify wrote the state of a length to a track slot, in `turn`.
    pub fn kept(&mut self, batch: BatchId, req: ReqId, (slot, len): (SlotId, u32), turn: u32) {
        if let Some(it) = self.requests.get_or_new(req) {
            it.recorded.trail.wrote(TrackWrite { slot, len, batch, turn });
        }
    }

    /// Result processing skipped a row: its step is removed and gets no class.
    pub fn skip(&mut self, batch: BatchId, req: ReqId) {
        if let Some(it) = self.requests.get(req) {
            it.window.process(batch);
        }
    }

    /// Classifies a row of a processed decode result and counts it. `now` is the turn and phase.
    // Measured with batch 64: inlining this, `StepWindow::launch` and `StepWindow::process` saves 4 % of the
    // instructions of a decode row (1,128 in place of 1,179).
    #[inline(always)]
    pub fn row(&mut self, row: DecisionRow, now: (u32, Phase)) {
        let (mut step, mut refused, mut lookahead) = (ProcessedStep::default(), false, row.lookahead);
        if let Some(it) = self.requests.get(row.req) {
            step = it.window.process(row.batch);
            refused = it.dues.was_refused(step.k);
            lookahead = step.lookahead.map_or(row.lookahead, i64::from);
            let now = LookaheadKind::of(lookahead);
            let before = it.window.replace_lookahead(now);
            if step.due.is_some() {
                self.reach_goal(boundary_goal(before, now));
            }
        }
        match lookahead {
            0 => self.lookahead_0_1[0] += 1,
            1 => self.lookahead_0_1[1] += 1,
            far => *self.lookahead_other.entry(far).or_default() += 1,
        }
        self.mask_reuse.count(row.check);
        if step.due.is_none() && row.decision.is_none() {
            self.classes.agree += 1;
            self.counts.skipped += u64::from(refused);
        } else {
            self.boundary(row, (step, refused), lookahead, now);
        }
    }

    /// Classifies a row with a decision or a due checkpoint.
    #[inline(never)]
    fn boundary(
        &mut self,
        row: DecisionRow,
        (step, refused): (ProcessedStep, bool),
        lookahead: i64,
        (turn, phase): (u32, Phase),
    ) {
        let DecisionRow { batch, req, check, decision, .. } = row;
        let Some(it) = self.requests.get_or_new(req) else { return };
        let after = decision.map(|decision| decision.after);
        let ahead = step.k.and_then(|k| it.window.kept_beyond(k));
        let (class, named_len) = it.recorded.classify(step, ahead, after, turn, |len| it.dues.slot(len));
        if let Some(len) = named_len {
            it.dues.record(len, &mut self.counts);
        }
        if let (Some(k), Some(slot)) = (step.k, step.due) {
            let withheld = after.is_some_and(|after| after.label == Some(k) && after.slot.is_none());
            let due = DueCheckpoint { k, slot, turn, phase, withheld };
            it.dues.process(due, it.recorded.is_recorded(k), &mut self.counts);
        } else {
            self.counts.skipped += u64::from(refused);
        }
        self.classes.add(class);
        self.reach_goal(class_goal(class, step.due.is_some()));
        if self.keep_boundaries {
            let (label, slot) = after.map_or((None, None), |after| (after.label, after.slot));
            let (k, due, fired) = (step.k.unwrap_or(0), step.due, after.is_some());
            self.boundaries.push(Boundary { turn, batch, req, k, lookahead, check, fired, label, slot, due, class });
        }
    }

    /// Reaches a goal, if there is one.
    fn reach_goal(&mut self, goal: Option<Goal>) {
        if let Some(goal) = goal {
            self.goals.insert(goal);
        }
    }

    /// The length of the prompt of a request is known.
    pub fn prompt(&mut self, req: ReqId, len: u32) {
        if let Some(it) = self.requests.get_or_new(req) {
            it.dues.prompt(len);
        }
    }

    /// A request was admitted with `prefix` tokens from the cache.
    pub fn admit(&mut self, req: ReqId, prefix: u32) {
        if let Some(it) = self.requests.get_or_new(req) {
            it.dues.admit(prefix);
        }
    }

    /// A request finished with this number of outputs.
    pub fn finish(&mut self, req: ReqId, outputs: u32) {
        if let Some(it) = self.requests.get(req) {
            it.dues.finish(outputs);
        }
    }

    /// The boundary step of length `k` was refused its second slot. Its forward writes in place, or keeps no state.
    pub fn refuse(&mut self, req: ReqId, k: u32, in_place: bool) {
        if let Some(it) = self.requests.get_or_new(req) {
            it.dues.refuse(k, in_place);
        }
    }

    /// A request donated a state under a key of this length. `offered` is its label, if the request has finished.
    pub fn donate(&mut self, req: ReqId, key_len: u32, offered: Option<u32>) {
        if let Some(it) = self.requests.get_or_new(req) {
            it.dues.donate(key_len, offered, &mut self.counts);
        }
    }

    /// A guard declined the donation of a request.
    pub fn decline(&mut self, req: ReqId) {
        if let Some(it) = self.requests.get_or_new(req) {
            it.dues.decline(&mut self.counts);
        }
    }

    /// A request was retracted, and lost its track slots. Its due checkpoints count as skipped.
    pub fn retract(&mut self, req: ReqId) {
        if let Some(it) = self.requests.get(req) {
            it.dues.retract(&mut self.counts);
            it.recorded.clear();
            it.window.forget();
        }
    }

    /// A finished request gives its track slots back: a finding for each checkpoint lost.
    pub fn release(&mut self, req: ReqId, findings: &mut Findings) {
        if let Some(it) = self.requests.get(req) {
            it.dues.release(req, true, &mut self.counts, findings);
            it.recorded.clear();
        }
    }

    /// Forgets a request that has ended.
    pub fn forget(&mut self, req: ReqId) {
        self.requests.release(req);
    }

    /// The record has ended: a finding for each checkpoint due and not recorded.
    pub fn close(&mut self, findings: &mut Findings) {
        for (req, it) in self.requests.iter() {
            it.dues.release(req, false, &mut self.counts, findings);
        }
    }

    /// The step that overwrote the state of length `label` in `slot`, which now holds `holds` tokens. `None` unless a
    /// decision of the request named this length and slot correctly.
    pub fn overwritten(&self, req: ReqId, label: u32, slot: SlotId, holds: u32) -> Option<Overwritten> {
        self.requests.peek(req)?.recorded.trail.overwritten(label, slot, holds)
    }

    /// The decode steps of a live request between prepare and result.
    pub fn window(&self, req: ReqId) -> Option<&StepWindow> {
        self.requests.peek(req).map(|it| &it.window)
    }

    /// The number of processed decode rows.
    pub fn rows(&self) -> u64 {
        self.lookahead_0_1.iter().chain(self.lookahead_other.values()).sum()
    }

    /// The number of processed decode rows, by lookahead.
    pub fn lookahead(&self) -> BTreeMap<i64, u64> {
        let near = [0, 1].into_iter().zip(self.lookahead_0_1).filter(|&(_, count)| count > 0);
        self.lookahead_other.iter().map(|(&lookahead, &count)| (lookahead, count)).chain(near).collect()
    }

    /// The goals reached by rows.
    pub fn goals(&self) -> Goals {
        let counted = [
            (self.lookahead_0_1[0], Goal::LookaheadLevel),
            (self.lookahead_0_1[1], Goal::LookaheadAhead),
            (self.mask_reuse.lost, Goal::MasksLost),
        ];
        let counted = counted.into_iter().filter(|&(count, _)| count > 0).map(|(_, goal)| goal);
        self.goals.union(counted.collect())
    }

    /// Whether the record has a request that is not tracked.
    pub fn is_overflow(&self) -> bool {
        self.requests.overflow
    }

    /// Resets counts and goals.
    pub fn forget_counts(&mut self) {
        (self.lookahead_0_1, self.goals) = ([0; 2], Goals::NONE);
        self.lookahead_other.clear();
        (self.classes, self.counts, self.mask_reuse) = Default::default();
    }

    /// Encodes the state of a request.
    pub fn encode(&self, req: ReqId, out: &mut Encoding) {
        // All other fields are counts, goals, and rows for a report: none can matter for a later finding.
        let DecisionDiff {
            requests,
            keep_boundaries: _,
            lookahead_0_1: _,
            lookahead_other: _,
            classes: _,
            counts: _,
            mask_reuse: _,
            boundaries: _,
            goals: _,
        } = self;
        let known = requests.peek(req);
        out.flag(known.is_some());
        if let Some(Bookkeeping { window, dues, recorded }) = known {
            window.encode(out);
            recorded.encode(out);
            dues.encode(out);
        }
    }
}

impl MaskReuse {
    /// Counts a row.
    fn count(&mut self, check: BoundaryCheck) {
        match check {
            BoundaryCheck::None => {}
            BoundaryCheck::Mask => self.reused += 1,
            BoundaryCheck::Recompute => self.recomputed += 1,
            BoundaryCheck::MaskLost => {
                self.recomputed += 1;
                self.lost += 1;
            }
        }
    }
}

impl ClassCounts {
    /// Counts a row of a class.
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
