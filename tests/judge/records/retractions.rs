//! Requests that begin anew: a retraction, or an abort of a request in chunks, forgets what came before it.

use super::{A, B, Tape, before_the_boundary, classes, kinds};
use crate::common::tape::Facts as _;
use overlapsim::judge::{Class, FindingKind, Verdict};
use overlapsim::record::*;

#[test]
fn each_of_the_two_facts_of_a_retraction_is_enough() {
    for by_donation in [false, true] {
        let mut tape = before_the_boundary();
        tape.row(3, A, None).row(4, A, None);
        if by_donation {
            tape.no_donation(A, NoDonation::Retracted)
        } else {
            tape.retract(A)
        };
        let judged = tape.nothing(NoDonation::NoCheckpoint).done();
        assert_eq!((judged.verdict, judged.checkpoints.skipped), (Verdict::Clean, 1), "by donation: {by_donation}");
    }
}

#[test]
fn a_checkpoint_of_an_aborted_request_is_skipped() {
    let mut tape = before_the_boundary();
    let judged = tape.row(3, A, None).row(4, A, None).nothing(NoDonation::Aborted).done();
    assert_eq!((judged.verdict, judged.checkpoints.skipped), (Verdict::Clean, 1));
}

#[test]
fn a_length_recorded_before_a_retraction_is_due_again_and_lost_without_a_decision() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).retract(A).prefill(20, A, 1, 0, 3, None).wait(20);
    let judged = tape.decode(21, A, 1, 4, Some(2)).row(21, A, None).nothing(NoDonation::NoCheckpoint).done();
    assert_eq!((judged.verdict, classes(&judged)[1]), (Verdict::Lossy, (4, Class::Missed)));
}

#[test]
fn a_length_recorded_before_a_retraction_need_not_be_donated() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).retract(A).prefill(20, A, 1, 0, 3, None).wait(20);
    assert_eq!(tape.nothing(NoDonation::NoCheckpoint).done().verdict, Verdict::Clean);
}

#[test]
fn a_refusal_before_a_retraction_is_forgotten() {
    let mut tape = Tape::new();
    tape.plain(2, 4).decode(4, A, 1, 4, None).refused(4, true).retract(A).prefill(20, A, 1, 0, 3, None).wait(20);
    let judged = tape.decode(21, A, 1, 4, None).row(21, A, None).judge();
    assert_eq!(judged.checkpoints.skipped, 0);
}

#[test]
fn a_step_in_flight_at_a_retraction_is_none_afterwards() {
    let mut tape = before_the_boundary();
    tape.retract(A).prefill(20, A, 1, 0, 2, None).wait(20);
    tape.decode(21, A, 1, 3, None).decode(22, A, 1, 4, Some(3)).row(21, A, Some((4, 3)));
    assert_eq!(classes(&tape.judge()), [(3, Class::Early)]);
}

#[test]
fn a_decision_before_a_retraction_is_no_cause() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).retract(A).prefill(20, A, 1, 0, 7, None);
    let judged = tape.decode(21, A, 1, 8, Some(2)).row(21, A, None).offer(A, 4, 2, false).judge();
    assert_eq!((judged.findings[0].kind, judged.findings[0].overwritten), (FindingKind::Mislabelled, None));
}

/// `A` has cached the unwritten slot 3 under 4, `B` has hit it, and `B` has the slots 4 to 6.
fn wrong_hit() -> Tape {
    let mut tape = before_the_boundary();
    tape.row(3, A, Some((4, 2))).row(4, A, Some((4, 3))).end(4, 3).arrive(B, 1, [4, 5, 6]);
    (1..6).for_each(|len| {
        tape.sample(B, len);
    });
    tape.hit(B, 3, 4);
    tape
}

/// The kind of the finding if `B` now offers slot 5 under a length that the slot does not hold.
fn wrong_offer(tape: &mut Tape) -> FindingKind {
    *kinds(&tape.offer(B, 5, 5, false).judge()).last().expect("a wrong state is a finding")
}

#[test]
fn a_clear_of_the_active_slot_ends_the_inheritance() {
    assert_eq!(wrong_offer(&mut wrong_hit()), FindingKind::Inherited);
    assert_eq!(wrong_offer(wrong_hit().launch(20).clear(B, 5)), FindingKind::Inherited, "another slot");
    assert_eq!(wrong_offer(wrong_hit().launch(20).clear(B, 4)), FindingKind::Unwritten);
}

#[test]
fn only_the_copy_of_the_hit_into_the_active_slot_takes_over_the_wrong_start() {
    let copied = |from, to| {
        wrong_offer(wrong_hit().launch(20).clear(B, 4).copy(B, from, to, GpuStream::Forward).extend(
            20,
            B,
            4,
            (0, 2),
            Some((5, 2)),
        ))
    };
    assert_eq!(copied(3, 4), FindingKind::Inherited);
    assert_eq!(copied(3, 6), FindingKind::Mislabelled, "a copy elsewhere");
    assert_eq!(copied(6, 4), FindingKind::Mislabelled, "a copy from elsewhere");
}

#[test]
fn a_retraction_forgets_the_wrong_start_and_the_hit() {
    assert_eq!(wrong_offer(wrong_hit().retract(B)), FindingKind::Unwritten);
    let mut tape = wrong_hit();
    tape.retract(B).launch(20).copy(B, 3, 4, GpuStream::Forward);
    assert_eq!(wrong_offer(&mut tape), FindingKind::Unwritten);
}
