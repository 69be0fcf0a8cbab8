//! The threads of a search: who takes which steps of a block. One of them is the one that asked.
//!
//! Owns the order of the results, which is that of a single thread, and the memory that each thread keeps. Refuses to take
//! successors in: which of them are new is decided by the search.

use std::sync::RwLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use crate::engine::Open;
use crate::record::Spare;

use super::enumerate::Enumerate;
use super::system::{Stepped, System};
use super::visited::Visited;

/// Most ways on from one state.
const ANSWERS_MAX: usize = 1 << 14;
/// Fewer states than this for each thread are not worth a thread.
const SHARED_MIN: usize = 16;
/// Most states that a thread keeps for their memory.
const SPARE_MAX: usize = 1 << 10;
/// States that are expanded ahead of their block.
pub(super) const PROBE: usize = 1;
/// Successors that are looked up together among the states seen: each lookup waits for memory, and so they wait at one time.
const LOOKUPS: usize = 32;

/// What a thread keeps from block to block: its memory for fingerprints, and states that were thrown away, whose memory the
/// next ones use.
pub(super) struct Worker<S: System> {
    pub scratch: S::Scratch,
    pub spare: Spare<S::State>,
    /// Fingerprints of the part at hand.
    pub here: Visited,
}

/// A state of the frontier.
pub(super) struct Node<S> {
    pub id: u32,
    /// Steps to it.
    pub depth: u32,
    pub state: S,
}

/// A step from a node of a block.
pub(super) struct Successor<S, K> {
    /// The node's place in the block.
    pub from: u32,
    /// Its answers in the list of the thread that took the step.
    pub answers: (u32, u32),
    /// The state and its fingerprint, unless it was seen before in this part or before this block, or nothing comes after it.
    pub next: Option<(u128, S)>,
    pub stepped: Option<Box<Stepped<K>>>,
}

/// What a thread made of its part of a block.
pub(super) struct Expanded<S, K> {
    /// The thread, by number.
    pub by: usize,
    /// A state had more ways on than are looked at.
    pub too_many: bool,
    /// In the order of the nodes.
    pub successors: Vec<Successor<S, K>>,
    /// Answers, the lowest bit telling whether it is another than the script's.
    pub answers: Vec<u32>,
    pub goals: u64,
}

/// What all threads look at. The states seen are written by one of them, between two blocks.
pub(super) struct Shared<'a, S> {
    pub system: &'a S,
    pub open: &'a Open,
    pub visited: &'a RwLock<Visited>,
}

impl<S> Clone for Shared<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Shared<'_, S> {}

/// Some nodes of a block, one behind the other.
pub(super) struct Part<S> {
    /// The place of the first one in the block.
    pub first: u32,
    pub nodes: Vec<Node<S>>,
    /// States whose memory may be used.
    pub spare: Vec<S>,
}

/// A thread at the other end.
pub(super) struct Hand<S: System> {
    parts: Sender<Part<S::State>>,
    expanded: Receiver<Expanded<S::State, S::Kind>>,
    /// States that it made and that were thrown away.
    spare: Vec<S::State>,
}

/// The threads of a search: this one, and others that wait for parts of blocks.
pub(super) struct Team<S: System> {
    pub own: Worker<S>,
    pub hands: Vec<Hand<S>>,
}

impl<S: System> Team<S> {
    pub fn new<'s>(scope: &'s Scope<'s, '_>, shared: Shared<'s, S>, jobs: usize) -> Self {
        let worker =
            || Worker::<S> { scratch: shared.system.scratch(), spare: Spare::default(), here: Visited::default() };
        let hand = |by| {
            let (parts, to_do) = channel::<Part<S::State>>();
            let (done, expanded) = channel();
            let mut worker = worker();
            scope.spawn(move || {
                for part in to_do {
                    if done.send(expand_part(shared, part, by, &mut worker)).is_err() {
                        return;
                    }
                }
            });
            Hand { parts, expanded, spare: Vec::new() }
        };
        Team { own: worker(), hands: (1..jobs.max(1)).map(hand).collect() }
    }

    /// Takes every step from every node of a block, the first of which is at place [`PROBE`].
    pub fn expand(&mut self, shared: Shared<'_, S>, block: Vec<Node<S::State>>) -> Vec<Expanded<S::State, S::Kind>> {
        let threads = self.hands.len() + 1;
        let whole = Part { first: PROBE as u32, nodes: block, spare: Vec::new() };
        if threads == 1 || whole.nodes.len() < SHARED_MIN * threads {
            return vec![expand_part(shared, whole, 0, &mut self.own)];
        }
        let share = whole.nodes.len().div_ceil(threads);
        let mut rest = whole.nodes.into_iter();
        let own = Part { nodes: rest.by_ref().take(share).collect(), ..whole };
        for (hand, nth) in self.hands.iter_mut().zip(1..) {
            let nodes = rest.by_ref().take(share).collect();
            let part = Part { first: (PROBE + nth * share) as u32, nodes, spare: std::mem::take(&mut hand.spare) };
            hand.parts.send(part).expect("a thread of the search waits for parts");
        }
        let mut done = vec![expand_part(shared, own, 0, &mut self.own)];
        done.extend(self.hands.iter().map(|hand| hand.expanded.recv().expect("a part of the search panicked")));
        done
    }

    /// Takes a state back whose memory is of use to the thread that made it.
    pub fn give_back(&mut self, by: usize, state: S::State) {
        match by.checked_sub(1).and_then(|hand| self.hands.get_mut(hand)) {
            Some(hand) if hand.spare.len() < SPARE_MAX => hand.spare.push(state),
            Some(_) => {}
            None => keep(&mut self.own.spare, state),
        }
    }
}

impl<S> Shared<'_, S> {
    /// Writes to the states seen.
    pub fn writes<T>(&self, write: impl FnOnce(&mut Visited) -> T) -> T {
        write(&mut self.visited.write().expect("no thread panicked"))
    }
}

/// Keeps a state for its memory, if there are not too many.
pub(super) fn keep<T>(spare: &mut Spare<T>, state: T) {
    if spare.count() < SPARE_MAX {
        spare.keep(state);
    }
}

/// Takes every step from every node of a part of a block.
pub(super) fn expand_part<S: System>(
    shared: Shared<'_, S>,
    part: Part<S::State>,
    by: usize,
    worker: &mut Worker<S>,
) -> Expanded<S::State, S::Kind> {
    let Shared { system, open, visited } = shared;
    let Part { first, nodes, spare: more } = part;
    let successors = Vec::with_capacity(2 * nodes.len());
    let mut expanded = Expanded { by, too_many: false, successors, answers: Vec::new(), goals: 0 };
    let Worker { scratch, spare, here } = worker;
    more.into_iter().for_each(|state| keep(spare, state));
    here.clear();
    let mut chooser = Enumerate::new(open);
    let mut looked_up = 0;
    for (from, node) in (first..).zip(nodes) {
        chooser.begin();
        let questions_max = system.questions_max(&node.state).unwrap_or(usize::MAX);
        let mut origin = Some(node.state);
        for ways in 0.. {
            if ways == ANSWERS_MAX {
                expanded.too_many = true;
                break;
            }
            // The last way needs no copy. Where nobody knows that it is the last, that shows only in the step.
            let last = chooser.is_last(questions_max);
            let mut state = match &origin {
                Some(origin) if !last => spare.copy_of(origin),
                Some(_) | None => origin.take().expect("no way comes after the last"),
            };
            let stepped = system.step(&mut state, &mut chooser);
            let start = expanded.answers.len() as u32;
            expanded.answers.extend(chooser.answers().map(|(answer, script)| answer << 1 | u32::from(!script)));
            let answers = (start, expanded.answers.len() as u32);
            let next = if stepped.over {
                keep(spare, state);
                None
            } else {
                Some((system.fingerprint(&state, scratch), state))
            };
            expanded.goals |= stepped.goals;
            let told = !stepped.found.is_empty() || stepped.cut;
            let stepped = told.then(|| Box::new(stepped));
            expanded.successors.push(Successor { from, answers, next, stepped });
            let more = chooser.advance();
            assert!(!(last && more), "a step asks no more questions than was foreseen");
            if !more {
                break;
            }
        }
        if let Some(origin) = origin {
            keep(spare, origin);
        }
        if expanded.successors.len() - looked_up >= LOOKUPS {
            drop_seen(visited, here, &mut expanded.successors[looked_up..], spare);
            looked_up = expanded.successors.len();
        }
    }
    drop_seen(visited, here, &mut expanded.successors[looked_up..], spare);
    expanded
}

/// Keeps what was seen before for its memory alone.
fn drop_seen<S, K>(
    visited: &RwLock<Visited>,
    here: &mut Visited,
    successors: &mut [Successor<S, K>],
    spare: &mut Spare<S>,
) {
    let visited = visited.read().expect("no thread panicked");
    for successor in successors {
        let seen = successor.next.take_if(|(print, _)| visited.contains(*print) || !here.insert(*print));
        if let Some((_, state)) = seen {
            keep(spare, state);
        }
    }
}
