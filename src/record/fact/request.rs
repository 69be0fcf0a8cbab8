//! Facts of requests: arrival, admission, outputs, end.

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

/// The reason why result processing skipped a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// The request had ended.
    Ended,
    /// The request was retracted after the launch.
    Retracted,
}

/// The stage of a request when an abort arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AbortStage {
    /// It is in the waiting queue.
    Waiting,
    /// It is being prefilled in chunks.
    Chunk,
    /// Its prefill is launched and its result not processed.
    Prefill,
    /// It decodes.
    Decode,
    /// It has finished.
    Finished,
    /// It was dropped without having finished, or has not arrived.
    Gone,
}

/// Facts of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestFact {
    /// The prompt of a request. Emitted before the request arrives.
    Prompt {
        /// The request.
        req: ReqId,
        /// The tokens.
        prompt: Prefix,
    },
    /// The scheduler took in a request for the first time. [`RequestFact::Prompt`] precedes this fact.
    Arrive {
        /// The request.
        req: ReqId,
        /// When it arrived; its ingest may be later.
        at: Time,
        /// The maximum number of outputs.
        max_new: u32,
    },
    /// A request was admitted into a prefill batch.
    Admit {
        /// The request.
        req: ReqId,
    },
    /// Result processing skipped a row.
    Skip {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The reason.
        why: SkipReason,
    },
    /// The result of a chunk that does not end its prompt: no output is emitted.
    MiddleChunk {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
    },
    /// Result processing appended outputs to a request: one output, or all outputs that a verify accepted.
    Output {
        /// The batch of the result.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The number of outputs now. Outputs after the end of the request are included: the [`RequestFact::Finish`]
        /// that follows has the number delivered.
        outputs: u32,
        /// When.
        at: Time,
    },
    /// A request finished.
    Finish {
        /// The request.
        req: ReqId,
        /// The reason.
        kind: FinishKind,
        /// The number of outputs delivered.
        outputs: u32,
    },
    /// A request was retracted: it lost its slots and pages and is back in the waiting queue.
    Retract {
        /// The request.
        req: ReqId,
        /// The number of outputs that it keeps.
        outputs: u32,
    },
    /// The scheduler took in an abort of a request.
    Abort {
        /// The request.
        req: ReqId,
        /// The stage of the request.
        stage: AbortStage,
        /// Whether the abort had an effect.
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
