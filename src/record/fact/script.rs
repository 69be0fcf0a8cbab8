//! Facts of scripted arrivals and events that had no effect.

use crate::record::ReqId;

/// Facts of scripted arrivals and events that had no effect..
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScriptFact {
    /// A request pinned before a step was not admitted in the turn that it was pinned to.
    PinMissed {
        /// The request.
        req: ReqId,
    },
    /// The request that another one was pinned to ended before the step.
    PinEnded {
        /// The request that was pinned.
        req: ReqId,
    },
    /// A scripted event found nothing to do.
    EventUnused {
        /// The turn that it was scripted for.
        turn: u32,
        /// The request.
        req: ReqId,
    },
}

impl ScriptFact {
    /// Calls `visit` with every request that the fact names.
    pub(super) fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            ScriptFact::PinMissed { req, .. }
            | ScriptFact::PinEnded { req, .. }
            | ScriptFact::EventUnused { req, .. } => visit(req),
        }
    }
}
