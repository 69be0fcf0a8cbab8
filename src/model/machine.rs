//! The scheduler loop: one turn with overlap and one without (`event_loop_overlap`, `event_loop_normal`).
//!
//! Owns the order of the phases and the result queue. Each phase has a file of its own.

use crate::engine::{ChoicePoint, Chooser};
use crate::record::{
    AssertKind, BatchId, Fact, ForwardMode, PageRange, Phase, ReqId, ResultRow, RunFact, Sink, StepRow,
};

use super::batch::{Batch, Rows};
use super::clock::draw;
use super::request::Req;
use super::rule::{RowMasks, Rule};
use super::setup::{Cost, ResultQueue, Setup};
use super::world::{LastBatch, PendingResult, World};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every request was seen, finished and released.
    Done,
    /// An assertion of the modelled system failed.
    Asserted,
    /// The bound on turns was hit.
    TurnsMax,
    /// Requests wait that can never be admitted.
    Stalled,
}

/// An assertion of the modelled system that failed, with its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailedAssert {
    pub req: Option<ReqId>,
    pub kind: AssertKind,
}

/// The result of a step that an assertion of the modelled system can end.
pub(super) type Attempt<T = ()> = Result<T, FailedAssert>;

/// What a turn did.
#[derive(Clone, Copy, Debug)]
struct TurnWork {
    /// The turn launched a batch or processed a result.
    busy: bool,
    /// Requests that could have arrived at the ingest of this turn, and that the chooser held back.
    held: usize,
}

/// The machine at work: a state, the setup, rule and choices that determine it, and the sink of its facts.
#[derive(Debug)]
pub struct Machine<'a, C, S> {
    pub(super) setup: &'a Setup,
    pub(super) rule: &'a dyn Rule,
    pub(super) chooser: &'a mut C,
    pub(super) sink: &'a mut S,
    /// Whether each result is compared with the fields that its prepare saw.
    pub(super) skew: bool,
    /// Whether the machine emits requests that only the admission latch keeps waiting.
    pub(super) latch: bool,
    /// Whether the machine emits fields and arrays for a probe.
    pub(super) probe: bool,
    /// Boxed, since a search moves it in and out at every step.
    pub(super) world: Box<World>,
    /// Whether the sink wants the values of tokens.
    pub(super) tokens: bool,
    /// Buffers of rows that are emitted as one slice: rows that got a page, rows of a forward, rows of a result.
    pub(super) paged: Rows<(ReqId, PageRange)>,
    pub(super) stepped: Rows<StepRow>,
    pub(super) results: Rows<ResultRow>,
}

impl std::fmt::Debug for dyn Rule + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl<'a, C: Chooser, S: Sink> Machine<'a, C, S> {
    /// A machine in its first state.
    pub fn new(setup: &'a Setup, rule: &'a dyn Rule, chooser: &'a mut C, sink: &'a mut S) -> Self {
        Self::resume(setup, rule, chooser, sink, Box::new(World::new(setup)))
    }

    /// A machine in a state between two turns. The state must come from a machine with the same setup and rule.
    #[inline]
    pub fn resume(
        setup: &'a Setup,
        rule: &'a dyn Rule,
        chooser: &'a mut C,
        sink: &'a mut S,
        world: Box<World>,
    ) -> Self {
        let tokens = sink.wants_tokens();
        Machine {
            setup,
            rule,
            chooser,
            sink,
            skew: false,
            latch: false,
            probe: false,
            world,
            tokens,
            paged: Rows::new(),
            stepped: Rows::new(),
            results: Rows::new(),
        }
    }

    /// Runs to the end and returns how it ended and the last state.
    pub fn run(mut self) -> (Ended, World) {
        let ended = self.run_on();
        (ended, *self.world)
    }

    /// Runs to the end and returns how it ended.
    pub fn run_on(&mut self) -> Ended {
        self.run_while(|_| true).expect("it was not stopped")
    }

    /// Runs until `go_on` returns false; its argument is the number of turns run so far. Returns how the run ended, if
    /// it ended first.
    pub fn run_while(&mut self, mut go_on: impl FnMut(u32) -> bool) -> Option<Ended> {
        for turns in 1..=self.setup.turns_max {
            if let Some(ended) = self.turn() {
                return Some(ended);
            }
            if !go_on(turns) {
                return None;
            }
        }
        self.emit(RunFact::Bound { stalled: false });
        Some(Ended::TurnsMax)
    }

    /// The last state.
    #[inline]
    pub fn into_world(self) -> Box<World> {
        self.world
    }

    /// One loop turn. Returns how the run ended if it did.
    pub fn turn(&mut self) -> Option<Ended> {
        self.ask(ChoicePoint::Turn, self.world.turn, 1, 0);
        let at = self.world.clock.cpu;
        self.emit(RunFact::Turn { turn: self.world.turn, at });
        self.emit_streams();
        let work = if self.setup.engine.overlap { self.turn_overlap() } else { self.turn_normal() };
        let TurnWork { busy, held } = match work {
            Ok(work) => work,
            Err(FailedAssert { req, kind }) => {
                self.emit(RunFact::Assert { req, kind });
                return Some(Ended::Asserted);
            }
        };
        self.world.turn += 1;
        let idle = !busy && self.world.queue.is_empty();
        self.world.turns_run += 1;
        self.world.turns_idle += u32::from(idle);
        // A turn without a batch can still make room, so waiting requests get one more turn before the clock jumps.
        let again = std::mem::replace(&mut self.world.idle, idle) || self.world.waiting.is_empty();
        if idle && again { self.idle(held) } else { None }
    }

    /// A turn with overlap (`event_loop_overlap`): the previous result is processed while the new forward runs.
    fn turn_overlap(&mut self) -> Attempt<TurnWork> {
        let held = self.ingest();
        let pending = !matches!(self.world.last, LastBatch::None);
        let last_prefill = match &self.world.last {
            LastBatch::Extend(last) => Some(last.object),
            LastBatch::Running | LastBatch::None => None,
        };
        let batch = self.plan()?;
        let extends =
            batch.as_ref().is_some_and(|batch| matches!(batch.mode, ForwardMode::Extend | ForwardMode::Mixed));
        // If the last prefill became the running batch and rides along in this batch, it is a decode batch now.
        let last_extends = last_prefill.is_some_and(|object| object != self.world.decoded);
        let waits = self.setup.engine.disable_consecutive_prefill_overlap && last_extends && extends;
        if waits {
            self.process_oldest()?;
        }
        let launched = self.launch_and_queue(batch);
        if pending && !waits {
            self.process_oldest()?;
        }
        Ok(TurnWork { busy: launched || pending, held })
    }

    /// A turn without overlap (`event_loop_normal`): the turn waits for its own forward and processes the result.
    fn turn_normal(&mut self) -> Attempt<TurnWork> {
        let held = self.ingest();
        let batch = self.plan()?;
        let launched = self.launch_and_queue(batch);
        if launched {
            self.process_oldest()?;
        }
        Ok(TurnWork { busy: launched, held })
    }

    /// Launches a batch, queues it for its result, and keeps it as the last batch. Returns whether there was a batch.
    fn launch_and_queue(&mut self, batch: Option<Box<Batch>>) -> bool {
        let Some(batch) = batch else {
            self.world.last = LastBatch::None;
            return false;
        };
        self.world.forwards += 1;
        let (copied, accepted) = self.launch(&batch);
        self.world.last = match batch.mode {
            ForwardMode::Extend | ForwardMode::Mixed => LastBatch::Extend(batch.clone()),
            ForwardMode::Decode | ForwardMode::Verify => LastBatch::Running,
        };
        self.world.queue.push(PendingResult { batch, copied, accepted });
        true
    }

    /// Processes the oldest result of the queue.
    fn process_oldest(&mut self) -> Attempt {
        // The queue has at most two results, so removing the first is cheap.
        if self.world.queue.is_empty() {
            return Ok(());
        }
        let pending = self.world.queue.remove(0);
        self.process_batch_result(&pending)
    }

    /// The host masks of row `i` of a result: those of its batch, or with an aliased queue those of the running batch.
    #[inline(always)]
    pub(super) fn masks_at_result(&self, batch: &Batch, i: usize) -> Option<RowMasks> {
        let live = &self.world.running;
        if self.setup.engine.result_queue == ResultQueue::Alias && live.object == batch.object {
            let row = live.reqs.iter().position(|&req| req == batch.reqs[i])?;
            return live.row_masks(row);
        }
        batch.row_masks(i)
    }

    /// Emits a fact to the sink.
    #[inline]
    pub(super) fn emit(&mut self, fact: impl Into<Fact>) {
        self.sink.fact(fact.into());
    }

    /// Begins a CPU phase.
    pub(super) fn begin(&mut self, phase: Phase, batch: Option<BatchId>) {
        self.emit(RunFact::Begin { phase, batch, at: self.world.clock.cpu });
    }

    /// Ends the CPU phase.
    pub(super) fn end(&mut self) {
        self.emit(RunFact::End { at: self.world.clock.cpu });
    }

    /// Advances the CPU clock by the cost of one use.
    pub(super) fn spend(&mut self, cost: Cost) {
        self.world.clock.cpu += draw(self.chooser, cost);
    }

    /// The request `req`.
    pub(super) fn req(&mut self, req: ReqId) -> &mut Req {
        &mut self.world.reqs[req.index()]
    }
}
