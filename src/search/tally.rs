//! The counts and findings of a search so far, and the predecessor of each unique state, from which paths are built.
//!
//! `explore` decides which states are new.

use std::collections::BTreeMap;

use tinyvec::TinyVec;

use super::explore::{Bound, Explored, Path};
use super::system::StepOutcome;

/// An answer to an open question, and whether it is the default.
pub(super) type Answer = (u32, bool);

/// A step from a unique state, the parent.
pub(super) struct Transition {
    /// The id of the parent.
    pub parent: u32,
    /// Steps from the initial state to the end of this step.
    pub depth: u32,
    pub answers: TinyVec<[Answer; 4]>,
}

/// The transition that first reached a unique state.
struct Origin {
    parent: u32,
    /// The start of the answers of that transition in [`SearchTally::answers`]. They end where the answers of the next
    /// state start.
    answers: usize,
}

/// The counts and findings of a search so far.
pub(super) struct SearchTally<K> {
    /// By id of the unique state.
    origins: Vec<Origin>,
    answers: Vec<Answer>,
    transitions: u64,
    depth: u32,
    found: BTreeMap<K, (Path, u64)>,
    cuts: BTreeMap<u8, (Path, u64)>,
    goals: u64,
}

impl<K: Clone + Ord> SearchTally<K> {
    /// The tally of the initial state alone, which has id 0.
    pub fn new() -> Self {
        SearchTally {
            origins: vec![Origin { parent: 0, answers: 0 }],
            answers: Vec::new(),
            transitions: 0,
            depth: 0,
            found: BTreeMap::new(),
            cuts: BTreeMap::new(),
            goals: 0,
        }
    }

    /// The number of unique states.
    pub fn unique(&self) -> u64 {
        self.origins.len() as u64
    }

    /// Counts a transition and its outcome.
    pub fn count(&mut self, transition: &Transition, stepped: &StepOutcome<K>) {
        let StepOutcome { over: _, cut, found, goals } = stepped;
        self.transitions += 1;
        self.depth = self.depth.max(transition.depth);
        self.goals |= goals;
        let path = || path(&self.origins, &self.answers, transition);
        found.iter().for_each(|kind| note(&mut self.found, kind, transition.depth, path));
        cut.iter().for_each(|cut| note(&mut self.cuts, cut, transition.depth, path));
    }

    /// Adds the successor of a transition as a unique state. Returns its id.
    pub fn add(&mut self, transition: &Transition) -> u32 {
        let id = u32::try_from(self.origins.len()).expect("fewer than 2^32 states");
        self.origins.push(Origin { parent: transition.parent, answers: self.answers.len() });
        self.answers.extend_from_slice(&transition.answers);
        id
    }

    /// The result of the search; `bound` says why it ended early.
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

/// Counts a transition with the finding or cut `what`, and keeps its path if it is the shortest so far.
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

/// The path from the initial state to the end of a transition.
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
