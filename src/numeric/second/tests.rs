use super::*;
use crate::engine::Time;
use crate::record::{
    BatchId, CacheFact, DonationOutcome, ForwardFact, ForwardMode, GpuStream, Owner, RunFact, SlotFact,
};
use NumericOpinion::{Right, Wrong, WrongInAnotherOrder};

const A: ReqId = ReqId(0);
const B: ReqId = ReqId(1);
const TOKENS: [Token; 6] = [11, 12, 13, 14, 15, 16];
const ACTIVE: SlotId = SlotId(1);
const TRACK: SlotId = SlotId(2);
const COPY: SlotId = SlotId(3);

/// Both requests have the same tokens, except for the last one.
fn judge() -> SecondJudge {
    let mut judge = SecondJudge::default();
    judge.tokens(A, 0, &TOKENS);
    judge.tokens(B, 0, &[11, 12, 13, 14, 15, 99]);
    judge
}

fn launch(judge: &mut SecondJudge, batch: u32) {
    let (batch, mode) = (BatchId(batch), ForwardMode::Extend);
    let (start, end, copied) = (Time::ZERO, Time::ZERO, Time::ZERO);
    judge.fact(ForwardFact::Launch { batch, mode, rows: 1, start, end, copied }.into());
}

fn wait(judge: &mut SecondJudge, batch: u32) {
    judge.fact(RunFact::Wait { batch: BatchId(batch), at: Time::ZERO }.into());
}

fn extend(judge: &mut SecondJudge, req: ReqId, slot: SlotId, (from, to): (u32, u32), track: Option<(SlotId, u32)>) {
    judge.fact(ForwardFact::Extend { batch: BatchId(1), req, slot, from, to, track }.into());
}

fn copy(judge: &mut SecondJudge, req: ReqId, from: SlotId, to: SlotId, stream: GpuStream) {
    judge.fact(ForwardFact::CopyState { req, from, to, stream }.into());
}

fn donate(judge: &mut SecondJudge, req: ReqId, slot: SlotId, len: u32) {
    let how = DonationOutcome { finished: false, existed: false };
    judge.fact(CacheFact::Donate { req, label: len, key_len: len, slot, how }.into());
}

/// The opinions on all uses of one kind.
fn opinions(judge: &SecondJudge, is: impl Fn(Place) -> bool) -> Vec<NumericOpinion> {
    let states = judge.clone().finish();
    states.iter().filter(|state| is(state.place.at)).map(|state| state.opinion).collect()
}

fn donations(judge: &SecondJudge) -> Vec<NumericOpinion> {
    opinions(judge, |at| at == Place::Donation)
}

#[test]
fn a_state_is_right_for_exactly_its_tokens() {
    let mut judge = judge();
    launch(&mut judge, 1);
    extend(&mut judge, A, ACTIVE, (0, 6), Some((TRACK, 4)));
    for (req, slot, len) in [(A, TRACK, 4), (B, TRACK, 4), (A, TRACK, 3), (A, ACTIVE, 6), (B, ACTIVE, 6), (A, COPY, 4)]
    {
        donate(&mut judge, req, slot, len);
    }
    // B has the same first tokens, and another last one. Nothing was written to the last slot.
    assert_eq!(donations(&judge), [Right, Right, Wrong, Right, Wrong, Wrong]);
}

#[test]
fn a_state_continued_from_another_one_is_wrong_and_stays_wrong() {
    let mut judge = judge();
    extend(&mut judge, A, ACTIVE, (1, 4), None);
    donate(&mut judge, A, ACTIVE, 4);
    extend(&mut judge, A, ACTIVE, (4, 6), None);
    donate(&mut judge, A, ACTIVE, 6);
    judge.fact(ForwardFact::Clear { req: A, slot: ACTIVE }.into());
    extend(&mut judge, A, ACTIVE, (0, 6), None);
    donate(&mut judge, A, ACTIVE, 6);
    assert_eq!(donations(&judge), [Wrong, Wrong, Right]);
    let starts = opinions(&judge, |at| at == Place::Start);
    assert_eq!(starts, [Wrong, Wrong, Right]);
}

#[test]
fn tokens_that_the_record_lacks_leave_it_open() {
    let mut judge = judge();
    extend(&mut judge, A, ACTIVE, (0, 7), None);
    donate(&mut judge, A, ACTIVE, 6);
    donate(&mut judge, A, TRACK, 7);
    assert_eq!(donations(&judge), [NumericOpinion::Unknown; 2]);
}

#[test]
fn a_copy_that_waits_for_no_forward_is_run_in_the_other_order_too() {
    for (waits, opinion) in [(true, Right), (false, WrongInAnotherOrder)] {
        let mut judge = judge();
        launch(&mut judge, 1);
        extend(&mut judge, A, ACTIVE, (0, 6), Some((TRACK, 4)));
        if waits {
            wait(&mut judge, 1);
        }
        copy(&mut judge, A, TRACK, COPY, GpuStream::Schedule);
        donate(&mut judge, A, COPY, 4);
        donate(&mut judge, A, TRACK, 4);
        assert_eq!(donations(&judge), [opinion, Right], "the copy waits: {waits}");
        assert_eq!(opinions(&judge, |at| at == Place::Copy { to: COPY }), [opinion]);
    }
}

#[test]
fn a_state_that_a_forward_overwrites_before_its_copy_is_wrong_in_the_order_of_the_record() {
    let mut judge = judge();
    launch(&mut judge, 1);
    extend(&mut judge, A, ACTIVE, (0, 5), Some((TRACK, 4)));
    wait(&mut judge, 1);
    launch(&mut judge, 2);
    extend(&mut judge, A, ACTIVE, (5, 6), Some((TRACK, 6)));
    copy(&mut judge, A, TRACK, COPY, GpuStream::Schedule);
    donate(&mut judge, A, COPY, 4);
    assert_eq!(donations(&judge), [Wrong]);
    assert_eq!(opinions(&judge, |at| at == Place::Copy { to: COPY }), [WrongInAnotherOrder]);
}

#[test]
fn a_copy_over_a_slot_that_a_forward_in_flight_reads_or_writes_is_seen() {
    // The forward in flight starts B from the track slot; then A's copy overwrites the track slot.
    let mut reads = judge();
    launch(&mut reads, 1);
    extend(&mut reads, A, ACTIVE, (0, 6), Some((TRACK, 4)));
    wait(&mut reads, 1);
    launch(&mut reads, 2);
    reads.fact(CacheFact::Hit { req: B, source: TRACK, len: 4 }.into());
    copy(&mut reads, B, TRACK, COPY, GpuStream::Forward);
    extend(&mut reads, B, COPY, (4, 6), None);
    copy(&mut reads, A, ACTIVE, TRACK, GpuStream::Schedule);
    donate(&mut reads, B, COPY, 6);
    assert_eq!(donations(&reads), [WrongInAnotherOrder]);
    assert_eq!(opinions(&reads, |at| at == Place::Hit), [WrongInAnotherOrder]);

    // The forward in flight still writes the slot that gets the copy.
    let mut writes = judge();
    launch(&mut writes, 1);
    extend(&mut writes, A, ACTIVE, (0, 6), Some((TRACK, 4)));
    wait(&mut writes, 1);
    launch(&mut writes, 2);
    extend(&mut writes, B, COPY, (0, 6), None);
    copy(&mut writes, A, TRACK, COPY, GpuStream::Schedule);
    donate(&mut writes, A, COPY, 4);
    assert_eq!(donations(&writes), [WrongInAnotherOrder]);
}

#[test]
fn copies_of_the_schedule_stream_keep_their_own_order() {
    let other = SlotId(4);
    let mut judge = judge();
    launch(&mut judge, 1);
    extend(&mut judge, A, ACTIVE, (0, 6), Some((TRACK, 4)));
    wait(&mut judge, 1);
    launch(&mut judge, 2);
    extend(&mut judge, B, other, (0, 6), None);
    // The second copy reads what the first one wrote, in every order.
    copy(&mut judge, A, TRACK, COPY, GpuStream::Schedule);
    copy(&mut judge, A, COPY, other, GpuStream::Schedule);
    wait(&mut judge, 2);
    donate(&mut judge, A, COPY, 4);
    donate(&mut judge, A, other, 4);
    assert_eq!(donations(&judge), [Right, WrongInAnotherOrder]);
}

#[test]
fn a_cached_state_is_looked_at_again_when_it_leaves_the_tree() {
    let mut judge = judge();
    extend(&mut judge, A, ACTIVE, (0, 4), Some((TRACK, 4)));
    donate(&mut judge, A, TRACK, 4);
    extend(&mut judge, A, ACTIVE, (4, 6), None);
    let cached = |judge: &SecondJudge| opinions(judge, |at| at == Place::Cached);
    assert_eq!(cached(&judge), [Right], "at the end of the run");
    judge.fact(ForwardFact::Clear { req: B, slot: TRACK }.into());
    assert_eq!(cached(&judge), [Wrong]);
    judge.fact(SlotFact::Free { slot: TRACK, owner: Owner::Tree, last: true }.into());
    extend(&mut judge, A, TRACK, (0, 4), None);
    assert_eq!(cached(&judge), [Wrong], "what the slot holds later is no cached state");
}
