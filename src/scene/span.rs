//! Lanes and the spans in them: the words that timeline, page, trace, explorer and graph share.

use crate::record::{BatchId, ForwardMode, Phase};

/// Where work runs: the CPU or a GPU stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// The scheduler's CPU.
    Cpu,
    /// The stream of the scheduler's own copies. A scene has no span in it: such a copy takes no time.
    Schedule,
    /// The stream of the forwards.
    Forward,
    /// The stream that copies results to the host.
    Copy,
}

impl Lane {
    /// Every lane, from top to bottom of a drawing.
    pub const ALL: [Lane; 4] = [Lane::Cpu, Lane::Schedule, Lane::Forward, Lane::Copy];
}

/// The kind of work of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// A CPU phase, or the part of it after a wait.
    Phase(Phase),
    /// CPU work outside any phase, as a record written by hand may have it.
    Cpu,
    /// The CPU waits for the completion event of the batch.
    Wait,
    /// A copy of a state on the schedule stream.
    StateCopy,
    /// A forward.
    Forward(ForwardMode),
    /// The copy of a result to the host.
    ResultCopy,
}

/// A stretch of work in a lane. Spans of one lane do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The lane.
    pub lane: Lane,
    /// The kind of work.
    pub work: Work,
    /// The batch that it works on, if it has one.
    pub batch: Option<BatchId>,
    /// The loop turn in which it was issued.
    pub turn: u32,
    /// When it begins, in virtual nanoseconds.
    pub start_ns: u64,
    /// When it ends, in virtual nanoseconds.
    pub end_ns: u64,
}
