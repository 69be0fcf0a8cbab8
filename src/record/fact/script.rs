//! Facts of scripted arrivals and events that had no effect.

use crate::record::ReqId;

/// Facts of scripted arrivals and events that had no effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScriptFact {
    /// A request pinned before a step was not admitted in the turn of that step.
    PinMissed {
        /// The request.
        req: ReqId,
    },
    /// The request whose step was the pin ended before that step.
    PinEnded {
        /// The pinned request.
        req: ReqId,
    },
    /// A scripted event had no effect.
    EventUnused {
        /// The turn of the event.
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
