//! Virtual time and the one door for choice. Knows nothing of serving.

mod choose;
mod queue;
#[macro_use]
mod reuse;
mod time;

pub use choose::{Choice, Chooser, Open, Scripted, Seeded};
pub use queue::EventQueue;
pub use reuse::Shared;
pub use time::Time;
