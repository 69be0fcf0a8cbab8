//! The facts: one small value for each thing that happened. The facts are in groups; the file of a group also has the
//! types that its facts consist of.

mod batch;
mod cache;
mod decision;
mod forward;
mod page;
mod probe;
mod request;
mod run;
mod script;
mod slot;

pub use batch::BatchFact;
pub use cache::{CacheFact, DonationOutcome, NoDonation};
pub use decision::{BoundaryCheck, Decision, DecisionFact, KeptState};
pub use forward::{ForwardFact, ForwardMode, GpuStream};
pub use page::PageFact;
pub use probe::{PossibleDonation, ProbeFact, RequestFields, RowArrays, SharedField};
pub use request::{AbortStage, FinishKind, RequestFact, SkipReason};
pub use run::{AssertKind, Phase, RunFact};
pub use script::ScriptFact;
pub use slot::{Owner, SlotFact};

use super::ids::ReqId;

/// One thing that happened. Slots and pages are physical, lengths are in tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fact {
    /// The run itself: turns, phases, end.
    Run(RunFact),
    /// A request.
    Request(RequestFact),
    /// A state slot.
    Slot(SlotFact),
    /// KV pages.
    Page(PageFact),
    /// The radix tree.
    Cache(CacheFact),
    /// The prepare of a batch.
    Batch(BatchFact),
    /// A forward.
    Forward(ForwardFact),
    /// A decision of the rule.
    Decision(DecisionFact),
    /// Emitted on demand only: internals of the machine.
    Probe(ProbeFact),
    /// A scripted arrival or event without an effect.
    Script(ScriptFact),
}

impl Fact {
    /// Calls `visit` with every request that the fact names.
    pub fn visit_reqs(&mut self, visit: &mut dyn FnMut(&mut ReqId)) {
        match self {
            Fact::Run(fact) => fact.visit_reqs(visit),
            Fact::Request(fact) => fact.visit_reqs(visit),
            Fact::Slot(fact) => fact.visit_reqs(visit),
            Fact::Page(fact) => fact.visit_reqs(visit),
            Fact::Cache(fact) => fact.visit_reqs(visit),
            Fact::Batch(fact) => fact.visit_reqs(visit),
            Fact::Forward(fact) => fact.visit_reqs(visit),
            Fact::Decision(fact) => fact.visit_reqs(visit),
            Fact::Probe(fact) => fact.visit_reqs(visit),
            Fact::Script(fact) => fact.visit_reqs(visit),
        }
    }
}

/// A fact of a group is a fact.
macro_rules! groups {
    ($($group:ident($fact:ident)),+) => {
        $(impl From<$fact> for Fact {
            fn from(fact: $fact) -> Fact {
                Fact::$group(fact)
            }
        })+
    };
}

groups! {
    Run(RunFact), Request(RequestFact), Slot(SlotFact), Page(PageFact), Cache(CacheFact), Batch(BatchFact), Forward(ForwardFact),
    Decision(DecisionFact), Probe(ProbeFact), Script(ScriptFact)
}
