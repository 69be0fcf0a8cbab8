//! How a run ended, as the judge reports it: assertions, bounds, and the outcome of each request.

use super::{A, B, Tape, before_the_boundary, kinds};
use crate::common::tape::{AT, Facts as _};
use overlapsim::judge::{FindingKind, Verdict};
use overlapsim::record::*;

#[test]
fn an_assertion_is_the_only_finding_and_nothing_counts_as_leaked() {
    let mut tape = Tape::new();
    tape.fact(Fact::Run(RunFact::Assert { req: Some(A), kind: AssertKind::Lookahead }));
    let judged = tape.done();
    assert_eq!((judged.verdict, kinds(&judged)), (Verdict::Broken, vec![FindingKind::Assertion]));
}

#[test]
fn a_bound_is_inconclusive_unless_something_worse_is_known() {
    let mut tape = Tape::new();
    tape.fact(Fact::Run(RunFact::Bound { stalled: false }));
    let judged = tape.done();
    assert_eq!((judged.verdict, judged.findings.len(), judged.bound), (Verdict::Inconclusive, 0, Some(false)));
    let mut corrupt = before_the_boundary();
    corrupt.row(3, A, Some((4, 3))).end(4, 3).fact(Fact::Run(RunFact::Bound { stalled: true }));
    assert_eq!(corrupt.done().verdict, Verdict::Corrupt);
}

#[test]
fn a_record_too_large_to_follow_is_inconclusive() {
    let mut tape = Tape::empty();
    tape.fact(Fact::Page(PageFact::Alloc {
        pages: PageRange { grant: GrantId(u32::MAX), from: 0, to: u32::MAX },
        owner: Owner::Tree,
    }));
    assert_eq!(tape.done().verdict, Verdict::Inconclusive);
}

#[test]
fn outcomes_report_hits_outputs_and_ends_of_each_request() {
    let mut tape = Tape::empty();
    for state_len in [2, 4] {
        tape.fact(Fact::Cache(CacheFact::Match { req: B, state_len, kv_len: 4, branching: None, source: None }));
    }
    tape.arrive(B, 5, [1, 2, 3]).fact(Fact::Cache(CacheFact::Match {
        req: B,
        state_len: 5,
        kv_len: 5,
        branching: None,
        source: None,
    }));
    tape.fact(Fact::Request(RequestFact::Admit { req: B })).fact(Fact::Request(RequestFact::Output {
        batch: BatchId(1),
        req: B,
        outputs: 1,
        at: AT,
    }));
    tape.fact(Fact::Request(RequestFact::Finish { req: B, kind: FinishKind::Length, outputs: 2 }))
        .fact(Fact::Script(ScriptFact::PinMissed { req: B }));
    let judged = tape.fact(Fact::Script(ScriptFact::PinEnded { req: A })).judge();
    let (a, b) = (judged.requests[0], judged.requests[1]);
    assert_eq!((a.arrived, b.arrived, b.prefix_hit, b.outputs), (false, true, 4, 2));
    assert_eq!(b.finish, Some(FinishKind::Length));
    assert_eq!((judged.pins_missed, judged.pins_ended), (vec![B], vec![A]));
}
