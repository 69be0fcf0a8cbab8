//! Facts of requests: arrival, admission, outputs, and how they end.

use crate::engine::Time;

use crate::record::{BatchId, Prefix, ReqId};

/// Why a request finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FinishKind {
    /// A stop token was sampled.
    Token,
    /// `max_new` outputs were reached.
    Length,
    /// It was aborted.
    Abort,
}

/// Why a row was passed over at result processing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// Its request had ended.
    Ended,
    /// Its request was retracted after the launch.
    Retracted,
}

/// What an abort meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AbortStage {
    /// The request waits.
    Waiting,
    /// It is being prefilled in chunks.
    Chunk,
    /// Its prefill has been launched and not processed.
    Prefill,
    /// It decodes.
    Decode,
    /// It has finished.
    Finished,
    /// It was dropped without having finished, or was never seen.
    Gone,
}

/// Facts of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestFact {
    /// The prompt of a request, told before it arrives.
    Prompt {
        /// The request.
        req: ReqId,
        /// Its tokens.
        prompt: Prefix,
    },
    /// A request is seen for the first time (its prompt came before).
    Arrive {
        /// Which.
        req: ReqId,
        /// When it arrived; the ingest that saw it may be later.
        at: Time,
        /// The most outputs it may have.
        max_new: u32,
    },
    /// A request was admitted into a prefill batch.
    Admit {
        /// Which.
        req: ReqId,
    },
    /// A row was passed over at result processing.
    Skip {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// Why.
        why: SkipReason,
    },
    /// The result of a chunk that does not end its prompt: nothing is emitted.
    MiddleChunk {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
    },
    /// Outputs were appended to a request at result processing: one, or all that a verify accepted.
    Output {
        /// The batch whose result it is.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// How many outputs it has now. Those behind its end are among them: [`RequestFact::Finish`], which follows, says how many it
        /// delivers.
        outputs: u32,
        /// When.
        at: Time,
    },
    /// A request finished.
    Finish {
        /// The request.
        req: ReqId,
        /// Why.
        kind: FinishKind,
        /// How many outputs it delivers.
        outputs: u32,
    },
    /// A request was retracted: it lost its slots and pages and waits again.
    Retract {
        /// The request.
        req: ReqId,
        /// How many outputs it keeps.
        outputs: u32,
    },
    /// An abort of a request was taken in.
    Abort {
        /// The request.
        req: ReqId,
        /// What it met.
        stage: AbortStage,
        /// Whether there was anything left to abort.
        taken: bool,
    },
}

impl RequestFact {
    /// Calls `visit` with every request that the fact names.
    pub(super) fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            RequestFact::Prompt { req, .. }
            | RequestFact::Arrive { req, .. }
            | RequestFact::Admit { req, .. }
            | RequestFact::Skip { req, .. }
            | RequestFact::MiddleChunk { req, .. }
            | RequestFact::Output { req, .. }
            | RequestFact::Finish { req, .. }
            | RequestFact::Retract { req, .. }
            | RequestFact::Abort { req, .. } => visit(req),
        }
    }
}
