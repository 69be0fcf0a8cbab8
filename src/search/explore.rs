//! The exhaustive search: a frontier of states, each expanded by every list of answers that its next step can be given.
//!
//! States are values, kept in the frontier whole; those seen before are told by fingerprint. The frontier is worked off in
//! blocks of a fixed size: a block is expanded by as many threads as there are, and its successors are taken in one
//! order, that of a single thread. So nothing that is reported depends on the number of threads.

use std::collections::{BTreeMap, VecDeque};
use std::sync::RwLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use crate::engine::{Chooser, Open};

use super::enumerate::Enumerate;
use super::visited::Visited;

/// States expanded before their successors are taken in.
const BLOCK: usize = 256;

/// Most successors that a block should have, and so the fewer states the more ways lead on from each.
const SUCCESSORS_MAX: usize = 16 * BLOCK;
/// Most ways on from one state.
const ANSWERS_MAX: usize = 1 << 14;
/// States that are expanded ahead of their block.
const PROBE: usize = 1;
/// Fewer states than this for each thread are not worth a thread.
const SHARED_MIN: usize = 16;
/// Most states that a thread keeps for their memory.
const SPARE_MAX: usize = 4 * BLOCK;

/// What one step came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stepped<K> {
    /// Nothing comes after it.
    pub over: bool,
    /// It was cut short: what comes after is not known.
    pub cut: bool,
    /// The kinds of findings.
    pub found: Vec<K>,
    /// Goals reached, a bit each.
    pub goals: u64,
}

/// What a thread keeps from block to block: its memory for fingerprints, and states that were thrown away, whose memory the
/// next ones use.
struct Worker<S: System> {
    scratch: S::Scratch,
    spare: Vec<S::State>,
    /// Fingerprints of the part at hand.
    here: Visited,
}

/// What can be searched: a state that is a value, a step that asks a chooser, and a fingerprint that tells states apart
/// that have different futures.
pub trait System: Sync {
    /// A state between two steps.
    type State: Clone + Send + Sync;
    /// What findings are told apart by.
    type Kind: Clone + Ord + Send;
    /// Memory for fingerprints, one a thread.
    type Scratch: Send;

    /// The first state.
    fn start(&self) -> Self::State;

    /// One step.
    fn step(&self, state: &mut Self::State, chooser: &mut impl Chooser) -> Stepped<Self::Kind>;

    /// Memory for fingerprints.
    fn scratch(&self) -> Self::Scratch;

    /// The fingerprint of a state that is not over.
    fn fingerprint(&self, state: &Self::State, scratch: &mut Self::Scratch) -> u128;
}

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
    depth: u32,
}

/// A state of the frontier.
struct Node<S> {
    id: u32,
    state: S,
}

/// A step from a node of a block.
struct Successor<S, K> {
    /// The node's place in the block.
    from: u32,
    /// Its answers in the list of the thread that took the step.
    answers: (u32, u32),
    /// The state and its fingerprint, unless it was seen before in this part or before this block, or nothing comes after it.
    next: Option<(u128, S)>,
    stepped: Option<Box<Stepped<K>>>,
}

/// What a thread made of its part of a block.
struct Expanded<S, K> {
    /// A state had more ways on than are looked at.
    too_many: bool,
    successors: Vec<Successor<S, K>>,
    /// Answers, the lowest bit telling whether it is another than the script's.
    answers: Vec<u32>,
    goals: u64,
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
    let unique = shared_by_nobody(visited).len();
    search.finish(unique as u64, bound)
}

fn shared_by_nobody(visited: RwLock<Visited>) -> Visited {
    visited.into_inner().expect("no thread panicked")
}

/// What all threads look at. The states seen are written by one of them, between two blocks.
struct Shared<'a, S> {
    system: &'a S,
    open: &'a Open,
    visited: &'a RwLock<Visited>,
}

impl<S> Clone for Shared<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Shared<'_, S> {}

/// A part of a block, and the place of its first node there.
type Part<S> = (usize, Vec<Node<<S as System>::State>>);

/// A thread at the other end.
struct Hand<S: System> {
    parts: Sender<Part<S>>,
    expanded: Receiver<Expanded<S::State, S::Kind>>,
}

/// The threads of a search: this one, and others that wait for parts of blocks.
struct Team<S: System> {
    own: Worker<S>,
    hands: Vec<Hand<S>>,
}

impl<S: System> Team<S> {
    fn new<'s>(scope: &'s Scope<'s, '_>, shared: Shared<'s, S>, jobs: usize) -> Self {
        let worker = || Worker::<S> { scratch: shared.system.scratch(), spare: Vec::new(), here: Visited::default() };
        let hand = |_| {
            let (parts, to_do) = channel::<Part<S>>();
            let (done, expanded) = channel();
            let mut worker = worker();
            scope.spawn(move || {
                for (first, part) in to_do {
                    if done.send(expand_part(shared, part, first, &mut worker)).is_err() {
                        return;
                    }
                }
            });
            Hand { parts, expanded }
        };
        Team { own: worker(), hands: (1..jobs.max(1)).map(hand).collect() }
    }

    /// Takes every step from every node of a block.
    fn expand(&mut self, shared: Shared<'_, S>, block: Vec<Node<S::State>>) -> Vec<Expanded<S::State, S::Kind>> {
        let threads = self.hands.len() + 1;
        if threads == 1 || block.len() < SHARED_MIN * threads {
            return vec![expand_part(shared, block, PROBE, &mut self.own)];
        }
        let share = block.len().div_ceil(threads);
        let mut own = block;
        let mut rest = own.split_off(share);
        let mut busy = Vec::with_capacity(self.hands.len());
        let mut first = PROBE + share;
        for hand in &self.hands {
            let next = rest.split_off(share.min(rest.len()));
            let part = std::mem::replace(&mut rest, next);
            let count = part.len();
            hand.parts.send((first, part)).expect("a thread of the search waits for parts");
            busy.push(hand);
            first += count;
        }
        let mut done = vec![expand_part(shared, own, PROBE, &mut self.own)];
        let rest = busy.into_iter().map(|hand| hand.expanded.recv().expect("a part of the search panicked"));
        done.extend(rest);
        done
    }
}

/// A search under way.
struct Search<K> {
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
            trails: vec![Trail { parent: 0, answers: 0, depth: 0 }],
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
        let mut frontier = VecDeque::from([Node { id: 0, state: start }]);
        let mut unique = 1;
        while !frontier.is_empty() {
            if unique >= limits.states_max {
                return Some(Bound::States);
            }
            if (limits.stop)(unique) {
                return Some(Bound::Stopped);
            }
            // The first state of a block tells how many ways lead on from states like it.
            let mut ids = Vec::with_capacity(BLOCK);
            let mut parts = Vec::with_capacity(team.hands.len() + 2);
            let probe = next_block(&mut frontier, order, 1);
            ids.extend(probe.iter().map(|node| node.id));
            parts.push(expand_part(shared, probe, 0, &mut team.own));
            let ways = parts[0].successors.len().max(1);
            let block = next_block(&mut frontier, order, (SUCCESSORS_MAX / ways).clamp(1, BLOCK) - 1);
            ids.extend(block.iter().map(|node| node.id));
            parts.extend(team.expand(shared, block));
            let too_many = parts.iter().any(|part| part.too_many);
            unique = shared.writes(|visited| {
                self.take(visited, &ids, parts, &mut frontier);
                visited.len() as u64
            });
            if too_many {
                return Some(Bound::Answers);
            }
        }
        None
    }

    /// Takes in the successors of a block, in order.
    fn take<T>(
        &mut self,
        visited: &mut Visited,
        ids: &[u32],
        parts: Vec<Expanded<T, K>>,
        frontier: &mut VecDeque<Node<T>>,
    ) {
        for part in parts {
            self.goals |= part.goals;
            for successor in part.successors {
                let parent = ids[successor.from as usize];
                let answers = &part.answers[successor.answers.0 as usize..successor.answers.1 as usize];
                let depth = self.trails[parent as usize].depth + 1;
                self.transitions += 1;
                self.depth = self.depth.max(depth);
                if let Some(stepped) = successor.stepped {
                    self.cut |= stepped.cut;
                    self.find(&stepped, parent, answers, depth);
                }
                let Some((print, state)) = successor.next else { continue };
                if visited.insert(print) {
                    let start = self.answers.len() as u32;
                    self.answers.extend_from_slice(answers);
                    let id = u32::try_from(self.trails.len()).expect("fewer than 2^32 states");
                    self.trails.push(Trail { parent, answers: start, depth });
                    frontier.push_back(Node { id, state });
                }
            }
        }
    }

    fn find(&mut self, stepped: &Stepped<K>, parent: u32, answers: &[u32], depth: u32) {
        for kind in &stepped.found {
            let better = |known: &(Path, u64)| depth < known.0.steps;
            match self.found.get_mut(kind) {
                Some(known) if !better(known) => known.1 += 1,
                Some(_) | None => {
                    let times = self.found.get(kind).map_or(0, |known| known.1);
                    let path = self.path(parent, answers, depth);
                    self.found.insert(kind.clone(), (path, times + 1));
                }
            }
        }
    }

    fn path(&self, node: u32, last: &[u32], steps: u32) -> Path {
        let mut parts = vec![last];
        let mut at = node;
        while at != 0 {
            let Trail { parent, answers, .. } = self.trails[at as usize];
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

    fn finish(self, unique: u64, bound: Option<Bound>) -> Explored<K> {
        Explored {
            states: self.transitions + 1,
            unique,
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

impl<S> Shared<'_, S> {
    fn writes<T>(&self, write: impl FnOnce(&mut Visited) -> T) -> T {
        write(&mut self.visited.write().expect("no thread panicked"))
    }
}

/// Takes every step from every node of a part of a block that begins at place `first`.
fn expand_part<S: System>(
    shared: Shared<'_, S>,
    part: Vec<Node<S::State>>,
    first: usize,
    worker: &mut Worker<S>,
) -> Expanded<S::State, S::Kind> {
    let Shared { system, open, visited } = shared;
    let visited = visited.read().expect("no thread panicked");
    let mut expanded =
        Expanded { too_many: false, successors: Vec::with_capacity(2 * part.len()), answers: Vec::new(), goals: 0 };
    let Worker { scratch, spare, here } = worker;
    here.clear();
    let mut chooser = Enumerate::new(open);
    for (place, node) in part.into_iter().enumerate() {
        chooser.begin();
        let from = (first + place) as u32;
        for ways in 0.. {
            if ways == ANSWERS_MAX {
                expanded.too_many = true;
                break;
            }
            // How many lists there are shows only in the step, so every step works on a copy.
            let mut state = match spare.pop() {
                Some(mut old) => {
                    old.clone_from(&node.state);
                    old
                }
                None => node.state.clone(),
            };
            let stepped = system.step(&mut state, &mut chooser);
            let start = expanded.answers.len() as u32;
            expanded.answers.extend(chooser.answers().map(|(answer, script)| answer << 1 | u32::from(!script)));
            let answers = (start, expanded.answers.len() as u32);
            let print = (!stepped.over).then(|| system.fingerprint(&state, scratch));
            let next = print.filter(|&print| !visited.contains(print) && here.insert(print));
            let next = match next {
                Some(print) => Some((print, state)),
                None => {
                    spare.push(state);
                    None
                }
            };
            expanded.goals |= stepped.goals;
            let told = !stepped.found.is_empty() || stepped.cut;
            let stepped = told.then(|| Box::new(stepped));
            expanded.successors.push(Successor { from, answers, next, stepped });
            if !chooser.advance() {
                break;
            }
        }
        if spare.len() < SPARE_MAX {
            spare.push(node.state);
        }
    }
    expanded
}
