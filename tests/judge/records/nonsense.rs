//! Records of random facts that contradict each other: the judge must not panic.

use crate::common::tape::AT;
use overlapsim::judge::{Goals, Judge, JudgeOptions};
use overlapsim::record::*;

/// Facts of every kind with meaningless numbers, drawn from a fixed sequence.
#[test]
fn nonsense_never_makes_the_judge_panic() {
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

/// A fact of any kind with drawn numbers.
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
    let pages = PageRange { grant: GrantId(b), from: a % 5, to: a };
    let kind = draw().wrapping_mul(7).wrapping_add(draw()) % 39;
    match kind {
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
        14..=20 => forward_nonsense(kind, (req, batch, slot), (a, b), draw),
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
        36 => forward_nonsense(kind, (req, batch, slot), (a, b), draw),
        37 => Fact::Request(RequestFact::MiddleChunk { batch, req }),
        38 if a == 3 => Fact::Run(RunFact::Bound { stalled: b % 2 == 0 }),
        32 if a == 3 => Fact::Run(RunFact::Assert { req: None, kind: AssertKind::OffGrid }),
        _ => Fact::Request(RequestFact::Retract { req, outputs: a }),
    }
}

/// A fact of a forward with drawn numbers.
fn forward_nonsense(
    kind: u32,
    (req, batch, slot): (ReqId, BatchId, SlotId),
    (a, b): (u32, u32),
    draw: &mut impl FnMut() -> u32,
) -> Fact {
    let track = (a % 2 == 0).then_some(SlotId(b));
    let stream = if a % 2 == 0 { GpuStream::Forward } else { GpuStream::Schedule };
    let mode = [ForwardMode::Decode, ForwardMode::Verify, ForwardMode::Extend, ForwardMode::Mixed][b as usize % 4];
    Fact::Forward(match kind {
        14 => ForwardFact::Launch { batch, mode, rows: a, start: AT, end: AT, copied: AT },
        15 => ForwardFact::Clear { req, slot },
        16 => ForwardFact::CopyState { req, from: slot, to: SlotId(a), stream },
        17 => ForwardFact::Extend { batch, req, slot, from: a, to: b, track: track.map(|track| (track, a)) },
        18 | 19 => ForwardFact::Step { batch, req, slot, k: a, track },
        20 if a == 6 => {
            ForwardFact::Stream { stream: StreamId(b), parent: Prefix { stream: StreamId(draw()), len: draw() } }
        }
        20 => ForwardFact::Sampled { req, len: a, stream: StreamId(b) },
        _ => ForwardFact::Verify {
            batch,
            req,
            slot,
            from: a,
            to: b,
            track: track.map(|track| (track, b)),
            target: track,
        },
    })
}
