//! Encodes the facts of a run as the events that a recording of the same run would have.
//!
//! The encoder holds the order of the events, the contents of the slots, and the totals for the end. It decides
//! nothing: masks, indices, labels and lengths are those of the machine's facts ([`ProbeFact::Fields`],
//! [`ProbeFact::Arrays`]).

mod batches;
mod contents;
mod donations;
mod forwards;
mod requests;
mod rows;
mod slots;

use std::collections::BTreeMap;

use crate::model::{Ended, Setup, Stop, World};
use crate::record::{
    AssertKind, BatchFact, BatchId, CacheFact, DecisionFact, Fact, FinishKind, ForwardFact, ForwardMode, Phase,
    ProbeFact, ReqId, RequestFact, RunFact, Sink, SlotFact, SlotId, Token, TokenFold,
};

use super::assertions;
use super::event::{EncodedEvent, EventBody, Listener, Stats};
use super::recorder::RecorderFormat;
use batches::{OpenBatch, OpenPrepare};
use contents::Contents;
use requests::{Ending, RequestState};
use rows::{OpenResult, OpenRow};

/// Idle turns after which the recorded loop ends.
const IDLE_TURNS: u32 = 3;

/// A sink that hands the events of a run to a listener.
pub struct EventEncoder<'a> {
    state: EncoderState<'a>,
    listener: &'a mut dyn Listener,
}

impl<'a> EventEncoder<'a> {
    /// An encoder before the first turn of a run of `setup`. The recorded loop gives up, with an assertion, at turn
    /// `turns_max`.
    ///
    /// `stops` are the stop tokens of the requests. The setup does not have stop tokens that are never sampled.
    pub fn new(setup: &'a Setup, stops: &'a [Option<Token>], turns_max: u32, listener: &'a mut dyn Listener) -> Self {
        EventEncoder { state: EncoderState::new(setup, stops, turns_max), listener }
    }

    /// Encodes the end of the run.
    ///
    /// `never_arrived` counts requests of the recording's scenario that had not arrived when the recording ended.
    pub fn end(mut self, ended: Ended, world: &World, never_arrived: u32) {
        self.state.end(ended, world, never_arrived);
        self.hand_on();
    }

    /// Whether the listener needs no more events.
    pub fn is_over(&self) -> bool {
        self.listener.is_over()
    }

    fn hand_on(&mut self) {
        for event in self.state.queue.drain(..) {
            self.listener.event(&event);
        }
    }
}

impl Sink for EventEncoder<'_> {
    fn fact(&mut self, fact: Fact) {
        self.state.fact(fact);
        if !self.state.queue.is_empty() {
            self.hand_on();
        }
    }

    fn wants_tokens(&self) -> bool {
        true
    }

    fn tokens(&mut self, req: ReqId, _: u32, tokens: &[Token]) {
        for &token in tokens {
            self.state.contents.push(req, token);
        }
    }
}

/// The run as far as events depend on it, and the events not yet handed on.
#[derive(Debug)]
struct EncoderState<'a> {
    setup: &'a Setup,
    format: RecorderFormat,
    stops: &'a [Option<Token>],
    contents: Contents,
    requests: Vec<RequestState>,
    batches: BTreeMap<BatchId, OpenBatch>,
    stats: Stats,
    /// How often a boundary of a request fired.
    fired_at: BTreeMap<(ReqId, u32), u32>,
    turn: u32,
    phase: Phase,
    /// Slots of the call of the allocator that is under way.
    group: Vec<SlotId>,
    free: u32,
    /// Retractions of this plan phase. Their events come at its end.
    retracted: Vec<(ReqId, u32)>,
    preparing: Option<OpenPrepare>,
    result: Option<OpenResult>,
    launched: Option<(BatchId, ForwardMode)>,
    /// The last turn in which a request ended.
    last_end: u32,
    /// The turn at which the recorded loop gives up.
    turns_max: u32,
    queue: Vec<EncodedEvent<'a>>,
}

impl<'a> EncoderState<'a> {
    fn new(setup: &'a Setup, stops: &'a [Option<Token>], turns_max: u32) -> Self {
        EncoderState {
            setup,
            format: RecorderFormat::of(setup.engine.release),
            stops,
            contents: Contents::new(setup.requests.len()),
            requests: vec![RequestState::new(); setup.requests.len()],
            batches: BTreeMap::new(),
            stats: Stats::default(),
            fired_at: BTreeMap::new(),
            turn: 0,
            phase: Phase::Ingest,
            group: Vec::new(),
            free: setup.engine.mamba_slots,
            retracted: Vec::new(),
            preparing: None,
            result: None,
            launched: None,
            last_end: 0,
            turns_max,
            queue: Vec::new(),
        }
    }

    fn emit(&mut self, body: EventBody<'a>) {
        self.queue.push(EncodedEvent { turn: self.turn, phase: self.phase, body });
    }

    fn name(&self, req: ReqId) -> &'a str {
        self.setup.name(req)
    }

    fn request(&mut self, req: ReqId) -> &mut RequestState {
        &mut self.requests[req.index()]
    }

    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Run(fact) => self.run_fact(fact),
            Fact::Request(fact) => self.request_fact(fact),
            Fact::Slot(fact) => self.slot_fact(fact),
            Fact::Cache(fact) => self.cache_fact(fact),
            Fact::Batch(fact) => self.batch_fact(fact),
            Fact::Forward(fact) => self.forward_fact(fact),
            Fact::Decision(fact) => self.decision_fact(fact),
            Fact::Probe(fact) => self.probe_fact(fact),
            Fact::Page(_) | Fact::Script(_) => {}
        }
    }

    fn begin(&mut self, phase: Phase, batch: Option<BatchId>) {
        self.phase = phase;
        match (phase, batch) {
            (Phase::Prepare, Some(batch)) => self.preparing = Some(OpenPrepare { batch, rows: Vec::new() }),
            (Phase::Result, Some(batch)) => self.result = Some(OpenResult { batch, rows: Vec::new() }),
            _ => {}
        }
    }

    fn finish_phase(&mut self) {
        for (req, outputs) in std::mem::take(&mut self.retracted) {
            self.stats.retract += 1;
            self.emit(EventBody::Retract { rid: self.name(req), output_len: outputs });
        }
        if let Some(open) = self.preparing.take() {
            self.prepared(open);
        }
        if let Some(result) = self.result.take() {
            self.result(&result);
            self.batches.remove(&result.batch);
        }
        self.launched = None;
    }

    fn arrive(&mut self, req: ReqId, max_new: u32) {
        let prompt = self.contents.tokens(req).to_vec();
        // A stop token that is never sampled is not in the setup.
        let is_sampled = matches!(self.setup.requests[req.index()].stop, Stop::Token(nth) if nth <= max_new);
        let given = self.stops.get(req.index()).copied().flatten();
        let stop = if is_sampled { self.setup.stop_token(req, &prompt) } else { given };
        self.emit(EventBody::Arrive { rid: self.name(req), prompt, max_new_tokens: max_new, stop_token: stop });
    }

    fn finish(&mut self, req: ReqId, kind: FinishKind) {
        self.last_end = self.turn;
        self.request(req).ending = if kind == FinishKind::Abort { Ending::Abort } else { Ending::Finished };
        if self.phase != Phase::Result {
            self.emit(EventBody::AbortOutput { rid: self.name(req) });
        } else if let Some(row) = self.result_row(req) {
            row.finished = true;
        }
    }

    fn assertion(&mut self, kind: AssertKind) {
        self.stats.asserts += 1;
        self.emit(EventBody::Assert { assertion: assertions::name(kind), kind: "raised" });
    }

    fn end(&mut self, ended: Ended, world: &World, never_arrived: u32) {
        let iters = match ended {
            Ended::Done => self.last_end + IDLE_TURNS,
            Ended::Asserted | Ended::TurnsMax | Ended::Stalled => self.turn,
        };
        self.turn = iters;
        let mut wrong = Vec::new();
        let mut states = 0;
        for node in world.tree().walk() {
            let Some(slot) = node.state else { continue };
            states += 1;
            let held = self.contents.get(slot);
            if held != world.streams().fold(node.prefix) {
                wrong.push((node.prefix.len, slot.0, held.n));
            }
        }
        wrong.sort_unstable();
        for &(label, slot, n) in &wrong {
            self.emit(EventBody::TreeMismatch { label, slot, n });
        }
        let total = self.setup.engine.mamba_slots;
        let free = world.slots_free();
        let leak = i64::from(total) - i64::from(free) - i64::from(states);
        let open = |request: &&RequestState| request.ending == Ending::None;
        let unfinished = self.requests.iter().filter(open).count() as u32 + never_arrived;
        let free_reqs = self.setup.engine.max_running.saturating_sub(world.rows_held());
        let stats = Stats { tree_bad: wrong.len() as u32, leak, unfinished, iters: self.turn + 1, ..self.stats };
        self.emit(EventBody::End { free, tree: states, total, leak, free_reqs, stats });
    }
}

impl EncoderState<'_> {
    fn run_fact(&mut self, fact: RunFact) {
        match fact {
            RunFact::Turn { turn, .. } => {
                self.turn = turn;
                if turn >= self.turns_max {
                    self.stats.asserts += 1;
                    self.emit(EventBody::Assert { assertion: "stall", kind: "stall" });
                }
            }
            RunFact::Begin { phase, batch, .. } => self.begin(phase, batch),
            RunFact::End { .. } => self.finish_phase(),
            RunFact::Assert { kind, .. } => self.assertion(kind),
            RunFact::Wait { .. } | RunFact::Bound { .. } | RunFact::Done { .. } => {}
        }
    }

    fn request_fact(&mut self, fact: RequestFact) {
        match fact {
            RequestFact::Arrive { req, max_new, .. } => self.arrive(req, max_new),
            RequestFact::Abort { req, stage, .. } => {
                self.emit(EventBody::Abort { rid: self.name(req), stage });
            }
            RequestFact::Prompt { req, prompt } => self.request(req).prompt_len = prompt.len,
            RequestFact::Output { req, outputs, .. } => {
                self.request(req).outputs = outputs;
                if let Some(result) = &mut self.result {
                    result.rows.push(OpenRow::new(req, outputs));
                }
            }
            RequestFact::Finish { req, kind, .. } => self.finish(req, kind),
            RequestFact::Retract { req, outputs } => {
                self.request(req).retract();
                self.retracted.push((req, outputs));
            }
            RequestFact::Admit { .. } | RequestFact::MiddleChunk { .. } | RequestFact::Skip { .. } => {}
        }
    }

    fn slot_fact(&mut self, fact: SlotFact) {
        match fact {
            SlotFact::Alloc { slot, owner, last } => self.slot_alloc(slot, owner, last),
            SlotFact::Refused { count, .. } => self.slot_refused(count),
            SlotFact::Move { from, to, .. } => self.slot_move(from, to),
            SlotFact::Free { slot, owner, last } => self.slot_free(slot, owner, last),
        }
    }

    fn cache_fact(&mut self, fact: CacheFact) {
        match fact {
            CacheFact::Match { req, state_len, branching, source, .. } => {
                let held = source.map(|slot| self.contents.get(slot).n);
                self.emit(EventBody::Match {
                    rid: self.name(req),
                    prefix_len: state_len,
                    slot: source.map(|slot| slot.0),
                    branching,
                    n: held,
                });
            }
            CacheFact::Donate { req, key_len, slot, how, .. } => self.donate(req, key_len, slot, how),
            CacheFact::NoDonate { req, why, slot } => self.no_insert(req, why, slot),
            CacheFact::Hit { .. } | CacheFact::Lock { .. } | CacheFact::Unlock { .. } => {}
        }
    }

    fn batch_fact(&mut self, fact: BatchFact) {
        match fact {
            BatchFact::PrepareExtend { batch, req, prefix_len, seq_len, kv_committed_len, active, track, .. } => {
                self.request(req).retracted = false;
                self.prepare(batch, req, seq_len, kv_committed_len, active);
                if let Some(row) = self.preparing_row() {
                    (row.prefix_len, row.tracked) = (prefix_len, track.map(|(_, len)| len));
                }
            }
            BatchFact::PrepareDecode { batch, req, k, decode_batch_idx, kv_committed_len, active, .. } => {
                self.prepare(batch, req, k, kv_committed_len, active);
                if let Some(row) = self.preparing_row() {
                    row.decode_batch_idx = Some(decode_batch_idx);
                }
            }
            BatchFact::Mix { batch, decode, .. } => self.mix(batch, decode),
            BatchFact::HostMasks { .. } | BatchFact::MasksDropped { .. } | BatchFact::TrackRefused { .. } => {}
        }
    }

    fn forward_fact(&mut self, fact: ForwardFact) {
        match fact {
            ForwardFact::Launch { batch, mode, .. } => self.launch(batch, mode),
            ForwardFact::Clear { slot, .. } => {
                self.contents.put(slot, TokenFold::ZERO);
                self.emit(EventBody::Clear { slot: slot.0 });
            }
            ForwardFact::CopyState { from, to, stream, .. } => self.copy_state(from, to, stream),
            ForwardFact::Extend { req, slot, from, to, track, .. } => self.extend(req, slot, from..to, track),
            ForwardFact::Step { req, slot, k, track, .. } => self.step(req, slot, k, track),
            ForwardFact::Verify { batch, req, slot, from, to, track, target } => {
                if let Some(batch) = self.batches.get_mut(&batch) {
                    batch.accepted.push((req, to - from));
                }
                self.verify(req, slot, from..to, track, target);
            }
            ForwardFact::Stream { .. } | ForwardFact::Sampled { .. } => {}
        }
    }

    fn decision_fact(&mut self, fact: DecisionFact) {
        match fact {
            DecisionFact::Row { req, lookahead, kv_committed_len, decision, .. } => {
                if let Some(row) = self.result_row(req) {
                    (row.lookahead, row.kv_committed_len) = (lookahead, kv_committed_len);
                    row.decided = decision.is_some();
                }
            }
            DecisionFact::Flip { .. } => {}
        }
    }

    fn probe_fact(&mut self, fact: ProbeFact) {
        match fact {
            ProbeFact::Fields { req, fields } => self.fields(req, fields),
            ProbeFact::Arrays { arrays, .. } => {
                if let Some(row) = self.preparing_row() {
                    row.arrays = arrays;
                }
            }
            ProbeFact::Read { .. } | ProbeFact::Latched { .. } => {}
        }
    }
}
