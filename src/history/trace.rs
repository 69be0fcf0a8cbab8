//! Whether two runs did the same: a comparison of their facts without times, names of requests, and facts about the form of
//! the script.

use crate::engine::Time;
use crate::record::{Fact, Owner, ReqId, StreamId};

/// Whether the facts of two runs are the same. `name` maps a request of the first run to the second.
pub(super) fn same(first: &[(u32, Fact)], second: &[(u32, Fact)], name: impl Fn(ReqId) -> ReqId) -> bool {
    let of = |facts: &[(u32, Fact)], name: &dyn Fn(ReqId) -> ReqId| -> Vec<(u32, Fact)> {
        facts.iter().filter_map(|&(turn, fact)| Some((turn, bare(fact, name)?))).collect()
    };
    of(first, &name) == of(second, &|req| req)
}

/// A fact without times and tokens, and with requests renamed. `None` for facts about turns and about the script.
fn bare(mut fact: Fact, name: &dyn Fn(ReqId) -> ReqId) -> Option<Fact> {
    let owned = |owner: &mut Owner| match owner {
        Owner::Active(req) | Owner::Track(req, _) | Owner::Request(req) => *req = name(*req),
        Owner::Spare | Owner::Tree => {}
    };
    match &mut fact {
        Fact::Turn { .. }
        | Fact::Begin { .. }
        | Fact::End { .. }
        | Fact::Latched { .. }
        | Fact::PinMissed { .. }
        | Fact::PinEnded { .. }
        | Fact::Abort { taken: false, .. }
        | Fact::EventUnused { .. }
        | Fact::Stream { .. }
        | Fact::Prompt { .. } => return None,
        Fact::HostMasks { .. } | Fact::MasksDropped { .. } | Fact::Mix { .. } | Fact::Bound { .. } => {}
        Fact::Done { at } | Fact::Wait { at, .. } => *at = Time::ZERO,
        Fact::Launch { start, end, copied, .. } => (*start, *end, *copied) = (Time::ZERO, Time::ZERO, Time::ZERO),
        Fact::Arrive { req, at, .. } | Fact::Output { req, at, .. } => (*req, *at) = (name(*req), Time::ZERO),
        // Streams are numbered in the order of the requests.
        Fact::Sampled { req, stream, .. } => (*req, *stream) = (name(*req), StreamId::ROOT),
        Fact::SlotRefused { req, .. } | Fact::Assert { req, .. } => *req = req.map(name),
        Fact::SlotAlloc { owner, .. }
        | Fact::SlotFree { owner, .. }
        | Fact::PageAlloc { owner, .. }
        | Fact::PageFree { owner, .. } => owned(owner),
        Fact::SlotMove { from, to, .. } | Fact::PageMove { from, to, .. } => {
            owned(from);
            owned(to);
        }
        Fact::Match { req, .. }
        | Fact::Hit { req, .. }
        | Fact::Admit { req }
        | Fact::Lock { req, .. }
        | Fact::Unlock { req, .. }
        | Fact::PrepareExtend { req, .. }
        | Fact::PrepareDecode { req, .. }
        | Fact::Clear { req, .. }
        | Fact::CopyState { req, .. }
        | Fact::Extend { req, .. }
        | Fact::Step { req, .. }
        | Fact::Verify { req, .. }
        | Fact::MiddleChunk { req, .. }
        | Fact::Skip { req, .. }
        | Fact::Finish { req, .. }
        | Fact::Row { req, .. }
        | Fact::Fields { req, .. }
        | Fact::Arrays { req, .. }
        | Fact::Read { req, .. }
        | Fact::Flip { req, .. }
        | Fact::Donate { req, .. }
        | Fact::NoDonate { req, .. }
        | Fact::TrackRefused { req, .. }
        | Fact::Retract { req, .. }
        | Fact::Abort { req, taken: true, .. } => *req = name(*req),
    }
    Some(fact)
}
