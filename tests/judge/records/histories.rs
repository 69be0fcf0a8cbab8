//! The history of a slot: what counts as written since its owner got it, and what a donation leaves behind.

use super::{A, B, Tape, before_the_boundary, brief, kinds};
use crate::common::tape::{AT, Facts as _};
use overlapsim::judge::FindingKind::{Foreign, Inherited, Lost, Mislabelled, Unwritten, UseAfterFree};
use overlapsim::record::*;

fn moved(tape: &mut Tape, slot: u32, from: Owner, to: Owner) {
    tape.fact(Fact::Slot(SlotFact::Move { slot: SlotId(slot), from, to }));
}

/// A, with the track slot 3 of B in place of its own. B has written four tokens to it.
fn of_b() -> Tape {
    let mut tape = Tape::new();
    tape.free(3, Owner::Track(A, 1));
    tape.arrive(B, 4, [4, 3, 6]).prefill(2, B, 4, 0, 4, Some((3, 4))).wait(2);
    tape
}

#[test]
fn a_slot_that_moves_to_another_request_is_unwritten() {
    let mut tape = of_b();
    moved(&mut tape, 3, Owner::Track(B, 0), Owner::Track(A, 1));
    assert_eq!(kinds(&tape.offer(A, 9, 3, false).judge()), [Unwritten]);
    // Also if it is set aside in between, or comes from the tree.
    for between in [Owner::Spare, Owner::Tree] {
        let mut tape = of_b();
        moved(&mut tape, 3, Owner::Track(B, 0), between);
        moved(&mut tape, 3, between, Owner::Track(A, 1));
        assert_eq!(kinds(&tape.offer(A, 9, 3, false).judge()), [Unwritten], "{between:?}");
    }
    let mut aside = of_b();
    moved(&mut aside, 3, Owner::Track(B, 0), Owner::Tree);
    moved(&mut aside, 3, Owner::Tree, Owner::Spare);
    assert_eq!(kinds(&aside.offer(A, 9, 3, false).judge()), [Unwritten]);
}

#[test]
fn a_slot_that_moves_within_its_request_keeps_its_history() {
    let mut tape = of_b();
    moved(&mut tape, 3, Owner::Track(B, 0), Owner::Track(B, 1));
    assert_eq!(kinds(&tape.offer(B, 9, 3, false).judge()), [Mislabelled]);
}

#[test]
fn a_forward_keeps_no_state_of_a_length_outside_its_tokens() {
    for len in [3, 7] {
        let mut tape = Tape::empty();
        tape.arrive(A, 9, [1, 2, 3]).prefill(1, A, 1, 0, 4, None).launch(2).extend(2, A, 1, (4, 6), Some((2, len)));
        assert_eq!(brief(&tape.offer(A, len, 2, false).judge().findings[0]), (Unwritten, Some(len), None, Some(2)));
    }
    for len in 4..=6 {
        let mut tape = Tape::empty();
        tape.arrive(A, 9, [1, 2, 3]).prefill(1, A, 1, 0, 4, None).launch(2).extend(2, A, 1, (4, 6), Some((2, len)));
        assert!(tape.offer(A, len, 2, false).judge().findings.is_empty(), "{len}");
    }
}

#[test]
fn an_unwritten_slot_is_right_by_tokens_only() {
    // The slot holds four tokens of B. Without the tokens in the record, the length proves nothing.
    let mut unknown = Tape::empty();
    unknown.give(4, Owner::Active(B)).give(5, Owner::Track(B, 0)).launch(1).extend(1, B, 4, (0, 4), Some((5, 4)));
    unknown.wait(1).free(5, Owner::Track(B, 0)).give(5, Owner::Track(A, 0)).offer(A, 4, 5, false);
    assert_eq!(kinds(&unknown.judge()), [Unwritten]);
    // With the tokens in the record, the slot is right, up to the last known token.
    let mut known = Tape::empty();
    known.arrive(A, 4, [1, 2, 3]).arrive(B, 4, [4, 5, 6]).prefill(1, B, 4, 0, 4, Some((5, 4))).wait(1);
    known.free(5, Owner::Track(B, 0)).give(5, Owner::Track(A, 2));
    assert!(known.offer(A, 4, 5, false).judge().findings.is_empty());
}

#[test]
fn a_cached_slot_that_another_request_overwrites_is_foreign_at_the_hit() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).offer(A, 4, 2, false).cache(2, Owner::Track(A, 0));
    tape.arrive(B, 6, [4, 5, 6]).prefill(9, B, 4, 0, 6, Some((2, 6))).wait(9).hit(A, 2, 4);
    let judged = tape.judge();
    assert_eq!(kinds(&judged), [UseAfterFree, Foreign]);
    assert!(judged.findings[1].reason.contains("overwritten after donation by"), "{}", judged.findings[1].reason);
}

#[test]
fn a_state_that_was_not_cached_is_no_root() {
    let mut tape = before_the_boundary();
    let how = DonationOutcome { finished: false, existed: true };
    tape.fact(Fact::Cache(CacheFact::Donate { req: A, label: 4, key_len: 4, slot: SlotId(3), how }));
    let judged = tape.cache(3, Owner::Track(A, 1)).arrive(B, 6, [4, 5, 6]).hit(B, 3, 4).judge();
    assert_eq!((kinds(&judged), judged.findings[1].root), (vec![Unwritten, Unwritten], None));
}

#[test]
fn a_slot_given_away_forgets_its_donation() {
    let mut tape = before_the_boundary();
    // A caches the unwritten slot 3, which is evicted and given to B.
    tape.offer(A, 4, 3, false).cache(3, Owner::Track(A, 1)).free(3, Owner::Tree);
    tape.arrive(B, 6, [4, 3, 6]).prefill(9, B, 4, 0, 6, Some((3, 6))).wait(9).cache(3, Owner::Track(B, 0));
    let judged = tape.hit(A, 3, 4).judge();
    assert_eq!((kinds(&judged), judged.findings[1].root), (vec![Unwritten, Mislabelled], None));
}

#[test]
fn a_hit_that_is_right_ends_the_inheritance_at_once() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).offer(A, 4, 2, false).cache(2, Owner::Track(A, 0));
    tape.offer(A, 4, 3, false).cache(3, Owner::Track(A, 1));
    tape.arrive(B, 1, [4, 5, 6]);
    (1..6).for_each(|len| {
        tape.sample(B, len);
    });
    let found = |tape: &mut Tape| kinds(&tape.offer(B, 5, 5, false).judge());
    assert_eq!(found(tape.hit(B, 3, 4)), [Unwritten, Inherited, Inherited]);
    assert_eq!(found(tape.hit(B, 2, 4))[3..], [Unwritten]);
}

#[test]
fn a_request_that_has_ended_is_forgotten() {
    let mut tape = before_the_boundary();
    tape.row(3, A, Some((4, 2)));
    assert_eq!(tape.judging().holds(SlotId(2), A, 4), Some(true));
    tape.end(4, 2);
    assert_eq!(tape.judging().holds(SlotId(2), A, 4), None);
    // The result of its step in flight makes nothing due.
    let judged = tape.row(4, A, None).done();
    assert_eq!((judged.findings.len(), judged.checkpoints.due), (0, 0));
}

#[test]
fn rows_of_one_slice_are_judged_as_single_facts() {
    // A and B differ in the token after the first one. Their facts come as slices.
    let mut tape = Tape::empty();
    tape.arrive(A, 1, [1, 2, 3]).prefill(1, A, 1, 0, 1, None).arrive(B, 1, [4, 5, 6]).sample(B, 1).sample(B, 2);
    tape.launch(2);
    let mut judge = tape.judging();
    let other = StreamId(100);
    judge.fact(Fact::Forward(ForwardFact::Stream { stream: other, parent: Prefix { stream: StreamId(1), len: 1 } }));
    judge.fact(Fact::Forward(ForwardFact::Sampled { req: A, len: 1, stream: other }));
    let (req, slot, track) = (A, SlotId(1), Some(SlotId(2)));
    judge.rows(RowFacts::Stepped(BatchId(2), &[StepRow { req, k: 2, slot, track, sampled: Some(other) }]));
    judge.rows(RowFacts::Stepped(BatchId(3), &[StepRow { req, k: 3, slot, track, sampled: None }]));
    let row = ResultRow { at: AT, lookahead: 0, req, outputs: 7, kv_committed_len: 2, check: BoundaryCheck::None };
    judge.rows(RowFacts::Results(BatchId(2), &[row]));
    let how = DonationOutcome { finished: false, existed: false };
    judge.fact(Fact::Cache(CacheFact::Donate { req, label: 3, key_len: 3, slot: SlotId(2), how }));
    judge.fact(Fact::Cache(CacheFact::Hit { req: B, source: SlotId(2), len: 3 }));
    let judged = judge.finish(&[]);
    assert_eq!((kinds(&judged), judged.requests[0].outputs), (vec![Mislabelled, Lost], 7));
    assert!(judged.findings[0].reason.contains("another sequence"), "{}", judged.findings[0].reason);
}
