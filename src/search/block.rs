//! Some states of the frontier that are expanded together, and what came of them.
//!
//! Owns the lists, which one block after another uses. Refuses to fill them.

use super::system::Stepped;

/// A state of the frontier.
pub(super) struct Node<T> {
    pub id: u32,
    /// Steps to it.
    pub depth: u32,
    pub state: T,
}

/// Where a step was taken from.
#[derive(Clone, Copy)]
pub(super) enum Parent {
    /// A node, by its place in the block.
    Node(u32),
    /// What another step of the block led to, by the place of that step.
    Step(u32),
}

/// What a step led to.
pub(super) enum Next<T> {
    /// Nothing comes after it, or it is known to have been seen before.
    Nothing,
    /// A state, by its fingerprint.
    State(u128, T),
    /// A state, by its fingerprint, from which a step of the same block was taken.
    Passed(u128),
}

/// A step of a block.
pub(super) struct Successor<T, K> {
    pub parent: Parent,
    /// Where its answers are in the list of the block.
    pub answers: (u32, u32),
    pub next: Next<T>,
    /// Goals reached, a bit each.
    pub goals: u64,
    /// What it came to, if there is something to tell.
    pub stepped: Option<Box<Stepped<K>>>,
}

/// The nodes of a block, and what came of them.
pub(super) struct Work<T, K> {
    /// Those that are to be expanded.
    pub nodes: Vec<Node<T>>,
    /// Those that were: their ids and depths.
    pub parents: Vec<(u32, u32)>,
    /// A state had more ways on than are looked at.
    pub too_many: bool,
    /// In the order of the nodes, and behind them those that were taken from there on.
    pub successors: Vec<Successor<T, K>>,
    /// Answers, the lowest bit telling whether it is another than the script's.
    pub answers: Vec<u32>,
}

impl<T> Next<T> {
    /// The fingerprint of the state.
    pub fn print(&self) -> Option<u128> {
        match self {
            Next::Nothing => None,
            Next::State(print, _) | Next::Passed(print) => Some(*print),
        }
    }

    /// Takes the state away to go on from it.
    pub fn pass(&mut self) -> Option<T> {
        let print = self.print()?;
        let state = self.take_if(|_| true)?;
        *self = Next::Passed(print);
        Some(state)
    }

    /// Takes the state away if this holds of its fingerprint, and leaves nothing.
    pub fn take_if(&mut self, holds: impl FnOnce(u128) -> bool) -> Option<T> {
        match self {
            Next::State(print, _) if holds(*print) => match std::mem::replace(self, Next::Nothing) {
                Next::State(_, state) => Some(state),
                Next::Nothing | Next::Passed(_) => unreachable!("it was a state"),
            },
            Next::Nothing | Next::State(..) | Next::Passed(_) => None,
        }
    }
}

impl<T, K> Work<T, K> {
    /// Makes the lists empty. They keep their memory.
    pub fn clear(&mut self) {
        let Work { nodes, parents, too_many, successors, answers } = self;
        nodes.clear();
        parents.clear();
        *too_many = false;
        successors.clear();
        answers.clear();
    }
}

impl<T, K> Default for Work<T, K> {
    fn default() -> Self {
        let (nodes, parents, successors, answers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Work { nodes, parents, too_many: false, successors, answers }
    }
}
