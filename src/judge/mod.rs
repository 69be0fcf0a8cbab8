//! Judges a record: which recurrent state was cached under which prefix length, and whether that was right.
//!
//! Reads facts only ([`crate::record`]): never a rule's code, its masks, or the machine. What was due it derives from
//! launches and writes. It can judge a record written by hand; where a record leaves something out (a prompt, a token,
//! a launch) it judges by lengths alone and never panics.
//!
//! ```
//! use overlapsim::judge::{Judge, Options, Verdict};
//! use overlapsim::record::{Fact, Sink};
//!
//! let mut judge = Judge::new(Options { page_size: 1, keep_boundaries: false, keep_reasons: true });
//! judge.fact(RunFact::Bound { stalled: false });
//! assert_eq!(judge.finish(&[]).verdict, Verdict::Inconclusive);
//! ```

mod coverage;
mod decision;
mod encoding;
mod findings;
mod goals;
mod grow;
mod inspect;
#[expect(clippy::module_inception, reason = "the judge itself, beside its parts")]
mod judge;
mod live_table;
mod outcomes;
mod sink;
mod storage;
mod verdict;

pub use goals::{Goal, Goals};
pub use inspect::Holding;
pub use judge::{Judge, JudgeOptions, finding_verdict};
pub use verdict::{
    Boundary, CheckpointCounts, Class, ClassCounts, Finding, FindingKind, Judgement, MaskReuse, Overwritten,
    RequestOutcome, Verdict,
};
