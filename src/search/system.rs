//! What can be searched.

use crate::engine::Chooser;

/// What one step came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stepped<K> {
    /// Nothing comes after it.
    pub over: bool,
    /// It was cut short, by which of the bounds of the system: what comes after is not known.
    pub cut: Option<u8>,
    /// The kinds of findings.
    pub found: Vec<K>,
    /// Goals reached, a bit each.
    pub goals: u64,
}

/// What can be searched: a state that is a value, a step that asks a chooser, and a fingerprint that tells states apart
/// that have different futures.
pub trait System: Sync {
    /// A state between two steps.
    type State: Clone + Send + Sync;
    /// What findings are told apart by.
    type Kind: Clone + Ord + Send;
    /// Memory for fingerprints.
    type Scratch;

    /// The first state.
    fn start(&self) -> Self::State;

    /// One step from a state: the state after it, and what it came to. The same answers give the same step.
    fn step(&self, state: Self::State, chooser: &mut impl Chooser) -> (Self::State, Stepped<Self::Kind>);

    /// Memory for fingerprints.
    fn scratch(&self) -> Self::Scratch;

    /// The fingerprint of a state that is not over.
    fn fingerprint(&self, state: &Self::State, scratch: &mut Self::Scratch) -> u128;
}
