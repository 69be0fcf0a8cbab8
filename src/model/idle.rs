//! Idle turns: the end of a run, and the jump of the clock to the next arrival.

use crate::engine::{ChoicePoint, Chooser};
use crate::record::{ReqId, RunFact, ScriptFact, Sink};

use super::clock::least;
use super::machine::{Ended, Machine};
use super::request::ReqStage;
use super::setup::{Arrive, RequestSpec, Setup};
use super::world::World;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Ends the run, or jumps to the next arrival, since nothing runs and nothing is in flight. `held` requests were
    /// held back at the ingest of this turn.
    pub(super) fn idle(&mut self, held: usize) -> Option<Ended> {
        let world = &mut *self.world;
        if world.unfinished == 0 {
            for (event, used) in self.setup.events.iter().zip(&world.events_used) {
                let (turn, req) = event.at();
                if !used {
                    self.sink.fact(ScriptFact::EventUnused { turn, req }.into());
                }
            }
            self.sink.fact(RunFact::Done { at: world.clock.cpu }.into());
            return Some(Ended::Done);
        }
        let reqs = &world.reqs;
        let pinned = world.arrivals.pinned_to(|other| reqs[other.index()].stage == ReqStage::Finished);
        if pinned || world.arrivals.due() > 0 {
            if !pinned && held == world.arrivals.due() {
                self.pass_idle_turns();
            }
            return None;
        }
        let turn_ns = least(self.setup.costs.ingest) + least(self.setup.costs.plan);
        match world.arrivals.next() {
            (None, None) => {
                // A request waits, and no event to come can change what it waits for.
                self.emit(RunFact::Bound { stalled: true });
                return Some(Ended::Stalled);
            }
            (Some(turn), None) => world.turn = world.turn.max(turn),
            (None, Some(at)) => world.clock.cpu = world.clock.cpu.max(at),
            (Some(turn), Some(at)) => {
                // An idle turn costs an ingest and a plan. By that measure, the earlier of the two arrivals comes next.
                let idle_turns = turn.saturating_sub(world.turn);
                if at.since(world.clock.cpu).ns() < turn_ns * u64::from(idle_turns) {
                    world.clock.cpu = world.clock.cpu.max(at);
                } else {
                    world.turn = world.turn.max(turn);
                }
            }
        }
        None
    }

    /// Jumps to the next arrival at a time, when the chooser has held back every request that may be seen. A request
    /// that arrives at a time may be held back too, so every future from now is also a future from that time. The clock
    /// does not jump where a future depends on the number of turns, or on whether a request came before or after that
    /// time (docs/search.md, "Idle turns").
    fn pass_idle_turns(&mut self) {
        let world = &mut *self.world;
        let (None, Some(at)) = world.arrivals.next() else { return };
        let still = least(self.setup.costs.ingest) + least(self.setup.costs.plan) == 0;
        let sorts = !self.chooser.is_open(ChoicePoint::Order) && world.waits_for_another(self.setup);
        if self.chooser.is_open(ChoicePoint::Arrival) && !world.turn_matters(self.setup) && (still || !sorts) {
            world.clock.cpu = world.clock.cpu.max(at);
        }
    }
}

impl World {
    /// Whether a request is still to arrive at the end of another request, or before a step of it.
    fn waits_for_another(&self, setup: &Setup) -> bool {
        let goes_on = |other: ReqId| self.reqs[other.index()].stage != ReqStage::Finished;
        let comes = |spec: &RequestSpec| matches!(spec.arrive, Arrive::After(other) if goes_on(other));
        self.arrivals.pinned_to(|_| true) || setup.requests.iter().any(comes)
    }
}
