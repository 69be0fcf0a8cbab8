//! Happens-before, as far as the CPU knows it: a clock of two counters.
//!
//! Owns how many forwards are launched and up to which of them the schedule stream has waited. The forward stream needs
//! no counter of its own for the other direction: each forward waits for all that the schedule stream had issued when it
//! was launched, and the record is in the order of the schedule stream, so whatever stands before a launch is ordered
//! before its effects.

use crate::record::BatchId;

/// Launches remembered by batch. A pipeline has two in flight; the rest is slack for records written by hand.
const LAUNCHES: usize = 8;

/// Launches count from 1; what precedes them, number 0, is always known.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    launched: u32,
    completed: u32,
    batches: [(BatchId, u32); LAUNCHES],
}

impl Clock {
    /// Nothing launched.
    pub fn new() -> Clock {
        Clock { launched: 0, completed: 0, batches: [(BatchId(0), 0); LAUNCHES] }
    }

    /// A forward was queued.
    pub fn launch(&mut self, batch: BatchId) {
        self.launched = self.launched.checked_add(1).expect("a launch a turn, and turns are counted in 32 bits");
        self.batches[self.launched as usize % LAUNCHES] = (batch, self.launched);
    }

    /// The CPU has waited for a batch, and so for all launches up to it. A batch never launched changes nothing.
    pub fn wait(&mut self, batch: BatchId) {
        let known = self.batches.iter().filter(|known| known.0 == batch).map(|known| known.1).max();
        self.completed = self.completed.max(known.unwrap_or(0));
    }

    /// Launches that the CPU has not waited for: all that a search tells clocks apart by.
    pub fn in_flight(&self) -> u32 {
        // Which batch each of them was is told with the queue, whose order is theirs.
        let Clock { launched, completed, batches: _ } = self;
        launched - completed
    }

    /// The number of the last launch.
    #[inline]
    pub fn launched(&self) -> u32 {
        self.launched
    }

    /// Whether there is a path from that forward to what the schedule stream does now.
    #[inline]
    pub fn knows(&self, launch: u32) -> bool {
        launch <= self.completed
    }
}
