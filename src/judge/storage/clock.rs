//! Happens-before between forwards and the schedule stream: forwards are numbered in launch order, and the schedule
//! stream has waited for all launches up to some number.
//!
//! Owns these two counts. The other direction needs no count: each forward waits for all work that the schedule stream
//! had issued at its launch, and the record is in the order of the schedule stream. So every fact before a launch is
//! ordered before the effects of the launch.

use educe::Educe;
use tinyvec::TinyVec;

use crate::record::BatchId;

/// Launches are numbered from 1. Number 0 stands for the time before the first launch and is always completed.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(super) struct LaunchClock {
    /// The CPU has waited for the launches up to this number.
    completed: u32,
    /// The batches of the later launches, in order.
    in_flight: TinyVec<[BatchId; 2]>,
}

impl LaunchClock {
    /// A forward was queued.
    pub fn launch(&mut self, batch: BatchId) {
        assert!(self.launched() < u32::MAX, "a launch a turn, and turns are counted in 32 bits");
        self.in_flight.push(batch);
    }

    /// The CPU has waited for a batch, and so for all launches up to it. No effect if the batch is not in flight.
    pub fn wait(&mut self, batch: BatchId) {
        if let Some(at) = self.in_flight.iter().rposition(|&launched| launched == batch) {
            self.in_flight.drain(..=at);
            self.completed += at as u32 + 1;
        }
    }

    /// The number of launches that the CPU has not waited for. This number is the whole encoding of the clock.
    pub fn in_flight(&self) -> u32 {
        // The machine encodes the batches of the result queue, in the same order.
        let LaunchClock { completed: _, in_flight } = self;
        in_flight.len() as u32
    }

    /// The number of the last launch.
    #[inline]
    pub fn launched(&self) -> u32 {
        self.completed + self.in_flight.len() as u32
    }

    /// Whether the schedule stream is ordered after that launch.
    #[inline]
    pub fn has_completed(&self, launch: u32) -> bool {
        launch <= self.completed
    }
}
