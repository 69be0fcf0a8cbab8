//! The search through the timings of a setup: all of them, or random ones.
//!
//! The search is choosers and a frontier. It knows nothing of serving and of judging: what it searches is a [`System`],
//! whose state is a value and whose every step asks a [`Chooser`](crate::engine::Chooser). Replay, random draws and the
//! enumeration of all answers are choosers.

mod draw;
mod enumerate;
mod explore;
mod parallel;
mod replay;
mod system;
mod tally;
mod visited;

pub use draw::{Draw, Style};
pub use enumerate::Enumerate;
pub use explore::{Bound, Explored, Limits, Order, Path, explore};
pub use parallel::in_order;
pub use replay::{Misfit, Replay};
pub use system::{Stepped, System};
