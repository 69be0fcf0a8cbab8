//! What a run waited for when a bound ended it, read from the last state.
//!
//! Owns which request is named. The caller owns the words.

use crate::engine::Time;
use crate::record::ReqId;

use super::clock::least;
use super::request::ReqStage;
use super::setup::{Arrive, Setup};
use super::world::World;

/// What a request waited for when a bound ended the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// Its arrival at this time, and the idle turns of the run until then.
    Time(Time, u64),
    /// The turn in which it arrives.
    Turn(u32),
    /// A choice that lets it arrive: its time has come, and the choices held it back.
    Shown,
    /// The end of this other request, or a step of it.
    Other(ReqId),
    /// Admission. The fields are what is free.
    Admission {
        /// State slots.
        slots: u32,
        /// Tokens.
        kv: u32,
    },
    /// More outputs; it had this many.
    Outputs(u32),
}

/// The state of a run that a bound ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The request that is named.
    pub req: ReqId,
    /// What the request waited for.
    pub awaits: Awaits,
    /// Turns run.
    pub turns: u32,
    /// Idle turns: nothing was launched and no result was processed.
    pub idle: u32,
}

/// A search for a request that waits in one way.
type FindAwaited = fn(&World, &Setup) -> Option<(ReqId, Awaits)>;

impl World {
    /// The request to name for a run that stalls: it waits for something that never happens.
    pub fn stalled(&self, setup: &Setup) -> Option<Unfinished> {
        let order: [FindAwaited; 4] = [World::queued, World::served, World::held_back, World::to_come];
        self.first_of(&order, setup)
    }

    /// The request to name for a run that is out of turns; `None` if every request is over.
    pub fn unfinished(&self, setup: &Setup) -> Option<Unfinished> {
        // If most turns were idle, the request that they waited for is named first; otherwise the request that was
        // running.
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

    /// The next request that arrives at a time.
    fn timed(&self, setup: &Setup) -> Option<(ReqId, Awaits)> {
        let next = self.arrivals.next().1?;
        let unseen = |req: &ReqId| self.reqs[req.index()].stage == ReqStage::Unseen;
        let (at, req) = timed_requests(setup).filter(|(at, req)| *at == next && unseen(req)).min()?;
        let idle_turns = u64::from(self.turns_idle) + at.since(self.clock.cpu).ns().div_ceil(idle_ns(setup));
        Some((req, Awaits::Time(at, idle_turns)))
    }

    /// The last request that arrives at a time, if idle turns alone until that time exceed the bound.
    fn timed_last(&self, setup: &Setup) -> Option<(ReqId, Awaits)> {
        let (at, req) = timed_requests(setup).max()?;
        let idle_turns = at.ns().div_ceil(idle_ns(setup));
        (idle_turns > u64::from(setup.turns_max)).then_some((req, Awaits::Time(at, idle_turns)))
    }

    /// The first request that may arrive and was held back.
    fn held_back(&self, _: &Setup) -> Option<(ReqId, Awaits)> {
        self.arrivals.first_due().map(|req| (req, Awaits::Shown))
    }

    /// The first running request.
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

/// The requests that arrive at a time, with the time.
fn timed_requests(setup: &Setup) -> impl Iterator<Item = (Time, ReqId)> + '_ {
    (0..).zip(&setup.requests).filter_map(|(index, spec)| match spec.arrive {
        Arrive::At(at) => Some((at, ReqId(index))),
        Arrive::Turn(_) | Arrive::After(_) | Arrive::Before(..) => None,
    })
}

/// The shortest idle turn, in nanoseconds.
fn idle_ns(setup: &Setup) -> u64 {
    (least(setup.costs.ingest) + least(setup.costs.plan)).max(1)
}
