//! One thread at a block: every step from every state of it.
//!
//! Owns the order of the successors, and the memory that a thread keeps. Refuses to decide which of them are new.

use crate::engine::Open;
use crate::record::Spare;

use super::block::{Next, Parent, Successor, Work};
use super::enumerate::Enumerate;
use super::system::{Stepped, System};
use super::visited::Visited;

/// Most ways on from one state.
const ANSWERS_MAX: usize = 1 << 14;
/// Most states that a thread keeps for their memory.
const SPARE_MAX: usize = 1 << 12;
/// So many successors are not kept before those that were seen are thrown away.
const CROWD: usize = 64;

/// A state that is about to be stepped from.
pub(super) struct Origin<S: System> {
    pub parent: Parent,
    /// No fewer than the open questions that the step asks.
    pub questions_max: usize,
    /// The first half of the step, if it has been taken.
    pub half: Option<S::Half>,
    pub state: S::State,
}

/// What a thread keeps from block to block: its memory for fingerprints, and states that were thrown away, whose memory the
/// next ones use.
pub(super) struct Worker<'a, S: System> {
    pub(super) system: &'a S,
    pub(super) chooser: Enumerate<'a>,
    scratch: S::Scratch,
    pub spare: Spare<S::State>,
    pub(super) origins: Vec<Origin<S>>,
    /// Fingerprints of the block at hand, if it has a crowd of successors.
    here: Visited,
}

impl<'a, S: System> Worker<'a, S> {
    /// A thread that has done nothing yet.
    pub fn new(system: &'a S, open: &'a Open) -> Self {
        Worker {
            system,
            chooser: Enumerate::new(open),
            scratch: system.scratch(),
            spare: Spare::default(),
            origins: Vec::new(),
            here: Visited::default(),
        }
    }

    /// Takes every step from every node of a block, or those before `stop` said so. `sift` drops states that were seen.
    pub fn expand(
        &mut self,
        work: &mut Work<S::State, S::Kind>,
        sift: impl Fn(&mut [Successor<S::State, S::Kind>], &mut Spare<S::State>),
        stop: impl Fn() -> bool,
    ) {
        self.begin(work, &stop);
        let mut sifted = 0;
        let mut origins = std::mem::take(&mut self.origins);
        'block: for Origin { parent, questions_max, half, state } in origins.drain(..) {
            self.chooser.begin();
            let mut origin = Some(state);
            for ways in 0.. {
                if ways == ANSWERS_MAX {
                    work.too_many = true;
                    break;
                }
                if stop() {
                    break 'block;
                }
                // The last way needs no copy. Where nobody knows that it is the last, that shows only in the step.
                let last = self.chooser.is_last(questions_max);
                let state = match &origin {
                    Some(origin) if !last => self.spare.copy_of(origin),
                    Some(_) | None => origin.take().expect("no way comes after the last"),
                };
                self.step(parent, half, state, work);
                if work.successors.len() - sifted >= CROWD {
                    let crowd = &mut work.successors[sifted..];
                    self.name(crowd, &stop);
                    sift(crowd, &mut self.spare);
                    drop_if(crowd, &mut self.spare, |print| !self.here.insert(print));
                    sifted = work.successors.len();
                }
                let more = self.chooser.advance();
                assert!(!(last && more), "a step asks no more questions than was foreseen");
                if !more {
                    break;
                }
            }
            if let Some(origin) = origin {
                keep(&mut self.spare, origin);
            }
        }
        self.origins = origins;
        self.name(&mut work.successors[sifted..], &stop);
        if sifted > 0 {
            self.here.clear();
        }
    }

    /// Does what all ways on from a state have in common once, for every node.
    fn begin(&mut self, work: &mut Work<S::State, S::Kind>, stop: impl Fn() -> bool) {
        let Worker { system, chooser, origins, .. } = self;
        std::hint::black_box(work.nodes.iter().fold(0, |sum, node| sum ^ system.glance(&node.state)));
        for (at, mut node) in (0..).zip(work.nodes.drain(..)) {
            work.parents.push((node.id, node.depth));
            if stop() {
                continue;
            }
            let questions_max = system.questions_max(&node.state).unwrap_or(usize::MAX);
            let half = (questions_max == 0 || system.asks_late(&node.state)).then(|| {
                chooser.begin();
                let half = system.first_half(&mut node.state, chooser);
                assert!(!chooser.has_asked(), "the first half of a step asks what was foreseen: nothing");
                half
            });
            origins.push(Origin { parent: Parent::Node(at), questions_max, half, state: node.state });
        }
    }

    /// Takes a step, or its second half, with the present answers.
    pub(super) fn step(
        &mut self,
        parent: Parent,
        half: Option<S::Half>,
        mut state: S::State,
        work: &mut Work<S::State, S::Kind>,
    ) {
        let stepped = match half {
            Some(half) => self.system.second_half(&mut state, half, &mut self.chooser),
            None => self.system.step(&mut state, &mut self.chooser),
        };
        let start = work.answers.len() as u32;
        work.answers.extend(self.chooser.answers().map(|(answer, script)| answer << 1 | u32::from(!script)));
        let answers = (start, work.answers.len() as u32);
        let next = if stepped.over {
            keep(&mut self.spare, state);
            Next::Nothing
        } else {
            Next::State(0, state)
        };
        let Stepped { goals, .. } = stepped;
        let told = !stepped.found.is_empty() || stepped.cut.is_some();
        let stepped = told.then(|| Box::new(stepped));
        work.successors.push(Successor { parent, answers, next, goals, stepped });
    }

    /// Works out the fingerprints of states, all in one go: what does it stays in the cache of instructions meanwhile. Drops those that
    /// have none when `stop` says so.
    pub(super) fn name(&mut self, successors: &mut [Successor<S::State, S::Kind>], stop: impl Fn() -> bool) {
        for successor in successors {
            if let Next::State(print, state) = &mut successor.next {
                if stop() {
                    successor.next = Next::Nothing;
                } else {
                    *print = self.system.fingerprint(state, &mut self.scratch);
                }
            }
        }
    }
}

/// Drops the states of successors whose fingerprints this holds of.
pub(super) fn drop_if<T, K>(
    successors: &mut [Successor<T, K>],
    spare: &mut Spare<T>,
    mut holds: impl FnMut(u128) -> bool,
) {
    for state in successors.iter_mut().filter_map(|successor| successor.next.take_if(&mut holds)) {
        keep(spare, state);
    }
}

/// Keeps a state for its memory, if there are not too many.
pub(super) fn keep<T>(spare: &mut Spare<T>, state: T) {
    if spare.count() < SPARE_MAX {
        spare.keep(state);
    }
}
