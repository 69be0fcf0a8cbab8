//! The exhaustive search: a frontier of states, each expanded by every list of answers that its next step can be given.
//!
//! States are values, kept in the frontier whole; those seen before are told by fingerprint. The frontier is worked off in
//! blocks whose size does not depend on the threads: a block is expanded by as many threads as there are, and its successors are taken in one
//! order, that of a single thread. So nothing that is reported depends on the number of threads.

use std::collections::{BTreeMap, VecDeque};
use std::sync::RwLock;

use crate::engine::Open;

use super::system::{Stepped, System};
use super::team::{Expanded, Node, PROBE, Part, Shared, Successor, Team, expand_part};
use super::visited::Visited;

/// States expanded before their successors are taken in.
const BLOCK: usize = 256;

/// Most successors that a block should have, and so the fewer states the more ways lead on from each.
const SUCCESSORS_MAX: usize = 16 * BLOCK;

/// Which state of the frontier is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest: the first way found to anything has the fewest steps.
    Bfs,
    /// The newest, block by block: a small frontier.
    Dfs,
}

/// How far a search may go.
pub struct Limits<'a> {
    /// Most unique states.
    pub states_max: u64,
    /// Asked after every block with the number of unique states: whether to stop.
    pub stop: &'a mut dyn FnMut(u64) -> bool,
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
    /// Goals reached, a bit each.
    pub goals: u64,
}

/// Where a unique state came from.
#[derive(Clone, Copy, Debug)]
struct Trail {
    parent: u32,
    /// Where its answers begin in the list of all answers; they end where those of the next one begin.
    answers: u32,
}

/// Searches everything that can come of `system` when the `open` questions are answered in every way.
pub fn explore<S: System>(system: &S, open: &Open, order: Order, jobs: usize, limits: Limits<'_>) -> Explored<S::Kind> {
    let visited = RwLock::new(Visited::default());
    let mut search = Search::new();
    let bound = std::thread::scope(|scope| {
        let shared = Shared { system, open, visited: &visited };
        let team = Team::new(scope, shared, jobs);
        search.run(shared, order, team, limits)
    });
    search.finish(bound)
}

/// A search under way.
struct Search<K> {
    /// One for each unique state, by its id.
    trails: Vec<Trail>,
    answers: Vec<u32>,
    transitions: u64,
    depth: u32,
    cut: bool,
    found: BTreeMap<K, (Path, u64)>,
    goals: u64,
}

impl<K: Clone + Ord + Send> Search<K> {
    fn new() -> Self {
        Search {
            trails: vec![Trail { parent: 0, answers: 0 }],
            answers: Vec::new(),
            transitions: 0,
            depth: 0,
            cut: false,
            found: BTreeMap::new(),
            goals: 0,
        }
    }

    /// Works the frontier off. Returns what ended it before all was seen.
    fn run<S: System<Kind = K>>(
        &mut self,
        shared: Shared<'_, S>,
        order: Order,
        mut team: Team<S>,
        limits: Limits<'_>,
    ) -> Option<Bound> {
        let start = shared.system.start();
        let print = shared.system.fingerprint(&start, &mut shared.system.scratch());
        shared.writes(|visited| visited.insert(print));
        let mut frontier = VecDeque::from([Node { id: 0, depth: 0, state: start }]);
        while !frontier.is_empty() {
            let unique = self.trails.len() as u64;
            if unique >= limits.states_max {
                return Some(Bound::States);
            }
            if (limits.stop)(unique) {
                return Some(Bound::Stopped);
            }
            // The first state of a block tells how many ways lead on from states like it.
            let mut parents = Vec::with_capacity(BLOCK);
            let mut parts = Vec::with_capacity(team.hands.len() + 2);
            let probe = next_block(&mut frontier, order, PROBE);
            parents.extend(probe.iter().map(|node| (node.id, node.depth)));
            parts.push(expand_part(shared, Part { first: 0, nodes: probe, spare: Vec::new() }, 0, &mut team.own));
            let ways = parts[0].successors.len().max(1);
            let block = next_block(&mut frontier, order, (SUCCESSORS_MAX / ways).clamp(PROBE, BLOCK) - PROBE);
            parents.extend(block.iter().map(|node| (node.id, node.depth)));
            parts.extend(team.expand(shared, block));
            let too_many = parts.iter().any(|part| part.too_many);
            shared.writes(|visited| self.take(visited, &parents, parts, &mut frontier, &mut team));
            if too_many {
                return Some(Bound::Answers);
            }
        }
        None
    }

    /// Takes in the successors of a block, in the order of the nodes that they came from.
    fn take<S: System<Kind = K>>(
        &mut self,
        visited: &mut Visited,
        parents: &[(u32, u32)],
        parts: Vec<Expanded<S::State, K>>,
        frontier: &mut VecDeque<Node<S::State>>,
        team: &mut Team<S>,
    ) {
        for part in parts {
            self.goals |= part.goals;
            for successor in part.successors {
                let parent = parents[successor.from as usize];
                let answers = &part.answers[successor.answers.0 as usize..successor.answers.1 as usize];
                if let Some(state) = self.take_one(visited, parent, successor, answers, frontier) {
                    team.give_back(part.by, state);
                }
            }
        }
    }

    /// Takes one successor in. Returns its state if it is not new.
    fn take_one<T>(
        &mut self,
        visited: &mut Visited,
        (parent, depth): (u32, u32),
        successor: Successor<T, K>,
        answers: &[u32],
        frontier: &mut VecDeque<Node<T>>,
    ) -> Option<T> {
        let depth = depth + 1;
        self.transitions += 1;
        self.depth = self.depth.max(depth);
        if let Some(stepped) = successor.stepped {
            self.cut |= stepped.cut;
            self.find(&stepped, parent, answers, depth);
        }
        let (print, state) = successor.next?;
        if !visited.insert(print) {
            return Some(state);
        }
        let start = self.answers.len() as u32;
        self.answers.extend_from_slice(answers);
        let id = u32::try_from(self.trails.len()).expect("fewer than 2^32 states");
        self.trails.push(Trail { parent, answers: start });
        frontier.push_back(Node { id, depth, state });
        None
    }

    fn find(&mut self, stepped: &Stepped<K>, parent: u32, answers: &[u32], depth: u32) {
        for kind in &stepped.found {
            let (steps, times) = self.found.get(kind).map_or((u32::MAX, 0), |known| (known.0.steps, known.1));
            if depth < steps {
                let path = self.path(parent, answers, depth);
                self.found.insert(kind.clone(), (path, times + 1));
            } else if let Some(known) = self.found.get_mut(kind) {
                known.1 += 1;
            }
        }
    }

    fn path(&self, node: u32, last: &[u32], steps: u32) -> Path {
        let mut parts = vec![last];
        let mut at = node;
        while at != 0 {
            let Trail { parent, answers } = self.trails[at as usize];
            let end = self.trails.get(at as usize + 1).map_or(self.answers.len(), |next| next.answers as usize);
            parts.push(&self.answers[answers as usize..end]);
            at = parent;
        }
        let mut all: Vec<u32> = parts.into_iter().rev().flatten().copied().collect();
        while all.last().is_some_and(|answer| answer & 1 == 0) {
            all.pop();
        }
        Path { steps, answers: all.into_iter().map(|answer| answer >> 1).collect() }
    }

    fn finish(self, bound: Option<Bound>) -> Explored<K> {
        Explored {
            states: self.transitions + 1,
            unique: self.trails.len() as u64,
            transitions: self.transitions,
            depth: self.depth,
            bound: bound.or(self.cut.then_some(Bound::Cut)),
            found: self.found,
            goals: self.goals,
        }
    }
}

/// Takes so many states off the frontier.
fn next_block<S>(frontier: &mut VecDeque<Node<S>>, order: Order, count: usize) -> Vec<Node<S>> {
    let count = count.min(frontier.len());
    match order {
        Order::Bfs => frontier.drain(..count).collect(),
        Order::Dfs => frontier.drain(frontier.len() - count..).rev().collect(),
    }
}
