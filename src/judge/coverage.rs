//! The coverage goals that do not follow from findings, classes or counts.
//!
//! Owns the state that is kept for goals only. Changes no finding, count or verdict. The functions that run for every
//! batch do almost nothing; all other work is done at rare facts.

use educe::Educe;
use tinyvec::TinyVec;

use crate::record::{AbortStage, BatchId, FinishKind, ForwardMode, ReqId};

use super::decision::{LookaheadKind, StepWindow};
use super::storage::OfferedState;
use super::{Class, Goal, Goals, Judge};

/// The state that is kept for goals only. Two judges that differ only in it make the same findings.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(super) struct Coverage {
    /// The batch whose result is being processed. Its own step is not in flight.
    result: BatchId,
    /// The number of rows of the last prepared decode batch.
    rows: u32,
    /// The requests of the last launched decode batch whose step writes a track slot.
    boundaries: TinyVec<[ReqId; 4]>,
    /// The turn of the last eviction of a state, by the judge's count of turns.
    evicted: Option<u32>,
}

impl Coverage {
    /// The CPU has waited for a batch, and processes its result next.
    #[inline]
    pub fn wait(&mut self, batch: BatchId) {
        self.result = batch;
    }

    /// A decode step that writes a track slot was launched.
    pub fn boundary(&mut self, req: ReqId) {
        self.boundaries.push(req);
    }
}

impl Judge {
    /// The goals reached so far.
    pub fn goals(&self) -> Goals {
        self.goals.union(self.decisions.goals())
    }

    /// A forward was launched. Its number of rows shows whether rows joined or left the running batch.
    #[inline]
    pub(super) fn queued(&mut self, mode: ForwardMode, rows: u32) {
        match mode {
            ForwardMode::Decode | ForwardMode::Verify => self.rows_prepared(rows, false),
            // The decode rows of a mixed batch were prepared in a batch of their own.
            ForwardMode::Extend | ForwardMode::Mixed => {}
        }
    }

    /// A decode batch has this number of rows. `mixed` is whether they ride along in a prefill batch.
    #[inline]
    pub(super) fn rows_prepared(&mut self, rows: u32, mixed: bool) {
        let before = std::mem::replace(&mut self.coverage.rows, rows);
        if !self.coverage.boundaries.is_empty() {
            self.rows_changed(before, rows, mixed);
        }
    }

    /// Reaches the goals of a merge or filter while a boundary step is in flight.
    #[inline(never)]
    fn rows_changed(&mut self, before: u32, rows: u32, mixed: bool) {
        if (mixed || rows != before) && self.stay_on_boundary() {
            if mixed || rows > before {
                self.goals.insert(Goal::MergeBoundaryInFlight);
            }
            if rows < before {
                self.goals.insert(Goal::FilterBoundaryInFlight);
            }
        }
        self.coverage.boundaries.clear();
    }

    /// Whether a request of a boundary step in flight has its next step prepared: it stays in the batch.
    fn stay_on_boundary(&self) -> bool {
        let stays = |&req: &ReqId| self.decisions.window(req).is_some_and(StepWindow::stays_on_boundary);
        self.coverage.boundaries.iter().any(stays)
    }

    /// Decode rows joined a prefill batch.
    pub(super) fn mix(&mut self, rows: u32) {
        if rows > 0 {
            self.goals.insert(Goal::RowRidesAlong);
            self.rows_prepared(rows, true);
        }
    }

    /// A request finished.
    pub(super) fn finished(&mut self, req: ReqId, kind: FinishKind) {
        let result = self.coverage.result;
        let flies = self.decisions.window(req).is_some_and(|window| window.in_flight_beside(result));
        self.goals.insert(match (kind, flies) {
            (FinishKind::Token, false) => Goal::FinishToken,
            (FinishKind::Token, true) => Goal::FinishTokenInFlight,
            (FinishKind::Length, false) => Goal::FinishLength,
            (FinishKind::Length, true) => Goal::FinishLengthInFlight,
            (FinishKind::Abort, false) => Goal::FinishAbort,
            (FinishKind::Abort, true) => Goal::FinishAbortInFlight,
        });
    }

    /// A request is about to be retracted.
    pub(super) fn retracting(&mut self, req: ReqId) {
        if self.decisions.window(req).is_some_and(StepWindow::boundary_in_flight) {
            self.goals.insert(Goal::RetractBoundaryInFlight);
        }
    }

    /// The scheduler took in an abort.
    pub(super) fn aborted(&mut self, req: ReqId, stage: AbortStage, taken: bool) {
        let decodes = match stage {
            AbortStage::Decode => taken,
            AbortStage::Waiting | AbortStage::Chunk | AbortStage::Prefill | AbortStage::Finished | AbortStage::Gone => {
                false
            }
        };
        if decodes && self.decisions.window(req).is_some_and(StepWindow::boundary_in_flight) {
            self.goals.insert(Goal::AbortBoundaryInFlight);
        }
    }

    /// A cached state was evicted.
    pub(super) fn evicted(&mut self) {
        let again = self.coverage.evicted.replace(self.turns) == Some(self.turns);
        self.goals.insert(if again { Goal::EvictionSeveral } else { Goal::Eviction });
    }

    /// A bound ended the run.
    pub(super) fn bounded(&mut self, stalled: bool) {
        self.bound = Some(stalled);
        self.goals.insert(if stalled { Goal::Stall } else { Goal::Bound });
    }

    /// A request donated a state.
    pub(super) fn offered(&mut self, offer: OfferedState) {
        if offer.how.existed {
            self.goals.insert(Goal::DonationExisted);
        }
        let rest = offer.label.checked_rem(self.options.page_size).unwrap_or(0);
        if rest > 0 && offer.label - rest == offer.key_len {
            self.goals.insert(Goal::KeyFloored);
        }
    }

    /// A request starts from a cached state. `by_decode` is whether a decode wrote it, if that is known.
    pub(super) fn started(&mut self, by_decode: Option<bool>, wrong: bool) {
        match by_decode {
            Some(true) => self.goals.insert(Goal::HitOfDecode),
            Some(false) => self.goals.insert(Goal::HitOfPrefill),
            None => {}
        }
        if wrong {
            self.goals.insert(Goal::InheritedStart);
        }
    }
}

/// The goal of a row with this class. `due` is whether a checkpoint was due.
pub(super) fn class_goal(class: Class, due: bool) -> Option<Goal> {
    match class {
        Class::Agree => due.then_some(Goal::Agree),
        Class::Early => Some(Goal::Early),
        Class::Settled => Some(Goal::Settled),
        Class::Repeat => Some(Goal::Repeat),
        Class::Missed => Some(Goal::Missed),
        Class::WrongLabel => Some(Goal::WrongLabel),
        Class::WrongSlot => Some(Goal::WrongSlot),
    }
}

/// The goal of a due checkpoint, by the lookahead at the previous result and at its own.
#[inline(never)]
pub(super) fn boundary_goal(before: LookaheadKind, now: LookaheadKind) -> Option<Goal> {
    match (before, now) {
        (LookaheadKind::NoResult, _) => Some(Goal::FirstDecodeIsBoundary),
        (LookaheadKind::Level, LookaheadKind::Level) => Some(Goal::BoundaryLevelLevel),
        (LookaheadKind::Level, LookaheadKind::Ahead) => Some(Goal::BoundaryLevelAhead),
        (LookaheadKind::Ahead, LookaheadKind::Level) => Some(Goal::BoundaryAheadLevel),
        (LookaheadKind::Ahead, LookaheadKind::Ahead) => Some(Goal::BoundaryAheadAhead),
        (LookaheadKind::Level | LookaheadKind::Ahead, LookaheadKind::NoResult | LookaheadKind::Far)
        | (LookaheadKind::Far, _) => None,
    }
}
