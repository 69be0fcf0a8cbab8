//! Facts of forwards: the launch, then its effects on slots in stream order, and the tokens that it samples.

use crate::engine::Time;

use crate::record::{BatchId, Prefix, ReqId, SlotId, StreamId};

/// What kind of forward a batch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForwardMode {
    /// Prefill: each row folds a run of prompt tokens.
    Extend,
    /// Decode: each row folds one token.
    Decode,
    /// Prefill rows, then decode rows that ride along.
    Mixed,
    /// Speculative decode: each row folds the run of tokens that it accepts.
    Verify,
}

/// The stream on which a copy of a state runs.
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
    /// A forward was queued on the GPU stream; its effects follow, in stream order.
    Launch {
        /// The batch.
        batch: BatchId,
        /// Its mode.
        mode: ForwardMode,
        /// How many rows.
        rows: u32,
        /// When the forward starts on the GPU.
        start: Time,
        /// When it ends there.
        end: Time,
        /// When its result has been copied to the host.
        copied: Time,
    },
    /// Forward effect: a slot was cleared.
    Clear {
        /// The request it is cleared for.
        req: ReqId,
        /// The slot.
        slot: SlotId,
    },
    /// A state was copied from slot to slot.
    CopyState {
        /// For which request.
        req: ReqId,
        /// The slot read.
        from: SlotId,
        /// The slot written.
        to: SlotId,
        /// On which stream.
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
        /// First token folded, from 0.
        from: u32,
        /// End of the run: the length reached.
        to: u32,
        /// A second slot that receives the state as it is at this length on the way.
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
        /// A second slot that receives the state afterwards.
        track: Option<SlotId>,
    },
    /// Forward effect: an active slot was advanced over the tokens `from..to` that a verify accepted; what it rejected
    /// leaves no trace.
    Verify {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The slot.
        slot: SlotId,
        /// The length before.
        from: u32,
        /// The length reached.
        to: u32,
        /// A second slot that receives the state as it is at this length on the way.
        track: Option<(SlotId, u32)>,
        /// The slot that receives it if the accepted run crosses a boundary, whether it does or not.
        target: Option<SlotId>,
    },
    /// The model sampled a new token of a request: token `len + 1` (1-based).
    Sampled {
        /// The request.
        req: ReqId,
        /// How many tokens the request had before.
        len: u32,
        /// The stream that its tokens lie on with the new one.
        stream: StreamId,
    },
    /// A stream of tokens goes on from a prefix. Told before anything lies on it.
    Stream {
        /// The stream.
        stream: StreamId,
        /// The prefix.
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
