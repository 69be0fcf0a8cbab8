//! Facts of the run itself: turns, phases, waits, and how it ends.

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
    /// A mask says boundary where the committed length is not on the grid.
    OffGrid,
    /// The committed length leads the tokens by more than one.
    CommittedLead,
    /// A boundary before any output.
    NoOutput,
    /// The batch's counter snapshot or masks are missing where the code subtracts from them.
    MissingSnapshot,
    /// No state slot can be had, not even by eviction.
    OutOfSlots,
    /// No KV page can be had, not even by eviction.
    OutOfPages,
    /// A request that ends would donate a track slot that it does not hold. The releases have no check here: they cache
    /// slot -1 under the label, and a hit on it copies whatever the pool's last row holds.
    NoKeptSlot,
}

/// Facts of the run itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunFact {
    /// A loop turn begins. Turns count from 0 and may jump over idle ones.
    Turn {
        /// Its number.
        turn: u32,
        /// When it begins.
        at: Time,
    },
    /// A CPU phase begins.
    Begin {
        /// Which.
        phase: Phase,
        /// The batch it works on, if it has one.
        batch: Option<BatchId>,
        /// When it begins.
        at: Time,
    },
    /// The CPU phase ends.
    End {
        /// When it ends.
        at: Time,
    },
    /// The CPU has waited for the completion event of a forward: all that it wrote is there.
    Wait {
        /// The batch.
        batch: BatchId,
        /// When the wait was over.
        at: Time,
    },
    /// An assertion of the modelled system failed; the run ends.
    Assert {
        /// The request it was about, if any.
        req: Option<ReqId>,
        /// Which.
        kind: AssertKind,
    },
    /// The run was ended by its bound on turns, or because nothing can ever happen again.
    Bound {
        /// Whether requests wait that can never be admitted; otherwise the bound on turns was hit.
        stalled: bool,
    },
    /// The run is over: everything that is not in the tree must be free.
    Done {
        /// When.
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
