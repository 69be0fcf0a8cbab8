//! The serving machine: requests, batches, the scheduler loop, slots, pages, radix tree, forward stream.
//!
//! Choices come in through a [`Chooser`](crate::engine::Chooser), facts go out through a [`Sink`](crate::record::Sink),
//! bookkeeping is done by a [`Rule`]. A [`World`] is a value: cloning it is a snapshot.

mod admit;
mod arrivals;
mod batch;
mod budget;
mod cache;
mod clock;
mod forward;
mod ingest;
mod machine;
mod masks;
mod pages;
mod plan;
mod prepare;
mod prompt;
pub mod radix;
mod request;
mod result;
mod retract;
mod rule;
mod setup;
mod slots;
mod store;

pub use machine::{Ended, Machine, World};
pub use radix::TombstoneLock;
pub use rule::{Action, Keeps, RowMasks, RowView, Rule, WantsMasks};
pub use setup::{
    Arrive, Cost, Costs, Engine, Event, FinishOrder, Grid, KvEviction, Prompt, Release, RequestSpec, ResultQueue,
    Setup, SlotHeadroom, Stop, Strategy,
};
