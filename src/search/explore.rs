//! The exhaustive search: a frontier of states, each expanded by every list of answers that its next step can be given.
//!
//! States are values, kept in the frontier whole; those seen before are told by fingerprint. Owns what a search is asked and what it
//! answers; in which order the frontier is worked off is decided in `desk`, so that nothing that is reported depends on the number of
//! threads.

use std::collections::BTreeMap;

use crate::engine::Open;

use super::desk::{BLOCKS, Desk};
use super::system::System;
use super::team::{Shared, work};

/// Which state of the frontier is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest: the first way found to anything has the fewest steps.
    Bfs,
    /// The newest, block by block: a small frontier.
    Dfs,
}

/// How far a search may go.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Most unique states.
    pub states_max: u64,
    /// Whether to stop. Every thread asks it before every step and every fingerprint, with a recent number of unique states.
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

/// Searches everything that can come of `system` when the `open` questions are answered in every way.
pub fn explore<S: System>(system: &S, open: &Open, order: Order, jobs: usize, limits: Limits<'_>) -> Explored<S::Kind> {
    let Limits { states_max, stop } = limits;
    let start = system.start();
    let print = system.fingerprint(&start, &mut system.scratch());
    let shared = Shared::new(system, open, stop, Desk::new(order, states_max, start, print));
    std::thread::scope(|scope| {
        let shared = &shared;
        for thread in 1..jobs.min(BLOCKS) {
            scope.spawn(move || work(shared, thread));
        }
        work(shared, 0);
    });
    shared.finish()
}
