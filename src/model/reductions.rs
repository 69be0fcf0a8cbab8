//! What can be said of all runs of a setup before any of them begins: which requests are interchangeable, and which parts
//! of a state can never matter. Used to tell states of a search apart no more than their futures differ.

use super::setup::{Arrive, Event, Prompt, RequestSpec, Setup};
use crate::engine::{ChoicePoint, OpenPoints};
use crate::record::Encoding;

/// What holds of every run of a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Neither KV nor state slots are ever short, whatever the order of things: nothing is evicted, and the budget, its share
    /// of outputs and the orders of the tree decide nothing.
    pub ample: bool,
    /// No slot that came back to the pool is ever given out again: those that nobody had stand before it, and they last. What such a slot
    /// holds, and where it stands, is nobody's business then.
    pub fresh_slots_last: bool,
    /// Turns may take no time, so that what is due at one moment need not be due in one order.
    pub clock_matters: bool,
}

/// The longest a request can get, in tokens: prompt and outputs, with what speculation reserves.
fn reach(setup: &Setup, index: usize) -> u64 {
    let spec = &setup.requests[index];
    prompt_max(setup, index) + u64::from(spec.max_new) + 2 * u64::from(setup.engine.spec_reserve())
}

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

/// Slots that a prefill takes beside those set aside: the active one, two track slots, one for the state that is cached at its end, and
/// one for a hit, which whoever is looked at last gives back; one is to spare.
const SLOTS_OF_PREFILL: u64 = 6;
/// The most that admission makes sure of for a request before it takes any, and one to spare.
const HEADROOM: u64 = 4;

/// How often a slot is given out in any run, at most, if neither KV nor slots are ever short; nothing if that can be without end.
fn given_out(setup: &Setup, open: &OpenPoints) -> Option<u64> {
    let engine = &setup.engine;
    // A request can be retracted time and again; a round of admission that moves only a chunk, or finds that rows which ride along
    // have used up the budget, admits nobody.
    if open.has(ChoicePoint::Retract) || engine.chunked_prefill_size.is_some() || engine.mixed_chunk {
        return None;
    }
    let requests = setup.requests.len() as u64;
    // An event retracts one request once.
    let retractions = setup.events.iter().filter(|event| matches!(event, Event::Retract { .. })).count() as u64;
    // Every round of admission admits somebody (`Machine::admit`), and sets a slot aside for each who waits.
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
    /// Looks at a setup, and at what is open.
    pub fn new(setup: &Setup, open: &OpenPoints) -> Reductions {
        let engine = &setup.engine;
        let page = u64::from(engine.page_size);
        let (mut kv, mut slots) = (0, 0);
        for index in 0..setup.requests.len() {
            let reach = reach(setup, index);
            // Held, cached, and asked for: each at most once in full pages; and what a retraction makes room for.
            kv += 4 * (reach + 2 * page) + 64;
            // Held and set aside, with one that stands in for it while its free waits, and a state a token in the tree.
            slots += reach + 16;
        }
        let pool = u64::from(engine.mamba_slots);
        let kv_is_ample = kv < u64::from(engine.kv_tokens);
        // No more is ever asked for than what admission makes sure of for every request.
        let headroom = HEADROOM * setup.requests.len() as u64;
        let given_out = given_out(setup, open).map(|given| given.saturating_add(headroom));
        let fresh_slots_last = kv_is_ample && given_out.is_some_and(|given| given < pool);
        let still = super::clock::least(setup.costs.ingest) + super::clock::least(setup.costs.plan) == 0;
        let ample = kv_is_ample && (fresh_slots_last || slots < pool);
        Reductions { ample, fresh_slots_last, clock_matters: still }
    }

    /// For each request the first one that it can change places with: the same arrival, end and length of a prompt of
    /// fresh tokens, and nobody names it.
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
            // Of a prompt only its length is compared, and that it is fresh: its tokens are a name.
            let RequestSpec { arrive, prompt: _, stop, max_new, accept } = &requests[a];
            let other = &requests[b];
            fresh_len(a).is_some()
                && fresh_len(a) == fresh_len(b)
                && (arrive, stop, max_new, accept) == (&other.arrive, &other.stop, &other.max_new, &other.accept)
        };
        let first = |index: usize| (0..index).find(|&before| same(before, index)).unwrap_or(index);
        (0..requests.len()).map(|index| first(index) as u32).collect()
    }

    /// Where states of runs of `setup` are written out.
    pub fn encoding(setup: &Setup) -> Encoding {
        let fresh = |prompt: &Prompt| matches!(prompt, Prompt::Fresh { .. });
        let shares = !setup.requests.iter().all(|spec| fresh(&spec.prompt));
        Encoding::new(Reductions::classes(setup), shares)
    }

    /// In how many ways interchangeable requests can change places: 1 if there are none.
    pub fn symmetries(setup: &Setup) -> u64 {
        let classes = Reductions::classes(setup);
        let nth = |index: usize| classes[..=index].iter().filter(|class| **class == classes[index]).count() as u64;
        (0..classes.len()).map(nth).fold(1, u64::saturating_mul)
    }
}
