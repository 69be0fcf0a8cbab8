//! Static reductions of a setup: which requests are interchangeable, and which parts of a state can never matter in any
//! run.
//!
//! A search uses them to treat states with the same future as one state.

use super::setup::{Arrive, Event, Prompt, RequestSpec, Setup};
use crate::engine::{ChoicePoint, OpenPoints};
use crate::record::Encoding;

/// Properties that hold in every run of a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// KV and state slots are never short, in any order of events. Then nothing is evicted, and the budget, the
    /// new-token ratio and the orders of the tree decide nothing.
    pub ample: bool,
    /// The never-used part of the slot pool outlasts any run, and it is handed out first. Freed slots are never reused,
    /// so neither their contents nor their order is encoded.
    pub fresh_slots_last: bool,
    /// Turns may take no time, so events at the same time can come in more than one order.
    pub clock_matters: bool,
}

/// The maximal length of a request in tokens: prompt, outputs, and the reserve of speculative decoding.
fn reach(setup: &Setup, index: usize) -> u64 {
    let spec = &setup.requests[index];
    prompt_max(setup, index) + u64::from(spec.max_new) + 2 * u64::from(setup.engine.spec_reserve())
}

/// The maximal length of a prompt in tokens.
fn prompt_max(setup: &Setup, index: usize) -> u64 {
    match &setup.requests[index].prompt {
        Prompt::Tokens(tokens) => tokens.len() as u64,
        Prompt::Fresh { len, .. } | Prompt::Blocks { len, .. } => u64::from(*len),
        Prompt::Of { req, keep: Some(keep), len, .. } => {
            u64::from(*keep).min(reach(setup, req.index())) + u64::from(*len)
        }
        Prompt::Of { req, keep: None, len, .. } => reach(setup, req.index()) + u64::from(*len),
    }
}

/// Slots that a prefill takes beside the slots set aside: the active slot, two track slots, a slot for the state cached
/// at its end, and a slot for a hit that is not admitted and gives it back. One more is a margin.
const SLOTS_OF_PREFILL: u64 = 6;
/// The most slots that admission makes free for a request before it takes any, plus a margin of one.
const HEADROOM: u64 = 4;

/// An upper bound on how many slots any run hands out, if KV and slots are never short. `None` if there is no bound.
fn given_out(setup: &Setup, open: &OpenPoints) -> Option<u64> {
    let engine = &setup.engine;
    // An open choice point can retract a request any number of times. An admission that only adds a chunk, or whose
    // budget the decode rows of a mixed batch use up, admits no request.
    if open.has(ChoicePoint::Retract) || engine.chunked_prefill_size.is_some() || engine.mixed_chunk {
        return None;
    }
    let requests = setup.requests.len() as u64;
    // Each event retracts one request once.
    let retractions = setup.events.iter().filter(|event| matches!(event, Event::Retract { .. })).count() as u64;
    // Every admission admits at least one request (`Machine::admit`), and sets a slot aside for each waiting request.
    let by_prefills = (requests + retractions).saturating_mul(requests + SLOTS_OF_PREFILL);
    let steps = |index: usize| (reach(setup, index) + 2).saturating_mul(1 + retractions);
    // A second slot is taken for a boundary, at most one for each step.
    let by_steps = if engine.track_policy().second_slot_on_demand {
        (0..setup.requests.len()).map(steps).fold(0, u64::saturating_add)
    } else {
        0
    };
    Some(by_prefills.saturating_add(by_steps))
}

impl Reductions {
    /// The reductions of a setup with these open choice points.
    pub fn new(setup: &Setup, open: &OpenPoints) -> Reductions {
        let engine = &setup.engine;
        let page = u64::from(engine.page_size);
        let (mut kv, mut slots) = (0, 0);
        for index in 0..setup.requests.len() {
            let reach = reach(setup, index);
            // Held, cached and requested tokens, each at most once in whole pages; and the room that a retraction
            // makes.
            kv += 4 * (reach + 2 * page) + 64;
            // Slots held, set aside and waiting for a deferred free, and one cached state for each token.
            slots += reach + 16;
        }
        let pool = u64::from(engine.mamba_slots);
        let kv_is_ample = kv < u64::from(engine.kv_tokens);
        // No allocation asks for more slots than the headroom of all requests.
        let headroom = HEADROOM * setup.requests.len() as u64;
        let given_out = given_out(setup, open).map(|given| given.saturating_add(headroom));
        let fresh_slots_last = kv_is_ample && given_out.is_some_and(|given| given < pool);
        let still = super::clock::least(setup.costs.ingest) + super::clock::least(setup.costs.plan) == 0;
        let ample = kv_is_ample && (fresh_slots_last || slots < pool);
        Reductions { ample, fresh_slots_last, clock_matters: still }
    }

    /// For each request the first request that is interchangeable with it: both have the same arrival, end and length
    /// of a prompt of fresh tokens, and no other request or event refers to them.
    fn classes(setup: &Setup) -> Vec<u32> {
        let requests = &setup.requests;
        let mut named = vec![false; requests.len()];
        for spec in requests {
            if let Arrive::After(other) | Arrive::Before(other, _) = spec.arrive {
                named[other.index()] = true;
            }
            if let Prompt::Of { req, .. } = spec.prompt {
                named[req.index()] = true;
            }
        }
        for event in &setup.events {
            let (Event::FailAlloc { req, .. } | Event::Abort { req, .. } | Event::Retract { req, .. }) = *event;
            named[req.index()] = true;
        }
        let fresh_len = |index: usize| match requests[index].prompt {
            Prompt::Fresh { len, .. } if !named[index] => Some(len),
            Prompt::Fresh { .. } | Prompt::Tokens(_) | Prompt::Of { .. } | Prompt::Blocks { .. } => None,
        };
        let same = |a: usize, b: usize| {
            // Of a prompt only the length is compared, and that all its tokens are fresh: fresh tokens are names.
            let RequestSpec { arrive, prompt: _, stop, max_new, accept } = &requests[a];
            let other = &requests[b];
            fresh_len(a).is_some()
                && fresh_len(a) == fresh_len(b)
                && (arrive, stop, max_new, accept) == (&other.arrive, &other.stop, &other.max_new, &other.accept)
        };
        let first = |index: usize| (0..index).find(|&before| same(before, index)).unwrap_or(index);
        (0..requests.len()).map(|index| first(index) as u32).collect()
    }

    /// An empty encoding for states of runs of `setup`.
    pub fn encoding(setup: &Setup) -> Encoding {
        let fresh = |prompt: &Prompt| matches!(prompt, Prompt::Fresh { .. });
        let shares = !setup.requests.iter().all(|spec| fresh(&spec.prompt));
        Encoding::new(Reductions::classes(setup), shares)
    }

    /// Number of permutations of interchangeable requests: 1 if there are none.
    pub fn symmetries(setup: &Setup) -> u64 {
        let classes = Reductions::classes(setup);
        let nth = |index: usize| classes[..=index].iter().filter(|class| **class == classes[index]).count() as u64;
        (0..classes.len()).map(nth).fold(1, u64::saturating_mul)
    }
}
