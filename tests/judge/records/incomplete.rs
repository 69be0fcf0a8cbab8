//! Records that lack facts, end at a bound, or name more than the judge follows.

use super::{A, B, Tape, kinds};
use crate::common::tape::Facts as _;
use overlapsim::judge::{Finding, FindingKind, Verdict, finding_verdict};
use overlapsim::record::*;

#[test]
fn an_index_from_the_limit_on_is_not_followed() {
    let stream = |stream| Fact::Forward(ForwardFact::Stream { stream: StreamId(stream), parent: Prefix::EMPTY });
    let hit = |req| Fact::Cache(CacheFact::Hit { req: ReqId(req), source: SlotId(1), len: 0 });
    let prepared = |req| {
        Fact::Batch(BatchFact::PrepareDecode {
            batch: BatchId(1),
            req: ReqId(req),
            k: 1,
            decode_batch_idx: 0,
            kv_committed_len: 1,
            active: SlotId(1),
            track: None,
            next_track_idx: None,
        })
    };
    let outputs = |req| Fact::Request(RequestFact::Finish { req: ReqId(req), kind: FinishKind::Token, outputs: 1 });
    let freed = |slot| Fact::Slot(SlotFact::Free { slot: SlotId(slot), owner: Owner::Active(A), last: true });
    let cleared = |slot| Fact::Forward(ForwardFact::Clear { req: A, slot: SlotId(slot) });
    let limits: [(&str, Fact, Option<Fact>); 6] = [
        ("stream", stream(1 << 24), None),
        ("request of a hit", hit(1 << 22), None),
        ("request of a step", prepared(1 << 22), Some(prepared(1 << 16))),
        ("request that ends", outputs(1 << 22), Some(outputs(1 << 16))),
        ("owner of a slot", freed(1 << 20), Some(freed((1 << 20) - 1))),
        ("content of a slot", cleared(1 << 20), Some(cleared(1 << 16))),
    ];
    for (what, beyond, within) in limits {
        assert!(Tape::empty().fact(beyond).judge().overflow, "{what}");
        if let Some(within) = within {
            assert!(!Tape::empty().fact(within).judge().overflow, "{what}");
        }
    }
}

#[test]
fn what_a_running_request_owns_at_a_bound_is_no_finding() {
    let pages = PageRange { grant: GrantId(1), from: 0, to: 4 };
    let mut tape = Tape::new();
    tape.fact(Fact::Cache(CacheFact::Lock { req: A, node: 1 }));
    tape.fact(Fact::Page(PageFact::Alloc { pages, owner: Owner::Request(A) }));
    let mut ended = Tape { record: tape.record.clone(), names: tape.names.clone(), ..tape };
    let bound = Fact::Run(RunFact::Bound { stalled: false });
    let judged = tape.fact(bound).done();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Inconclusive, vec![]));
    // What a request owns that has ended is one.
    ended.fact(Fact::Request(RequestFact::Finish { req: A, kind: FinishKind::Token, outputs: 1 }));
    let judged = ended.fact(bound).done();
    assert_eq!(kinds(&judged), [FindingKind::Leak, FindingKind::Leak, FindingKind::Lock]);
}

#[test]
fn an_unlock_of_another_node_leaves_the_lock_held() {
    let mut tape = Tape::empty();
    tape.fact(Fact::Cache(CacheFact::Lock { req: A, node: 1 }));
    tape.fact(Fact::Cache(CacheFact::Unlock { req: A, node: 2 }));
    assert_eq!(kinds(&tape.done()), [FindingKind::Lock, FindingKind::Lock]);
}

#[test]
fn a_state_whose_tokens_are_not_in_the_record_is_judged_by_its_length() {
    // At the forward, the record has one token of A. The other tokens, which come later, say nothing about the slot.
    let mut tape = Tape::empty();
    tape.arrive(A, 1, [1, 2, 3]).launch(1).extend(1, A, 1, (1, 3), Some((2, 3))).wait(1);
    tape.prompt(A, &[1000, 1001, 1002]);
    assert!(tape.offer(A, 2, 2, false).judge().findings.is_empty());
    let mut known = Tape::empty();
    known.arrive(A, 3, [1, 2, 3]).launch(1).extend(1, A, 1, (1, 3), Some((2, 3))).wait(1);
    assert_eq!(kinds(&known.offer(A, 2, 2, false).judge()), [FindingKind::Mislabelled]);
    // An unordered copy of such a state leaves the old length, and no root for later hits.
    let mut torn = Tape::empty();
    torn.give(1, Owner::Active(A)).give(7, Owner::Spare).launch(1).extend(1, A, 1, (0, 2), None).wait(1);
    torn.launch(2).extend(2, A, 1, (2, 3), None).copy(A, 1, 7, GpuStream::Schedule);
    torn.prompt(A, &[1000, 1001, 1002]);
    torn.prompt(B, &[1000, 1001, 1002]);
    torn.offer(A, 2, 7, false);
    torn.cache(7, Owner::Spare).hit(B, 7, 2);
    assert_eq!(kinds(&torn.judge()), [FindingKind::Torn]);
}

#[test]
fn without_its_prepare_a_step_has_the_lookahead_of_its_row() {
    let step = |batch, k| {
        let (batch, req, slot) = (BatchId(batch), A, SlotId(1));
        Fact::Forward(ForwardFact::Step { batch, req, slot, k, track: None })
    };
    let mut tape = Tape::new();
    tape.launch(2).fact(step(2, 2)).row(2, A, None);
    assert_eq!(tape.judge().lookahead.into_iter().collect::<Vec<_>>(), [(1, 1)]);
    // A step without its prepare does not count as prepared since.
    let mut since = Tape::new();
    since.decode(2, A, 1, 2, None).launch(3).fact(step(3, 3)).row(2, A, None);
    assert_eq!(since.judge().lookahead.into_iter().collect::<Vec<_>>(), [(0, 1)]);
}

#[test]
fn an_inherited_finding_adds_nothing_if_its_root_is_known() {
    let mut tape = Tape::new();
    tape.offer(A, 4, 3, false).cache(3, Owner::Track(A, 1)).hit(B, 3, 4);
    let judged = tape.judge();
    let inherited = &judged.findings[1];
    assert_eq!((inherited.kind, finding_verdict(inherited)), (FindingKind::Inherited, Verdict::Clean));
    assert_eq!(finding_verdict(&Finding { root: None, ..inherited.clone() }), Verdict::Corrupt);
}
