//! The scheduler loop: one turn with overlap and one without, side by side, and how a run ends.

use std::sync::Arc;

use educe::Educe;

use crate::engine::{ChoicePoint, Chooser, Time};
use crate::record::{
    AssertKind, BatchId, Fact, ForwardMode, Owner, PageRange, Phase, ReqId, ResultRow, RunFact, ScriptFact, Sink,
    SlotId, StepRow, StreamId, Streams,
};

use super::arrivals::Arrivals;
use super::batch::{Batch, Rows};
use super::budget::TokenRatio;
use super::clock::{Clock, draw, least};
use super::pages::PagePool;
use super::radix::{Radix, RadixConfig};
use super::request::{Req, Stage};
use super::rule::{RowMasks, Rule};
use super::sequences::{Sequence, sequences};
use super::setup::{Arrive, Cost, RequestSpec, ResultQueue, Setup};
use super::slots::SlotPool;

/// What the scheduler remembers of the batch it launched last.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub(super) enum Last {
    /// Nothing was launched.
    None,
    /// A prefill batch, still an object of its own.
    Extend(Box<Batch>),
    /// The running batch itself.
    Running,
}

/// A result that has not been processed: the batch as it was queued, and when its forward has been copied back.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub(super) struct Pending {
    pub batch: Box<Batch>,
    pub copied: Time,
    /// Speculative decoding: tokens accepted, a value a row.
    pub accepted: Rows<u32>,
}

/// The state of the machine: a value.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct World {
    /// The grid of decode boundaries, in tokens. By the setup, and kept as every row asks for it.
    pub(super) grid: u32,
    pub(super) clock: Clock,
    pub(super) turn: u32,
    pub(super) reqs: Vec<Req>,
    /// The names of all token sequences.
    pub(super) streams: Streams,
    pub(super) sequences: Arc<[Sequence]>,
    /// Streams that the sink was told of.
    pub(super) streams_emitted: u32,
    /// Streams that were attached since.
    pub(super) attached: Vec<StreamId>,
    pub(super) waiting: Vec<ReqId>,
    pub(super) arrivals: Arrivals,
    /// Requests pinned before a step, seen in this turn.
    pub(super) pinned: Vec<ReqId>,
    pub(super) running: Batch,
    pub(super) last: Last,
    pub(super) queue: Vec<Pending>,
    pub(super) slots: SlotPool,
    pub(super) pages: PagePool,
    pub(super) tree: Radix,
    pub(super) ratio: TokenRatio,
    pub(super) rows_held: u32,
    pub(super) batches: u32,
    pub(super) objects: u32,
    /// The object that was prepared for decode last.
    pub(super) decoded: u32,
    /// The request that is being prefilled in chunks.
    pub(super) chunked: Option<ReqId>,
    /// The request in chunks that is to be aborted.
    pub(super) chunk_abort: Option<ReqId>,
    /// Forwards launched so far.
    pub(super) forwards: u32,
    /// Slots of finished requests that a forward in flight may still write.
    pub(super) deferred_frees: Vec<(SlotId, Owner)>,
    pub(super) unfinished: u32,
    /// Scripted events that took effect, by position.
    pub(super) events_used: Vec<bool>,
    /// Admissions since the last refresh of waiting prefixes.
    pub(super) refreshes: u32,
    /// The last turn did nothing either.
    pub(super) idle: bool,
    /// Turns run, and those of them that did nothing: for the words about a bound.
    pub(super) turns_run: u32,
    pub(super) turns_idle: u32,
    /// Whether a request has finished since the finished were filtered out of the running batch.
    pub(super) unfiltered: bool,
    /// Admissions in which a request got pages of its own.
    pub(super) grants: u32,
}

impl World {
    /// The state before turn 0.
    pub fn new(setup: &Setup) -> Self {
        let engine = &setup.engine;
        let (streams, sequences) = sequences(setup);
        World {
            grid: engine.grid_len(),
            clock: Clock::default(),
            turn: 0,
            reqs: vec![Req::unseen(); setup.requests.len()],
            streams,
            sequences,
            streams_emitted: 0,
            attached: Vec::new(),
            waiting: Vec::new(),
            arrivals: Arrivals::new(setup),
            pinned: Vec::new(),
            running: Batch::empty(0),
            last: Last::None,
            queue: Vec::new(),
            slots: SlotPool::new(engine.mamba_slots),
            pages: PagePool::new(engine.kv_tokens, engine.page_size),
            tree: Radix::new(RadixConfig {
                page_size: engine.page_size,
                state_chunk: engine.prefill_grid_len(),
                branching_beyond_state: engine.branching_beyond_state,
                split_refreshes_state: engine.split_refreshes_state,
                tombstone_lock: engine.tombstone_lock,
            }),
            ratio: TokenRatio::new(engine.conservativeness),
            rows_held: 0,
            batches: 0,
            objects: 0,
            decoded: 0,
            deferred_frees: Vec::new(),
            chunked: None,
            chunk_abort: None,
            forwards: 0,
            unfinished: setup.requests.len() as u32,
            events_used: vec![false; setup.events.len()],
            refreshes: 0,
            idle: false,
            turns_run: 0,
            turns_idle: 0,
            unfiltered: false,
            grants: 0,
        }
    }

    /// The number of the next loop turn.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// State slots in the free list.
    pub fn slots_free(&self) -> u32 {
        self.slots.available()
    }

    /// Requests that hold a row of the request pool.
    pub fn rows_held(&self) -> u32 {
        self.rows_held
    }

    /// Whether a request is still to come at the end of another one, or before a step of it.
    fn waits_for_another(&self, setup: &Setup) -> bool {
        let goes_on = |other: ReqId| self.reqs[other.index()].stage != Stage::Finished;
        let comes = |spec: &RequestSpec| matches!(spec.arrive, Arrive::After(other) if goes_on(other));
        self.arrivals.pinned_to(|_| true) || setup.requests.iter().any(comes)
    }

    /// The names of the token sequences.
    pub fn streams(&self) -> &Streams {
        &self.streams
    }

    /// The radix tree, for audits.
    pub fn tree(&self) -> &Radix {
        &self.tree
    }
}

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

/// An assertion of the modelled system that failed, with the request that it was about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dead {
    pub req: Option<ReqId>,
    pub kind: AssertKind,
}

/// Steps that an assertion of the modelled system can end.
pub(super) type Step<T = ()> = Result<T, Dead>;

/// What a turn did up to its launch, and what it has still to do.
#[derive(Clone, Copy, Debug)]
struct Due {
    /// Something was done, or is to be done.
    busy: bool,
    /// The oldest result is to be processed.
    result: bool,
    /// Requests that were asked about at the ingest and held back.
    held: usize,
}

/// The machine at work: a state, what it is a function of, and where its facts go.
#[derive(Debug)]
pub struct Machine<'a, C, S> {
    pub(super) setup: &'a Setup,
    pub(super) rule: &'a dyn Rule,
    pub(super) chooser: &'a mut C,
    pub(super) sink: &'a mut S,
    /// Whether results are compared with what their prepare saw.
    pub(super) skew: bool,
    /// Whether requests are told that only the admission latch keeps waiting.
    pub(super) latch: bool,
    /// Whether fields and arrays are told.
    pub(super) probe: bool,
    /// Boxed: a search takes it in and out with every step.
    pub(super) world: Box<World>,
    /// Whether the sink wants tokens by their values.
    pub(super) tokens: bool,
    /// Rows that are told together: those that got a page each, ran a step, and were processed.
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

    /// A machine in a state that it, or another one for the same setup and rule, was in between two turns.
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

    /// Runs on until `go_on` says no after so many turns. Returns how the run ended, if it ended before.
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
        let launched = if self.setup.engine.overlap { self.launch_overlap() } else { self.launch_normal() };
        let processed = launched.and_then(|due| {
            if due.result {
                self.process_last()?;
            }
            Ok(due)
        });
        let Due { busy, held, result: _ } = match processed {
            Ok(due) => due,
            Err(Dead { req, kind }) => {
                self.emit(RunFact::Assert { req, kind });
                return Some(Ended::Asserted);
            }
        };
        self.world.turn += 1;
        let idle = !busy && self.world.queue.is_empty();
        self.world.turns_run += 1;
        self.world.turns_idle += u32::from(idle);
        // A turn without a batch can still make room: what waits is given one more turn before the clock jumps.
        let again = std::mem::replace(&mut self.world.idle, idle) || self.world.waiting.is_empty();
        if idle && again { self.idle(held) } else { None }
    }

    /// Plan and launch: the last result is processed while the forward runs.
    fn launch_overlap(&mut self) -> Step<Due> {
        let held = self.ingest();
        let pending = !matches!(self.world.last, Last::None);
        let last_prefill = match &self.world.last {
            Last::Extend(last) => Some(last.object),
            Last::Running | Last::None => None,
        };
        let batch = self.plan()?;
        let extends =
            batch.as_ref().is_some_and(|batch| matches!(batch.mode, ForwardMode::Extend | ForwardMode::Mixed));
        // A prefill that has become the running batch, and rides along in this one, is a decode batch by now.
        let last_extends = last_prefill.is_some_and(|object| object != self.world.decoded);
        let waits = self.setup.engine.disable_consecutive_prefill_overlap && last_extends && extends;
        if waits {
            self.process_last()?;
        }
        let launched = self.launch_and_queue(batch);
        Ok(Due { busy: launched || pending, result: pending && !waits, held })
    }

    /// Plan and launch: what was launched is waited for and processed.
    fn launch_normal(&mut self) -> Step<Due> {
        let held = self.ingest();
        let batch = self.plan()?;
        let launched = self.launch_and_queue(batch);
        Ok(Due { busy: launched, result: launched, held })
    }

    /// Launches a batch, queues it (a copy, or a reference by object), and remembers it as the last one.
    fn launch_and_queue(&mut self, batch: Option<Box<Batch>>) -> bool {
        let Some(batch) = batch else {
            self.world.last = Last::None;
            return false;
        };
        self.world.forwards += 1;
        let (copied, accepted) = self.launch(&batch);
        self.world.last = match batch.mode {
            ForwardMode::Extend | ForwardMode::Mixed => Last::Extend(batch.clone()),
            ForwardMode::Decode | ForwardMode::Verify => Last::Running,
        };
        self.world.queue.push(Pending { batch, copied, accepted });
        true
    }

    /// Takes the oldest result off the queue and processes it.
    fn process_last(&mut self) -> Step {
        // At most two wait: there is nothing to gain from a ring.
        if self.world.queue.is_empty() {
            return Ok(());
        }
        let pending = self.world.queue.remove(0);
        self.process(&pending)
    }

    /// What the host masks say of row `i` of a result: those of its batch, or of the live one.
    #[inline(always)]
    pub(super) fn masks_at_result(&self, batch: &Batch, i: usize) -> Option<RowMasks> {
        let live = &self.world.running;
        if self.setup.engine.result_queue == ResultQueue::Alias && live.object == batch.object {
            let row = live.reqs.iter().position(|&req| req == batch.reqs[i])?;
            return live.row_masks(row);
        }
        batch.row_masks(i)
    }

    /// Nothing is running or in flight: jumps to the next arrival, or ends. `held` requests were held back at the ingest of this turn.
    fn idle(&mut self, held: usize) -> Option<Ended> {
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
        let pinned = world.arrivals.pinned_to(|other| reqs[other.index()].stage == Stage::Finished);
        if pinned || world.arrivals.due() > 0 {
            if !pinned && held == world.arrivals.due() {
                self.pass_idle_turns();
            }
            return None;
        }
        let turn_ns = least(self.setup.costs.ingest) + least(self.setup.costs.plan);
        match world.arrivals.next() {
            (None, None) => {
                // Something waits, and nothing that happens by itself can change what it waits for.
                self.emit(RunFact::Bound { stalled: true });
                return Some(Ended::Stalled);
            }
            (Some(turn), None) => world.turn = world.turn.max(turn),
            (None, Some(at)) => world.clock.cpu = world.clock.cpu.max(at),
            (Some(turn), Some(at)) => {
                // An idle turn costs an ingest and a plan: whichever comes first by that measure.
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

    /// Every request that may be seen was held back. Whoever comes at a time may be held back too, so what can follow from now can follow
    /// from that time on: the clock jumps to it. It does not where something depends on how many turns go by, or on
    /// whether a request came before or after that time (docs/search.md, "Idle turns").
    fn pass_idle_turns(&mut self) {
        let world = &mut *self.world;
        let (None, Some(at)) = world.arrivals.next() else { return };
        let still = least(self.setup.costs.ingest) + least(self.setup.costs.plan) == 0;
        let sorts = !self.chooser.is_open(ChoicePoint::Order) && world.waits_for_another(self.setup);
        if self.chooser.is_open(ChoicePoint::Arrival) && !world.turn_matters(self.setup) && (still || !sorts) {
            world.clock.cpu = world.clock.cpu.max(at);
        }
    }

    /// Tells the sink a fact.
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

    /// Lets the CPU spend the cost of one use.
    pub(super) fn spend(&mut self, cost: Cost) {
        self.world.clock.cpu += draw(self.chooser, cost);
    }

    /// A request by index.
    pub(super) fn req(&mut self, req: ReqId) -> &mut Req {
        &mut self.world.reqs[req.index()]
    }
}
