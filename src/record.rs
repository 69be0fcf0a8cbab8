//! What happened, as plain data: the contract between the machine and the judge.
//!
//! The machine emits [`Fact`]s into a [`Sink`]; the judge, the recorder and the meters are sinks. Facts are small
//! values without allocation, so a run that nobody records costs nothing to describe. A [`Record`] is a list of facts
//! that can be written by hand and replayed into any sink.

mod encoding;
mod fact;
mod ids;
mod rows;
mod sink;
mod state;
mod streams;

pub use encoding::{Encoding, NAME_END, Names, fingerprint, or_none};
pub use fact::{
    AssertKind, BatchFact, CacheFact, Check, Decision, DecisionFact, Donated, Fact, Field, Fields, FinishKind,
    ForwardFact, Kept, Mode, Nothing, Offered, Owner, PageFact, Passed, Phase, Place, ProbeFact, RequestFact,
    RowArrays, RunFact, ScriptFact, SlotFact, Stream,
};
pub use ids::{BatchId, GrantId, PageRange, ReqId, SlotId, StreamId, Token};
pub use rows::{PreparedRow, ResultRow, RowFacts, StepRow};
pub use sink::{Entry, Record, Sink, Tee};
pub use state::State;
pub use streams::{Lineage, Prefix, Streams};
