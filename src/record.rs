//! What happened in a run, as plain data: the contract between the machine and the judge.
//!
//! The machine emits [`Fact`]s into a [`Sink`]; the judge, the recorder and the meters are sinks. A fact is a small
//! value without allocation, so a run without a recorder stores nothing. A [`Record`] is a list of facts; it can be
//! written by hand and replayed into any sink.

mod encoding;
mod fact;
mod ids;
mod lineage;
mod rows;
mod sink;
mod streams;
mod token_fold;

pub use encoding::{ContentNames, Encoding, NAME_KINDS, fingerprint, or_none};
pub use fact::{
    AbortStage, AssertKind, BatchFact, BoundaryCheck, CacheFact, Decision, DecisionFact, DonationOutcome, Fact,
    FinishKind, ForwardFact, ForwardMode, GpuStream, KeptState, NoDonation, Owner, PageFact, Phase, PossibleDonation,
    ProbeFact, RequestFact, RequestFields, RowArrays, RunFact, ScriptFact, SharedField, SkipReason, SlotFact,
};
pub use ids::{BatchId, GrantId, PageRange, ReqId, SlotId, StreamId, Token};
pub use lineage::{Lineage, Prefix};
pub use rows::{PreparedRow, ResultRow, RowFacts, StepRow};
pub use sink::{Entry, Record, Sink, Tee};
pub use streams::Streams;
pub use token_fold::TokenFold;
