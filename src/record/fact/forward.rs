//! Facts of forwards: a launch, its effects on slots in stream order, and the sampled tokens.

use crate::engine::Time;

use crate::record::{BatchId, Prefix, ReqId, SlotId, StreamId};

/// The kind of forward that a batch runs (`ForwardMode` in SGLang).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForwardMode {
    /// Prefill: each row folds a range of prompt tokens.
    Extend,
    /// Decode: each row folds one token.
    Decode,
    /// Prefill rows, then decode rows that ride along.
    Mixed,
    /// Speculative decode: each row folds the tokens that it accepts.
    Verify,
}

/// The GPU stream on which a copy of a state runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GpuStream {
    /// The scheduler's own stream.
    Schedule,
    /// The stream of the forwards.
    Forward,
}

/// Facts of forwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForwardFact {
    /// A forward was queued on the forward stream. The facts of its effects follow, in stream order.
    Launch {
        /// The batch.
        batch: BatchId,
        /// Its mode.
        mode: ForwardMode,
        /// The number of rows.
        rows: u32,
        /// When the forward starts on the GPU.
        start: Time,
        /// When it ends on the GPU.
        end: Time,
        /// When the copy of its result to the host ends.
        copied: Time,
    },
    /// Forward effect: a slot was cleared.
    Clear {
        /// The request that the slot is cleared for.
        req: ReqId,
        /// The slot.
        slot: SlotId,
    },
    /// A state was copied from one slot to another.
    CopyState {
        /// The request for which it is copied.
        req: ReqId,
        /// The slot read.
        from: SlotId,
        /// The slot written.
        to: SlotId,
        /// The stream of the copy.
        stream: GpuStream,
    },
    /// Forward effect: an active slot was advanced over the tokens `from..to` of its request.
    Extend {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The slot.
        slot: SlotId,
        /// The index of the first folded token, from 0.
        from: u32,
        /// The length reached.
        to: u32,
        /// The track slot that receives the state of a length within `from..=to`, and that length.
        track: Option<(SlotId, u32)>,
    },
    /// Forward effect: an active slot was advanced by token k (1-based) of its request.
    Step {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The slot.
        slot: SlotId,
        /// The length reached.
        k: u32,
        /// The track slot that receives a copy of the new state, if any.
        track: Option<SlotId>,
    },
    /// Forward effect: an active slot was advanced over the tokens `from..to` that a verify accepted. Rejected tokens
    /// have no effect.
    Verify {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The slot.
        slot: SlotId,
        /// The length before the step.
        from: u32,
        /// The length reached.
        to: u32,
        /// The track slot that receives the state of a length within `from..=to`, and that length.
        track: Option<(SlotId, u32)>,
        /// The slot for the boundary state, whether or not the accepted tokens cross a boundary.
        target: Option<SlotId>,
    },
    /// The model sampled a new token of a request: token `len + 1` (1-based).
    Sampled {
        /// The request.
        req: ReqId,
        /// The number of tokens of the request before the new one.
        len: u32,
        /// The stream of its tokens including the new one.
        stream: StreamId,
    },
    /// A stream of tokens continues a prefix. Emitted before any other fact that names the stream.
    Stream {
        /// The stream.
        stream: StreamId,
        /// The prefix that it continues.
        parent: Prefix,
    },
}

impl ForwardFact {
    /// Calls `visit` with every request that the fact names.
    pub(super) fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            ForwardFact::Clear { req, .. }
            | ForwardFact::CopyState { req, .. }
            | ForwardFact::Extend { req, .. }
            | ForwardFact::Step { req, .. }
            | ForwardFact::Verify { req, .. }
            | ForwardFact::Sampled { req, .. } => visit(req),
            ForwardFact::Launch { .. } | ForwardFact::Stream { .. } => {}
        }
    }
}
