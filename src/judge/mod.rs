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
//! judge.fact(Fact::Bound { stalled: false });
//! assert_eq!(judge.finish(&[]).verdict, Verdict::Inconclusive);
//! ```

mod account;
mod audit;
mod bulk;
mod canon;
mod cause;
mod clock;
mod court;
mod coverage;
mod decide;
mod effects;
mod findings;
mod goals;
mod holder;
mod live;
mod look;
mod loss;
mod paged;
mod race;
mod rows;
mod sink;
mod store;
mod truth;
mod verdict;
mod window;

pub use court::{Judge, Options, weight};
pub use goals::{Goal, Goals};
pub use look::Holding;
pub use verdict::{
    Boundary, Checkpoints, Class, Decisions, Finding, Judgement, Kind, MaskReuse, Outcome, Overwritten, Verdict,
};
