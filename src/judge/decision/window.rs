//! The decode steps of one request between prepare and result.
//!
//! Owns which step a batch ran, where its forward kept the state, and what was prepared since. Does not judge.

use educe::Educe;
use tinyvec::TinyVec;

use crate::record::{BatchId, Encoding, SlotId, or_none};

/// A decode step whose result has not been processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct WindowStep {
    batch: BatchId,
    k: u32,
    /// Where its forward kept the state, if it did.
    track: Option<SlotId>,
    /// Whether its prepare is in the record.
    prepared: bool,
    launched: bool,
}

/// The decode steps of a request whose results are to come.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub(in crate::judge) struct StepWindow {
    /// In the order in which they were prepared.
    steps: TinyVec<[WindowStep; 2]>,
    /// The lookahead at the last processed result since the prefill. Only for goals: nothing is judged by it.
    before: LookaheadKind,
}

/// The lookahead at a processed result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) enum LookaheadKind {
    /// There is no such result.
    NoResult,
    /// L = 0.
    Level,
    /// L = 1.
    Ahead,
    /// Neither.
    Far,
}

/// What the judge itself knows of a row when its result is processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProcessedStep {
    /// The length that the batch reached, or kept on the way to it, if the record says.
    pub k: Option<u32>,
    /// The slot that its forward kept the state in, if a checkpoint was due.
    pub due: Option<SlotId>,
    /// Decode steps prepared since whose results are to come, if the record has the prepare.
    pub lookahead: Option<u32>,
}

impl LookaheadKind {
    /// The lookahead `count`.
    pub fn of(count: i64) -> LookaheadKind {
        match count {
            0 => LookaheadKind::Level,
            1 => LookaheadKind::Ahead,
            _ => LookaheadKind::Far,
        }
    }
}

impl Default for StepWindow {
    /// No step yet.
    fn default() -> StepWindow {
        StepWindow { steps: TinyVec::new(), before: LookaheadKind::NoResult }
    }
}

impl StepWindow {
    /// A step was prepared.
    #[inline]
    pub fn prepare(&mut self, batch: BatchId, k: u32) {
        self.steps.push(WindowStep { batch, k, track: None, prepared: true, launched: false });
    }

    /// A step was launched: its forward keeps the state in `track`. It may run under another batch than it was prepared in, when decode rows
    /// ride an extend batch.
    #[inline(always)]
    pub fn launch(&mut self, batch: BatchId, k: u32, track: Option<SlotId>) {
        let steps = self.steps.as_mut_slice();
        let of_batch = steps.iter().rposition(|step| !step.launched && step.batch == batch);
        match of_batch.or_else(|| steps.iter().rposition(|step| !step.launched && step.k == k)) {
            Some(at) => {
                let step = &mut steps[at];
                (step.batch, step.k, step.track, step.launched) = (batch, k, track, true);
            }
            None => self.steps.push(WindowStep { batch, k, track, prepared: false, launched: true }),
        }
    }

    /// The result of a batch is processed: what is known of the row. Its step is gone with that.
    #[inline(always)]
    pub(super) fn process(&mut self, batch: BatchId) -> ProcessedStep {
        let steps = self.steps.as_mut_slice();
        let Some(at) = steps.iter().position(|step| step.batch == batch) else { return ProcessedStep::default() };
        let WindowStep { k, track: due, prepared, .. } = steps[at];
        let lookahead = prepared.then(|| prepared_count(&steps[at + 1..]));
        steps.copy_within(at + 1.., at);
        self.steps.pop();
        ProcessedStep { k: Some(k), due, lookahead }
    }

    /// The length that a step in flight beyond `k` keeps, and the slot in which it keeps it.
    pub(super) fn kept_beyond(&self, k: u32) -> Option<(u32, SlotId)> {
        let next = self.steps.iter().find(|next| next.launched && next.k > k)?;
        Some((next.k, next.track?))
    }

    /// Sets the lookahead of a processed result, and returns the one at the result before.
    #[inline]
    pub fn replace_lookahead(&mut self, now: LookaheadKind) -> LookaheadKind {
        std::mem::replace(&mut self.before, now)
    }

    /// Whether a result was processed since the prefill.
    pub fn has_decoded(&self) -> bool {
        self.before != LookaheadKind::NoResult
    }

    /// Whether a step is in flight beside the one of the batch whose result is processed.
    pub fn in_flight_beside(&self, batch: BatchId) -> bool {
        self.steps.iter().any(|step| step.launched && step.batch != batch)
    }

    /// Whether a step in flight keeps a state.
    pub fn boundary_in_flight(&self) -> bool {
        self.steps.iter().any(|step| step.launched && step.track.is_some())
    }

    /// Whether the next step is prepared and not launched while one in flight keeps a state.
    pub fn stays_on_boundary(&self) -> bool {
        self.steps.last().is_some_and(|newest| !newest.launched) && self.boundary_in_flight()
    }

    /// The request was retracted: what is in flight will be passed over.
    pub fn forget(&mut self) {
        self.before = LookaheadKind::NoResult;
        self.steps.clear();
    }

    /// Encodes the steps whose results are to come, oldest first.
    pub fn encode(&self, out: &mut Encoding) {
        let StepWindow { steps, before } = self;
        for (at, step) in steps.iter().enumerate() {
            let WindowStep { batch, k, track, prepared, launched } = step;
            let (batch, slot) = (out.label_batch(*batch), out.label_slot(*track));
            let since = prepared.then(|| prepared_count(&steps[at + 1..]));
            out.put([batch, *k, or_none(since), slot, u32::from(*launched)]);
            if track.is_some() {
                // For a goal alone.
                out.word(*before as u32);
            }
        }
        out.word(u32::MAX);
    }
}

/// How many of these steps have their prepare in the record.
fn prepared_count(steps: &[WindowStep]) -> u32 {
    steps.iter().filter(|step| step.prepared).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_may_run_under_another_batch_than_it_was_prepared_in() {
        let mut window = StepWindow::default();
        window.prepare(BatchId(2), 8);
        window.launch(BatchId(3), 8, Some(SlotId(1)));
        window.prepare(BatchId(4), 9);
        let seen = window.process(BatchId(3));
        assert_eq!((seen.k, seen.due, seen.lookahead), (Some(8), Some(SlotId(1)), Some(1)));
    }

    #[test]
    fn a_retracted_step_is_not_in_flight() {
        let mut window = StepWindow::default();
        window.prepare(BatchId(1), 4);
        window.launch(BatchId(1), 4, Some(SlotId(1)));
        window.forget();
        window.prepare(BatchId(2), 3);
        window.launch(BatchId(2), 3, None);
        assert_eq!(window.process(BatchId(2)).due, None);
        assert_eq!(window.kept_beyond(3), None);
    }
}
