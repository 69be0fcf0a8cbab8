//! The facts: one small value for each thing that happened, in groups. Each group has its file, which also owns the types that only its facts
//! are made of.

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
    /// Of the run itself.
    Run(RunFact),
    /// Of a request.
    Request(RequestFact),
    /// Of a state slot.
    Slot(SlotFact),
    /// Of KV pages.
    Page(PageFact),
    /// Of the radix tree.
    Cache(CacheFact),
    /// Of prepare.
    Batch(BatchFact),
    /// Of a forward.
    Forward(ForwardFact),
    /// Of the rule.
    Decision(DecisionFact),
    /// Only if the machine is asked to tell it.
    Probe(ProbeFact),
    /// Of a scripted arrival or event that had no effect.
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
