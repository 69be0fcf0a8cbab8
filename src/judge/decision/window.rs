//! The decode steps of one request between prepare and result.
//!
//! Owns, for each such step, its batch, its length, the track slot that its forward wrote, and the number of steps
//! prepared since. Does not judge decisions: that is `classify`.

use educe::Educe;
use tinyvec::TinyVec;

use crate::record::{BatchId, Encoding, SlotId, or_none};

/// A decode step whose result is not processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct WindowStep {
    batch: BatchId,
    /// The length that it reaches.
    k: u32,
    /// The track slot that its forward wrote, if any.
    track: Option<SlotId>,
    /// Whether the record has its prepare.
    prepared: bool,
    /// Whether its forward is launched.
    launched: bool,
}

/// The decode steps of a request whose results are not processed.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub(in crate::judge) struct StepWindow {
    /// In the order of their prepares.
    steps: TinyVec<[WindowStep; 2]>,
    /// The lookahead at the last processed result since the prefill. For coverage goals only.
    before: LookaheadKind,
}

/// The lookahead at a processed result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) enum LookaheadKind {
    /// No result since the prefill.
    NoResult,
    /// L = 0.
    Level,
    /// L = 1.
    Ahead,
    /// Any other lookahead.
    Far,
}

/// A step at the time when its result is processed, as the judge knows it from prepares and launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProcessedStep {
    /// The length that the step reached; for a verify that crossed a boundary, the boundary. `None` if the record lacks
    /// the step.
    pub k: Option<u32>,
    /// The track slot that its forward wrote, if a checkpoint is due.
    pub due: Option<SlotId>,
    /// The number of decode steps prepared since; `None` if the record lacks the prepare of the step.
    pub lookahead: Option<u32>,
}

impl LookaheadKind {
    /// The kind of a lookahead.
    pub fn of(count: i64) -> LookaheadKind {
        match count {
            0 => LookaheadKind::Level,
            1 => LookaheadKind::Ahead,
            _ => LookaheadKind::Far,
        }
    }
}

impl Default for StepWindow {
    /// No steps, no results.
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

    /// A step was launched, and its forward writes the state to `track`. Its batch differs from that of its prepare if
    /// the row rides along in a mixed batch; then the step is found by its length.
    // Measured together with `DecisionDiff::row`: see there.
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

    /// The result of a batch is processed. Removes the step of that batch and returns it.
    // Measured together with `DecisionDiff::row`: see there.
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

    /// The length and the track slot of the first launched step beyond `k`, if its forward writes a track slot.
    pub(super) fn kept_beyond(&self, k: u32) -> Option<(u32, SlotId)> {
        let next = self.steps.iter().find(|next| next.launched && next.k > k)?;
        Some((next.k, next.track?))
    }

    /// Sets the lookahead at a processed result, and returns the lookahead at the previous result.
    #[inline]
    pub fn replace_lookahead(&mut self, now: LookaheadKind) -> LookaheadKind {
        std::mem::replace(&mut self.before, now)
    }

    /// Whether a decode result was processed since the prefill.
    pub fn has_decoded(&self) -> bool {
        self.before != LookaheadKind::NoResult
    }

    /// Whether a step of another batch than `batch` is in flight.
    pub fn in_flight_beside(&self, batch: BatchId) -> bool {
        self.steps.iter().any(|step| step.launched && step.batch != batch)
    }

    /// Whether a step in flight writes a track slot.
    pub fn boundary_in_flight(&self) -> bool {
        self.steps.iter().any(|step| step.launched && step.track.is_some())
    }

    /// Whether the next step is prepared but not launched, and a step in flight writes a track slot.
    pub fn stays_on_boundary(&self) -> bool {
        self.steps.last().is_some_and(|newest| !newest.launched) && self.boundary_in_flight()
    }

    /// The request was retracted: the results of its steps in flight will be skipped.
    pub fn forget(&mut self) {
        self.before = LookaheadKind::NoResult;
        self.steps.clear();
    }

    /// Encodes the steps, oldest first.
    pub fn encode(&self, out: &mut Encoding) {
        let StepWindow { steps, before } = self;
        for (at, step) in steps.iter().enumerate() {
            let WindowStep { batch, k, track, prepared, launched } = step;
            let (batch, slot) = (out.label_batch(*batch), out.label_slot(*track));
            let since = prepared.then(|| prepared_count(&steps[at + 1..]));
            out.put([batch, *k, or_none(since), slot, u32::from(*launched)]);
            if track.is_some() {
                // For a coverage goal only.
                out.word(*before as u32);
            }
        }
        out.word(u32::MAX);
    }
}

/// The number of steps whose prepare is in the record.
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
