//! The accounting: owners of slots and pages, and the balance of locks.

use super::{A, B, Tape, kinds};
use crate::common::tape::Facts as _;
use overlapsim::judge::{FindingKind, Verdict};
use overlapsim::record::*;

#[test]
fn slots_allocated_twice_or_never_freed_are_leaks() {
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
fn a_slot_freed_or_moved_by_another_owner_is_a_double_free() {
    let mut tape = Tape::new();
    let judged = tape.nothing(NoDonation::NoCheckpoint).free(2, Owner::Track(A, 0)).done();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Broken, vec![FindingKind::DoubleFree]));
    let mut moved = Tape::new();
    moved.cache(2, Owner::Track(B, 0));
    assert_eq!(kinds(&moved.judge()), vec![FindingKind::DoubleFree]);
}

#[test]
fn a_forward_on_a_freed_slot_is_a_use_after_free() {
    let mut tape = Tape::new();
    tape.free(1, Owner::Active(A)).decode(2, A, 1, 2, None).decode(3, A, 1, 3, None);
    let judged = tape.judge();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Broken, vec![FindingKind::UseAfterFree]));
    assert!(judged.findings[0].reason.ends_with("(2 in all)"));
    // A forward launched before the slot was freed is correct, whenever it runs.
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
    let mut leaky = Tape { record: tape.record.clone(), names: tape.names.clone(), ..tape };
    assert_eq!(tape.fact(freed(5, 9)).done().verdict, Verdict::Clean);
    leaky.fact(freed(3, 7));
    let judged = leaky.done();
    assert_eq!(kinds(&judged), vec![FindingKind::DoubleFree, FindingKind::Leak]);
    assert!(judged.findings.iter().all(|finding| finding.reason.ends_with("(2 in all)")));
}

#[test]
fn locks_out_of_balance_are_findings() {
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
