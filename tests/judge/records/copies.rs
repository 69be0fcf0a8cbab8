//! Copies and clears: which slots a request may copy from, copy to and clear, and what the slot then holds.

use super::{A, B, Tape, brief, kinds};
use crate::common::tape::Facts as _;
use overlapsim::judge::FindingKind::{Foreign, Leak, Mislabelled, Torn, Unwritten, UseAfterFree};
use overlapsim::record::*;

/// The findings of a copy of A between slot 1, which is A's, and slot 9, which has this owner.
fn copied(owner: Option<Owner>, stream: GpuStream, reads: bool) -> usize {
    let mut tape = Tape::new();
    if let Some(owner) = owner {
        tape.give(9, owner);
    }
    let (from, to) = if reads { (9, 1) } else { (1, 9) };
    tape.copy(A, from, to, stream);
    let found = kinds(&tape.judge());
    assert!(found.iter().all(|&kind| kind == UseAfterFree), "{found:?}");
    found.len()
}

#[test]
fn a_request_copies_from_its_own_slots_and_from_the_tree() {
    for stream in [GpuStream::Forward, GpuStream::Schedule] {
        for owner in [Owner::Active(A), Owner::Track(A, 1), Owner::Tree] {
            assert_eq!(copied(Some(owner), stream, true), 0, "{owner:?}");
        }
        let others = [Owner::Spare, Owner::Request(A), Owner::Active(B), Owner::Track(B, 0)];
        for owner in others.map(Some).into_iter().chain([None]) {
            assert_eq!(copied(owner, stream, true), 1, "{owner:?}");
        }
    }
}

#[test]
fn a_forward_copies_to_the_requests_own_slots() {
    for owner in [Owner::Active(A), Owner::Track(A, 1)] {
        assert_eq!(copied(Some(owner), GpuStream::Forward, false), 0, "{owner:?}");
    }
    for owner in [Some(Owner::Spare), Some(Owner::Tree), Some(Owner::Request(A)), Some(Owner::Active(B)), None] {
        assert_eq!(copied(owner, GpuStream::Forward, false), 1, "{owner:?}");
    }
}

#[test]
fn the_schedule_stream_copies_to_slots_set_aside_and_to_the_tree_too() {
    for owner in [Owner::Active(A), Owner::Track(A, 1), Owner::Spare, Owner::Tree] {
        assert_eq!(copied(Some(owner), GpuStream::Schedule, false), 0, "{owner:?}");
    }
    for owner in [Some(Owner::Request(A)), Some(Owner::Active(B)), None] {
        assert_eq!(copied(owner, GpuStream::Schedule, false), 1, "{owner:?}");
    }
}

#[test]
fn a_clear_of_a_slot_of_another_request_is_a_write_by_that_request() {
    let mut tape = Tape::new();
    assert_eq!(kinds(&tape.clear(B, 3).judge()), [UseAfterFree]);
    assert_eq!(kinds(&tape.offer(A, 4, 3, false).judge()), [UseAfterFree, Foreign]);
    // A clear by the owner writes nothing.
    let mut own = Tape::new();
    assert_eq!(kinds(&own.clear(A, 3).offer(A, 4, 3, false).judge()), [Unwritten]);
}

#[test]
fn a_forward_that_copies_writes_for_its_own_request() {
    // A caches the state of one token; B copies it to a track slot and offers it under another length.
    let mut tape = Tape::new();
    tape.extend(2, A, 1, (1, 1), Some((2, 1))).offer(A, 1, 2, false).cache(2, Owner::Track(A, 0));
    tape.arrive(B, 4, [4, 5, 6]).copy(B, 2, 5, GpuStream::Forward).offer(B, 3, 5, false);
    assert_eq!(kinds(&tape.judge()), [Mislabelled]);
}

#[test]
fn a_copy_on_the_schedule_stream_passes_on_who_wrote_the_state() {
    let mut own = Tape::new();
    own.give(9, Owner::Spare).copy(A, 1, 9, GpuStream::Schedule).offer(A, 3, 9, false);
    assert_eq!(brief(&own.judge().findings[0]), (Mislabelled, Some(3), Some(1), Some(9)));
    let mut unwritten = Tape::new();
    unwritten.give(9, Owner::Spare).copy(A, 3, 9, GpuStream::Schedule).offer(A, 3, 9, false);
    assert_eq!(kinds(&unwritten.judge()), [Unwritten]);
}

/// A has cached its state of one token in slot 2, and B has hit it.
fn right_hit() -> Tape {
    let mut tape = Tape::new();
    tape.extend(2, A, 1, (1, 1), Some((2, 1))).offer(A, 1, 2, false).cache(2, Owner::Track(A, 0));
    tape.arrive(B, 4, [4, 5, 6]).hit(B, 2, 1);
    tape
}

#[test]
fn only_the_copy_of_a_hit_into_the_active_slot_writes_for_the_request_that_hits() {
    let copied = |from, to| {
        let mut tape = right_hit();
        tape.give(9, Owner::Spare).copy(B, from, to, GpuStream::Schedule).offer(B, 3, to, false);
        kinds(&tape.judge())
    };
    assert_eq!(copied(2, 4), [Mislabelled]);
    assert_eq!(copied(2, 9), [Foreign], "a copy elsewhere");
    assert_eq!(copied(6, 4), [Unwritten], "a copy from elsewhere");
}

#[test]
fn a_write_of_another_request_in_flight_is_a_race_of_owners_and_no_torn_copy() {
    let mut tape = Tape::new();
    tape.launch(2).extend(2, B, 3, (0, 1), None).copy(A, 1, 3, GpuStream::Schedule);
    assert_eq!(kinds(&tape.judge()), [UseAfterFree, UseAfterFree]);
}

#[test]
fn a_read_and_a_write_in_flight_are_two_findings() {
    let mut tape = Tape::new();
    tape.launch(2).copy(A, 1, 2, GpuStream::Forward).copy(A, 2, 3, GpuStream::Forward);
    tape.free(1, Owner::Active(A)).free(3, Owner::Track(A, 1));
    tape.arrive(B, 4, [1, 3, 6]).give(9, Owner::Tree);
    tape.copy(B, 9, 1, GpuStream::Schedule).copy(B, 9, 3, GpuStream::Schedule);
    assert_eq!(kinds(&tape.judge()), [UseAfterFree, UseAfterFree]);
}

#[test]
fn a_forward_that_only_reads_the_target_of_a_copy_leaves_the_copy_as_it_is() {
    // The forward in flight reads slot 4, which B gets then. The copy of the hit is right, and so is no heir.
    let mut tape = Tape::new();
    tape.extend(2, A, 1, (1, 1), Some((2, 1))).offer(A, 1, 2, false).cache(2, Owner::Track(A, 0));
    tape.free(3, Owner::Track(A, 1)).give(4, Owner::Track(A, 1)).launch(3).copy(A, 4, 1, GpuStream::Forward);
    tape.free(4, Owner::Track(A, 1)).arrive(B, 4, [4, 5, 6]).hit(B, 2, 1).copy(B, 2, 4, GpuStream::Schedule);
    assert_eq!(kinds(&tape.offer(B, 3, 4, false).judge()), [UseAfterFree, Mislabelled]);
}

#[test]
fn a_clear_in_flight_leaves_the_slot_unwritten_under_a_copy_that_races_it() {
    let mut tape = Tape::new();
    tape.arrive(B, 4, [4, 5, 6]).prefill(2, B, 4, 0, 4, Some((5, 4))).wait(2).free(5, Owner::Track(B, 0));
    tape.free(3, Owner::Track(A, 1)).give(5, Owner::Track(A, 1)).launch(3).clear(A, 5);
    tape.copy(A, 1, 5, GpuStream::Schedule).offer(A, 3, 5, false);
    assert_eq!(kinds(&tape.judge()), [UseAfterFree, Unwritten]);
}

#[test]
fn a_wait_for_a_batch_launched_twice_is_a_wait_for_both_launches() {
    let mut tape = Tape::new();
    tape.decode(2, A, 1, 2, None).decode(2, A, 1, 3, None).wait(2).give(9, Owner::Spare);
    assert!(tape.copy(A, 1, 9, GpuStream::Schedule).judge().findings.is_empty());
}

/// A copies its active slot to slot 7 without waiting for D2, which writes it.
fn torn() -> Tape {
    let mut tape = Tape::new();
    tape.decode(2, A, 1, 2, None).give(7, Owner::Track(A, 7)).copy(A, 1, 7, GpuStream::Schedule);
    tape
}

#[test]
fn a_torn_copy_explains_its_own_content_only() {
    assert_eq!(kinds(&torn().offer(A, 2, 7, false).judge()), [Torn]);
    // A later write is another content.
    let mut written = torn();
    written.decode(3, A, 1, 3, Some(7)).wait(3).offer(A, 2, 7, false);
    assert_eq!(kinds(&written.judge()), [Torn, Mislabelled]);
    // So is what a new owner finds.
    let mut given = torn();
    given.free(7, Owner::Track(A, 7)).give(7, Owner::Track(A, 7)).offer(A, 2, 7, false);
    assert_eq!(kinds(&given.judge()), [Torn, Unwritten]);
}

#[test]
fn an_unordered_write_of_the_same_state_tears_nothing() {
    let mut tape = Tape::new();
    tape.launch(2).copy(A, 1, 2, GpuStream::Forward).wait(2).launch(3).copy(A, 1, 2, GpuStream::Forward);
    tape.give(7, Owner::Track(A, 7)).copy(A, 2, 7, GpuStream::Schedule).offer(A, 1, 7, false);
    tape.cache(7, Owner::Track(A, 7)).arrive(B, 4, [4, 5, 6]).hit(B, 7, 1);
    assert_eq!(kinds(&tape.judge()), [Torn]);
}

#[test]
fn the_view_of_a_slot_shows_a_torn_copy_until_another_copy_replaces_it() {
    // Without tokens, the contents of both copies are known by their lengths only, and these are the same.
    let mut tape = Tape::empty();
    tape.fact(Fact::Request(RequestFact::Arrive { req: A, at: crate::common::tape::AT, max_new: 20 }));
    tape.give(1, Owner::Active(A)).give(7, Owner::Spare).launch(1).extend(1, A, 1, (0, 2), None).wait(1);
    tape.launch(2).extend(2, A, 1, (2, 3), None).copy(A, 1, 7, GpuStream::Schedule);
    assert_eq!(tape.judging().holds(SlotId(7), A, 2), Some(false));
    tape.launch(3).extend(3, A, 1, (0, 0), None).wait(3);
    tape.give(8, Owner::Active(A)).launch(4).extend(4, A, 8, (0, 2), None).wait(4);
    tape.copy(A, 8, 7, GpuStream::Schedule);
    assert_eq!(tape.judging().holds(SlotId(7), A, 2), Some(true));
}

#[test]
fn a_slot_set_aside_at_the_end_is_a_leak() {
    assert_eq!(kinds(&Tape::empty().give(9, Owner::Spare).done()), [Leak]);
}
