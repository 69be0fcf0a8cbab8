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
    /// What the first half of a step leaves to the second one, beside the state.
    type Half: Copy;
    /// What findings are told apart by.
    type Kind: Clone + Ord + Send;
    /// Memory for fingerprints, one a thread.
    type Scratch: Send;

    /// The first state.
    fn start(&self) -> Self::State;

    /// One step.
    fn step(&self, state: &mut Self::State, chooser: &mut impl Chooser) -> Stepped<Self::Kind>;

    /// The first half of a step.
    fn first_half(&self, state: &mut Self::State, chooser: &mut impl Chooser) -> Self::Half;

    /// The second half of a step, from a state in the middle of it.
    fn second_half(&self, state: &mut Self::State, half: Self::Half, chooser: &mut impl Chooser)
    -> Stepped<Self::Kind>;

    /// Whether the next step asks no open question in its first half: all ways on can have that in common.
    fn asks_late(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// No fewer than the open questions that the next step from a state can ask, if that can be told: the last list of
    /// answers is then tried on the state itself and not on a copy.
    fn questions_max(&self, state: &Self::State) -> Option<usize> {
        let _ = state;
        None
    }

    /// Reads a little of all that a step will read. Several states of a block then wait for memory together and not one after another.
    /// What it returns says nothing.
    fn glance(&self, state: &Self::State) -> u64 {
        let _ = state;
        0
    }

    /// Memory for fingerprints.
    fn scratch(&self) -> Self::Scratch;

    /// The fingerprint of a state that is not over.
    fn fingerprint(&self, state: &Self::State, scratch: &mut Self::Scratch) -> u128;
}
