//! The decode steps of one request between prepare and result.
//!
//! Owns which step a batch ran, where its forward kept the state, and what was prepared since. Refuses to judge.

use crate::record::{BatchId, Canon, SlotId, or_none};

/// Decode steps of one request that are remembered. At most three of its batches are between prepare and result.
const STEPS: usize = 4;

/// One decode step of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    batch: BatchId,
    k: u32,
    /// Where its forward kept the state, if it did.
    slot: SlotId,
    tracked: bool,
    /// Whether its prepare is in the record.
    prepared: bool,
    launched: bool,
    processed: bool,
}

const NO_STEP: Step = Step {
    batch: BatchId(0),
    k: 0,
    slot: SlotId(0),
    tracked: false,
    prepared: false,
    launched: false,
    processed: true,
};

/// The last decode steps of a request, in as few bytes as may be: every step of every row comes here.
#[derive(Clone, Debug)]
pub(super) struct Window {
    steps: [Step; STEPS],
    /// The place of the next one.
    next: u8,
    /// The lookahead at the last processed result since the prefill. Only for goals: nothing is judged by it.
    before: Before,
}

/// The lookahead at a processed result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// There is no such result.
    NoResult,
    /// L = 0.
    Level,
    /// L = 1.
    Ahead,
    /// Neither.
    Far,
}

/// By lookahead, up to all that are neither.
static BY_COUNT: [Before; 3] = [Before::Level, Before::Ahead, Before::Far];

/// What the judge itself knows of a row when its result is processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The length that the batch reached, or kept on the way to it, if the record says.
    pub k: Option<u32>,
    /// The slot that its forward kept the state in, if a checkpoint was due.
    pub due: Option<SlotId>,
    /// The length that the step in flight keeps, and the slot in which it keeps it.
    pub ahead: Option<(u32, SlotId)>,
    /// Decode steps prepared since, if the record has the prepare.
    pub lookahead: Option<u32>,
    /// Whether the engine refused the slot that this step asked for.
    pub refused: bool,
}

impl Step {
    /// A step that keeps no state: prepared, and perhaps launched.
    #[inline]
    fn new(batch: BatchId, k: u32, launched: bool) -> Step {
        Step { batch, k, prepared: true, launched, processed: false, ..NO_STEP }
    }

    /// The same step as it was launched.
    #[inline]
    fn launch(self, batch: BatchId, k: u32, track: Option<SlotId>) -> Step {
        let (slot, tracked) = (track.unwrap_or(SlotId(0)), track.is_some());
        Step { batch, k, slot, tracked, launched: true, ..self }
    }

    /// Where its forward kept the state.
    #[inline]
    fn track(&self) -> Option<SlotId> {
        self.tracked.then_some(self.slot)
    }

    /// Whether it is in flight.
    #[inline]
    fn flies(&self) -> bool {
        self.launched && !self.processed
    }
}

impl Before {
    /// The lookahead `count`.
    #[inline]
    pub fn of(count: i64) -> Before {
        // Negative ones come last, beside those of two and more.
        BY_COUNT[(count as u64).min(2) as usize]
    }
}

impl Default for Window {
    /// No step yet.
    fn default() -> Window {
        Window { steps: [NO_STEP; STEPS], next: 0, before: Before::NoResult }
    }
}

impl Window {
    /// The same with nothing left of what nobody looks at.
    #[cfg(test)]
    pub fn normal(&self) -> Window {
        let mut steps = [0, 1, 2, 3].map(|nth| self.steps[(usize::from(self.next) + nth) % STEPS]);
        for step in steps.iter_mut().filter(|step| step.processed) {
            *step = Step { prepared: step.prepared, ..NO_STEP };
        }
        Window { steps, next: 0, before: self.before }
    }

    /// The indices of the steps, oldest first.
    fn ages(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let next = usize::from(self.next);
        (0..STEPS).map(move |nth| (next + nth) % STEPS)
    }

    /// The steps, oldest first.
    fn by_age(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.ages().map(|index| &self.steps[index])
    }

    /// A step was prepared.
    #[inline]
    pub fn prepare(&mut self, batch: BatchId, k: u32) {
        self.push(Step::new(batch, k, false));
    }

    /// A step was launched: its forward keeps the state in `track`. It may run under another batch than it was
    /// prepared in, when decode rows ride an extend batch.
    #[inline]
    pub fn launch(&mut self, batch: BatchId, k: u32, track: Option<SlotId>) {
        let newest = &mut self.steps[self.back(1)];
        if newest.batch == batch && !newest.launched && !newest.processed {
            *newest = newest.launch(batch, k, track);
        } else {
            self.launch_other(batch, k, track);
        }
    }

    /// A verify was launched that reaches `to` and keeps, if it crosses a boundary, the state of a length on the way.
    pub fn launch_run(&mut self, batch: BatchId, to: u32, track: Option<(SlotId, u32)>) {
        self.launch(batch, track.map_or(to, |(_, len)| len), track.map(|(slot, _)| slot));
    }

    #[cold]
    fn launch_other(&mut self, batch: BatchId, k: u32, track: Option<SlotId>) {
        let waits = |step: &Step| !step.launched && !step.processed;
        let own = self.ages().rfind(|&at| waits(&self.steps[at]) && self.steps[at].batch == batch);
        match own.or_else(|| self.ages().rfind(|&at| waits(&self.steps[at]) && self.steps[at].k == k)) {
            Some(index) => {
                self.steps[index] = self.steps[index].launch(batch, k, track);
            }
            None => self.push(Step { processed: false, ..NO_STEP }.launch(batch, k, track)),
        }
    }

    /// The result of a batch is processed: what is known of the row.
    #[inline]
    pub fn process(&mut self, batch: BatchId) -> Seen {
        let is_it = |step: &Step| step.batch == batch && !step.processed;
        // Nearly always one step has been prepared since, else none.
        let (older, newest) = (self.back(2), self.back(1));
        let index = if is_it(&self.steps[older]) {
            older
        } else if is_it(&self.steps[newest]) {
            newest
        } else {
            let Some(index) = self.ages().find(|&at| is_it(&self.steps[at])) else { return Seen::default() };
            index
        };
        let lookahead = self.since(index);
        let step = &mut self.steps[index];
        step.processed = true;
        let (k, due) = (step.k, step.track());
        let follows = |next: &Step| next.launched && !next.processed && next.k > k;
        let newest = &self.steps[newest];
        let next = if follows(newest) { Some(newest) } else { self.by_age().find(|next| follows(next)) };
        Seen { k: Some(k), due, ahead: next.and_then(|next| Some((next.k, next.track()?))), lookahead, refused: false }
    }

    /// The result of a batch is processed, if its step is one of the newest two, kept no state, and its prepare is known: the
    /// length that it reached, and how many steps were prepared since. Otherwise nothing is changed.
    #[inline]
    pub fn pass(&mut self, batch: BatchId) -> Option<(u32, u32)> {
        let (older, newest) = (self.back(2), self.back(1));
        let index = if self.steps[older].batch == batch && !self.steps[older].processed { older } else { newest };
        let step = &mut self.steps[index];
        if step.batch != batch || step.processed || step.tracked || !step.prepared {
            return None;
        }
        step.processed = true;
        let k = step.k;
        Some((k, if index == newest { 0 } else { u32::from(self.steps[newest].prepared) }))
    }

    /// Notes the lookahead of a processed result and returns the one at the result before.
    #[inline]
    pub fn follow(&mut self, now: Before) -> Before {
        std::mem::replace(&mut self.before, now)
    }

    /// Whether a result was processed since the prefill.
    pub fn has_decoded(&self) -> bool {
        self.before != Before::NoResult
    }

    /// Whether a step is in flight beside the one of the batch whose result is processed.
    pub fn in_flight_beside(&self, batch: BatchId) -> bool {
        self.steps.iter().any(|step| step.flies() && step.batch != batch)
    }

    /// Whether a step in flight keeps a state.
    pub fn boundary_in_flight(&self) -> bool {
        self.steps.iter().any(|step| step.flies() && step.tracked)
    }

    /// Whether the next step is prepared and not launched while one in flight keeps a state.
    pub fn stays_on_boundary(&self) -> bool {
        let newest = &self.steps[self.back(1)];
        !newest.launched && !newest.processed && self.boundary_in_flight()
    }

    /// The request was retracted: what is in flight will be passed over.
    pub fn forget(&mut self) {
        self.before = Before::NoResult;
        for step in &mut self.steps {
            step.processed = true;
        }
    }

    /// Writes the steps whose results are to come, oldest first.
    pub fn canon(&self, out: &mut Canon) {
        // `next` is the place of the oldest, where the ages begin.
        let Window { steps, next: _, before } = self;
        for (index, step) in self.ages().map(|index| (index, &steps[index])).filter(|(_, step)| !step.processed) {
            // `slot` and `tracked` are `track`, and whether it was `prepared` is told with how many were since.
            let Step { batch, k, slot: _, tracked, prepared: _, launched, processed: _ } = step;
            let (batch, track) = (out.label_batch(*batch), out.label_slot(step.track()));
            out.put([batch, *k, or_none(self.since(index)), track, u32::from(*launched)]);
            if *tracked {
                // For a goal alone.
                out.word(*before as u32);
            }
        }
        out.word(u32::MAX);
    }

    /// How many steps were prepared since the one at an index, if its own prepare is in the record. All of them are here: each
    /// took a place behind it.
    #[inline]
    fn since(&self, index: usize) -> Option<u32> {
        let behind = (1..STEPS).map(|count| (index + count) % STEPS).take_while(|&at| at != usize::from(self.next));
        self.steps[index].prepared.then(|| behind.filter(|&at| self.steps[at].prepared).count() as u32)
    }

    /// The index of the step prepared `count` steps ago.
    #[inline]
    fn back(&self, count: usize) -> usize {
        (usize::from(self.next) + STEPS - count) % STEPS
    }

    #[inline]
    fn push(&mut self, step: Step) {
        self.steps[usize::from(self.next) % STEPS] = step;
        self.next = (self.next + 1) % STEPS as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_may_run_under_another_batch_than_it_was_prepared_in() {
        let mut window = Window::default();
        window.prepare(BatchId(2), 8);
        window.launch(BatchId(3), 8, Some(SlotId(1)));
        window.prepare(BatchId(4), 9);
        let seen = window.process(BatchId(3));
        assert_eq!((seen.k, seen.due, seen.lookahead), (Some(8), Some(SlotId(1)), Some(1)));
    }

    #[test]
    fn a_retracted_step_is_not_in_flight() {
        let mut window = Window::default();
        window.prepare(BatchId(1), 4);
        window.launch(BatchId(1), 4, Some(SlotId(1)));
        window.forget();
        window.prepare(BatchId(2), 3);
        window.launch(BatchId(2), 3, None);
        assert_eq!(window.process(BatchId(2)).ahead, None);
    }
}
