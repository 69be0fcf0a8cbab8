//! The interface between the search and the transition system that it explores.

use crate::engine::Chooser;

/// The outcome of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOutcome<K> {
    /// The state after the step is final: it has no successors.
    pub over: bool,
    /// The bound of the system that ended the step early, if one did. The successors are unknown then.
    pub cut: Option<u8>,
    /// The kinds of the findings of this step.
    pub found: Vec<K>,
    /// The goals reached in this step, one bit each.
    pub goals: u64,
}

/// A transition system: a state is a value, a step asks a chooser, and a fingerprint identifies a state. States with
/// different futures must have different fingerprints.
pub trait System: Sync {
    /// A state; steps lead from state to state.
    type State: Clone + Send + Sync;
    /// The kind of a finding. The search keeps one path for each kind.
    type Kind: Clone + Ord + Send;
    /// Working memory of [`System::fingerprint`], reused from state to state.
    type Scratch;

    /// The initial state.
    fn start(&self) -> Self::State;

    /// Takes one step: returns the successor and the outcome. A step is a function of the state and the answers.
    fn step(&self, state: Self::State, chooser: &mut impl Chooser) -> (Self::State, StepOutcome<Self::Kind>);

    /// Empty working memory for [`System::fingerprint`].
    fn scratch(&self) -> Self::Scratch;

    /// The fingerprint of a state that is not final.
    fn fingerprint(&self, state: &Self::State, scratch: &mut Self::Scratch) -> u128;
}
