//! The exhaustive search: a frontier of states, each expanded by every list of answers that its next step can be given.
//!
//! The frontier is expanded in blocks. Threads expand the chunks of a block while nothing else changes, then one thread merges their
//! successors in order: what is reported does not depend on the number of threads.

use std::collections::{BTreeMap, VecDeque};

use crate::engine::OpenPoints;

use super::enumerate::Enumerate;
use super::parallel::in_order;
use super::system::{Stepped, System};
use super::tally::{Tally, Transition};
use super::visited::Visited;

/// States that one thread expands at a time.
const CHUNK: usize = 16;
/// Most states of a block.
const BLOCK: usize = 256;
/// Most successors that a block should have: blocks are smaller where states have many.
const SUCCESSORS_MAX: usize = 1 << 13;
/// Most lists of answers that are tried from one state.
const ANSWERS_MAX: usize = 1 << 14;

/// Which state of the frontier is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest: the first way found to anything has the fewest steps.
    Bfs,
    /// The newest: a small frontier.
    Dfs,
}

/// How far a search may go.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Most unique states.
    pub states_max: u64,
    /// Whether to stop. Every thread asks before every step, with the number of unique states before the block.
    pub stop: &'a (dyn Fn(u64) -> bool + Sync),
}

/// What ended a search before all was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The most unique states.
    States,
    /// It was told to stop.
    Stopped,
    /// A run was cut short by a bound of its own.
    Cut,
    /// Too many questions were asked in one step.
    Answers,
}

/// The answers that lead somewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Steps taken.
    pub steps: u32,
    /// The answers to all open questions, without those of the script at the end.
    pub answers: Vec<u32>,
}

/// What a search saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored<K> {
    /// States reached, again and again, the first one counted.
    pub states: u64,
    /// States that differ.
    pub unique: u64,
    /// Steps taken.
    pub transitions: u64,
    /// Most steps to a state.
    pub depth: u32,
    /// What ended it, if not all was seen.
    pub bound: Option<Bound>,
    /// By kind of finding: the first way to it, and how many steps found one.
    pub found: BTreeMap<K, (Path, u64)>,
    /// By bound of the system that cut steps short: the first way to one, and how many steps it cut short.
    pub cuts: BTreeMap<u8, (Path, u64)>,
    /// Goals reached, a bit each.
    pub goals: u64,
}

/// A state of the frontier.
struct Node<T> {
    id: u32,
    /// Steps from the start.
    depth: u32,
    state: T,
}

/// What a transition came to.
struct Successor<T, K> {
    transition: Transition,
    stepped: Stepped<K>,
    /// The state with its fingerprint, unless the run is over or the state is known to be seen already.
    new: Option<(u128, T)>,
}

/// What came of a chunk.
struct Expanded<T, K> {
    /// In the order of the states, and of the lists of answers from each.
    successors: Vec<Successor<T, K>>,
    /// What ended the work before all successors were made.
    bound: Option<Bound>,
}

/// Searches everything that can come of `system` when the `open` questions are answered in every way.
pub fn explore<S: System>(
    system: &S,
    open: &OpenPoints,
    order: Order,
    jobs: usize,
    limits: Limits<'_>,
) -> Explored<S::Kind> {
    let Limits { states_max, stop } = limits;
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

/// The state of a search. It changes only between two blocks.
struct Search<T, K> {
    frontier: VecDeque<Node<T>>,
    visited: Visited,
    tally: Tally<K>,
}

impl<T, K: Clone + Ord> Search<T, K> {
    fn new<S: System<State = T, Kind = K>>(system: &S) -> Self {
        let state = system.start();
        let mut visited = Visited::default();
        visited.insert(system.fingerprint(&state, &mut system.scratch()));
        let frontier = VecDeque::from([Node { id: 0, depth: 0, state }]);
        Search { frontier, visited, tally: Tally::new() }
    }

    /// Takes up to so many states off the frontier, in chunks.
    fn take_block(&mut self, order: Order, states: usize) -> Vec<Vec<Node<T>>> {
        let len = self.frontier.len();
        let states = states.min(len);
        let mut block = match order {
            Order::Bfs => self.frontier.drain(..states),
            Order::Dfs => self.frontier.drain(len - states..),
        };
        (0..states.div_ceil(CHUNK)).map(|_| block.by_ref().take(CHUNK).collect()).collect()
    }

    /// Counts a transition, and adds the state after it to the frontier if it is new. Returns whether the bound on states leaves room for it.
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
            self.frontier.push_back(Node { id, depth: transition.depth, state });
        }
        true
    }
}

/// Takes every step from every state of a chunk. States that are no longer needed go to a pool; copies reuse their memory.
fn expand<S: System>(
    system: &S,
    open: &OpenPoints,
    visited: &Visited,
    chunk: Vec<Node<S::State>>,
    stop: &dyn Fn() -> bool,
) -> Expanded<S::State, S::Kind> {
    let mut chooser = Enumerate::new(open);
    let mut scratch = system.scratch();
    let mut seen_here = Visited::default();
    let mut successors = Vec::new();
    let mut bound = None;
    let mut pool: Vec<S::State> = Vec::new();
    for Node { id, depth, state } in chunk {
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

/// A copy of a state, in the memory of a state of the pool if there is one.
fn copy_of<T: Clone>(state: &T, pool: &mut Vec<T>) -> T {
    let Some(mut copy) = pool.pop() else { return state.clone() };
    copy.clone_from(state);
    copy
}
