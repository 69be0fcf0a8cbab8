//! The serving machine: requests, batches, the scheduler loop, slots, pages, radix tree, forward stream.
//!
//! Choices come in through a [`Chooser`](crate::engine::Chooser), facts go out through a [`Sink`](crate::record::Sink),
//! bookkeeping is done by a [`Rule`]. A [`World`] is a value: cloning it is a snapshot.

mod abort;
mod admit;
mod arrivals;
mod batch;
mod bound;
mod budget;
mod cache;
mod choice_points;
mod clock;
mod encoding;
mod forward;
mod idle;
mod ingest;
mod latch;
mod lengths;
mod machine;
mod masks;
mod pages;
mod plan;
mod prepare;
mod probe;
pub mod radix;
mod reductions;
mod request;
mod result;
mod retract;
mod rule;
mod sequences;
mod setup;
mod skew;
mod slots;
mod store;
mod track_policy;
mod track_slots;
mod vary;
mod verify;
mod world;

pub use bound::{Awaits, Unfinished};
pub use lengths::prompt_len;
pub use machine::{Ended, Machine};
pub use masks::HostMasks;
pub use radix::TombstoneLock;
pub use reductions::Reductions;
pub use rule::{Action, Keeps, Refused, RowMasks, RowView, Rule, VerifyView, WantsMasks};
pub use setup::{
    Accept, Arrive, CopyOnWrite, Cost, Costs, Engine, EngineField, Event, Exhaustion, FieldValue, FinishOrder, Grid,
    KernelChunk, KvEviction, MixedTracking, OptionalSize, OptionalSpec, Prompt, Release, RequestSpec, ResultQueue,
    Setup, SlotFree, SlotHeadroom, Snapshot, Spec, Ssm, Stop, Strategy, turns_max,
};
pub(crate) use setup::{cost_fields, engine_fields, lcm};
pub use track_policy::TrackPolicy;
pub use vary::Vary;
pub use world::World;
