//! Virtual time, the event queue, and choosers. Everything that a run leaves undetermined is asked of a chooser; the
//! list of choice points is part of the contract between a machine and its choosers. The code here knows nothing of
//! serving: it never looks at what a choice point means.

mod choice_point;
mod choose;
mod queue;
mod time;

pub use choice_point::ChoicePoint;
pub use choose::{Choice, Chooser, OpenPoints, Scripted, Seeded};
pub use queue::EventQueue;
pub use time::Time;
