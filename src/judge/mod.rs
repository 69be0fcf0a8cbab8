//! Judges a record: whether each recurrent state was cached under the prefix length that it has.
//!
//! Reads facts only ([`crate::record`]), never the code of a rule, its masks, or the machine. It derives what was due
//! from launches and writes, and can judge a record written by hand. Where a record lacks something (a prompt, a token,
//! a launch), the judge compares lengths only. It never panics.
//!
//! A reader who doubts a verdict starts here:
//!
//! | file | question |
//! |---|---|
//! | `sink.rs` | which part receives which fact |
//! | `storage/audit.rs` | is the state of a donation or hit correct |
//! | `storage/contents.rs`, `effects.rs`, `sequence.rs` | what does a slot hold |
//! | `storage/race.rs`, `clock.rs` | is a copy ordered after the forward that writes its slot |
//! | `storage/owners.rs`, `pages.rs` | has every slot, page and lock one owner |
//! | `decision/classify.rs`, `window.rs` | does a decision match the write of the forward |
//! | `decision/loss.rs` | which checkpoints were lost |
//! | `judge.rs`, `verdict.rs` | which verdict follows from the findings |
//!
//! `coverage.rs` and `goals.rs` say which situations a search has reached, and `encoding.rs` encodes the judge for a
//! search. They change no finding.
//!
//! ```
//! use overlapsim::judge::{Judge, JudgeOptions, Verdict};
//! use overlapsim::record::{Fact, RunFact, Sink};
//!
//! let mut judge = Judge::new(JudgeOptions { page_size: 1, keep_boundaries: false, keep_reasons: true });
//! judge.fact(Fact::Run(RunFact::Bound { stalled: false }));
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
