//! What a search has seen so far: how each state was reached, what was found, and the counts.
//!
//! Owns the way back from a state to the start. Refuses to know which states are new.

use std::collections::BTreeMap;

use super::explore::{Bound, Explored, Path};
use super::system::Stepped;

/// Where a unique state came from.
#[derive(Clone, Copy, Debug)]
struct Trail {
    parent: u32,
    /// Where its answers begin in the list of all answers; they end where those of the next one begin.
    answers: u32,
}

/// What a search has seen so far.
pub(super) struct Tally<K> {
    /// One for each unique state, by its id.
    trails: Vec<Trail>,
    answers: Vec<u32>,
    transitions: u64,
    depth: u32,
    /// By bound of the system.
    cuts: BTreeMap<u8, (Path, u64)>,
    found: BTreeMap<K, (Path, u64)>,
    goals: u64,
}

impl<K: Clone + Ord> Tally<K> {
    /// The first state alone, by the id 0.
    pub fn new() -> Self {
        Tally {
            trails: vec![Trail { parent: 0, answers: 0 }],
            answers: Vec::new(),
            transitions: 0,
            depth: 0,
            cuts: BTreeMap::new(),
            found: BTreeMap::new(),
            goals: 0,
        }
    }

    /// States that differ.
    pub fn unique(&self) -> u64 {
        self.trails.len() as u64
    }

    /// A step was taken from a state, with these answers: to this depth, and these goals were reached.
    pub fn step(&mut self, parent: u32, depth: u32, answers: &[u32], goals: u64, stepped: Option<&Stepped<K>>) {
        self.transitions += 1;
        self.goals |= goals;
        self.depth = self.depth.max(depth);
        if let Some(stepped) = stepped {
            self.find(stepped, parent, answers, depth);
        }
    }

    /// A step led to a state that is new. Returns its id.
    pub fn add(&mut self, parent: u32, answers: &[u32]) -> u32 {
        let start = self.answers.len() as u32;
        self.answers.extend_from_slice(answers);
        let id = u32::try_from(self.trails.len()).expect("fewer than 2^32 states");
        self.trails.push(Trail { parent, answers: start });
        id
    }

    fn find(&mut self, stepped: &Stepped<K>, parent: u32, answers: &[u32], depth: u32) {
        for kind in &stepped.found {
            if is_shorter(&mut self.found, kind, depth) {
                let path = self.path(parent, answers, depth);
                shorten(&mut self.found, kind.clone(), path);
            }
        }
        if let Some(cut) = &stepped.cut
            && is_shorter(&mut self.cuts, cut, depth)
        {
            let path = self.path(parent, answers, depth);
            shorten(&mut self.cuts, *cut, path);
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

    /// All of it, and what ended the search before all was seen.
    pub fn finish(self, bound: Option<Bound>) -> Explored<K> {
        Explored {
            states: self.transitions + 1,
            unique: self.trails.len() as u64,
            transitions: self.transitions,
            depth: self.depth,
            bound: bound.or((!self.cuts.is_empty()).then_some(Bound::Cut)),
            found: self.found,
            cuts: self.cuts,
            goals: self.goals,
        }
    }
}

/// Counts a step that came to something. Says whether none with fewer steps to it is known.
fn is_shorter<K: Ord>(known: &mut BTreeMap<K, (Path, u64)>, kind: &K, depth: u32) -> bool {
    let Some((path, times)) = known.get_mut(kind) else { return true };
    *times += 1;
    depth < path.steps
}

/// Keeps the way to it.
fn shorten<K: Ord>(known: &mut BTreeMap<K, (Path, u64)>, kind: K, path: Path) {
    let times = known.get(&kind).map_or(1, |known| known.1);
    known.insert(kind, (path, times));
}
