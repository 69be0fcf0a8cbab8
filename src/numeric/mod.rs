//! What a wrong cached state costs, in the users' own unit: the KL divergence of outputs.
//!
//! Owns an emulated recurrent model ([`Ssm`]), a sink that follows the contents of all slots from the facts alone
//! ([`Gauge`]), and the numbers that come of it ([`Severity`]). Refuses to judge: it compares what follows from a cached
//! state with what follows from a cold prefill, whatever the reason for a difference. It never touches the schedule.
//!
//! ```
//! use overlapsim::numeric::{Gauge, Ssm};
//!
//! let severity = Gauge::new(Ssm::default(), 64).finish();
//! assert_eq!((severity.hits.len(), severity.avg()), (0, None));
//! ```

mod divergence;
mod gauge;
mod live;
mod scan;
mod severity;
mod ssm;
mod store;

pub use crate::model::Ssm;
pub use divergence::{argmax, kl};
pub use gauge::Gauge;
pub use scan::Scan;
pub use severity::{FirstDifference, HitKl, Severity};
pub use ssm::{DIM_MAX, VOCAB_MAX, Weights};

/// Average KL, in nats, that the public nightly test of Qwen3-Next allows.
pub const LIMIT: f64 = 0.002;

/// What that test measured before the regression that it found.
pub const BEFORE: f64 = 0.0005;
