//! A run by hand for the tests of this module: the double fire of row 3 of the known facts in docs/rules.md
//! (extra_buffer, G=4, a prompt of one token, L(4)=0, stop at rD4) under mask-lookahead, after the recording of the
//! real system.

use std::collections::BTreeMap;

use crate::engine::Time;
use crate::judge::{
    Boundary, CheckpointCounts, Class, ClassCounts, Finding, FindingKind, Goals, Judgement, MaskReuse, RequestOutcome,
    Verdict,
};
use crate::metrics::{Meter, Timing};
use crate::record::{
    BatchFact, BatchId, BoundaryCheck, CacheFact, Decision, DecisionFact, DonationOutcome, Fact, FinishKind,
    ForwardFact, ForwardMode, KeptState, NoDonation, Owner, Phase, Prefix, Record, ReqId, RequestFact, RunFact, Sink,
    SkipReason, SlotFact, SlotId, StreamId,
};

use super::Run;

pub(super) const A: ReqId = ReqId(0);
pub(super) const B: ReqId = ReqId(1);

/// The data that a [`Run`] borrows.
pub(super) struct Fixture {
    pub(super) names: Vec<String>,
    pub(super) judgement: Judgement,
    pub(super) record: Record,
    pub(super) timing: Timing,
}

impl Fixture {
    pub(super) fn double_fire() -> Fixture {
        let record = record();
        let mut meter = Meter::new();
        record.replay(&mut meter);
        let names = vec!["a".to_owned(), "b".to_owned()];
        Fixture { names, judgement: judgement(), record, timing: meter.timing() }
    }

    pub(super) fn run(&self, rule: &'static str) -> Run<'_> {
        Run {
            scenario: "scenarios/double-fire.ron",
            rule,
            seed: 0,
            way: "seed 0".to_string(),
            replay: format!("overlapsim run scenarios/double-fire.ron --rule {rule} --timeline"),
            names: &self.names,
            judgement: &self.judgement,
            timing: &self.timing,
            latched: None,
            skew: None,
            bound: None,
            warnings: Vec::new(),
        }
    }
}

/// The judgement of an empty run.
pub(super) fn nothing() -> Judgement {
    Judgement {
        verdict: Verdict::Clean,
        turns: 0,
        decode_results: 0,
        lookahead: BTreeMap::new(),
        decisions: ClassCounts::default(),
        checkpoints: CheckpointCounts::default(),
        mask_reuse: MaskReuse::default(),
        findings: Vec::new(),
        boundaries: Vec::new(),
        requests: Vec::new(),
        pins_missed: Vec::new(),
        pins_ended: Vec::new(),
        events_unused: Vec::new(),
        bound: None,
        overflow: false,
        goals: Goals::NONE,
    }
}

pub(super) fn finding(kind: FindingKind, label: u32) -> Finding {
    Finding {
        kind,
        req: Some(A),
        turn: 4,
        phase: Phase::Result,
        label: Some(label),
        holds: None,
        slot: None,
        reason: "because".to_owned(),
        root: None,
        overwritten: None,
    }
}

fn judgement() -> Judgement {
    let early = Boundary {
        turn: 3,
        batch: BatchId(3),
        req: A,
        k: 3,
        lookahead: 1,
        check: BoundaryCheck::Mask,
        fired: true,
        label: Some(4),
        slot: Some(SlotId(3)),
        due: None,
        class: Class::Early,
    };
    let repeat = Boundary {
        turn: 4,
        batch: BatchId(4),
        k: 4,
        lookahead: 0,
        slot: Some(SlotId(4)),
        due: Some(SlotId(3)),
        class: Class::Repeat,
        ..early
    };
    let unwritten = Finding {
        slot: Some(SlotId(4)),
        reason: "slot s4 was donated under length 4, but nothing has been written to it since a got it".to_owned(),
        ..finding(FindingKind::Unwritten, 4)
    };
    let outcome = |outputs, kind| RequestOutcome { arrived: true, prefix_hit: 0, outputs, finish: Some(kind) };
    Judgement {
        verdict: Verdict::Corrupt,
        turns: 7,
        decode_results: 3,
        lookahead: BTreeMap::from([(0, 1), (1, 2)]),
        decisions: ClassCounts { agree: 1, early: 1, repeat: 1, ..ClassCounts::default() },
        checkpoints: CheckpointCounts { due: 1, recorded: 1, donated: 1, ..CheckpointCounts::default() },
        mask_reuse: MaskReuse { reused: 3, bytes: 40, ..MaskReuse::default() },
        findings: vec![unwritten],
        boundaries: vec![early, repeat],
        requests: vec![outcome(4, FinishKind::Token), outcome(1, FinishKind::Length)],
        ..nothing()
    }
}

/// Virtual time on both streams.
struct FixtureClock {
    record: Record,
    now: u64,
    gpu: u64,
    copied: BTreeMap<BatchId, u64>,
}

impl FixtureClock {
    fn fact(&mut self, fact: Fact) {
        self.record.fact(fact);
    }

    fn phase(&mut self, phase: Phase, batch: Option<u32>, us: u64, facts: &[Fact]) {
        let batch = batch.map(BatchId);
        self.fact(Fact::Run(RunFact::Begin { phase, batch, at: Time(self.now) }));
        facts.iter().for_each(|&fact| self.fact(fact));
        self.now += us * 1000;
        self.fact(Fact::Run(RunFact::End { at: Time(self.now) }));
    }

    fn turn(&mut self, turn: u32, arrivals: &[Fact], plan: &[Fact]) {
        self.fact(Fact::Run(RunFact::Turn { turn, at: Time(self.now) }));
        self.phase(Phase::Ingest, None, 1, arrivals);
        self.phase(Phase::Plan, None, 2, plan);
    }

    fn launch(&mut self, batch: u32, mode: ForwardMode, rows: &[Fact]) {
        self.phase(Phase::Prepare, Some(batch), 5, rows);
        let batch_id = BatchId(batch);
        let start = self.gpu.max(self.now + 10_000);
        let end = start + 60_000;
        self.gpu = end;
        self.copied.insert(batch_id, end + 2000);
        let (start, end, copied) = (Time(start), Time(end), Time(end + 2000));
        self.phase(
            Phase::Launch,
            Some(batch),
            10,
            &[Fact::Forward(ForwardFact::Launch { batch: batch_id, mode, rows: 1, start, end, copied })],
        );
    }

    fn result(&mut self, batch: u32, facts: impl Fn(Time) -> Vec<Fact>) {
        let batch = BatchId(batch);
        self.fact(Fact::Run(RunFact::Begin { phase: Phase::Result, batch: Some(batch), at: Time(self.now) }));
        self.now = self.now.max(self.copied[&batch]);
        self.fact(Fact::Run(RunFact::Wait { batch, at: Time(self.now) }));
        self.now += 4000;
        facts(Time(self.now)).into_iter().for_each(|fact| self.fact(fact));
        self.fact(Fact::Run(RunFact::End { at: Time(self.now) }));
    }
}

fn alloc(slot: u32, owner: Owner) -> Fact {
    Fact::Slot(SlotFact::Alloc { slot: SlotId(slot), owner, last: true })
}

fn free(slot: u32, owner: Owner) -> Fact {
    Fact::Slot(SlotFact::Free { slot: SlotId(slot), owner, last: true })
}

fn extend(batch: u32, req: ReqId, active: u32) -> Fact {
    Fact::Batch(BatchFact::PrepareExtend {
        batch: BatchId(batch),
        req,
        prefix_len: 0,
        seq_len: 1,
        kv_committed_len: 1,
        active: SlotId(active),
        track: None,
        next_track_idx: Some(0),
    })
}

fn decode(batch: u32, req: ReqId, k: u32, active: u32, track: Option<u32>) -> Fact {
    Fact::Batch(BatchFact::PrepareDecode {
        batch: BatchId(batch),
        req,
        k,
        decode_batch_idx: k - 1,
        kv_committed_len: k,
        active: SlotId(active),
        track: track.map(SlotId),
        next_track_idx: Some(0),
    })
}

fn output(batch: u32, req: ReqId, outputs: u32, at: Time) -> Fact {
    Fact::Request(RequestFact::Output { batch: BatchId(batch), req, outputs, at })
}

fn row(batch: u32, lookahead: i64, kv_committed_len: u32, decision: Option<Decision>) -> Fact {
    Fact::Decision(DecisionFact::Row {
        batch: BatchId(batch),
        req: A,
        lookahead,
        kv_committed_len,
        check: BoundaryCheck::Mask,
        decision,
    })
}

fn flip(batch: u32, next_track_idx: u8) -> Fact {
    Fact::Decision(DecisionFact::Flip { batch: BatchId(batch), req: A, next_track_idx })
}

fn admit(req: ReqId, active: u32) -> [Fact; 4] {
    let tracks = [0, 1].map(|index: u8| alloc(active + 1 + u32::from(index), Owner::Track(req, index)));
    [Fact::Request(RequestFact::Admit { req }), alloc(active, Owner::Active(req)), tracks[0], tracks[1]]
}

fn record() -> Record {
    let mut clock = FixtureClock { record: Record::default(), now: 0, gpu: 0, copied: BTreeMap::new() };
    let kept = |slot: u32| KeptState { label: Some(4), slot: Some(SlotId(slot)) };
    for (req, stream) in [(A, StreamId(1)), (B, StreamId(2))] {
        clock.fact(Fact::Forward(ForwardFact::Stream { stream, parent: Prefix::EMPTY }));
        clock.fact(Fact::Request(RequestFact::Prompt { req, prompt: Prefix { stream, len: 1 } }));
    }
    clock.turn(0, &[Fact::Request(RequestFact::Arrive { req: A, at: Time(0), max_new: 20 })], &admit(A, 2));
    clock.launch(1, ForwardMode::Extend, &[extend(1, A, 2)]);
    clock.turn(1, &[], &[]);
    clock.launch(2, ForwardMode::Decode, &[decode(2, A, 2, 2, None)]);
    clock.result(1, |at| {
        vec![
            output(1, A, 1, at),
            Fact::Cache(CacheFact::NoDonate { req: A, why: NoDonation::NoCheckpoint, slot: None }),
        ]
    });
    clock.turn(2, &[], &[]);
    clock.launch(3, ForwardMode::Decode, &[decode(3, A, 3, 2, None)]);
    clock.result(2, |at| vec![output(2, A, 2, at), row(2, 1, 3, None)]);
    clock.turn(3, &[], &[]);
    clock.launch(4, ForwardMode::Decode, &[decode(4, A, 4, 2, Some(3))]);
    clock.result(3, |at| {
        let none = KeptState { label: None, slot: Some(SlotId(4)) };
        vec![output(3, A, 3, at), row(3, 1, 4, Some(Decision { before: none, after: kept(3) })), flip(3, 1)]
    });
    let arrive = Fact::Request(RequestFact::Arrive { req: B, at: Time(clock.now), max_new: 1 });
    clock.turn(4, &[arrive], &admit(B, 6));
    clock.launch(5, ForwardMode::Extend, &[extend(5, B, 6)]);
    clock.result(4, |at| {
        let how = DonationOutcome { finished: true, existed: false };
        vec![
            output(4, A, 4, at),
            Fact::Request(RequestFact::Finish { req: A, kind: FinishKind::Token, outputs: 4 }),
            row(4, 0, 4, Some(Decision { before: kept(3), after: kept(4) })),
            flip(4, 0),
            Fact::Cache(CacheFact::Donate { req: A, label: 4, key_len: 4, slot: SlotId(4), how }),
            Fact::Slot(SlotFact::Move { slot: SlotId(4), from: Owner::Track(A, 1), to: Owner::Tree }),
            free(2, Owner::Active(A)),
            free(3, Owner::Track(A, 0)),
        ]
    });
    clock.turn(5, &[], &[]);
    clock.launch(6, ForwardMode::Decode, &[decode(6, B, 2, 6, None)]);
    clock.result(5, |at| {
        vec![
            output(5, B, 1, at),
            Fact::Request(RequestFact::Finish { req: B, kind: FinishKind::Length, outputs: 1 }),
            Fact::Cache(CacheFact::NoDonate { req: B, why: NoDonation::NoCheckpoint, slot: None }),
            free(6, Owner::Active(B)),
            free(7, Owner::Track(B, 0)),
            free(8, Owner::Track(B, 1)),
        ]
    });
    clock.turn(6, &[], &[]);
    clock.result(6, |_| vec![Fact::Request(RequestFact::Skip { batch: BatchId(6), req: B, why: SkipReason::Ended })]);
    let at = Time(clock.now);
    clock.fact(Fact::Run(RunFact::Done { at }));
    clock.record
}
