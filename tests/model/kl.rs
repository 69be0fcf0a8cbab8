//! The effect of cache hits on outputs: the numeric state and its measurement.

use std::path::Path;

use crate::common::setups::setups;
use overlapsim::engine::{Seeded, Time};
use overlapsim::judge::{Judgement, Verdict};
use overlapsim::model::{Setup, Strategy};
use overlapsim::numeric::{FirstDifference, Gauge, LIMIT, Severity, Ssm};
use overlapsim::record::{
    BatchId, CacheFact, DonationOutcome, Fact, FinishKind, ForwardFact, GpuStream, Record, ReqId, RequestFact, RunFact,
    Sink, SkipReason, SlotId, Token,
};
use overlapsim::runner::{self, Keep};
use overlapsim::scenario;
use proptest::prelude::*;

/// Row 2 of the known histories, then a request that extends it: lazy, p=1, no interleaving, stop at rD7.
pub(super) const ROW_2: &str = "scenarios/kl-row2.ron";

/// What rounding alone may cost: three orders above what is seen, five below the level of the public test.
pub(super) const FLOOR: f64 = 1e-9;

fn ssm(seed: u64) -> Ssm {
    Ssm { seed, ..Ssm::default() }
}

/// A record that also holds the tokens of requests.
#[derive(Default)]
struct TokenRecord(Record);

impl Sink for TokenRecord {
    fn fact(&mut self, fact: Fact) {
        self.0.fact(fact);
    }

    fn wants_tokens(&self) -> bool {
        true
    }

    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        self.0.tokens(req, from, tokens);
    }
}

fn record(setup: &Setup, rule: &str) -> (Judgement, Record) {
    let rule = runner::rule(rule).unwrap();
    let judgement = runner::run(setup, rule, 1, Keep::default(), None).judgement;
    let mut record = TokenRecord::default();
    runner::replay(setup, rule, &mut Seeded::new(1), &mut record);
    (judgement, record.0)
}

fn measure(record: &Record, ssm: Ssm, chunk_len: u32) -> Severity {
    let mut gauge = Gauge::new(ssm, chunk_len);
    record.replay(&mut gauge);
    gauge.finish()
}

fn load(file: &str) -> Setup {
    scenario::load(Path::new(file), &runner::rule_names()).expect("a valid scenario").setup
}

/// Row 2 under a rule, for every seed from 1 to 100.
fn spread(rule: &str) -> (Verdict, Vec<Severity>) {
    let setup = load(ROW_2);
    let (judgement, record) = record(&setup, rule);
    let severities = (1..=100).map(|seed| measure(&record, ssm(seed), setup.engine.mamba_chunk)).collect();
    (judgement.verdict, severities)
}

#[test]
fn row_2_followed_by_a_hit_exceeds_the_limit_under_token_len_for_at_least_90_of_100_seeds() {
    let (verdict, severities) = spread("token-len");
    assert_eq!(verdict, Verdict::Corrupt);
    for severity in &severities {
        assert_eq!((severity.hits.len(), severity.wrong_sources(), severity.positions()), (1, 1, 6));
    }
    let over = severities.iter().filter(|severity| severity.avg().unwrap() > LIMIT).count();
    assert!(over >= 90, "{over} of 100");
    // Pinned: seeds 47 and 75 stay below it (docs/severity.md).
    assert_eq!(over, 98);
}

#[test]
fn rules_that_are_clean_in_row_2_sit_at_the_rounding_floor_for_every_seed() {
    for rule in ["committed-len", "mask-lookahead", "completed-mask"] {
        let (verdict, severities) = spread(rule);
        assert_eq!(verdict, Verdict::Clean);
        for (severity, seed) in severities.iter().zip(1..) {
            let max = severity.max().unwrap();
            assert!(max < FLOOR, "{rule}, seed {seed}: {max}");
            assert_eq!((severity.hits.len(), severity.wrong_sources(), severity.positions()), (1, 0, 6));
            assert_eq!(severity.first_difference, None, "{rule}, seed {seed}");
        }
        let honest = severities.iter().filter(|severity| severity.max().unwrap() > 0.0).count();
        assert_eq!(honest, 100, "{rule}: rounding shows");
    }
}

#[test]
fn the_hit_is_that_of_the_request_that_follows() {
    let setup = load(ROW_2);
    let (_, record) = record(&setup, "token-len");
    let severity = measure(&record, ssm(1), 4);
    let hit = &severity.hits[0];
    assert_eq!((hit.req, hit.label, hit.source_right, hit.positions), (ReqId(1), 4, false, 6));
    assert_eq!(severity.first_difference, Some(FirstDifference { req: ReqId(1), output: 1 }));
    assert!(hit.avg().unwrap() <= hit.max().unwrap());
    assert_eq!((hit.avg(), hit.max()), (severity.avg(), severity.max()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_the_judge_calls_clean_sits_at_the_rounding_floor(setup in setups(), seed in 1..1000u64) {
        for rule in runner::rule_names() {
            let (judgement, record) = record(&setup, rule);
            let severity = measure(&record, ssm(seed), setup.engine.mamba_chunk);
            if judgement.verdict <= Verdict::Lossy {
                prop_assert_eq!(severity.wrong_sources(), 0, "{}", rule);
                prop_assert!(severity.max().is_none_or(|max| max < FLOOR), "{rule}: {:?}", severity.max());
            }
            prop_assert!(severity.hits.iter().all(|hit| hit.sum >= 0.0 && hit.sum.is_finite()));
        }
    }
}

/// A hand-written run: request 0 leaves four tokens in slot 1, request 1 starts from there.
struct Script {
    record: Record,
    batch: u32,
}

const A: ReqId = ReqId(0);
const B: ReqId = ReqId(1);
const CACHED: SlotId = SlotId(1);
const ACTIVE: SlotId = SlotId(2);

impl Script {
    fn new() -> Script {
        let mut script = Script { record: Record::default(), batch: 0 };
        script.record.tokens(A, 0, &[1, 2, 3, 4]);
        script.extend(A, CACHED, 0, 4);
        script.record.tokens(B, 0, &[1, 2, 3, 4, 5, 6]);
        script
    }

    fn fact(&mut self, fact: Fact) {
        self.record.fact(fact);
    }

    fn hit(&mut self, len: u32) {
        self.fact(Fact::Cache(CacheFact::Hit { req: B, source: CACHED, len }));
        self.fact(Fact::Forward(ForwardFact::CopyState {
            req: B,
            from: CACHED,
            to: ACTIVE,
            stream: GpuStream::Forward,
        }));
    }

    fn extend(&mut self, req: ReqId, slot: SlotId, from: u32, to: u32) {
        self.batch += 1;
        self.fact(Fact::Forward(ForwardFact::Extend { batch: BatchId(self.batch), req, slot, from, to, track: None }));
    }

    fn step(&mut self, k: u32) {
        self.batch += 1;
        self.record.tokens(B, k - 1, &[500 + k]);
        self.fact(Fact::Forward(ForwardFact::Step {
            batch: BatchId(self.batch),
            req: B,
            slot: ACTIVE,
            k,
            track: None,
        }));
    }

    fn output(&mut self, batch: u32, outputs: u32) {
        self.fact(Fact::Request(RequestFact::Output { batch: BatchId(batch), req: B, outputs, at: Time::ZERO }));
    }

    fn measure(&self) -> Severity {
        measure(&self.record, ssm(1), 4)
    }
}

#[test]
fn a_forward_counts_when_its_output_is_kept() {
    let mut script = Script::new();
    script.fact(Fact::Run(RunFact::Turn { turn: 7, at: Time::ZERO }));
    script.hit(4);
    script.extend(B, ACTIVE, 4, 6);
    script.step(7);
    script.output(2, 1);
    script.step(8);
    script.output(3, 2);
    script.fact(Fact::Request(RequestFact::Finish { req: B, kind: FinishKind::Token, outputs: 2 }));
    let how = DonationOutcome { finished: true, existed: false };
    script.fact(Fact::Cache(CacheFact::Donate { req: B, label: 8, key_len: 8, slot: ACTIVE, how }));
    script.fact(Fact::Request(RequestFact::Skip { batch: BatchId(4), req: B, why: SkipReason::Ended }));
    let severity = script.measure();
    let hit = &severity.hits[0];
    assert_eq!((hit.turn, hit.label, hit.source_right, hit.positions), (7, 4, true, 2));
    assert!(hit.max < FLOOR && hit.first_difference.is_none());
}

#[test]
fn a_wrong_source_and_a_slot_overwritten_later_both_show() {
    let mut script = Script::new();
    script.hit(3);
    script.extend(B, ACTIVE, 3, 6);
    script.output(2, 1);
    let wrong = script.measure();
    assert!(!wrong.hits[0].source_right && wrong.max().unwrap() > LIMIT, "{wrong:?}");

    let mut script = Script::new();
    script.hit(4);
    script.extend(B, ACTIVE, 4, 6);
    script.output(2, 1);
    assert!(script.measure().max().unwrap() < FLOOR);
    script.fact(Fact::Forward(ForwardFact::Clear { req: A, slot: ACTIVE }));
    script.step(7);
    script.output(3, 2);
    let foreign = script.measure();
    assert!(foreign.hits[0].source_right && foreign.max().unwrap() > LIMIT, "{foreign:?}");
}

#[test]
fn a_retraction_ends_the_comparison_and_the_next_hit_begins_another() {
    let mut script = Script::new();
    script.hit(4);
    script.extend(B, ACTIVE, 4, 6);
    script.step(7);
    script.output(2, 1);
    script.fact(Fact::Request(RequestFact::Retract { req: B, outputs: 1 }));
    script.output(3, 2);
    assert_eq!(script.measure().positions(), 1, "the result in flight is not an output");
    script.record.entries.pop();
    script.hit(4);
    script.extend(B, ACTIVE, 4, 7);
    script.output(4, 2);
    let severity = script.measure();
    assert_eq!(severity.hits.iter().map(|hit| hit.positions).collect::<Vec<_>>(), [1, 1]);
    assert!(severity.max().unwrap() < FLOOR);
}

#[test]
fn every_token_that_a_verify_accepts_is_an_output_up_to_the_end() {
    let mut script = Script::new();
    script.hit(4);
    script.extend(B, ACTIVE, 4, 6);
    script.output(2, 1);
    for len in 6..10 {
        script.record.tokens(B, len, &[len]);
    }
    let (slot, tracked) = (ACTIVE, SlotId(3));
    let verify = |batch, from, to| {
        Fact::Forward(ForwardFact::Verify {
            batch: BatchId(batch),
            req: B,
            slot,
            from,
            to,
            track: Some((tracked, 8)).filter(|(_, at)| (from..=to).contains(at)),
            target: Some(tracked),
        })
    };
    script.fact(verify(3, 6, 9));
    script.fact(verify(4, 9, 10));
    script.output(3, 4);
    assert_eq!(script.measure().positions(), 1, "whether it ends among them is not known yet");
    script.fact(Fact::Request(RequestFact::Finish { req: B, kind: FinishKind::Token, outputs: 3 }));
    let severity = script.measure();
    assert_eq!(severity.positions(), 3, "what was accepted behind the stop token is no output");
    assert!(severity.max().unwrap() < FLOOR);
    // The state on the way is that after eight tokens.
    script.record.tokens(A, 0, &[1, 2, 3, 4, 5, 6, 6, 7, 9]);
    script.fact(Fact::Cache(CacheFact::Hit { req: A, source: tracked, len: 8 }));
    script.extend(A, tracked, 8, 9);
    assert!(script.measure().hits[1].source_right);
}

#[test]
fn a_hit_that_is_given_back_is_not_compared() {
    let mut script = Script::new();
    script.hit(4);
    script.hit(4);
    script.fact(Fact::Forward(ForwardFact::Clear { req: B, slot: ACTIVE }));
    script.extend(B, ACTIVE, 0, 6);
    script.output(2, 1);
    assert_eq!(script.measure(), Severity::default());
}

#[test]
fn forwards_with_unknown_tokens_are_not_compared() {
    let mut script = Script::new();
    script.hit(4);
    script.extend(B, ACTIVE, 4, 9);
    script.output(2, 1);
    script.extend(B, ACTIVE, 6, u32::MAX);
    script.fact(Fact::Forward(ForwardFact::Verify {
        batch: BatchId(8),
        req: B,
        slot: ACTIVE,
        from: u32::MAX,
        to: u32::MAX,
        track: None,
        target: None,
    }));
    script.fact(Fact::Forward(ForwardFact::Step {
        batch: BatchId(9),
        req: ReqId(u32::MAX),
        slot: SlotId(u32::MAX),
        k: 0,
        track: None,
    }));
    let severity = script.measure();
    assert_eq!((severity.hits.len(), severity.positions(), severity.avg()), (1, 0, None));
}

#[test]
fn nothing_is_compared_without_a_hit() {
    let setup = load("scenarios/double-fire.ron");
    let (_, record) = record(&setup, "mask-lookahead");
    assert_eq!(measure(&record, ssm(1), 4), Severity::default());
}

#[test]
fn the_tracked_state_on_the_way_is_the_one_that_is_hit() {
    // The prefill of eleven tokens leaves its state at 8 behind for those who follow.
    let text = r#"(
        engine: (track_interval: 4, mamba_chunk: 4),
        requests: [
            (id: "a", prompt: Fresh(11), stop: Length(1)),
            (id: "b", arrive: After("a"), prompt: Extend("a", 3), stop: Length(1)),
        ],
    )"#;
    let setup = scenario::parse("tracked", text, Path::new("."), &runner::rule_names()).unwrap().setup;
    assert_eq!(setup.engine.strategy, Strategy::ExtraBuffer);
    let (judgement, record) = record(&setup, "completed-mask");
    let severity = measure(&record, ssm(5), 4);
    assert_eq!(judgement.verdict, Verdict::Clean);
    assert_eq!((severity.hits[0].label, severity.positions()), (8, 1));
    assert_eq!(severity.max(), Some(0.0), "the same chunks in the same order: the same bits");
}

#[test]
fn every_output_of_a_request_that_hits_is_compared_in_every_kind_of_batch() {
    for engine in [
        "strategy: ExtraBuffer",
        "strategy: ExtraBufferLazy",
        "strategy: ExtraBuffer, overlap: false",
        "strategy: NoBuffer, overlap: false",
        "strategy: ExtraBuffer, chunked_prefill_size: 4",
        "strategy: ExtraBuffer, chunked_prefill_size: 4, mixed_chunk: true",
        "strategy: ExtraBuffer, copy_on_write: Immediate",
        "strategy: ExtraBuffer, spec: (draft: 2, accept: Fixed([2]))",
        "strategy: ExtraBufferLazy, spec: (draft: 2, accept: Fixed([2, 3, 1]))",
    ] {
        let text = format!(
            r#"(
                engine: ({engine}, track_interval: 4, mamba_chunk: 4),
                requests: [
                    (id: "a", prompt: Fresh(9), stop: Token(12)),
                    (id: "c", arrive: Turn(1), prompt: Fresh(3), stop: Length(40)),
                    (id: "b", arrive: After("a"), prompt: Extend("a", 11), stop: Token(10)),
                ],
            )"#
        );
        let setup = scenario::parse("batches", &text, Path::new("."), &runner::rule_names()).unwrap().setup;
        let (judgement, record) = record(&setup, "completed-mask");
        assert!(judgement.verdict <= Verdict::Lossy, "{engine}: {:?}", judgement.findings);
        let severity = measure(&record, ssm(1), setup.engine.mamba_chunk);
        let hits: Vec<_> = severity.hits.iter().map(|hit| (hit.req, hit.source_right, hit.positions)).collect();
        assert_eq!(hits, [(ReqId(2), true, judgement.requests[2].outputs)], "{engine}");
        assert_eq!(hits[0].2, 10);
        assert!(severity.max().unwrap() < FLOOR, "{engine}");
    }
}
