//! Whether two runs did the same: a comparison of their facts without times, names of requests, and facts about the
//! form of the script.

use crate::engine::Time;
use crate::record::{Fact, ForwardFact, ProbeFact, ReqId, RequestFact, RunFact, StreamId};

/// Whether the facts of two runs are the same. `name` maps a request of the first run to the second.
pub(super) fn same(first: &[(u32, Fact)], second: &[(u32, Fact)], name: impl Fn(ReqId) -> ReqId) -> bool {
    let of = |facts: &[(u32, Fact)], name: &dyn Fn(ReqId) -> ReqId| -> Vec<(u32, Fact)> {
        facts.iter().filter_map(|&(turn, fact)| Some((turn, bare(fact, name)?))).collect()
    };
    of(first, &name) == of(second, &|req| req)
}

/// A fact without times and tokens, and with requests renamed. `None` for facts about turns and about the script.
fn bare(mut fact: Fact, name: &dyn Fn(ReqId) -> ReqId) -> Option<Fact> {
    match &mut fact {
        Fact::Run(RunFact::Turn { .. } | RunFact::Begin { .. } | RunFact::End { .. })
        | Fact::Probe(ProbeFact::Latched { .. })
        | Fact::Script(_)
        | Fact::Request(RequestFact::Abort { taken: false, .. } | RequestFact::Prompt { .. })
        | Fact::Forward(ForwardFact::Stream { .. }) => return None,
        Fact::Run(RunFact::Done { at } | RunFact::Wait { at, .. })
        | Fact::Request(RequestFact::Arrive { at, .. } | RequestFact::Output { at, .. }) => *at = Time::ZERO,
        Fact::Forward(ForwardFact::Launch { start, end, copied, .. }) => {
            (*start, *end, *copied) = (Time::ZERO, Time::ZERO, Time::ZERO);
        }
        // Streams are numbered in the order of the requests.
        Fact::Forward(ForwardFact::Sampled { stream, .. }) => *stream = StreamId::ROOT,
        Fact::Run(RunFact::Assert { .. } | RunFact::Bound { .. })
        | Fact::Request(_)
        | Fact::Slot(_)
        | Fact::Page(_)
        | Fact::Cache(_)
        | Fact::Batch(_)
        | Fact::Forward(_)
        | Fact::Decision(_)
        | Fact::Probe(_) => {}
    }
    fact.visit_reqs(&mut |req| *req = name(*req));
    Some(fact)
}
