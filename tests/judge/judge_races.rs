//! Records written by hand: an access on the schedule stream is a race if no happens-before path orders it, and else is none.
//!
//! Request `A` has the active slot 1 and the track slot 2; `B` comes later. Slot 7 is free, slot 9 caches two tokens.

use crate::common::tape::{AT, Facts, TokenNames};
use overlapsim::engine::Scripted;
use overlapsim::judge::{Finding, FindingKind, Judge, JudgeOptions, Judgement, Verdict};
use overlapsim::model::{CopyOnWrite, Cost, Costs, SlotFree, Snapshot};
use overlapsim::record::*;
use overlapsim::runner::{self, Keep};
use overlapsim::scenario;

const A: ReqId = ReqId(0);
const B: ReqId = ReqId(1);

/// Kind, label, holds, slot.
type Brief = (FindingKind, Option<u32>, Option<u32>, Option<u32>);

#[derive(Default)]
struct Tape {
    record: Record,
    turn: u32,
}

impl Facts for Tape {
    fn fact(&mut self, fact: Fact) -> &mut Tape {
        self.record.fact(fact);
        self
    }
}

impl Tape {
    /// Both requests have the tokens 1000, 1001, ...; the first two are cached in slot 9, and all is waited for.
    fn new() -> Tape {
        let mut tape = Tape::default();
        let tokens: Vec<Token> = (1000..1020).collect();
        let mut names = TokenNames::default();
        for req in [A, B] {
            names.prompt(req, &tokens).into_iter().for_each(|fact| tape.record.fact(fact));
            tape.fact(Fact::Request(RequestFact::Arrive { req, at: AT, max_new: 20 }));
        }
        tape.give(1, Owner::Active(A)).give(2, Owner::Track(A, 0)).give(9, Owner::Track(A, 1));
        tape.extend(1, A, 1, 0, 2, Some((9, 2))).wait(1).offer(A, 2, 9, Owner::Track(A, 1));
        tape
    }

    /// Begins a turn.
    fn turn(&mut self) -> &mut Tape {
        self.turn += 1;
        let turn = self.turn;
        self.fact(Fact::Run(RunFact::Turn { turn, at: AT })).fact(Fact::Run(RunFact::Begin {
            phase: Phase::Plan,
            batch: None,
            at: AT,
        }))
    }

    fn extend(
        &mut self,
        batch: u32,
        req: ReqId,
        slot: u32,
        from: u32,
        to: u32,
        track: Option<(u32, u32)>,
    ) -> &mut Tape {
        let track = track.map(|(slot, len)| (SlotId(slot), len));
        self.launch(batch).fact(Fact::Forward(ForwardFact::Extend {
            batch: BatchId(batch),
            req,
            slot: SlotId(slot),
            from,
            to,
            track,
        }))
    }

    fn step(&mut self, batch: u32, req: ReqId, slot: u32, k: u32, track: Option<u32>) -> &mut Tape {
        let track = track.map(SlotId);
        self.launch(batch).fact(Fact::Forward(ForwardFact::Step {
            batch: BatchId(batch),
            req,
            slot: SlotId(slot),
            k,
            track,
        }))
    }

    fn copy(&mut self, req: ReqId, from: u32, to: u32, stream: GpuStream) -> &mut Tape {
        self.fact(Fact::Forward(ForwardFact::CopyState { req, from: SlotId(from), to: SlotId(to), stream }))
    }

    /// A hit on the `len` tokens in `source`, copied to `to` at once.
    fn hit_now(&mut self, req: ReqId, source: u32, len: u32, to: u32) -> &mut Tape {
        self.hit(req, source, len).copy(req, source, to, GpuStream::Schedule)
    }

    fn hit(&mut self, req: ReqId, source: u32, len: u32) -> &mut Tape {
        self.fact(Fact::Cache(CacheFact::Hit { req, source: SlotId(source), len }))
    }

    /// Caches a slot under a label; it goes to the tree.
    fn offer(&mut self, req: ReqId, label: u32, slot: u32, from: Owner) -> &mut Tape {
        let how = DonationOutcome { finished: false, existed: false };
        self.fact(Fact::Cache(CacheFact::Donate { req, label, key_len: label, slot: SlotId(slot), how }));
        self.fact(Fact::Slot(SlotFact::Move { slot: SlotId(slot), from, to: Owner::Tree }))
    }

    fn judge(&self) -> Judgement {
        let mut judge = Judge::new(JudgeOptions { page_size: 1, keep_boundaries: false, keep_reasons: true });
        self.record.replay(&mut judge);
        judge.finish(&["a".to_string(), "b".to_string()])
    }

    fn found(&self) -> Vec<Brief> {
        let brief = |f: &Finding| (f.kind, f.label, f.holds, f.slot.map(|slot| slot.0));
        self.judge().findings.iter().map(brief).collect()
    }
}

/// `A` is copied from slot 2 to the free slot 7 while the forward that wrote slot 2 at length 4 may be in flight.
fn snapshot(waited: bool) -> Tape {
    let mut tape = Tape::new();
    tape.extend(2, A, 1, 2, 5, Some((2, 4))).turn();
    if waited {
        tape.wait(2);
    }
    tape.give(7, Owner::Spare).copy(A, 2, 7, GpuStream::Schedule).offer(A, 4, 7, Owner::Spare);
    tape
}

#[test]
fn a_snapshot_before_the_result_is_torn_and_found_once() {
    assert_eq!(snapshot(true).found(), []);
    let mut tape = snapshot(false);
    assert_eq!(tape.found(), [(FindingKind::Torn, Some(4), Some(0), Some(2))]);
    assert_eq!(tape.judge().verdict, Verdict::Corrupt);
    // A later hit on the torn state starts from a state without a length.
    let judged = tape.wait(2).hit(B, 7, 4).judge();
    assert_eq!((judged.findings[1].kind, judged.findings[1].root), (FindingKind::Inherited, Some(0)));
}

#[test]
fn a_wait_for_a_later_forward_is_a_wait_for_all_before() {
    let mut tape = Tape::new();
    tape.extend(2, A, 1, 2, 5, Some((2, 4))).step(3, A, 1, 6, None).turn().wait(3);
    assert_eq!(tape.give(7, Owner::Spare).copy(A, 2, 7, GpuStream::Schedule).found(), []);
    // A wait for an earlier forward is no wait for this one.
    let mut early = Tape::new();
    early.extend(2, A, 1, 2, 5, Some((2, 4))).step(3, A, 1, 6, None).turn().wait(2);
    early.give(7, Owner::Spare).copy(A, 1, 7, GpuStream::Schedule);
    assert_eq!(early.found(), [(FindingKind::Torn, None, Some(5), Some(1))]);
}

#[test]
fn a_copy_of_a_slot_that_a_forward_overwrites_is_torn() {
    let mut tape = Tape::new();
    tape.extend(2, A, 1, 2, 4, Some((2, 4))).wait(2).step(3, A, 1, 5, Some(2)).turn();
    tape.give(7, Owner::Spare).copy(A, 2, 7, GpuStream::Schedule).offer(A, 4, 7, Owner::Spare);
    assert_eq!(tape.found(), [(FindingKind::Torn, Some(4), Some(4), Some(2))]);
    // The slot may hold either state: a hit on it is wrong.
    assert_eq!(tape.hit(B, 7, 4).found()[1].0, FindingKind::Inherited);
}

#[test]
fn a_hit_copied_at_the_match_is_torn_while_its_state_is_in_flight() {
    // The slot was handed over before the result of the chunk that fills it.
    let handed_over = |waited| {
        let mut tape = Tape::new();
        tape.extend(2, A, 1, 2, 5, Some((2, 4))).turn().offer(A, 4, 2, Owner::Track(A, 0));
        if waited {
            tape.wait(2);
        }
        tape.give(7, Owner::Active(B)).give(8, Owner::Track(B, 0));
        tape
    };
    let go_on = |tape: &mut Tape| {
        tape.extend(3, B, 7, 4, 6, Some((8, 6))).wait(3).offer(B, 6, 8, Owner::Track(B, 0));
    };
    let mut torn = handed_over(false);
    go_on(torn.hit_now(B, 2, 4, 7));
    assert_eq!(
        torn.found(),
        [(FindingKind::Torn, Some(4), Some(0), Some(2)), (FindingKind::Inherited, Some(6), Some(2), Some(8))]
    );
    assert_eq!(torn.judge().findings[1].root, Some(0));
    let mut waited = handed_over(true);
    go_on(waited.hit_now(B, 2, 4, 7));
    assert_eq!(waited.found(), []);
    // On the stream of the forwards it is ordered behind the chunk.
    let mut deferred = handed_over(false);
    deferred.hit(B, 2, 4).launch(3).copy(B, 2, 7, GpuStream::Forward);
    deferred.fact(Fact::Forward(ForwardFact::Extend {
        batch: BatchId(3),
        req: B,
        slot: SlotId(7),
        from: 4,
        to: 6,
        track: None,
    }));
    assert_eq!(deferred.found(), []);
}

/// `A` has ended with step 3 in flight in slot 1; its slot goes to `B`.
fn freed(waited: bool) -> Tape {
    let mut tape = Tape::new();
    tape.step(3, A, 1, 3, None).turn().fact(Fact::Request(RequestFact::Finish {
        req: A,
        kind: FinishKind::Token,
        outputs: 1,
    }));
    tape.free(1, Owner::Active(A)).turn();
    if waited {
        tape.wait(3);
    }
    tape.give(1, Owner::Active(B)).give(8, Owner::Track(B, 0));
    tape
}

#[test]
fn a_hit_copied_into_a_slot_that_the_step_in_flight_still_writes() {
    let mut tape = freed(false);
    tape.hit_now(B, 9, 2, 1).extend(4, B, 1, 2, 4, Some((8, 4))).wait(4).offer(B, 4, 8, Owner::Track(B, 0));
    let found = [(FindingKind::UseAfterFree, None, None, Some(1)), (FindingKind::Inherited, Some(4), Some(5), Some(8))];
    assert_eq!(tape.found(), found);
    let judged = tape.judge();
    assert_eq!((judged.verdict, judged.findings[1].root), (Verdict::Broken, Some(0)));
    let words = "slot s1 was freed by a and given to b while the step in flight still writes it";
    assert_eq!((judged.findings[0].reason.as_str(), judged.findings[0].turn), (words, 2));
}

#[test]
fn a_slot_freed_after_its_last_step_was_waited_for_has_no_race() {
    let mut tape = freed(true);
    tape.hit_now(B, 9, 2, 1).extend(4, B, 1, 2, 4, Some((8, 4))).wait(4).offer(B, 4, 8, Owner::Track(B, 0));
    assert_eq!(tape.found(), []);
}

#[test]
fn the_stream_orders_a_forward_behind_the_step_of_the_owner_before() {
    let mut tape = freed(false);
    tape.hit(B, 9, 2).launch(4).copy(B, 9, 1, GpuStream::Forward);
    let track = Some((SlotId(8), 4));
    tape.fact(Fact::Forward(ForwardFact::Extend { batch: BatchId(4), req: B, slot: SlotId(1), from: 2, to: 4, track }));
    assert_eq!(tape.wait(4).offer(B, 4, 8, Owner::Track(B, 0)).found(), []);
    let mut cleared = freed(false);
    cleared.launch(4).fact(Fact::Forward(ForwardFact::Clear { req: B, slot: SlotId(1) }));
    cleared.fact(Fact::Forward(ForwardFact::Extend {
        batch: BatchId(4),
        req: B,
        slot: SlotId(1),
        from: 0,
        to: 4,
        track,
    }));
    assert_eq!(cleared.wait(4).offer(B, 4, 8, Owner::Track(B, 0)).found(), []);
}

#[test]
fn a_snapshot_into_a_slot_in_flight_is_foreign_when_it_is_cached() {
    let mut tape = Tape::new();
    // A's step 3 keeps its state in slot 2, which is given back and taken as a spare slot for a copy of slot 9.
    tape.step(3, A, 1, 3, Some(2)).turn().free(2, Owner::Track(A, 0)).give(2, Owner::Spare);
    tape.fact(Fact::Slot(SlotFact::Move { slot: SlotId(2), from: Owner::Spare, to: Owner::Track(B, 0) }));
    tape.copy(B, 9, 2, GpuStream::Schedule).wait(3).offer(B, 2, 2, Owner::Track(B, 0));
    let found = [(FindingKind::UseAfterFree, None, None, Some(2)), (FindingKind::Foreign, Some(2), Some(3), Some(2))];
    assert_eq!(tape.found(), found);
    // The same request may be both.
    let mut own = Tape::new();
    own.step(3, A, 1, 3, Some(2)).turn().free(2, Owner::Track(A, 0)).give(2, Owner::Spare).copy(
        A,
        9,
        2,
        GpuStream::Schedule,
    );
    assert_eq!(own.found(), [(FindingKind::UseAfterFree, None, None, Some(2))]);
}

#[test]
fn a_slot_given_away_while_a_forward_in_flight_reads_it_is_a_use_after_free() {
    // B starts from slot 9 by a deferred copy; the tree gives the slot up before that is waited for.
    let evicted = |waited| {
        let mut tape = Tape::new();
        tape.give(7, Owner::Active(B)).hit(B, 9, 2).launch(2).copy(B, 9, 7, GpuStream::Forward).turn();
        if waited {
            tape.wait(2);
        }
        tape.free(9, Owner::Tree).give(9, Owner::Spare).copy(A, 1, 9, GpuStream::Schedule);
        tape
    };
    assert_eq!(evicted(true).found(), []);
    assert_eq!(evicted(false).found(), [(FindingKind::UseAfterFree, None, None, Some(9))]);
    let words = "slot s9 was given to a while the step in flight of b still reads it";
    assert_eq!(evicted(false).judge().findings[0].reason, words);
}

#[test]
fn a_copy_into_the_own_slot_under_the_own_step_is_torn() {
    let mut tape = Tape::new();
    tape.step(3, A, 1, 3, None).turn().copy(A, 9, 1, GpuStream::Schedule);
    assert_eq!(tape.found(), [(FindingKind::Torn, None, None, Some(1))]);
    let mut waited = Tape::new();
    waited.step(3, A, 1, 3, None).turn().wait(3).copy(A, 9, 1, GpuStream::Schedule);
    assert_eq!(waited.found(), []);
}

#[test]
fn the_schedule_stream_never_races_with_itself_or_with_later_launches() {
    let mut tape = Tape::new();
    tape.turn().give(7, Owner::Track(A, 1)).copy(A, 9, 7, GpuStream::Schedule).give(8, Owner::Spare);
    tape.copy(A, 7, 8, GpuStream::Schedule).copy(A, 1, 8, GpuStream::Schedule);
    // Launched after the copies, and so ordered behind them.
    tape.step(3, A, 1, 3, Some(2));
    assert_eq!(tape.found(), []);
}

#[test]
fn races_of_one_request_are_one_finding_with_their_count() {
    let mut tape = freed(false);
    tape.hit_now(B, 9, 2, 1).hit_now(B, 9, 2, 1);
    let judged = tape.judge();
    assert_eq!(judged.findings.len(), 1);
    assert!(judged.findings[0].reason.ends_with("writes it (2 in all)"), "{}", judged.findings[0].reason);
}

fn verdict(name: &str, change: impl Fn(&mut overlapsim::model::Setup)) -> (Verdict, Vec<FindingKind>) {
    let path = format!("scenarios/{name}.ron");
    let mut setup = scenario::load(path.as_ref(), &runner::rule_names()).unwrap_or_else(|_| panic!("{name}")).setup;
    change(&mut setup);
    let rule = runner::rule("completed-mask").unwrap();
    let judgement = runner::run_with(&setup, rule, &mut Scripted, Keep::default(), None).judgement;
    (judgement.verdict, judgement.findings.iter().map(|finding| finding.kind).collect())
}

#[test]
fn each_race_of_the_scenarios_goes_away_with_its_fix() {
    let clean = (Verdict::Clean, vec![]);
    assert_eq!(verdict("torn-chunk-snapshot", |_| ()).1, [FindingKind::Torn, FindingKind::Torn]);
    assert_eq!(verdict("torn-chunk-snapshot", |setup| setup.engine.snapshot = Snapshot::HandOver), clean);
    assert_eq!(verdict("torn-hit-copy", |_| ()).1, [FindingKind::Torn, FindingKind::Inherited, FindingKind::Inherited]);
    assert_eq!(verdict("torn-hit-copy", |setup| setup.engine.copy_on_write = CopyOnWrite::Deferred), clean);
    assert_eq!(verdict("freed-slot-hit-copy", |_| ()).1, [FindingKind::UseAfterFree, FindingKind::Inherited]);
    assert_eq!(verdict("freed-slot-hit-copy", |setup| setup.engine.slot_free = SlotFree::Deferred), clean);
    assert_eq!(verdict("freed-slot-hit-copy", |setup| setup.engine.copy_on_write = CopyOnWrite::Deferred), clean);
}

/// Forwards of zero length have ended before the copies begin, and the findings are the same.
#[test]
fn a_race_is_found_also_where_the_timing_is_harmless() {
    for name in ["torn-chunk-snapshot", "torn-hit-copy", "freed-slot-hit-copy"] {
        let none = Cost::Fixed(0);
        let kind = Costs {
            gpu_extend: none,
            gpu_extend_token: none,
            gpu_decode: none,
            gpu_decode_request: none,
            result_copy: none,
            ..Costs::default()
        };
        assert_eq!(verdict(name, |setup| setup.costs = kind.clone()), verdict(name, |_| ()), "{name}");
    }
}
