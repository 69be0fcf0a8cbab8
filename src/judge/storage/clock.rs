//! Happens-before, as far as the CPU knows it: forwards are numbered as they are launched, and the schedule stream has waited for all up to
//! one of them.
//!
//! Owns those two counts. The forward stream needs none of its own for the other direction: each forward waits for all that the schedule
//! stream had issued when it was launched, and the record is in the order of the schedule stream, so whatever stands before a launch is
//! ordered before its effects.

use educe::Educe;
use tinyvec::TinyVec;

use crate::record::BatchId;

/// Launches count from 1; what precedes them, number 0, is always known.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(super) struct LaunchClock {
    /// The launches up to this one have been waited for.
    completed: u32,
    /// The batches launched since, in order: as many as are in flight.
    in_flight: TinyVec<[BatchId; 2]>,
}

impl LaunchClock {
    /// A forward was queued.
    pub fn launch(&mut self, batch: BatchId) {
        assert!(self.launched() < u32::MAX, "a launch a turn, and turns are counted in 32 bits");
        self.in_flight.push(batch);
    }

    /// The CPU has waited for a batch, and so for all launches up to it. A batch that is not in flight changes nothing.
    pub fn wait(&mut self, batch: BatchId) {
        if let Some(at) = self.in_flight.iter().rposition(|&launched| launched == batch) {
            self.in_flight.drain(..=at);
            self.completed += at as u32 + 1;
        }
    }

    /// How many launches the CPU has not waited for: all that a search tells clocks apart by.
    pub fn in_flight(&self) -> u32 {
        // Which batch each of them was is encoded with the queue, in the same order.
        let LaunchClock { completed: _, in_flight } = self;
        in_flight.len() as u32
    }

    /// The number of the last launch.
    #[inline]
    pub fn launched(&self) -> u32 {
        self.completed + self.in_flight.len() as u32
    }

    /// Whether there is a path from that launch to what the schedule stream does now.
    #[inline]
    pub fn has_completed(&self, launch: u32) -> bool {
        launch <= self.completed
    }
}
