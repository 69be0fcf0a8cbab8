//! What happened, as plain data: the contract between the machine and the judge.
//!
//! The machine emits [`Fact`]s into a [`Sink`]; the judge, the recorder and the meters are sinks. Facts are small
//! values without allocation, so a run that nobody records costs nothing to describe. A [`Record`] is a list of facts
//! that can be written by hand and replayed into any sink.

mod bulk;
mod canon;
mod fact;
mod ids;
mod short;
mod sink;
mod spare;
mod state;
mod streams;

pub use bulk::{Bulk, Quiet, runs};
pub use canon::{Canon, NAME_END, Names, fingerprint, halves, or_none};
pub use fact::{
    AssertKind, Check, Donated, Fact, Field, Fields, FinishKind, Kept, Mode, Nothing, Offered, Owner, Passed, Phase,
    Place, RowArrays, Stream,
};
pub use ids::{BatchId, PageId, ReqId, SlotId, StreamId, Token, same_reqs};
pub use short::Short;
pub use sink::{Entry, Record, Sink, Tee};
pub use spare::Spare;
pub use state::State;
pub use streams::{Lineage, Prefix, Streams};
