//! One thread at a block: every step from every state of it.
//!
//! Owns the order of the successors, and the memory that a thread keeps. Refuses to decide which of them are new.

use crate::engine::Open;
use crate::record::Spare;

use super::enumerate::Enumerate;
use super::system::{Stepped, System};
use super::visited::Visited;

/// Most ways on from one state.
const ANSWERS_MAX: usize = 1 << 14;
/// Most states that a thread keeps for their memory.
const SPARE_MAX: usize = 1 << 12;
/// So many successors are not kept before those that were seen are thrown away.
const CROWD: usize = 64;

/// A state of the frontier.
pub(super) struct Node<T> {
    pub id: u32,
    /// Steps to it.
    pub depth: u32,
    pub state: T,
}

/// A step from a node of a block.
pub(super) struct Successor<T, K> {
    /// The node's place in the block.
    pub from: u32,
    /// Where its answers are in the list of the block.
    pub answers: (u32, u32),
    /// The state and its fingerprint, unless nothing comes after it, or it is known to have been seen before.
    pub next: Option<(u128, T)>,
    pub stepped: Option<Box<Stepped<K>>>,
}

/// What came of a block.
pub(super) struct Expanded<T, K> {
    /// Its nodes: their ids and depths.
    pub parents: Vec<(u32, u32)>,
    /// A state had more ways on than are looked at.
    pub too_many: bool,
    /// In the order of the nodes.
    pub successors: Vec<Successor<T, K>>,
    /// Answers, the lowest bit telling whether it is another than the script's.
    pub answers: Vec<u32>,
    pub goals: u64,
}

impl<T, K> Default for Expanded<T, K> {
    fn default() -> Self {
        let (parents, successors, answers) = (Vec::new(), Vec::new(), Vec::new());
        Expanded { parents, too_many: false, successors, answers, goals: 0 }
    }
}

/// What a thread keeps from block to block: its memory for fingerprints, and states that were thrown away, whose memory the
/// next ones use.
pub(super) struct Worker<S: System> {
    scratch: S::Scratch,
    pub spare: Spare<S::State>,
    /// Fingerprints of the block at hand, if it has a crowd of successors.
    here: Visited,
}

impl<S: System> Worker<S> {
    /// A thread that has done nothing yet.
    pub fn new(system: &S) -> Self {
        Worker { scratch: system.scratch(), spare: Spare::default(), here: Visited::default() }
    }

    /// Takes every step from every node of a block. States for which `seen` holds need not be kept.
    pub fn expand(
        &mut self,
        system: &S,
        open: &Open,
        nodes: Vec<Node<S::State>>,
        seen: impl Fn(u128) -> bool,
    ) -> Expanded<S::State, S::Kind> {
        let Worker { scratch, spare, here } = self;
        let mut expanded = Expanded::default();
        expanded.successors.reserve(2 * nodes.len());
        expanded.answers.reserve(2 * nodes.len());
        expanded.parents.extend(nodes.iter().map(|node| (node.id, node.depth)));
        std::hint::black_box(nodes.iter().fold(0, |sum, node| sum ^ system.glance(&node.state)));
        let mut chooser = Enumerate::new(open);
        // What all ways on from a state have in common is done once.
        let halves = nodes.into_iter().map(|Node { mut state, .. }| {
            let questions_max = system.questions_max(&state).unwrap_or(usize::MAX);
            let half = (questions_max == 0 || system.asks_late(&state)).then(|| {
                chooser.begin();
                let half = system.first_half(&mut state, &mut chooser);
                assert!(!chooser.has_asked(), "the first half of a step asks what was foreseen: nothing");
                half
            });
            (questions_max, half, state)
        });
        let origins: Vec<_> = halves.collect();
        let mut sifted = 0;
        for (from, (questions_max, half, state)) in (0..).zip(origins) {
            chooser.begin();
            let mut origin = Some(state);
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
                let stepped = match half {
                    Some(half) => system.second_half(&mut state, half, &mut chooser),
                    None => system.step(&mut state, &mut chooser),
                };
                let start = expanded.answers.len() as u32;
                expanded.answers.extend(chooser.answers().map(|(answer, script)| answer << 1 | u32::from(!script)));
                let answers = (start, expanded.answers.len() as u32);
                let next = if stepped.over {
                    keep(spare, state);
                    None
                } else {
                    Some((0, state))
                };
                expanded.goals |= stepped.goals;
                let told = !stepped.found.is_empty() || stepped.cut;
                let stepped = told.then(|| Box::new(stepped));
                expanded.successors.push(Successor { from, answers, next, stepped });
                if expanded.successors.len() - sifted >= CROWD {
                    name(system, &mut expanded.successors[sifted..], scratch);
                    for successor in &mut expanded.successors[sifted..] {
                        let known = successor.next.take_if(|(print, _)| seen(*print) || !here.insert(*print));
                        if let Some((_, state)) = known {
                            keep(spare, state);
                        }
                    }
                    sifted = expanded.successors.len();
                }
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
        name(system, &mut expanded.successors[sifted..], scratch);
        if sifted > 0 {
            here.clear();
        }
        expanded
    }
}

/// Works out the fingerprints of states, all in one go: what does it stays in the cache of instructions meanwhile.
fn name<S: System>(system: &S, successors: &mut [Successor<S::State, S::Kind>], scratch: &mut S::Scratch) {
    for (print, state) in successors.iter_mut().filter_map(|successor| successor.next.as_mut()) {
        *print = system.fingerprint(state, scratch);
    }
}

/// Keeps a state for its memory, if there are not too many.
pub(super) fn keep<T>(spare: &mut Spare<T>, state: T) {
    if spare.count() < SPARE_MAX {
        spare.keep(state);
    }
}
