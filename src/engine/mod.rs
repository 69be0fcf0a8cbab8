//! Virtual time and the one door for choice. Knows nothing of serving.

mod choose;
mod queue;
mod time;

pub use choose::{Choice, Chooser, Open, Scripted, Seeded};
pub use queue::EventQueue;
pub use time::Time;
