//! Decisions of a rule and checkpoints: the class of each decision, and what is recorded, lost or skipped.

use super::{A, B, Tape, before_the_boundary, brief, classes, kinds};
use crate::common::tape::Facts as _;
use overlapsim::judge::{Class, FindingKind, Verdict};
use overlapsim::record::*;

#[test]
fn a_decision_at_the_own_result_agrees_and_is_recorded() {
    let mut tape = before_the_boundary();
    let judged = tape.row(3, A, None).row(4, A, Some((4, 2))).end(4, 2).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Clean, vec![(4, Class::Agree)]));
    let counts = judged.checkpoints;
    assert_eq!((counts.due, counts.recorded, counts.lost, counts.donated), (1, 1, 0, 1));
    assert_eq!((judged.turns, judged.decode_results, judged.decisions.agree), (3, 3, 3));
    // Lookahead is counted from the prepares: only D4 was prepared before the result of the step before it.
    assert_eq!(judged.lookahead.into_iter().collect::<Vec<_>>(), vec![(0, 2), (1, 1)]);
}

#[test]
fn an_early_decision_is_settled_at_the_own_result() {
    let mut tape = before_the_boundary();
    let judged = tape.row(3, A, Some((4, 2))).row(4, A, None).end(4, 2).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Clean, vec![(3, Class::Early), (4, Class::Settled)]));
    assert_eq!((judged.checkpoints.due, judged.checkpoints.recorded), (1, 1));
}

#[test]
fn nothing_is_due_if_the_request_finishes_before_the_step_is_processed() {
    let mut tape = before_the_boundary();
    let judged = tape.row(3, A, Some((4, 2))).end(4, 2).done();
    assert_eq!((judged.verdict, judged.checkpoints.due), (Verdict::Clean, 0));
}

#[test]
fn a_double_fire_keeps_an_unwritten_slot_and_is_corrupt() {
    let mut tape = before_the_boundary();
    let judged = tape.row(3, A, Some((4, 2))).row(4, A, Some((4, 3))).end(4, 3).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Corrupt, vec![(3, Class::Early), (4, Class::Repeat)]));
    assert_eq!(
        judged.findings.iter().map(brief).collect::<Vec<_>>(),
        vec![(FindingKind::Unwritten, Some(4), None, Some(3))]
    );
    assert_eq!(judged.findings[0].reason, "label 4, but no forward has written the slot");
    assert_eq!((judged.findings[0].turn, judged.findings[0].phase), (2, Phase::Result));
}

#[test]
fn a_boundary_without_a_decision_is_lost_and_costs_its_tokens() {
    let mut tape = before_the_boundary();
    let judged = tape.row(3, A, None).row(4, A, None).nothing(NoDonation::NoCheckpoint).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Lossy, vec![(4, Class::Missed)]));
    assert_eq!(brief(&judged.findings[0]), (FindingKind::Lost, Some(4), None, None));
    assert_eq!(judged.findings[0].turn, 2);
    assert_eq!((judged.checkpoints.lost, judged.checkpoints.cost_tokens), (1, 4));
}

#[test]
fn a_later_checkpoint_cancels_the_cost_of_a_loss_and_not_the_loss() {
    let mut tape = before_the_boundary();
    tape.row(3, A, None).row(4, A, None).plain(5, 8).decode(8, A, 1, 8, Some(3)).row(8, A, Some((8, 3)));
    let judged = tape.end(8, 3).done();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Lossy, vec![FindingKind::Lost]));
    assert_eq!((judged.checkpoints.due, judged.checkpoints.recorded, judged.checkpoints.cost_tokens), (2, 1, 0));
}

#[test]
fn a_checkpoint_that_the_engine_prevents_is_skipped_and_not_lost() {
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
fn a_step_in_place_overwrites_the_recorded_state_with_or_without_a_row_in_between() {
    let recorded = || {
        let mut tape = before_the_boundary();
        tape.row(3, A, None).row(4, A, Some((4, 2)));
        tape
    };
    let refused = Fact::Batch(BatchFact::TrackRefused { req: A, k: 8, in_place: true });
    for row_between in [false, true] {
        let mut tape = recorded();
        if row_between {
            tape.row(5, B, None);
        }
        let judged = tape.fact(refused).nothing(NoDonation::NoCheckpoint).done();
        assert_eq!((judged.verdict, judged.checkpoints.skipped), (Verdict::Clean, 1), "row between: {row_between}");
    }
}

#[test]
fn a_refused_slot_does_not_excuse_missing_a_state_written_in_place() {
    let mut refused = before_the_boundary();
    refused.fact(Fact::Batch(BatchFact::TrackRefused { req: A, k: 4, in_place: true }));
    let judged = refused.row(3, A, None).row(4, A, None).nothing(NoDonation::NoCheckpoint).done();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Lossy, vec![FindingKind::Lost]));
    assert_eq!((judged.checkpoints.skipped, judged.checkpoints.cost_tokens), (0, 4));
}

#[test]
fn a_recorded_checkpoint_that_is_not_donated_is_lost_once() {
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
    // Nothing is donated: one loss, and its cost is counted once.
    let judged = two().nothing(NoDonation::NoCheckpoint).done();
    assert_eq!(
        (judged.verdict, kinds(&judged), judged.checkpoints.cost_tokens),
        (Verdict::Lossy, vec![FindingKind::Lost], 8)
    );
    // The engine cannot keep a checkpoint beyond the end of the request.
    let mut beyond = two();
    beyond.outputs = 6;
    let judged = beyond.end(4, 2).done();
    assert_eq!((judged.verdict, judged.checkpoints.skipped), (Verdict::Clean, 1));
}

#[test]
fn the_right_length_in_the_wrong_slot_is_corrupt() {
    let mut early = before_the_boundary();
    let judged = early.row(3, A, Some((4, 3))).end(4, 3).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Corrupt, vec![(3, Class::WrongSlot)]));
    // At its own result the length is recorded, so it is not lost, but the kept slot does not hold it.
    let mut own = before_the_boundary();
    let judged = own.row(3, A, None).row(4, A, Some((4, 3))).end(4, 3).done();
    assert_eq!(classes(&judged), vec![(4, Class::WrongSlot)]);
    assert_eq!(kinds(&judged), vec![FindingKind::Unwritten]);
}

#[test]
fn a_label_that_no_step_writes_is_wrong() {
    let mut tape = Tape::new();
    let judged = tape.plain(2, 3).decode(3, A, 1, 3, None).row(3, A, Some((4, 2))).end(4, 2).done();
    assert_eq!((judged.verdict, classes(&judged)), (Verdict::Corrupt, vec![(3, Class::WrongLabel)]));
    assert_eq!(kinds(&judged), vec![FindingKind::Unwritten]);
}

#[test]
fn the_ways_in_which_masks_were_read_are_counted() {
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
    // The record has no prepare of this batch: the lookahead in its rows counts.
    assert_eq!((judged.decode_results, judged.lookahead.get(&2)), (4, Some(&4)));
}
