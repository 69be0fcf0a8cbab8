//! Requests that start from a wrong cached state: their findings are inherited and name the first wrong state.

use super::{A, B, Tape, before_the_boundary, kinds};
use crate::common::tape::Facts as _;
use overlapsim::judge::{FindingKind, Verdict};
use overlapsim::record::*;

/// `A` has cached the unwritten slot 3 under label 4; `B` has the same tokens and hits it.
fn wrong_start() -> Tape {
    let mut tape = before_the_boundary();
    tape.row(3, A, Some((4, 2))).row(4, A, Some((4, 3))).end(4, 3).arrive(B, 1, [4, 5, 6]);
    for len in 1..6 {
        tape.sample(B, len);
    }
    tape.fact(Fact::Cache(CacheFact::Hit { req: B, source: SlotId(3), len: 4 }));
    tape
}

/// `B` starts from a copy of `source` and tracks length 6 in slot 5.
fn start_from(tape: &mut Tape, source: u32) {
    tape.launch(20).fact(Fact::Forward(ForwardFact::Clear { req: B, slot: SlotId(4) }));
    tape.fact(Fact::Forward(ForwardFact::CopyState {
        req: B,
        from: SlotId(source),
        to: SlotId(4),
        stream: GpuStream::Forward,
    }));
    let track = Some((SlotId(5), 6));
    tape.fact(Fact::Forward(ForwardFact::Extend {
        batch: BatchId(20),
        req: B,
        slot: SlotId(4),
        from: 4,
        to: 6,
        track,
    }));
}

#[test]
fn a_wrong_start_is_inherited_and_names_its_root() {
    let mut tape = wrong_start();
    start_from(&mut tape, 3);
    let judged = tape.offer(B, 6, 5, false).judge();
    assert_eq!(kinds(&judged), vec![FindingKind::Unwritten, FindingKind::Inherited, FindingKind::Inherited]);
    assert_eq!(judged.findings.iter().map(|finding| finding.root).collect::<Vec<_>>(), vec![None, Some(0), Some(0)]);
    assert_eq!((judged.findings[2].label, judged.findings[2].holds), (Some(6), Some(2)));
}

#[test]
fn a_retraction_and_a_prefill_from_nothing_end_the_inheritance() {
    let mut tape = wrong_start();
    start_from(&mut tape, 3);
    tape.fact(Fact::Request(RequestFact::Retract { req: B, outputs: 5 })).prefill(21, B, 4, 0, 6, Some((5, 6)));
    assert_eq!(kinds(&tape.offer(B, 6, 5, false).judge()), vec![FindingKind::Unwritten, FindingKind::Inherited]);
    // A wrong state after that is its own finding.
    assert_eq!(kinds(&tape.offer(B, 3, 5, false).judge())[2], FindingKind::Mislabelled);
}

#[test]
fn a_right_start_has_no_inherited_finding() {
    let mut tape = before_the_boundary();
    tape.row(3, A, Some((4, 2))).row(4, A, None).end(4, 2).arrive(B, 1, [4, 5, 6]);
    for len in 1..6 {
        tape.sample(B, len);
    }
    tape.fact(Fact::Cache(CacheFact::Match { req: B, state_len: 4, kv_len: 4, branching: None, source: None }))
        .fact(Fact::Request(RequestFact::Admit { req: B }));
    tape.fact(Fact::Cache(CacheFact::Hit { req: B, source: SlotId(2), len: 4 }));
    start_from(&mut tape, 2);
    let judged = tape.offer(B, 6, 5, false).judge();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Clean, vec![]));
}
