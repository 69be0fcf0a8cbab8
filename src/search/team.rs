//! The threads of a search: who takes which steps of a block. One of them is the one that asked.
//!
//! Owns the order of the results, which is that of a single thread, and the memory that each thread keeps. Refuses to take
//! successors in: which of them are new is decided by the search.

use std::sync::RwLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use crate::engine::Open;

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

/// What a thread keeps from block to block: its memory for fingerprints, and states that were thrown away, whose memory the
/// next ones use.
pub(super) struct Worker<S: System> {
    pub scratch: S::Scratch,
    pub spare: Vec<S::State>,
    /// Fingerprints of the part at hand.
    pub here: Visited,
}

/// A state of the frontier.
pub(super) struct Node<S> {
    pub id: u32,
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
    /// A state had more ways on than are looked at.
    pub too_many: bool,
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

/// A part of a block, the place of its first node there, and states whose memory may be used.
pub(super) type Part<S> = (usize, Vec<Node<<S as System>::State>>, Vec<<S as System>::State>);

/// A thread at the other end.
pub(super) struct Hand<S: System> {
    parts: Sender<Part<S>>,
    expanded: Receiver<Expanded<S::State, S::Kind>>,
}

/// The threads of a search: this one, and others that wait for parts of blocks.
pub(super) struct Team<S: System> {
    pub own: Worker<S>,
    pub hands: Vec<Hand<S>>,
}

impl<S: System> Team<S> {
    pub fn new<'s>(scope: &'s Scope<'s, '_>, shared: Shared<'s, S>, jobs: usize) -> Self {
        let worker = || Worker::<S> { scratch: shared.system.scratch(), spare: Vec::new(), here: Visited::default() };
        let hand = |_| {
            let (parts, to_do) = channel::<Part<S>>();
            let (done, expanded) = channel();
            let mut worker = worker();
            scope.spawn(move || {
                for (first, part, spare) in to_do {
                    spare.into_iter().for_each(|state| keep(&mut worker.spare, state));
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
    pub fn expand(&mut self, shared: Shared<'_, S>, block: Vec<Node<S::State>>) -> Vec<Expanded<S::State, S::Kind>> {
        let threads = self.hands.len() + 1;
        if threads == 1 || block.len() < SHARED_MIN * threads {
            return vec![expand_part(shared, block, PROBE, &mut self.own)];
        }
        let share = block.len().div_ceil(threads);
        let mut rest = block.into_iter();
        let own = rest.by_ref().take(share).collect();
        for (hand, nth) in self.hands.iter().zip(1..) {
            let part = rest.by_ref().take(share).collect();
            // What this thread throws away when it takes successors in, others have made.
            let spare = self.own.spare.split_off(self.own.spare.len() - (self.own.spare.len() / threads).min(share));
            hand.parts.send((PROBE + nth * share, part, spare)).expect("a thread of the search waits for parts");
        }
        let mut done = vec![expand_part(shared, own, PROBE, &mut self.own)];
        done.extend(self.hands.iter().map(|hand| hand.expanded.recv().expect("a part of the search panicked")));
        done
    }
}

impl<S> Shared<'_, S> {
    /// Writes to the states seen.
    pub fn writes<T>(&self, write: impl FnOnce(&mut Visited) -> T) -> T {
        write(&mut self.visited.write().expect("no thread panicked"))
    }
}

/// Keeps a state for its memory, if there are not too many.
pub(super) fn keep<T>(spare: &mut Vec<T>, state: T) {
    if spare.len() < SPARE_MAX {
        spare.push(state);
    }
}

/// Takes every step from every node of a part of a block that begins at place `first`.
pub(super) fn expand_part<S: System>(
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
                Some(origin) if !last => copy(origin, spare),
                Some(_) | None => origin.take().expect("no way comes after the last"),
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
                    keep(spare, state);
                    None
                }
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
    }
    expanded
}

/// A copy, made over a state that was thrown away if there is one.
fn copy<S: Clone>(state: &S, spare: &mut Vec<S>) -> S {
    match spare.pop() {
        Some(mut old) => {
            old.clone_from(state);
            old
        }
        None => state.clone(),
    }
}
