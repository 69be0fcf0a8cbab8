//! Counts and losses: which checkpoint counts as due, recorded, lost or skipped, and the cost of a loss.

use super::{A, Tape, before_the_boundary, brief, classes, kinds};
use crate::common::tape::{AT, Facts as _};
use overlapsim::judge::{Class, FindingKind, Judgement, Overwritten, Verdict};
use overlapsim::record::*;

/// Due, recorded, lost, skipped.
fn counted(judged: &Judgement) -> [u64; 4] {
    let counts = judged.checkpoints;
    [counts.due, counts.recorded, counts.lost, counts.skipped]
}

/// `A` recorded 4 in slot 2 and then 8 in slot 3.
fn two() -> Tape {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).plain(5, 8).decode(8, A, 1, 8, Some(3)).row(8, A, Some((8, 3)));
    tape
}

#[test]
fn a_recorded_length_that_is_lost_at_the_end_counts_as_lost_where_it_was_due() {
    let judged = two().plain(9, 10).end(4, 2).done();
    assert_eq!(counted(&judged), [2, 1, 1, 0]);
    assert_eq!((judged.findings[0].label, judged.findings[0].turn), (Some(8), 6));
    // The final length is not beyond the end.
    let mut last = two();
    last.outputs = 7;
    assert_eq!(kinds(&last.end(4, 2).done()), [FindingKind::Lost]);
}

#[test]
fn a_loss_has_the_phase_of_its_result() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, None);
    tape.fact(Fact::Run(RunFact::Begin { phase: Phase::Plan, batch: None, at: AT }));
    let judged = tape.nothing(NoDonation::NoCheckpoint).done();
    assert_eq!((judged.findings[0].turn, judged.findings[0].phase), (2, Phase::Result));
}

#[test]
fn a_length_recorded_one_result_late_is_not_lost() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, None).decode(5, A, 1, 5, None).row(5, A, Some((4, 2)));
    let judged = tape.end(4, 2).done();
    assert_eq!((judged.verdict, counted(&judged)), (Verdict::Clean, [1, 1, 0, 0]));
    assert_eq!(classes(&judged), [(4, Class::Missed), (5, Class::WrongLabel)]);
}

#[test]
fn a_late_record_of_a_shorter_length_does_not_stand_for_a_longer_one() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, None).plain(5, 8).decode(8, A, 1, 8, Some(3)).row(8, A, Some((8, 3)));
    tape.decode(9, A, 1, 9, None).row(9, A, Some((4, 2)));
    let judged = tape.end(4, 2).done();
    assert_eq!((kinds(&judged), judged.findings[0].label), (vec![FindingKind::Lost], Some(8)));
}

#[test]
fn a_length_that_was_never_due_is_not_recorded_late() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, None);
    tape.decode(5, A, 1, 5, None).row(5, A, Some((3, 2))).decode(6, A, 1, 6, None).row(6, A, Some((3, 2)));
    let judged = tape.judge();
    assert_eq!(classes(&judged)[1..], [(5, Class::WrongLabel), (6, Class::WrongLabel)]);
}

#[test]
fn a_label_beyond_the_step_in_flight_is_wrong() {
    let mut tape = before_the_boundary();
    assert_eq!(classes(&tape.row(3, A, Some((5, 2))).judge()), [(3, Class::WrongLabel)]);
}

#[test]
fn a_recorded_length_named_again_without_a_slot_is_a_repeat() {
    let mut tape = before_the_boundary();
    tape.row(3, A, Some((4, 2))).decided(4, A, Some((4, None)));
    assert_eq!(classes(&tape.judge()), [(3, Class::Early), (4, Class::Repeat)]);
}

#[test]
fn a_guard_that_declines_skips_every_length_for_which_no_slot_was_kept() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).decided(4, A, Some((4, None))).plain(5, 8).decode(8, A, 1, 8, Some(3));
    tape.decided(8, A, Some((8, None)));
    let judged = tape.nothing(NoDonation::Declined).done();
    assert_eq!((judged.verdict, counted(&judged)), (Verdict::Clean, [2, 0, 0, 2]));
    // A decision about another length without a slot keeps nothing back: the length is lost.
    let mut other = before_the_boundary();
    other.row(3, A, None).decided(4, A, Some((3, None)));
    let judged = other.nothing(NoDonation::Declined).done();
    assert_eq!((judged.verdict, counted(&judged)), (Verdict::Lossy, [1, 0, 1, 1]));
}

#[test]
fn a_refused_step_that_keeps_nothing_is_skipped_even_if_the_rule_decides() {
    let mut tape = Tape::new();
    tape.plain(2, 4).decode(4, A, 1, 4, None).refused(4, true).row(4, A, Some((4, 2)));
    assert_eq!(counted(&tape.judge()), [0, 0, 0, 1]);
}

#[test]
fn a_refused_step_that_writes_nothing_leaves_the_recorded_state_to_be_donated() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2))).refused(8, false);
    let judged = tape.nothing(NoDonation::NoCheckpoint).done();
    assert_eq!((judged.verdict, counted(&judged)), (Verdict::Lossy, [1, 0, 1, 0]));
}

#[test]
fn the_cost_of_a_loss_counts_from_the_longest_state_donated_or_hit() {
    let lost = |tape: &mut Tape| {
        tape.plain(2, 4).decode(4, A, 1, 4, Some(2)).row(4, A, None);
        tape.nothing(NoDonation::NoCheckpoint).done().checkpoints.cost_tokens
    };
    assert_eq!(lost(&mut Tape::new()), 4);
    assert_eq!(lost(Tape::new().admit(A, 3).admit(A, 1)), 1, "hits");
    assert_eq!(lost(Tape::new().offer(A, 3, 3, false).offer(A, 2, 3, false)), 1, "donations");
    assert_eq!(lost(Tape::new().admit(A, 2).offer(A, 3, 3, false)), 1, "the longer one");
    assert_eq!(lost(Tape::new().admit(A, 3).offer(A, 2, 3, false)), 1, "the longer one");
}

#[test]
fn what_one_release_said_does_not_hold_for_the_next_one() {
    // The record has no end of the request, which goes on after each release.
    let mut lost = before_the_boundary();
    lost.row(3, A, None).row(4, A, Some((4, 2))).no_donation(A, NoDonation::NoCheckpoint);
    assert_eq!(kinds(&lost.no_donation(A, NoDonation::NoCheckpoint).judge()), [FindingKind::Lost]);
    // A length that was lost is due and missed again.
    lost.decode(5, A, 1, 4, Some(2)).row(5, A, None);
    assert_eq!(classes(&lost.judge()), [(4, Class::Agree), (4, Class::Missed)]);

    let again = |tape: &mut Tape| {
        tape.decode(5, A, 1, 4, Some(2)).row(5, A, Some((4, 2))).no_donation(A, NoDonation::NoCheckpoint);
        kinds(&tape.judge())
    };
    let mut donated = before_the_boundary();
    let how = DonationOutcome { finished: true, existed: true };
    donated.row(3, A, None).row(4, A, Some((4, 2)));
    donated.fact(Fact::Cache(CacheFact::Donate { req: A, label: 4, key_len: 4, slot: SlotId(2), how }));
    assert_eq!(again(&mut donated), [FindingKind::Lost]);
    let mut declined = before_the_boundary();
    declined.row(3, A, None).row(4, A, Some((4, 2))).no_donation(A, NoDonation::Declined);
    assert_eq!(again(&mut declined), [FindingKind::Lost]);
}

#[test]
fn losses_come_before_leaks() {
    let mut tape = before_the_boundary();
    assert_eq!(kinds(&tape.row(3, A, None).row(4, A, None).done()), [FindingKind::Lost, FindingKind::Leak]);
}

#[test]
fn a_skipped_step_gets_no_class_and_is_no_step_in_flight() {
    let mut tape = before_the_boundary();
    tape.fact(Fact::Request(RequestFact::Skip { batch: BatchId(4), req: A, why: SkipReason::Ended }));
    assert_eq!(classes(&tape.row(3, A, Some((4, 2))).judge()), [(3, Class::WrongLabel)]);
}

/// The rule kept 4 in slot 2, correctly.
fn kept() -> Tape {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, Some((4, 2)));
    tape
}

#[test]
fn a_prefill_that_overwrites_a_correct_checkpoint_is_named_as_the_cause() {
    let mut tape = kept();
    let judged = tape.launch(9).extend(9, A, 1, (4, 6), Some((2, 6))).offer(A, 4, 2, false).judge();
    let cause = Overwritten { decided_turn: 2, len: 6, batch: BatchId(9), turn: 2 };
    assert_eq!((kinds(&judged), judged.findings[0].overwritten), (vec![FindingKind::Aliased], Some(cause)));
    // A length outside the tokens of a forward is not written.
    let mut outside = kept();
    outside.plain(5, 8).decode(8, A, 1, 8, Some(2)).launch(9).extend(9, A, 1, (8, 9), Some((2, 20)));
    let judged = outside.offer(A, 4, 2, false).judge();
    assert_eq!(judged.findings[0].overwritten.map(|cause| cause.len), Some(8));
}

#[test]
fn the_cause_of_an_inherited_finding_is_its_root() {
    let mut tape = kept();
    tape.offer(A, 4, 3, false).cache(3, Owner::Track(A, 1)).hit(A, 3, 4);
    tape.plain(5, 8).decode(8, A, 1, 8, Some(2));
    let judged = tape.offer(A, 4, 2, false).judge();
    let last = judged.findings.last().expect("a wrong donation is a finding");
    assert_eq!((last.kind, last.overwritten), (FindingKind::Inherited, None));
}

#[test]
fn the_count_of_a_group_adds_up_all_its_faults() {
    let pages = |from, to| PageRange { grant: GrantId(1), from, to };
    let freed = |from, to| Fact::Page(PageFact::Free { pages: pages(from, to), owner: Owner::Request(A) });
    let judged = Tape::empty().fact(freed(0, 2)).fact(freed(4, 7)).judge();
    assert_eq!(brief(&judged.findings[0]), (FindingKind::DoubleFree, None, None, None));
    assert!(judged.findings[0].reason.ends_with("(5 in all)"), "{}", judged.findings[0].reason);
}
