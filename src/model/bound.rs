//! What a run waited for when a bound ended it: read off the last state.
//!
//! Owns which request is named. Leaves the words to the caller.

use crate::engine::Time;
use crate::record::ReqId;

use super::clock::least;
use super::request::ReqStage;
use super::setup::{Arrive, Setup};
use super::world::World;

/// What a request waited for when a bound ended the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// Its moment, and how many idle turns of the run go by until then.
    Time(Time, u64),
    /// The turn in which it arrives.
    Turn(u32),
    /// An answer that shows it: its moment has come, and the choices held it back.
    Shown,
    /// The end of another request, or a step of it.
    Other(ReqId),
    /// Admission, with so many state slots and tokens of KV free.
    Admission {
        /// State slots.
        slots: u32,
        /// Tokens.
        kv: u32,
    },
    /// Outputs: it had so many.
    Outputs(u32),
}

/// The state of a run that a bound ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The request that is named for it.
    pub req: ReqId,
    /// What that waited for.
    pub awaits: Awaits,
    /// Turns run.
    pub turns: u32,
    /// Those of them in which nothing was launched and no result was processed.
    pub idle: u32,
}

/// Looks for a request of one kind.
type FindAwaited = fn(&World, &Setup) -> Option<(ReqId, Awaits)>;

impl World {
    /// The request that a run which stalls is about: one that waits for what never comes.
    pub fn stalled(&self, setup: &Setup) -> Option<Unfinished> {
        let order: [FindAwaited; 4] = [World::queued, World::served, World::held_back, World::to_come];
        self.first_of(&order, setup)
    }

    /// The request that a run was about when its bound on turns ended it; nothing if every request is over.
    pub fn unfinished(&self, setup: &Setup) -> Option<Unfinished> {
        // Where idle turns used up the bound, the request that they were spent on is named; else the one that was served.
        let spent_idle = 2 * self.turns_idle >= self.turns_run;
        let idle_first: [FindAwaited; 6] =
            [World::timed, World::held_back, World::timed_last, World::served, World::queued, World::to_come];
        let served_first: [FindAwaited; 5] =
            [World::served, World::queued, World::timed, World::held_back, World::to_come];
        self.first_of(if spent_idle { &idle_first } else { &served_first }, setup)
    }

    fn first_of(&self, order: &[FindAwaited], setup: &Setup) -> Option<Unfinished> {
        let (req, awaits) = order.iter().find_map(|look| look(self, setup))?;
        Some(Unfinished { req, awaits, turns: self.turns_run, idle: self.turns_idle })
    }

    /// The next request that comes at a time.
    fn timed(&self, setup: &Setup) -> Option<(ReqId, Awaits)> {
        let next = self.arrivals.next().1?;
        let unseen = |req: &ReqId| self.reqs[req.index()].stage == ReqStage::Unseen;
        let (at, req) = timed_requests(setup).filter(|(at, req)| *at == next && unseen(req)).min()?;
        let idle_turns = u64::from(self.turns_idle) + at.since(self.clock.cpu).ns().div_ceil(idle_ns(setup));
        Some((req, Awaits::Time(at, idle_turns)))
    }

    /// The last request that came at a time, if a run that had been idle until then would have been out of turns before.
    fn timed_last(&self, setup: &Setup) -> Option<(ReqId, Awaits)> {
        let (at, req) = timed_requests(setup).max()?;
        let idle_turns = at.ns().div_ceil(idle_ns(setup));
        (idle_turns > u64::from(setup.turns_max)).then_some((req, Awaits::Time(at, idle_turns)))
    }

    /// The first request that may be seen.
    fn held_back(&self, _: &Setup) -> Option<(ReqId, Awaits)> {
        self.arrivals.first_due().map(|req| (req, Awaits::Shown))
    }

    /// The first request that was being run.
    fn served(&self, _: &Setup) -> Option<(ReqId, Awaits)> {
        let at = self.reqs.iter().position(|it| it.stage == ReqStage::Running)?;
        Some((ReqId(at as u32), Awaits::Outputs(self.reqs[at].outputs)))
    }

    /// The first request of the waiting queue.
    fn queued(&self, _: &Setup) -> Option<(ReqId, Awaits)> {
        let (slots, kv) = (self.slots.available(), self.pages.available());
        self.waiting.first().map(|&req| (req, Awaits::Admission { slots, kv }))
    }

    /// The first request that has not been seen.
    fn to_come(&self, setup: &Setup) -> Option<(ReqId, Awaits)> {
        let at = self.reqs.iter().position(|it| it.stage == ReqStage::Unseen)?;
        let awaits = match setup.requests[at].arrive {
            Arrive::Turn(turn) => Awaits::Turn(turn),
            Arrive::After(other) | Arrive::Before(other, _) => Awaits::Other(other),
            Arrive::At(_) => Awaits::Shown,
        };
        Some((ReqId(at as u32), awaits))
    }
}

/// The requests that come at a time, with it.
fn timed_requests(setup: &Setup) -> impl Iterator<Item = (Time, ReqId)> + '_ {
    (0..).zip(&setup.requests).filter_map(|(index, spec)| match spec.arrive {
        Arrive::At(at) => Some((at, ReqId(index))),
        Arrive::Turn(_) | Arrive::After(_) | Arrive::Before(..) => None,
    })
}

/// How long an idle turn takes at the least, in nanoseconds.
fn idle_ns(setup: &Setup) -> u64 {
    (least(setup.costs.ingest) + least(setup.costs.plan)).max(1)
}
