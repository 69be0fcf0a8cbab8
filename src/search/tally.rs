//! What a search has seen so far: how each state was reached, what was found, and the counts.
//!
//! Owns the way back from a state to the start. Which states are new is decided in `explore`.

use std::collections::BTreeMap;

use tinyvec::TinyVec;

use super::explore::{Bound, Explored, Path};
use super::system::Stepped;

/// An answer to an open question, and whether it is the script's.
pub(super) type Answer = (u32, bool);

/// A step from a unique state.
pub(super) struct Transition {
    /// The id of the state.
    pub parent: u32,
    /// Steps from the start to the end of this one.
    pub depth: u32,
    pub answers: TinyVec<[Answer; 4]>,
}

/// How a unique state was first reached.
struct Origin {
    parent: u32,
    /// Where the answers of the last step begin in the list of all answers. They end where those of the next state begin.
    answers: usize,
}

/// What a search has seen so far.
pub(super) struct Tally<K> {
    /// One for each unique state, by its id.
    origins: Vec<Origin>,
    answers: Vec<Answer>,
    transitions: u64,
    depth: u32,
    found: BTreeMap<K, (Path, u64)>,
    cuts: BTreeMap<u8, (Path, u64)>,
    goals: u64,
}

impl<K: Clone + Ord> Tally<K> {
    /// The first state alone, by the id 0.
    pub fn new() -> Self {
        Tally {
            origins: vec![Origin { parent: 0, answers: 0 }],
            answers: Vec::new(),
            transitions: 0,
            depth: 0,
            found: BTreeMap::new(),
            cuts: BTreeMap::new(),
            goals: 0,
        }
    }

    /// Unique states.
    pub fn unique(&self) -> u64 {
        self.origins.len() as u64
    }

    /// Counts a transition and what it came to.
    pub fn count(&mut self, transition: &Transition, stepped: &Stepped<K>) {
        let Stepped { over: _, cut, found, goals } = stepped;
        self.transitions += 1;
        self.depth = self.depth.max(transition.depth);
        self.goals |= goals;
        let path = || path(&self.origins, &self.answers, transition);
        found.iter().for_each(|kind| note(&mut self.found, kind, transition.depth, path));
        cut.iter().for_each(|cut| note(&mut self.cuts, cut, transition.depth, path));
    }

    /// Adds the new state to which a transition led. Returns its id.
    pub fn add(&mut self, transition: &Transition) -> u32 {
        let id = u32::try_from(self.origins.len()).expect("fewer than 2^32 states");
        self.origins.push(Origin { parent: transition.parent, answers: self.answers.len() });
        self.answers.extend_from_slice(&transition.answers);
        id
    }

    /// All of it, and what ended the search before all was seen.
    pub fn finish(self, bound: Option<Bound>) -> Explored<K> {
        Explored {
            states: self.transitions + 1,
            unique: self.unique(),
            transitions: self.transitions,
            depth: self.depth,
            bound: bound.or((!self.cuts.is_empty()).then_some(Bound::Cut)),
            found: self.found,
            cuts: self.cuts,
            goals: self.goals,
        }
    }
}

/// Counts a transition that came to `what`, and keeps the path to it if none that is as short is known.
fn note<K: Clone + Ord>(known: &mut BTreeMap<K, (Path, u64)>, what: &K, depth: u32, path: impl Fn() -> Path) {
    match known.get_mut(what) {
        None => {
            known.insert(what.clone(), (path(), 1));
        }
        Some((shortest, times)) => {
            *times += 1;
            if depth < shortest.steps {
                *shortest = path();
            }
        }
    }
}

/// The answers from the start to the end of a transition.
fn path(origins: &[Origin], answers: &[Answer], last: &Transition) -> Path {
    let mut steps = vec![&last.answers[..]];
    let mut at = last.parent as usize;
    while at != 0 {
        let Origin { parent, answers: start } = origins[at];
        let end = origins.get(at + 1).map_or(answers.len(), |next| next.answers);
        steps.push(&answers[start..end]);
        at = parent as usize;
    }
    let mut all: Vec<Answer> = steps.into_iter().rev().flatten().copied().collect();
    while all.pop_if(|(_, is_script)| *is_script).is_some() {}
    Path { steps: last.depth, answers: all.into_iter().map(|(answer, _)| answer).collect() }
}
