//! What can be said of all runs of a setup before any of them begins: which requests are interchangeable, and which parts
//! of a state can never matter. Used to tell states of a search apart no more than their futures differ.

use super::setup::{Arrive, Event, Prompt, Setup};
use crate::record::Canon;

/// What holds of every run of a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Neither KV nor state slots are ever short, whatever the order of things: nothing is evicted, and the budget, its share
    /// of outputs and the orders of the tree decide nothing.
    pub ample: bool,
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

impl Frame {
    /// Looks at a setup.
    pub fn new(setup: &Setup) -> Frame {
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
        let still = super::clock::least(setup.costs.ingest) + super::clock::least(setup.costs.plan) == 0;
        Frame { ample: kv < u64::from(engine.kv_tokens) && slots < u64::from(engine.mamba_slots), clock_matters: still }
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
            let (x, y) = (&requests[a], &requests[b]);
            fresh_len(a).is_some()
                && fresh_len(a) == fresh_len(b)
                && (x.arrive, x.stop, x.max_new, &x.accept) == (y.arrive, y.stop, y.max_new, &y.accept)
        };
        let first = |index: usize| (0..index).find(|&before| same(before, index)).unwrap_or(index);
        (0..requests.len()).map(|index| first(index) as u32).collect()
    }

    /// Where states of runs of `setup` are written out.
    pub fn canon(setup: &Setup) -> Canon {
        let fresh = |prompt: &Prompt| matches!(prompt, Prompt::Fresh { .. });
        let shares = !setup.requests.iter().all(|spec| fresh(&spec.prompt));
        Canon::new(Frame::classes(setup), shares)
    }

    /// In how many ways interchangeable requests can change places: 1 if there are none.
    pub fn symmetries(setup: &Setup) -> u64 {
        let classes = Frame::classes(setup);
        let nth = |index: usize| classes[..=index].iter().filter(|class| **class == classes[index]).count() as u64;
        (0..classes.len()).map(nth).fold(1, u64::saturating_mul)
    }
}
