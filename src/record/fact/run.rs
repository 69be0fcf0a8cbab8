//! Facts of the run itself: turns, phases, waits, end.

use crate::engine::Time;

use crate::record::{BatchId, ReqId};

/// A phase of the scheduler's CPU work within a loop turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Arrivals are taken in.
    #[default]
    Ingest,
    /// The next batch is planned: filter, merge, admission, retraction.
    Plan,
    /// The batch is prepared: slots, pages, lengths, masks.
    Prepare,
    /// The forward is queued on the GPU stream.
    Launch,
    /// The result of a batch is processed, after waiting for its completion event.
    Result,
}

/// An assertion of the modelled system that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AssertKind {
    /// The lookahead is neither 0 nor 1.
    Lookahead,
    /// A mask is set although the committed length is not on the grid.
    OffGrid,
    /// The committed length is more than one token ahead of the tokens.
    CommittedLead,
    /// A boundary before the first output.
    NoOutput,
    /// The counter snapshot or masks of the batch are missing although the code reads them.
    MissingSnapshot,
    /// No state slot is available, not even by eviction.
    OutOfSlots,
    /// No KV page is available, not even by eviction.
    OutOfPages,
    /// A request that ends would donate a track slot that it does not hold. The releases of SGLang have no check here:
    /// they cache slot -1 under the label, and a hit copies the last row of the pool.
    NoKeptSlot,
}

/// Facts of the run itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunFact {
    /// A loop turn begins. Turns are numbered from 0; idle turns can be skipped in the record.
    Turn {
        /// The number of the turn.
        turn: u32,
        /// The time.
        at: Time,
    },
    /// A CPU phase begins.
    Begin {
        /// The phase.
        phase: Phase,
        /// The batch of the phase, if any.
        batch: Option<BatchId>,
        /// The time.
        at: Time,
    },
    /// The CPU phase ends.
    End {
        /// The time.
        at: Time,
    },
    /// The CPU has waited for the completion event of a forward: all its writes are complete.
    Wait {
        /// The batch.
        batch: BatchId,
        /// When the wait ended.
        at: Time,
    },
    /// An assertion of the modelled system failed; the run ends.
    Assert {
        /// The request concerned, if any.
        req: Option<ReqId>,
        /// The assertion.
        kind: AssertKind,
    },
    /// The run ended without all requests ended: by its bound on turns, or by a stall.
    Bound {
        /// Whether it stalled: requests wait that can never be admitted. Otherwise the bound on turns was reached.
        stalled: bool,
    },
    /// The run has ended: every slot and page must be free or in the tree.
    Done {
        /// The time.
        at: Time,
    },
}

impl RunFact {
    /// Calls `visit` with every request that the fact names.
    pub(super) fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            RunFact::Assert { req, .. } => req.iter_mut().for_each(visit),
            RunFact::Turn { .. }
            | RunFact::Begin { .. }
            | RunFact::End { .. }
            | RunFact::Wait { .. }
            | RunFact::Bound { .. }
            | RunFact::Done { .. } => {}
        }
    }
}
