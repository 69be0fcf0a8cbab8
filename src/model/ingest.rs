//! The ingest phase: the requests that arrive in this turn.

use crate::engine::{Choice, ChoicePoint, Chooser};
use crate::record::{Phase, ReqId, RequestFact, ScriptFact, Sink, TokenFold};

use super::arrivals::DueArrival;
use super::batch::Rows;
use super::machine::Machine;
use super::request::ReqStage;
use super::setup::{Arrive, Stop};

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Takes the due requests into the waiting queue, unless the chooser holds them back. Returns how many it holds
    /// back.
    pub(super) fn ingest(&mut self) -> usize {
        self.begin(Phase::Ingest, None);
        let now = self.world.clock.cpu;
        let turn = self.world.turn;
        let world = &mut *self.world;
        world.arrivals.come(turn, now);
        let reqs = &world.reqs;
        let pinned = world.arrivals.pinned(now, |other, k| {
            let other = &reqs[other.index()];
            other.finished() || other.stage == ReqStage::Running && other.kv_committed_len + 1 >= k
        });
        for (req, other) in pinned {
            let Arrive::Before(_, k) = self.setup.requests[req.index()].arrive else { continue };
            let other = &self.world.reqs[other.index()];
            if other.finished() {
                self.emit(ScriptFact::PinEnded { req });
            } else if other.kv_committed_len >= k {
                // A retracted request was prefilled again beyond the step, so the step has no turn of its own.
                self.emit(ScriptFact::PinMissed { req });
            }
        }
        let chooser = &mut *self.chooser;
        let seen = self.world.arrivals.take_due(|due| {
            let choice = Choice { point: ChoicePoint::Arrival, subject: due.req.0, options: 2, default: 1 };
            chooser.choose(choice) == 1
        });
        let held = self.world.arrivals.due();
        for due in &self.in_order(seen) {
            self.see(due.req, due.at);
        }
        self.ingest_aborts();
        self.spend(self.setup.costs.ingest);
        self.end();
        held
    }

    /// The order in which the requests of one turn join the waiting queue: by time and place in the setup, unless the
    /// chooser answers another order.
    fn in_order(&mut self, mut seen: Rows<DueArrival>) -> Rows<DueArrival> {
        if seen.len() < 2 || !self.chooser.is_open(ChoicePoint::Order) {
            return seen;
        }
        for place in 0..seen.len() - 1 {
            let options = (seen.len() - place) as u32;
            let next = self.chooser.choose(Choice {
                point: ChoicePoint::Order,
                subject: seen[place].req.0,
                options,
                default: 0,
            });
            seen[place..=place + next as usize].rotate_right(1);
        }
        seen
    }

    /// Makes a request known with its prompt, and appends it to the waiting queue.
    fn see(&mut self, req: ReqId, at: crate::engine::Time) {
        let spec = &self.setup.requests[req.index()];
        let ends_at = match spec.stop {
            Stop::Token(nth) => nth.min(spec.max_new),
            Stop::Length => spec.max_new,
        };
        let (stream, prompt) = self.world.sequence_of(self.setup, req);
        assert!(prompt.len > 0, "validation refuses empty prompts");
        self.emit_streams();
        self.emit(RequestFact::Prompt { req, prompt });
        if self.tokens {
            self.sink.tokens(req, 0, &self.world.streams.tokens(prompt));
        }
        self.emit(RequestFact::Arrive { req, at, max_new: spec.max_new });
        let tip = if self.spells() { self.world.streams.fold(prompt) } else { TokenFold::ZERO };
        let it = self.req(req);
        it.stream = stream;
        (it.prompt_len, it.known, it.tip) = (prompt.len, prompt.len, tip);
        it.ends_at = ends_at;
        it.stage = ReqStage::Waiting;
        self.world.waiting.push(req);
        if let Arrive::Before(other, k) = spec.arrive
            && !self.world.reqs[other.index()].finished()
            && self.world.reqs[other.index()].kv_committed_len < k
        {
            self.world.pinned.push(req);
        }
    }

    /// Reports the requests pinned to this turn that still wait after its plan.
    pub(super) fn check_pins(&mut self) {
        for req in std::mem::take(&mut self.world.pinned) {
            if self.world.reqs[req.index()].stage == ReqStage::Waiting {
                self.emit(ScriptFact::PinMissed { req });
            }
        }
    }
}
