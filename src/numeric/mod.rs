//! The effect of wrong cached states on outputs, as a KL divergence.
//!
//! [`Ssm`] is an emulated recurrent model. [`Gauge`] is a sink that computes the contents of all slots from the facts.
//! [`Severity`] has the results: for each cache hit, the outputs from the cached state compared with the outputs after
//! a cold prefill, whatever the reason for a difference. Verdicts are the judge's. The schedule does not depend on
//! these numbers.
//!
//! [`SecondJudge`] judges every cached state by its numbers alone, in exact arithmetic, to check the judge.
//!
//! ```
//! use overlapsim::numeric::{Gauge, Ssm};
//!
//! let severity = Gauge::new(Ssm::default(), 64).finish();
//! assert_eq!((severity.hits.len(), severity.avg()), (0, None));
//! ```

mod divergence;
mod gauge;
mod requests;
mod scan;
mod second;
mod severity;
mod ssm;
mod store;

pub use crate::model::Ssm;
pub use divergence::{argmax, kl};
pub use gauge::Gauge;
pub use scan::Scan;
pub use second::{NumericOpinion, NumericState, Place, SecondJudge, StatePlace};
pub use severity::{FirstDifference, HitKl, Severity};
pub use ssm::{DIM_MAX, VOCAB_MAX, Weights};

/// The limit on the average KL, in nats, in the public nightly test of Qwen3-Next.
pub const LIMIT: f64 = 0.002;

/// The average KL, in nats, that this test measured before the regression that it found.
pub const BEFORE: f64 = 0.0005;
