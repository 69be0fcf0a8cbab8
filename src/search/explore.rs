//! The exhaustive search: every state of the frontier is expanded by every list of answers to the questions of its next
//! step.
//!
//! The frontier is expanded in blocks. Worker threads expand the chunks of a block; the frontier and the visited set do
//! not change meanwhile. Then one thread merges the successors in the order of the chunks. So the result does not
//! depend on the number of threads.

use std::collections::{BTreeMap, VecDeque};

use crate::engine::OpenPoints;

use super::enumerate::Enumerate;
use super::parallel::in_order;
use super::system::{StepOutcome, System};
use super::tally::{SearchTally, Transition};
use super::visited::Visited;

/// States in a chunk, the unit of work of a thread.
const CHUNK: usize = 16;
/// Most states of a block.
const BLOCK: usize = 256;
/// Target for the number of successors of a block: blocks get smaller where states have many successors.
const SUCCESSORS_MAX: usize = 1 << 13;
/// Most lists of answers that are tried from one state; further lists end the search ([`Bound::Answers`]).
const ANSWERS_MAX: usize = 1 << 14;

/// Which state of the frontier is expanded next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest: breadth first. The first path found to a finding has the fewest steps.
    Bfs,
    /// The newest: depth first. The frontier stays small.
    Dfs,
}

/// How far a search may go.
#[derive(Clone, Copy)]
pub struct SearchLimits<'a> {
    /// Most unique states.
    pub states_max: u64,
    /// Whether to stop. Every thread calls it before every step, with the number of unique states before the block.
    pub stop: &'a (dyn Fn(u64) -> bool + Sync),
}

/// Why a search ended before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The limit on unique states.
    States,
    /// [`SearchLimits::stop`] returned true.
    Stopped,
    /// A bound of the system cut a step short.
    Cut,
    /// A step has too many lists of answers.
    Answers,
}

/// The answers that lead from the initial state to the end of a transition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The number of steps.
    pub steps: u32,
    /// The answers to the open questions, in order. Trailing default answers are left out.
    pub answers: Vec<u32>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored<K> {
    /// States reached, with repetitions, the initial state included.
    pub states: u64,
    /// Unique states: states with different fingerprints.
    pub unique: u64,
    /// Transitions: steps taken.
    pub transitions: u64,
    /// The largest number of steps from the initial state.
    pub depth: u32,
    /// Why the search ended early; `None` if it is complete.
    pub bound: Option<Bound>,
    /// By kind of finding: the path with the fewest steps, the first of several, and the number of transitions with
    /// such a finding.
    pub found: BTreeMap<K, (Path, u64)>,
    /// The same by bound of the system that cut a step short.
    pub cuts: BTreeMap<u8, (Path, u64)>,
    /// The goals reached, one bit each.
    pub goals: u64,
}

/// A state of the frontier.
struct FrontierNode<T> {
    id: u32,
    /// Steps from the initial state.
    depth: u32,
    state: T,
}

/// A transition and its successor.
struct Successor<T, K> {
    transition: Transition,
    stepped: StepOutcome<K>,
    /// The successor with its fingerprint; `None` if it is final or was visited before.
    new: Option<(u128, T)>,
}

/// The successors of a chunk.
struct Expanded<T, K> {
    /// In the order of the states of the chunk, then of the lists of answers.
    successors: Vec<Successor<T, K>>,
    /// What stopped the expansion early, if anything did.
    bound: Option<Bound>,
}

/// Explores `system` with every answer to the questions of the `open` choice points. Other questions get the default.
pub fn explore<S: System>(
    system: &S,
    open: &OpenPoints,
    order: Order,
    jobs: usize,
    limits: SearchLimits<'_>,
) -> Explored<S::Kind> {
    let SearchLimits { states_max, stop } = limits;
    let mut search = Search::new(system);
    let mut block_max = BLOCK;
    let mut bound = None;
    while bound.is_none() && !search.frontier.is_empty() {
        let block = search.take_block(order, block_max);
        let states: usize = block.iter().map(Vec::len).sum();
        let (visited, unique) = (&search.visited, search.tally.unique());
        let expanded = in_order(jobs, block, |chunk| expand(system, open, visited, chunk, &|| stop(unique)));
        let successors: usize = expanded.iter().map(|chunk| chunk.successors.len()).sum();
        block_max = (SUCCESSORS_MAX * states / successors.max(1)).clamp(1, BLOCK);
        for Expanded { successors, bound: ended } in expanded {
            for successor in successors {
                if !search.merge(successor, states_max) {
                    return search.tally.finish(Some(Bound::States));
                }
            }
            bound = bound.or(ended);
        }
    }
    search.tally.finish(bound)
}

/// The state of a search between two blocks.
struct Search<T, K> {
    frontier: VecDeque<FrontierNode<T>>,
    visited: Visited,
    tally: SearchTally<K>,
}

impl<T, K: Clone + Ord> Search<T, K> {
    fn new<S: System<State = T, Kind = K>>(system: &S) -> Self {
        let state = system.start();
        let mut visited = Visited::default();
        visited.insert(system.fingerprint(&state, &mut system.scratch()));
        let frontier = VecDeque::from([FrontierNode { id: 0, depth: 0, state }]);
        Search { frontier, visited, tally: SearchTally::new() }
    }

    /// Removes up to `states` states from the frontier and returns them in chunks.
    fn take_block(&mut self, order: Order, states: usize) -> Vec<Vec<FrontierNode<T>>> {
        let len = self.frontier.len();
        let states = states.min(len);
        let mut block = match order {
            Order::Bfs => self.frontier.drain(..states),
            Order::Dfs => self.frontier.drain(len - states..),
        };
        (0..states.div_ceil(CHUNK)).map(|_| block.by_ref().take(CHUNK).collect()).collect()
    }

    /// Counts a transition and adds its successor to the frontier if it is new. Returns false if the limit on unique
    /// states has no room for it.
    fn merge(&mut self, successor: Successor<T, K>, states_max: u64) -> bool {
        let Successor { transition, stepped, new } = successor;
        self.tally.count(&transition, &stepped);
        if let Some((fingerprint, state)) = new
            && self.visited.insert(fingerprint)
        {
            if self.tally.unique() >= states_max {
                return false;
            }
            let id = self.tally.add(&transition);
            self.frontier.push_back(FrontierNode { id, depth: transition.depth, state });
        }
        true
    }
}

/// Expands every state of a chunk by every list of answers. States that are no longer needed go to a pool; copies reuse
/// their memory.
fn expand<S: System>(
    system: &S,
    open: &OpenPoints,
    visited: &Visited,
    chunk: Vec<FrontierNode<S::State>>,
    stop: &dyn Fn() -> bool,
) -> Expanded<S::State, S::Kind> {
    let mut chooser = Enumerate::new(open);
    let mut scratch = system.scratch();
    let mut seen_here = Visited::default();
    let mut successors = Vec::new();
    let mut bound = None;
    let mut pool: Vec<S::State> = Vec::new();
    for FrontierNode { id, depth, state } in chunk {
        chooser.begin();
        for lists in 1.. {
            if stop() {
                return Expanded { successors, bound: Some(Bound::Stopped) };
            }
            let (after, stepped) = system.step(copy_of(&state, &mut pool), &mut chooser);
            let fingerprint = (!stepped.over).then(|| system.fingerprint(&after, &mut scratch));
            let transition = Transition { parent: id, depth: depth + 1, answers: chooser.answers().collect() };
            let new = match fingerprint.filter(|&it| !visited.contains(it) && seen_here.insert(it)) {
                Some(fingerprint) => Some((fingerprint, after)),
                None => {
                    pool.push(after);
                    None
                }
            };
            successors.push(Successor { transition, stepped, new });
            if !chooser.advance() {
                break;
            }
            if lists == ANSWERS_MAX {
                bound = Some(Bound::Answers);
                break;
            }
        }
        pool.push(state);
    }
    Expanded { successors, bound }
}

/// A copy of a state, in the memory of a state from the pool if the pool is not empty.
fn copy_of<T: Clone>(state: &T, pool: &mut Vec<T>) -> T {
    let Some(mut copy) = pool.pop() else { return state.clone() };
    copy.clone_from(state);
    copy
}
