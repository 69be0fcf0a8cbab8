//! Records written by hand, convicted and acquitted without any simulator.
//!
//! One request `A` (prompt 1, grid 4) has the active slot 1 and the track slots 2 and 3, unless a test says otherwise.

use crate::common::tape::{AT, Facts, Spelled};
use overlapsim::judge::{Class, Finding, FindingKind, Goals, Judge, JudgeOptions, Judgement, Verdict};
use overlapsim::record::*;

const A: ReqId = ReqId(0);
const B: ReqId = ReqId(1);

/// Writes a record, one step of the machine a call.
struct Tape {
    record: Record,
    spelled: Spelled,
    page_size: u32,
    turn: u32,
    len: [u32; 2],
    /// Outputs at the end.
    outputs: u32,
}

impl Facts for Tape {
    fn fact(&mut self, fact: Fact) -> &mut Tape {
        self.record.fact(fact);
        self
    }
}

impl Tape {
    /// `A` has been prefilled with one token; nothing else happened.
    fn new() -> Tape {
        let mut tape = Tape::empty();
        tape.arrive(A, 1, [1, 2, 3]).prefill(1, A, 1, 0, 1, None).wait(1);
        tape
    }

    fn empty() -> Tape {
        Tape { record: Record::default(), spelled: Spelled::default(), page_size: 1, turn: 0, len: [0; 2], outputs: 20 }
    }

    fn turn(&mut self) -> &mut Tape {
        self.turn += 1;
        self.fact(Fact::Run(RunFact::Turn { turn: self.turn - 1, at: AT })).fact(Fact::Run(RunFact::Begin {
            phase: Phase::Result,
            batch: None,
            at: AT,
        }))
    }

    fn arrive(&mut self, req: ReqId, prompt: u32, slots: [u32; 3]) -> &mut Tape {
        let tokens: Vec<Token> = (0..prompt).map(|token| 1000 + token).collect();
        self.prompt(req, &tokens);
        self.fact(Fact::Request(RequestFact::Arrive { req, at: AT, max_new: 20 }));
        self.fact(Fact::Request(RequestFact::Admit { req }));
        self.give(slots[0], Owner::Active(req)).give(slots[1], Owner::Track(req, 0));
        self.give(slots[2], Owner::Track(req, 1))
    }

    fn prompt(&mut self, req: ReqId, tokens: &[Token]) {
        let facts = self.spelled.prompt(req, tokens);
        facts.into_iter().for_each(|fact| self.record.fact(fact));
    }

    fn cache(&mut self, slot: u32, from: Owner) -> &mut Tape {
        self.fact(Fact::Slot(SlotFact::Move { slot: SlotId(slot), from, to: Owner::Tree }))
    }

    /// The token after `len` tokens: the same for everyone, so that the requests share prefixes.
    fn sample(&mut self, req: ReqId, len: u32) -> &mut Tape {
        self.len[req.index()] = len + 1;
        let facts = self.spelled.sampled(req, len, len);
        facts.into_iter().for_each(|fact| self.record.fact(fact));
        self
    }

    fn prefill(
        &mut self,
        batch: u32,
        req: ReqId,
        slot: u32,
        from: u32,
        to: u32,
        track: Option<(u32, u32)>,
    ) -> &mut Tape {
        let track = track.map(|(slot, len)| (SlotId(slot), len));
        self.launch(batch);
        if from == 0 {
            self.fact(Fact::Forward(ForwardFact::Clear { req, slot: SlotId(slot) }));
        }
        self.fact(Fact::Forward(ForwardFact::Extend {
            batch: BatchId(batch),
            req,
            slot: SlotId(slot),
            from,
            to,
            track,
        }))
        .sample(req, to)
    }

    /// Decode step `k` in a batch of its own, prepared and launched.
    fn decode(&mut self, batch: u32, req: ReqId, active: u32, k: u32, track: Option<u32>) -> &mut Tape {
        let (batch_id, active, track) = (BatchId(batch), SlotId(active), track.map(SlotId));
        self.fact(Fact::Batch(BatchFact::PrepareDecode {
            batch: batch_id,
            req,
            k,
            decode_batch_idx: 0,
            kv_committed_len: k,
            active,
            track,
            next_track_idx: None,
        }));
        self.launch(batch);
        self.fact(Fact::Forward(ForwardFact::Step { batch: batch_id, req, slot: active, k, track })).sample(req, k)
    }

    /// The result of a batch is processed in a turn of its own.
    fn row(&mut self, batch: u32, req: ReqId, fired: Option<(u32, u32)>) -> &mut Tape {
        let batch_id = BatchId(batch);
        self.turn().wait(batch);
        let decision = fired.map(|(label, slot)| Decision {
            before: KeptState { label: None, slot: None },
            after: KeptState { label: Some(label), slot: Some(SlotId(slot)) },
        });
        self.fact(Fact::Decision(DecisionFact::Row {
            batch: batch_id,
            req,
            lookahead: 1,
            kv_committed_len: 0,
            check: BoundaryCheck::Mask,
            decision,
        }))
    }

    /// Steps `from..to` of `A` with their results at once and nothing due.
    fn plain(&mut self, from: u32, to: u32) -> &mut Tape {
        for k in from..to {
            self.decode(k, A, 1, k, None).row(k, A, None);
        }
        self
    }

    fn offer(&mut self, req: ReqId, label: u32, slot: u32, finished: bool) -> &mut Tape {
        let how = DonationOutcome { finished, existed: false };
        if finished {
            self.fact(Fact::Request(RequestFact::Finish { req, kind: FinishKind::Token, outputs: self.outputs }));
        }
        self.fact(Fact::Cache(CacheFact::Donate {
            req,
            label,
            key_len: label / self.page_size * self.page_size,
            slot: SlotId(slot),
            how,
        }))
    }

    /// `A` finishes: donates `slot` under `label` and gives everything back.
    fn end(&mut self, label: u32, slot: u32) -> &mut Tape {
        let owner = |slot| if slot == 1 { Owner::Active(A) } else { Owner::Track(A, slot as u8 - 2) };
        self.offer(A, label, slot, true).cache(slot, owner(slot));
        for other in (1..=3).filter(|&other| other != slot) {
            self.free(other, owner(other));
        }
        self
    }

    fn nothing(&mut self, why: NoDonation) -> &mut Tape {
        self.fact(Fact::Request(RequestFact::Finish { req: A, kind: FinishKind::Token, outputs: self.outputs }));
        self.fact(Fact::Cache(CacheFact::NoDonate { req: A, why, slot: None }));
        self.free(1, Owner::Active(A)).free(2, Owner::Track(A, 0)).free(3, Owner::Track(A, 1))
    }

    fn done(&mut self) -> Judgement {
        self.fact(Fact::Run(RunFact::Done { at: AT }));
        self.judge()
    }

    fn judge(&self) -> Judgement {
        let mut judge =
            Judge::new(JudgeOptions { page_size: self.page_size, keep_boundaries: true, keep_reasons: true });
        self.record.replay(&mut judge);
        judge.finish(&[])
    }
}

fn kinds(judgement: &Judgement) -> Vec<FindingKind> {
    judgement.findings.iter().map(|finding| finding.kind).collect()
}

fn classes(judgement: &Judgement) -> Vec<(u32, Class)> {
    judgement.boundaries.iter().map(|boundary| (boundary.k, boundary.class)).collect()
}

fn brief(finding: &Finding) -> (FindingKind, Option<u32>, Option<u32>, Option<u32>) {
    (finding.kind, finding.label, finding.holds, finding.slot.map(|slot| slot.0))
}

/// `A` up to D4, which is in flight and writes slot 2, and the result of D3 about to be processed.
fn before_the_boundary() -> Tape {
    let mut tape = Tape::new();
    tape.plain(2, 3).decode(3, A, 1, 3, None).decode(4, A, 1, 4, Some(2));
    tape
}

#[test]
fn fired_at_its_own_result() {
    let mut tape = before_the_boundary();
    let judged = tape.row(3, A, None).row(4, A, Some((4, 2))).end(4, 2).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Clean, vec![(4, Class::Agree)]));
    let counts = judged.checkpoints;
    assert_eq!((counts.due, counts.recorded, counts.lost, counts.donated), (1, 1, 0, 1));
    assert_eq!((judged.turns, judged.decode_results, judged.decisions.agree), (3, 3, 3));
    // Counted from the prepares: D4 was prepared before the result of D3, nothing before the others.
    assert_eq!(judged.lookahead.into_iter().collect::<Vec<_>>(), vec![(0, 2), (1, 1)]);
}

#[test]
fn fired_early_and_settled() {
    let mut tape = before_the_boundary();
    let judged = tape.row(3, A, Some((4, 2))).row(4, A, None).end(4, 2).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Clean, vec![(3, Class::Early), (4, Class::Settled)]));
    assert_eq!((judged.checkpoints.due, judged.checkpoints.recorded), (1, 1));
}

#[test]
fn fired_early_and_finished_before_the_step_is_processed() {
    let mut tape = before_the_boundary();
    let judged = tape.row(3, A, Some((4, 2))).end(4, 2).done();
    assert_eq!((judged.verdict, judged.checkpoints.due), (Verdict::Clean, 0));
}

#[test]
fn double_fire_keeps_the_slot_nobody_wrote() {
    let mut tape = before_the_boundary();
    let judged = tape.row(3, A, Some((4, 2))).row(4, A, Some((4, 3))).end(4, 3).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Corrupt, vec![(3, Class::Early), (4, Class::Repeat)]));
    assert_eq!(
        judged.findings.iter().map(brief).collect::<Vec<_>>(),
        vec![(FindingKind::Unwritten, Some(4), None, Some(3))]
    );
    assert_eq!(judged.findings[0].reason, "label 4, but no forward has written the slot since the request got it");
    assert_eq!((judged.findings[0].turn, judged.findings[0].phase), (2, Phase::Result));
}

#[test]
fn stale_content_of_an_earlier_owner_does_not_count_as_written() {
    let mut tape = Tape::new();
    tape.arrive(B, 1, [4, 5, 6]).prefill(20, B, 4, 0, 1, None).decode(21, B, 4, 2, Some(5)).wait(21);
    tape.free(5, Owner::Track(B, 0)).free(3, Owner::Track(A, 1)).give(5, Owner::Track(A, 1));
    tape.plain(2, 3).offer(A, 3, 5, false);
    assert_eq!(brief(&tape.judge().findings[0]), (FindingKind::Unwritten, Some(3), None, Some(5)));
    // The same slot under the label that it happens to hold is a right state all the same.
    let mut lucky = Tape::new();
    lucky.arrive(B, 1, [4, 5, 6]).prefill(20, B, 4, 0, 1, None).decode(21, B, 4, 2, Some(5)).wait(21);
    lucky.free(5, Owner::Track(B, 0)).free(3, Owner::Track(A, 1)).give(5, Owner::Track(A, 1));
    assert!(lucky.plain(2, 3).offer(A, 2, 5, false).judge().findings.is_empty());
}

#[test]
fn a_boundary_nobody_fires_is_lost_and_costs() {
    let mut tape = before_the_boundary();
    let judged = tape.row(3, A, None).row(4, A, None).nothing(NoDonation::NoCheckpoint).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Lossy, vec![(4, Class::Missed)]));
    assert_eq!(brief(&judged.findings[0]), (FindingKind::Lost, Some(4), None, None));
    assert_eq!(judged.findings[0].turn, 2);
    assert_eq!((judged.checkpoints.lost, judged.checkpoints.cost_tokens), (1, 4));
}

#[test]
fn a_later_checkpoint_does_not_cancel_a_loss_but_its_cost() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, None).plain(5, 8).decode(8, A, 1, 8, Some(3)).row(8, A, Some((8, 3)));
    let judged = tape.end(8, 3).done();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Lossy, vec![FindingKind::Lost]));
    assert_eq!((judged.checkpoints.due, judged.checkpoints.recorded, judged.checkpoints.cost_tokens), (2, 1, 0));
}

#[test]
fn what_the_engine_forces_is_skipped() {
    let mut refused = Tape::new();
    refused.plain(2, 3).decode(3, A, 1, 3, None).decode(4, A, 1, 4, None).fact(Fact::Batch(BatchFact::TrackRefused {
        req: A,
        k: 4,
        in_place: true,
    }));
    let judged = refused.row(3, A, None).row(4, A, None).nothing(NoDonation::NoCheckpoint).done();
    assert_eq!((judged.verdict, judged.checkpoints.skipped, judged.checkpoints.cost_tokens), (Verdict::Clean, 1, 0));

    let mut retracted = before_the_boundary();
    retracted.row(3, A, None).row(4, A, None).fact(Fact::Request(RequestFact::Retract { req: A, outputs: 4 }));
    let judged = retracted.nothing(NoDonation::Retracted).done();
    assert_eq!((judged.verdict, judged.checkpoints.skipped), (Verdict::Clean, 1));

    let mut declined = before_the_boundary();
    let judged = declined.row(3, A, Some((4, 2))).nothing(NoDonation::Declined).done();
    assert_eq!((judged.verdict, judged.checkpoints.skipped), (Verdict::Clean, 1));
}

#[test]
fn a_step_in_place_overwrites_what_was_recorded_whether_or_not_another_row_was_told_since() {
    let recorded = || {
        let mut tape = before_the_boundary();
        tape.row(3, A, None).row(4, A, Some((4, 2)));
        tape
    };
    let refused = Fact::Batch(BatchFact::TrackRefused { req: A, k: 8, in_place: true });
    for told_since in [false, true] {
        let mut tape = recorded();
        if told_since {
            tape.row(5, B, None);
        }
        let judged = tape.fact(refused).nothing(NoDonation::NoCheckpoint).done();
        assert_eq!((judged.verdict, judged.checkpoints.skipped), (Verdict::Clean, 1), "told since: {told_since}");
    }
}

#[test]
fn a_refused_slot_excuses_no_rule_that_misses_what_was_written_in_place() {
    let mut refused = before_the_boundary();
    refused.fact(Fact::Batch(BatchFact::TrackRefused { req: A, k: 4, in_place: true }));
    let judged = refused.row(3, A, None).row(4, A, None).nothing(NoDonation::NoCheckpoint).done();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Lossy, vec![FindingKind::Lost]));
    assert_eq!((judged.checkpoints.skipped, judged.checkpoints.cost_tokens), (0, 4));
}

#[test]
fn what_was_recorded_and_is_not_offered_is_lost_once() {
    // The label goes back from 8 to 4.
    let two = || {
        let mut tape = before_the_boundary();
        tape.row(3, A, None).row(4, A, Some((4, 2))).plain(5, 8).decode(8, A, 1, 8, Some(3)).row(8, A, Some((8, 3)));
        tape
    };
    let judged = two().end(4, 2).done();
    assert_eq!(
        (judged.verdict, kinds(&judged), judged.checkpoints.cost_tokens),
        (Verdict::Lossy, vec![FindingKind::Lost], 4)
    );
    assert_eq!(judged.findings[0].reason, "length 8 was recorded, but at its end the request donated length 4");
    // Nothing is offered at all: one loss, its cost once.
    let judged = two().nothing(NoDonation::NoCheckpoint).done();
    assert_eq!(
        (judged.verdict, kinds(&judged), judged.checkpoints.cost_tokens),
        (Verdict::Lossy, vec![FindingKind::Lost], 8)
    );
    // The engine cannot keep what lies beyond the end.
    let mut beyond = two();
    beyond.outputs = 6;
    let judged = beyond.end(4, 2).done();
    assert_eq!((judged.verdict, judged.checkpoints.skipped), (Verdict::Clean, 1));
}

#[test]
fn the_right_length_in_the_wrong_slot() {
    let mut early = before_the_boundary();
    let judged = early.row(3, A, Some((4, 3))).end(4, 3).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Corrupt, vec![(3, Class::WrongSlot)]));
    // At its own result too: the length is recorded, so it is not lost, but under a slot that does not hold it.
    let mut own = before_the_boundary();
    let judged = own.row(3, A, None).row(4, A, Some((4, 3))).end(4, 3).done();
    assert_eq!(classes(&judged), vec![(4, Class::WrongSlot)]);
    assert_eq!(kinds(&judged), vec![FindingKind::Unwritten]);
}

#[test]
fn a_length_that_no_step_writes() {
    let mut tape = Tape::new();
    let judged = tape.plain(2, 3).decode(3, A, 1, 3, None).row(3, A, Some((4, 2))).end(4, 2).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Corrupt, vec![(3, Class::WrongLabel)]));
    assert_eq!(kinds(&judged), vec![FindingKind::Unwritten]);
}

#[test]
fn a_step_in_flight_writes_the_slot_under_an_old_label() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).plain(5, 7);
    tape.decode(7, A, 1, 7, None).decode(8, A, 1, 8, Some(3));
    // The kept slot is 2, but the rule hands over 3.
    let judged = tape.row(7, A, None).end(4, 3).done();
    assert_eq!(brief(&judged.findings[0]), (FindingKind::Mislabelled, Some(4), Some(8), Some(3)));
    assert_eq!(judged.findings[0].reason, "label 4, but the slot holds 8: the step in flight writes there");
}

#[test]
fn right_now_but_not_after_the_step_in_flight() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).plain(5, 7);
    tape.decode(7, A, 1, 7, None).decode(8, A, 1, 8, Some(2));
    let judged = tape.row(7, A, None).end(4, 2).done();
    assert_eq!(brief(&judged.findings[0]), (FindingKind::Aliased, Some(4), Some(8), Some(2)));
    // Once it has been waited for, it is simply another state.
    let mut late = before_the_boundary();
    late.row(3, A, None).row(4, A, Some((4, 2))).plain(5, 8).decode(8, A, 1, 8, Some(2)).row(8, A, None);
    assert_eq!(kinds(&late.end(4, 2).done())[0], FindingKind::Mislabelled);
}

#[test]
fn a_prefill_state_donated_from_the_wrong_slot() {
    // DESIGN 7, row 7: prefill tracks 4 of 7 in slot 2, D8 writes slot 3 before the prefill result donates slot 3.
    let mut tape = Tape::empty();
    tape.arrive(A, 7, [1, 2, 3]).prefill(1, A, 1, 0, 7, Some((2, 4))).decode(2, A, 1, 8, Some(3)).turn().wait(1);
    let mut right = Tape { record: tape.record.clone(), spelled: tape.spelled.clone(), ..tape };
    tape.offer(A, 4, 3, false).cache(3, Owner::Track(A, 1)).give(4, Owner::Track(A, 1));
    let judged = tape.judge();
    assert_eq!(brief(&judged.findings[0]), (FindingKind::Mislabelled, Some(4), Some(8), Some(3)));
    right.offer(A, 4, 2, false).cache(2, Owner::Track(A, 0)).give(4, Owner::Track(A, 0));
    assert!(right.judge().findings.is_empty());
}

#[test]
fn another_request_wrote_the_slot() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2)));
    tape.arrive(B, 6, [4, 5, 6]).prefill(9, B, 4, 0, 6, Some((2, 6))).wait(9);
    let judged = tape.end(4, 2).judge();
    assert_eq!(kinds(&judged), vec![FindingKind::UseAfterFree, FindingKind::Foreign]);
    assert_eq!((judged.verdict, judged.findings[1].holds), (Verdict::Broken, Some(6)));
    // Had it written before A got the slot, A's own write would count.
    let mut before = Tape::empty();
    before.arrive(B, 6, [4, 2, 6]).prefill(9, B, 4, 0, 6, Some((2, 6))).free(2, Owner::Track(B, 0));
    before.arrive(A, 1, [1, 2, 3]).prefill(1, A, 1, 0, 1, None).plain(2, 4).decode(4, A, 1, 4, Some(2));
    assert!(before.row(4, A, Some((4, 2))).end(4, 2).judge().findings.is_empty());
}

#[test]
fn the_same_length_of_another_sequence() {
    let mut tape = Tape::empty();
    tape.arrive(A, 4, [1, 2, 3]).arrive(B, 0, [4, 5, 6]);
    tape.prompt(B, &[9, 9, 9, 9]);
    // A cached state of B, which A hits although its tokens differ.
    tape.prefill(1, B, 4, 0, 4, Some((5, 4))).turn().wait(1).offer(B, 4, 5, false).cache(5, Owner::Track(B, 0));
    let judged = tape.fact(Fact::Cache(CacheFact::Hit { req: A, source: SlotId(5), len: 4 })).judge();
    assert_eq!(brief(&judged.findings[0]), (FindingKind::Mislabelled, Some(4), Some(4), Some(5)));
    assert!(judged.findings[0].reason.contains("another sequence"));
}

#[test]
fn a_copy_races_with_the_forward() {
    for waited in [true, false] {
        let mut tape = Tape::new();
        tape.decode(2, A, 1, 2, None);
        if waited {
            tape.wait(2);
        }
        tape.give(7, Owner::Tree);
        tape.fact(Fact::Forward(ForwardFact::CopyState {
            req: A,
            from: SlotId(1),
            to: SlotId(7),
            stream: GpuStream::Schedule,
        }));
        let judged = tape.offer(A, 2, 7, false).nothing(NoDonation::NoCheckpoint).done();
        assert_eq!(kinds(&judged), if waited { vec![] } else { vec![FindingKind::Torn] });
        assert_eq!(judged.verdict, if waited { Verdict::Clean } else { Verdict::Corrupt });
    }
}

/// `A` has cached slot 3 under 4, which nobody wrote; `B`, with the same tokens, hits it.
fn wrong_start() -> Tape {
    let mut tape = before_the_boundary();
    tape.row(3, A, Some((4, 2))).row(4, A, Some((4, 3))).end(4, 3).arrive(B, 1, [4, 5, 6]);
    for len in 1..6 {
        tape.sample(B, len);
    }
    tape.fact(Fact::Cache(CacheFact::Hit { req: B, source: SlotId(3), len: 4 }));
    tape
}

fn start_from(tape: &mut Tape, source: u32) {
    tape.launch(20).fact(Fact::Forward(ForwardFact::Clear { req: B, slot: SlotId(4) }));
    tape.fact(Fact::Forward(ForwardFact::CopyState {
        req: B,
        from: SlotId(source),
        to: SlotId(4),
        stream: GpuStream::Forward,
    }));
    let track = Some((SlotId(5), 6));
    tape.fact(Fact::Forward(ForwardFact::Extend {
        batch: BatchId(20),
        req: B,
        slot: SlotId(4),
        from: 4,
        to: 6,
        track,
    }));
}

#[test]
fn a_wrong_start_is_inherited_and_names_its_root() {
    let mut tape = wrong_start();
    start_from(&mut tape, 3);
    let judged = tape.offer(B, 6, 5, false).judge();
    assert_eq!(kinds(&judged), vec![FindingKind::Unwritten, FindingKind::Inherited, FindingKind::Inherited]);
    assert_eq!(judged.findings.iter().map(|finding| finding.root).collect::<Vec<_>>(), vec![None, Some(0), Some(0)]);
    assert_eq!((judged.findings[2].label, judged.findings[2].holds), (Some(6), Some(2)));
}

#[test]
fn retracted_and_prefilled_from_nothing_it_is_right_again() {
    let mut tape = wrong_start();
    start_from(&mut tape, 3);
    tape.fact(Fact::Request(RequestFact::Retract { req: B, outputs: 5 })).prefill(21, B, 4, 0, 6, Some((5, 6)));
    assert_eq!(kinds(&tape.offer(B, 6, 5, false).judge()), vec![FindingKind::Unwritten, FindingKind::Inherited]);
    // And if it is wrong now, that is its own fault.
    assert_eq!(kinds(&tape.offer(B, 3, 5, false).judge())[2], FindingKind::Mislabelled);
}

#[test]
fn a_right_start_is_not_tainted() {
    let mut tape = before_the_boundary();
    tape.row(3, A, Some((4, 2))).row(4, A, None).end(4, 2).arrive(B, 1, [4, 5, 6]);
    for len in 1..6 {
        tape.sample(B, len);
    }
    tape.fact(Fact::Cache(CacheFact::Match { req: B, state_len: 4, kv_len: 4, branching: None, source: None }))
        .fact(Fact::Request(RequestFact::Admit { req: B }));
    tape.fact(Fact::Cache(CacheFact::Hit { req: B, source: SlotId(2), len: 4 }));
    start_from(&mut tape, 2);
    let judged = tape.offer(B, 6, 5, false).judge();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Clean, vec![]));
}

#[test]
fn overwritten_after_donation() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).offer(A, 4, 2, false).cache(2, Owner::Track(A, 0));
    tape.decode(5, A, 1, 5, Some(2)).arrive(B, 1, [4, 5, 6]);
    for len in 1..6 {
        tape.sample(B, len);
    }
    let judged = tape
        .fact(Fact::Cache(CacheFact::Hit { req: B, source: SlotId(2), len: 4 }))
        .fact(Fact::Cache(CacheFact::Hit { req: B, source: SlotId(2), len: 4 }))
        .judge();
    assert_eq!(kinds(&judged), vec![FindingKind::UseAfterFree, FindingKind::Mislabelled, FindingKind::Inherited]);
    assert!(judged.findings[1].reason.contains("overwritten after donation"));
    assert_eq!(judged.findings[2].root, Some(1));
}

#[test]
fn a_key_floored_to_a_page_is_what_the_slot_must_hold() {
    let mut tape = Tape { page_size: 4, ..before_the_boundary() };
    tape.row(3, A, None).row(4, A, Some((4, 2))).decode(5, A, 1, 5, Some(3)).row(5, A, Some((5, 3)));
    let judged = tape.end(5, 3).done();
    assert_eq!(brief(&judged.findings[0]), (FindingKind::Mislabelled, Some(4), Some(5), Some(3)));
    assert_eq!(judged.findings[0].reason, "key 4 (label 5 floored to a page of 4), but the slot holds 5");
}

#[test]
fn a_wrong_state_that_was_not_needed_is_told_but_not_inherited() {
    let mut tape = before_the_boundary();
    let how = DonationOutcome { finished: false, existed: true };
    tape.fact(Fact::Cache(CacheFact::Donate { req: A, label: 4, key_len: 4, slot: SlotId(3), how }));
    let judged = tape.judge();
    assert_eq!(kinds(&judged), vec![FindingKind::Unwritten]);
    assert!(judged.findings[0].reason.ends_with("not cached, as the node already owned a state"));
}

#[test]
fn slots_given_out_twice_or_never_back() {
    let mut twice = Tape::new();
    twice.give(3, Owner::Track(A, 1)).nothing(NoDonation::NoCheckpoint);
    let judged = twice.done();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Broken, vec![FindingKind::Leak]));

    let judged = Tape::new().done();
    assert_eq!(kinds(&judged), vec![FindingKind::Leak]);
    assert!(judged.findings[0].reason.ends_with("(3 in all)"), "{}", judged.findings[0].reason);

    let mut cached = Tape::new();
    let judged = cached.nothing(NoDonation::NoCheckpoint).give(9, Owner::Tree).done();
    assert_eq!(judged.verdict, Verdict::Clean);
}

#[test]
fn freed_by_somebody_else() {
    let mut tape = Tape::new();
    let judged = tape.nothing(NoDonation::NoCheckpoint).free(2, Owner::Track(A, 0)).done();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Broken, vec![FindingKind::DoubleFree]));
    let mut moved = Tape::new();
    moved.cache(2, Owner::Track(B, 0));
    assert_eq!(kinds(&moved.judge()), vec![FindingKind::DoubleFree]);
}

#[test]
fn a_forward_on_a_slot_given_back() {
    let mut tape = Tape::new();
    tape.free(1, Owner::Active(A)).decode(2, A, 1, 2, None).decode(3, A, 1, 3, None);
    let judged = tape.judge();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Broken, vec![FindingKind::UseAfterFree]));
    assert!(judged.findings[0].reason.ends_with("(2 in all)"));
    // Launched before the slot was given back is in order, whenever it runs.
    let mut before = Tape::new();
    before.decode(2, A, 1, 2, None).nothing(NoDonation::NoCheckpoint);
    assert_eq!(before.done().verdict, Verdict::Clean);
}

#[test]
fn pages_are_counted_by_ranges() {
    let mine = Owner::Request(A);
    let pages = |from, to| PageRange { grant: GrantId(1), from, to };
    let freed = |from, to| Fact::Page(PageFact::Free { pages: pages(from, to), owner: mine });
    let mut tape = Tape::empty();
    tape.fact(Fact::Page(PageFact::Alloc { pages: pages(1, 9), owner: mine }));
    tape.fact(Fact::Page(PageFact::Move { pages: pages(1, 5), from: mine, to: Owner::Tree }));
    let mut leaky = Tape { record: tape.record.clone(), spelled: tape.spelled.clone(), ..tape };
    assert_eq!(tape.fact(freed(5, 9)).done().verdict, Verdict::Clean);
    leaky.fact(freed(3, 7));
    let judged = leaky.done();
    assert_eq!(kinds(&judged), vec![FindingKind::DoubleFree, FindingKind::Leak]);
    assert!(judged.findings.iter().all(|finding| finding.reason.ends_with("(2 in all)")));
}

#[test]
fn locks_balance() {
    let (lock, unlock) =
        (|node| Fact::Cache(CacheFact::Lock { req: A, node }), |node| Fact::Cache(CacheFact::Unlock { req: A, node }));
    let cases: [(&[Fact], usize); 5] = [
        (&[lock(1), unlock(1), lock(2), unlock(2)], 0),
        (&[lock(1), lock(2), unlock(2)], 1),
        (&[unlock(1)], 1),
        (&[lock(1), unlock(2), unlock(1)], 1),
        (&[lock(1)], 1),
    ];
    for (facts, expected) in cases {
        let mut tape = Tape::empty();
        for &fact in facts {
            tape.fact(fact);
        }
        assert_eq!(kinds(&tape.done()), vec![FindingKind::Lock; expected], "{facts:?}");
    }
}

#[test]
fn an_assertion_ends_the_process_and_what_it_held() {
    let mut tape = Tape::new();
    tape.fact(Fact::Run(RunFact::Assert { req: Some(A), kind: AssertKind::Lookahead }));
    let judged = tape.done();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Broken, vec![FindingKind::Assertion]));
}

#[test]
fn a_bound_is_inconclusive_unless_something_worse_is_known() {
    let mut tape = Tape::new();
    tape.fact(Fact::Run(RunFact::Bound { stalled: false }));
    let judged = tape.done();
    assert_eq!((judged.verdict, judged.findings.len(), judged.bound), (Verdict::Inconclusive, 0, Some(false)));
    let mut corrupt = before_the_boundary();
    corrupt.row(3, A, Some((4, 3))).end(4, 3).fact(Fact::Run(RunFact::Bound { stalled: true }));
    assert_eq!(corrupt.done().verdict, Verdict::Corrupt);
}

#[test]
fn a_record_without_prompts_is_judged_by_lengths() {
    let mut tape = Tape::empty();
    tape.give(1, Owner::Active(A)).give(2, Owner::Track(A, 0)).give(3, Owner::Track(A, 1));
    tape.launch(1);
    tape.fact(Fact::Forward(ForwardFact::Extend {
        batch: BatchId(1),
        req: A,
        slot: SlotId(1),
        from: 0,
        to: 4,
        track: None,
    }));
    tape.fact(Fact::Forward(ForwardFact::Step {
        batch: BatchId(2),
        req: A,
        slot: SlotId(1),
        k: 5,
        track: Some(SlotId(2)),
    }));
    let judged = tape.offer(A, 5, 2, false).offer(A, 4, 2, false).offer(A, 5, 3, false).judge();
    assert_eq!(kinds(&judged), vec![FindingKind::Mislabelled, FindingKind::Unwritten]);
}

#[test]
fn what_is_too_large_to_follow_is_not_called_clean() {
    let mut tape = Tape::empty();
    tape.fact(Fact::Page(PageFact::Alloc {
        pages: PageRange { grant: GrantId(u32::MAX), from: 0, to: u32::MAX },
        owner: Owner::Tree,
    }));
    assert_eq!(tape.done().verdict, Verdict::Inconclusive);
}

#[test]
fn how_the_rule_found_out_is_counted() {
    let mut tape = Tape::new();
    tape.fact(Fact::Batch(BatchFact::HostMasks { batch: BatchId(2), bytes: 192 }));
    for check in [BoundaryCheck::None, BoundaryCheck::Mask, BoundaryCheck::Recompute, BoundaryCheck::MaskLost] {
        tape.fact(Fact::Decision(DecisionFact::Row {
            batch: BatchId(9),
            req: A,
            lookahead: 2,
            kv_committed_len: 1,
            check,
            decision: None,
        }));
    }
    let judged = tape.judge();
    let reuse = judged.mask_reuse;
    assert_eq!((reuse.reused, reuse.recomputed, reuse.lost, reuse.bytes), (1, 2, 1, 192));
    // The record has no prepare of this batch, so the lookahead it states is all there is.
    assert_eq!((judged.decode_results, judged.lookahead.get(&2)), (4, Some(&4)));
}

#[test]
fn outcomes_say_what_became_of_each_request() {
    let mut tape = Tape::empty();
    for state_len in [2, 4] {
        tape.fact(Fact::Cache(CacheFact::Match { req: B, state_len, kv_len: 4, branching: None, source: None }));
    }
    tape.arrive(B, 5, [1, 2, 3]).fact(Fact::Cache(CacheFact::Match {
        req: B,
        state_len: 5,
        kv_len: 5,
        branching: None,
        source: None,
    }));
    tape.fact(Fact::Request(RequestFact::Admit { req: B })).fact(Fact::Request(RequestFact::Output {
        batch: BatchId(1),
        req: B,
        outputs: 1,
        at: AT,
    }));
    tape.fact(Fact::Request(RequestFact::Finish { req: B, kind: FinishKind::Length, outputs: 2 }))
        .fact(Fact::Script(ScriptFact::PinMissed { req: B }));
    let judged = tape.fact(Fact::Script(ScriptFact::PinEnded { req: A })).judge();
    let (a, b) = (judged.requests[0], judged.requests[1]);
    assert_eq!((a.arrived, b.arrived, b.prefix_hit, b.outputs), (false, true, 4, 2));
    assert_eq!(b.finish, Some(FinishKind::Length));
    assert_eq!((judged.pins_missed, judged.pins_ended), (vec![B], vec![A]));
}

/// Facts of every kind with numbers that make no sense, drawn from a fixed sequence.
#[test]
fn nonsense_is_judged_and_never_a_panic() {
    let mut seed = 1u64;
    let mut reached = Goals::NONE;
    for round in 0..300 {
        let mut judge = Judge::new(JudgeOptions { page_size: round % 3, keep_boundaries: true, keep_reasons: true });
        for _ in 0..400 {
            let mut draw = || {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                match (seed >> 33) % 40 {
                    39 => u32::MAX,
                    38 => 1 << 26,
                    n => (n % 7) as u32,
                }
            };
            let fact = nonsense(&mut draw);
            judge.fact(fact);
            if draw() == 5 {
                judge.fact(Fact::Request(RequestFact::Prompt {
                    req: ReqId(draw()),
                    prompt: Prefix { stream: StreamId(draw()), len: draw() },
                }));
            }
        }
        reached = reached.union(judge.finish(&[]).goals);
    }
    assert!(reached.iter().count() > 30, "nonsense gets nearly everywhere: {reached:?}");
}

fn nonsense(draw: &mut impl FnMut() -> u32) -> Fact {
    let req = ReqId(draw());
    let batch = BatchId(draw());
    let slot = SlotId(draw());
    let (a, b) = (draw(), draw());
    let track = (a % 2 == 0).then_some(SlotId(b));
    let owner = |n: u32| match n % 5 {
        0 => Owner::Spare,
        1 => Owner::Active(req),
        2 => Owner::Track(req, 0),
        3 => Owner::Request(req),
        _ => Owner::Tree,
    };
    let after = KeptState { label: track.map(|slot| slot.0), slot: (b % 3 > 0).then_some(slot) };
    let how = DonationOutcome { finished: a % 4 == 0, existed: b % 2 == 0 };
    let why =
        [NoDonation::NoCheckpoint, NoDonation::Declined, NoDonation::Retracted, NoDonation::NoSlot][a as usize % 4];
    let check =
        [BoundaryCheck::None, BoundaryCheck::Mask, BoundaryCheck::Recompute, BoundaryCheck::MaskLost][b as usize % 4];
    let stream = if a % 2 == 0 { GpuStream::Forward } else { GpuStream::Schedule };
    let mode = [ForwardMode::Decode, ForwardMode::Verify, ForwardMode::Extend, ForwardMode::Mixed][b as usize % 4];
    let pages = PageRange { grant: GrantId(b), from: a % 5, to: a };
    match draw().wrapping_mul(7).wrapping_add(draw()) % 39 {
        0 => Fact::Run(RunFact::Turn { turn: a, at: AT }),
        1 => Fact::Request(RequestFact::Arrive { req, at: AT, max_new: a }),
        2 => Fact::Cache(CacheFact::Match { req, state_len: a, kv_len: b, branching: None, source: None }),
        3 => Fact::Cache(CacheFact::Hit { req, source: slot, len: a }),
        4 => Fact::Request(RequestFact::Admit { req }),
        5 => Fact::Slot(SlotFact::Alloc { slot, owner: owner(a), last: true }),
        6 => Fact::Slot(SlotFact::Move { slot, from: owner(a), to: owner(b) }),
        7 => Fact::Slot(SlotFact::Free { slot, owner: owner(a), last: false }),
        8 => Fact::Page(PageFact::Alloc { pages, owner: owner(a) }),
        9 => Fact::Page(PageFact::Move { pages, from: owner(a), to: owner(b) }),
        10 => Fact::Page(PageFact::Free { pages, owner: owner(a) }),
        11 => Fact::Cache(CacheFact::Lock { req, node: a }),
        12 => Fact::Cache(CacheFact::Unlock { req, node: a }),
        13 => Fact::Batch(BatchFact::PrepareDecode {
            batch,
            req,
            k: a,
            decode_batch_idx: b,
            kv_committed_len: b,
            active: slot,
            track,
            next_track_idx: None,
        }),
        14 => Fact::Forward(ForwardFact::Launch { batch, mode, rows: a, start: AT, end: AT, copied: AT }),
        15 => Fact::Forward(ForwardFact::Clear { req, slot }),
        16 => Fact::Forward(ForwardFact::CopyState { req, from: slot, to: SlotId(a), stream }),
        17 => Fact::Forward(ForwardFact::Extend {
            batch,
            req,
            slot,
            from: a,
            to: b,
            track: track.map(|track| (track, a)),
        }),
        18 | 19 => Fact::Forward(ForwardFact::Step { batch, req, slot, k: a, track }),
        20 if a == 6 => Fact::Forward(ForwardFact::Stream {
            stream: StreamId(b),
            parent: Prefix { stream: StreamId(draw()), len: draw() },
        }),
        20 => Fact::Forward(ForwardFact::Sampled { req, len: a, stream: StreamId(b) }),
        21 => Fact::Run(RunFact::Wait { batch, at: AT }),
        22 => Fact::Request(RequestFact::Output { batch, req, outputs: a, at: AT }),
        23 => {
            let kind = [FinishKind::Token, FinishKind::Length, FinishKind::Abort][b as usize % 3];
            Fact::Request(RequestFact::Finish { req, kind, outputs: a })
        }
        24..=26 => {
            let decision = (a % 3 == 0).then_some(Decision { before: after, after });
            Fact::Decision(DecisionFact::Row {
                batch,
                req,
                lookahead: i64::from(a) - 3,
                kv_committed_len: b,
                check,
                decision,
            })
        }
        27 => Fact::Cache(CacheFact::Donate { req, label: a, key_len: b, slot, how }),
        28 => Fact::Cache(CacheFact::NoDonate { req, why, slot: None }),
        29 => Fact::Batch(BatchFact::TrackRefused { req, k: a, in_place: b % 2 == 0 }),
        30 => Fact::Request(RequestFact::Skip { batch, req, why: SkipReason::Ended }),
        31 => Fact::Run(RunFact::Done { at: AT }),
        34 => Fact::Batch(BatchFact::Mix { batch, decode: BatchId(a), rows: b }),
        35 => Fact::Request(RequestFact::Abort {
            req,
            stage: if a % 3 == 0 { AbortStage::Waiting } else { AbortStage::Decode },
            taken: b % 2 == 0,
        }),
        36 => Fact::Forward(ForwardFact::Verify {
            batch,
            req,
            slot,
            from: a,
            to: b,
            track: track.map(|track| (track, b)),
            target: track,
        }),
        37 => Fact::Request(RequestFact::MiddleChunk { batch, req }),
        38 if a == 3 => Fact::Run(RunFact::Bound { stalled: b % 2 == 0 }),
        32 if a == 3 => Fact::Run(RunFact::Assert { req: None, kind: AssertKind::OffGrid }),
        _ => Fact::Request(RequestFact::Retract { req, outputs: a }),
    }
}
