//! Explicit-state search through the timings of a setup: exhaustive, or random.
//!
//! A search consists of choosers, a frontier and a visited set. It knows nothing of serving or judging: it explores a
//! [`System`], whose state is a value and whose steps put every undetermined question to a
//! [`Chooser`](crate::engine::Chooser). The choosers here enumerate all answers ([`Enumerate`]), draw random answers
//! ([`RandomChooser`]) or replay a list of answers ([`Replay`]).

mod enumerate;
mod explore;
mod parallel;
mod random;
mod replay;
mod system;
mod tally;
mod visited;

pub use enumerate::Enumerate;
pub use explore::{Bound, Explored, Order, Path, SearchLimits, explore};
pub use parallel::in_order;
pub use random::{RandomChooser, Style};
pub use replay::{Misfit, Replay};
pub use system::{StepOutcome, System};
