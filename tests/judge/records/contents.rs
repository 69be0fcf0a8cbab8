//! The state audit: what a donated slot or the source of a hit holds, compared with its label or key.

use super::{A, B, Tape, before_the_boundary, brief, kinds};
use crate::common::tape::Facts as _;
use overlapsim::judge::{FindingKind, Verdict};
use overlapsim::record::*;

#[test]
fn stale_content_of_an_earlier_owner_does_not_count_as_written() {
    let mut tape = Tape::new();
    tape.arrive(B, 1, [4, 5, 6]).prefill(20, B, 4, 0, 1, None).decode(21, B, 4, 2, Some(5)).wait(21);
    tape.free(5, Owner::Track(B, 0)).free(3, Owner::Track(A, 1)).give(5, Owner::Track(A, 1));
    tape.plain(2, 3).offer(A, 3, 5, false);
    assert_eq!(brief(&tape.judge().findings[0]), (FindingKind::Unwritten, Some(3), None, Some(5)));
    // Under the length that the slot holds by chance, the same slot is a right state.
    let mut lucky = Tape::new();
    lucky.arrive(B, 1, [4, 5, 6]).prefill(20, B, 4, 0, 1, None).decode(21, B, 4, 2, Some(5)).wait(21);
    lucky.free(5, Owner::Track(B, 0)).free(3, Owner::Track(A, 1)).give(5, Owner::Track(A, 1));
    assert!(lucky.plain(2, 3).offer(A, 2, 5, false).judge().findings.is_empty());
}

#[test]
fn a_slot_with_an_old_label_that_the_step_in_flight_writes_is_mislabelled() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).plain(5, 7);
    tape.decode(7, A, 1, 7, None).decode(8, A, 1, 8, Some(3));
    // The kept slot is 2, but the rule hands over 3.
    let judged = tape.row(7, A, None).end(4, 3).done();
    assert_eq!(brief(&judged.findings[0]), (FindingKind::Mislabelled, Some(4), Some(8), Some(3)));
    assert_eq!(judged.findings[0].reason, "label 4, but the slot holds 8: the step in flight writes there");
}

#[test]
fn a_slot_that_the_step_in_flight_will_overwrite_is_aliased() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).plain(5, 7);
    tape.decode(7, A, 1, 7, None).decode(8, A, 1, 8, Some(2));
    let judged = tape.row(7, A, None).end(4, 2).done();
    assert_eq!(brief(&judged.findings[0]), (FindingKind::Aliased, Some(4), Some(8), Some(2)));
    // Once the step has been waited for, the slot holds another state: mislabelled.
    let mut late = before_the_boundary();
    late.row(3, A, None).row(4, A, Some((4, 2))).plain(5, 8).decode(8, A, 1, 8, Some(2)).row(8, A, None);
    assert_eq!(kinds(&late.end(4, 2).done())[0], FindingKind::Mislabelled);
}

#[test]
fn a_prefill_state_donated_from_the_wrong_slot_is_mislabelled() {
    // The prefill tracks 4 of 7 in slot 2, D8 writes slot 3 before the prefill result donates slot 3.
    let mut tape = Tape::empty();
    tape.arrive(A, 7, [1, 2, 3]).prefill(1, A, 1, 0, 7, Some((2, 4))).decode(2, A, 1, 8, Some(3)).turn().wait(1);
    let mut right = Tape { record: tape.record.clone(), names: tape.names.clone(), ..tape };
    tape.offer(A, 4, 3, false).cache(3, Owner::Track(A, 1)).give(4, Owner::Track(A, 1));
    let judged = tape.judge();
    assert_eq!(brief(&judged.findings[0]), (FindingKind::Mislabelled, Some(4), Some(8), Some(3)));
    right.offer(A, 4, 2, false).cache(2, Owner::Track(A, 0)).give(4, Owner::Track(A, 0));
    assert!(right.judge().findings.is_empty());
}

#[test]
fn a_slot_that_another_request_wrote_since_is_foreign() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2)));
    tape.arrive(B, 6, [4, 5, 6]).prefill(9, B, 4, 0, 6, Some((2, 6))).wait(9);
    let judged = tape.end(4, 2).judge();
    assert_eq!(kinds(&judged), vec![FindingKind::UseAfterFree, FindingKind::Foreign]);
    assert_eq!((judged.verdict, judged.findings[1].holds), (Verdict::Broken, Some(6)));
    // A write of B before A got the slot does not matter: A has written the slot since.
    let mut before = Tape::empty();
    before.arrive(B, 6, [4, 2, 6]).prefill(9, B, 4, 0, 6, Some((2, 6))).free(2, Owner::Track(B, 0));
    before.arrive(A, 1, [1, 2, 3]).prefill(1, A, 1, 0, 1, None).plain(2, 4).decode(4, A, 1, 4, Some(2));
    assert!(before.row(4, A, Some((4, 2))).end(4, 2).judge().findings.is_empty());
}

#[test]
fn the_same_length_of_another_sequence_is_mislabelled() {
    let mut tape = Tape::empty();
    tape.arrive(A, 4, [1, 2, 3]).arrive(B, 0, [4, 5, 6]);
    tape.prompt(B, &[9, 9, 9, 9]);
    // A hits a cached state of B although the tokens differ.
    tape.prefill(1, B, 4, 0, 4, Some((5, 4))).turn().wait(1).offer(B, 4, 5, false).cache(5, Owner::Track(B, 0));
    let judged = tape.fact(Fact::Cache(CacheFact::Hit { req: A, source: SlotId(5), len: 4 })).judge();
    assert_eq!(brief(&judged.findings[0]), (FindingKind::Mislabelled, Some(4), Some(4), Some(5)));
    assert!(judged.findings[0].reason.contains("another sequence"));
}

#[test]
fn a_copy_before_the_forward_has_been_waited_for_is_torn() {
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

#[test]
fn a_cached_slot_overwritten_after_donation_is_mislabelled_at_the_hit() {
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
fn a_wrong_state_that_is_not_cached_is_a_finding_without_heirs() {
    let mut tape = before_the_boundary();
    let how = DonationOutcome { finished: false, existed: true };
    tape.fact(Fact::Cache(CacheFact::Donate { req: A, label: 4, key_len: 4, slot: SlotId(3), how }));
    let judged = tape.judge();
    assert_eq!(kinds(&judged), vec![FindingKind::Unwritten]);
    assert!(judged.findings[0].reason.ends_with("not cached, as the node already owned a state"));
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

/// A torn copy of slot 1 in slot 7, then what `more` adds, then a donation of slot 7.
fn torn_copy(more: impl Fn(&mut Tape)) -> Vec<FindingKind> {
    let mut tape = Tape::new();
    tape.decode(2, A, 1, 2, None).give(7, Owner::Tree).fact(Fact::Forward(ForwardFact::CopyState {
        req: A,
        from: SlotId(1),
        to: SlotId(7),
        stream: GpuStream::Schedule,
    }));
    more(&mut tape);
    kinds(&tape.offer(A, 2, 7, false).judge())
}

#[test]
fn a_torn_copy_excuses_its_own_slot_until_that_slot_gets_another_owner() {
    assert_eq!(torn_copy(|_| {}), [FindingKind::Torn]);
    let another_slot = |tape: &mut Tape| {
        tape.give(8, Owner::Tree);
    };
    assert_eq!(torn_copy(another_slot), [FindingKind::Torn]);
    let another_owner = |tape: &mut Tape| {
        tape.free(7, Owner::Tree).give(7, Owner::Spare);
    };
    assert_eq!(torn_copy(another_owner), [FindingKind::Torn, FindingKind::Unwritten]);
}
