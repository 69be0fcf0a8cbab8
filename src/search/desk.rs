//! Where the threads of a search meet: the frontier, the states seen, and the blocks that are under way.
//!
//! Owns the order. The frontier is worked off in blocks with numbers, a few of them at a time, and their successors are taken in by number:
//! which states make a block is decided when the block so many numbers before it has been taken in, whoever expanded it and whenever that
//! was. Refuses to expand anything.

use std::collections::VecDeque;

use crate::record::Spare;

use super::expand::{Expanded, Node, Successor, keep};
use super::explore::{Bound, Explored, Order};
use super::tally::Tally;
use super::visited::Visited;

/// Most states of a block.
const BLOCK: usize = 8;
/// Blocks that are under way at a time, and so the most threads that have something to do. With more of them, or larger ones, the states
/// of one thread do not fit into its second-level cache.
pub(super) const BLOCKS: usize = 8;
/// Most successors that a block should have, and so the fewer states the more ways lead on from each.
const SUCCESSORS_MAX: usize = 4096;

/// Some states to be expanded.
pub(super) struct Block<T> {
    number: u64,
    /// The thread that made most of the states, or at least the block before.
    by: usize,
    pub nodes: Vec<Node<T>>,
}

/// The frontier, and what is under way.
pub(super) struct Desk<T, K> {
    order: Order,
    states_max: u64,
    visited: Visited,
    frontier: VecDeque<Node<T>>,
    /// Blocks that nobody has begun with, by number.
    to_do: VecDeque<Block<T>>,
    /// By number, the blocks that have not been taken in: what came of those that are expanded, and who did it.
    done: VecDeque<Option<(usize, Expanded<T, K>)>>,
    /// Blocks taken in.
    taken: u64,
    /// States that are not in the frontier: those of blocks that have not been taken in.
    away: usize,
    /// Most states of the next block.
    block: usize,
    tally: Tally<K>,
    bound: Option<Bound>,
    over: bool,
    /// Threads that wait for a block.
    pub waiting: usize,
}

impl<T, K: Clone + Ord> Desk<T, K> {
    /// Before the first step from a state.
    pub fn new(order: Order, states_max: u64, start: T, print: u128) -> Self {
        let mut desk = Desk {
            order,
            states_max,
            visited: Visited::default(),
            frontier: VecDeque::from([Node { id: 0, depth: 0, state: start }]),
            to_do: VecDeque::new(),
            done: VecDeque::new(),
            taken: 0,
            away: 0,
            block: BLOCK,
            tally: Tally::new(),
            bound: None,
            over: false,
            waiting: 0,
        };
        desk.visited.insert(print);
        if desk.goes_on() {
            (0..BLOCKS).for_each(|_| desk.give_out(0));
        }
        desk
    }

    /// Whether nothing is left to do.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Whether somebody could begin with a block.
    pub fn has_block(&self) -> bool {
        !self.to_do.is_empty()
    }

    /// States that differ.
    pub fn unique(&self) -> u64 {
        self.tally.unique()
    }

    /// Ends the search.
    pub fn end(&mut self, bound: Option<Bound>) {
        if !self.over {
            (self.bound, self.over) = (bound, true);
        }
    }

    /// A block for a thread: if there is one, with states that it made itself.
    pub fn next(&mut self, thread: usize) -> Option<Block<T>> {
        let own = self.to_do.iter().position(|block| block.by == thread);
        self.to_do.remove(own.unwrap_or(0))
    }

    /// Whether a state was seen in a block that has been taken in.
    pub fn knows(&self, print: u128) -> bool {
        self.visited.contains(print)
    }

    /// A thread has expanded a block.
    pub fn hand_in(&mut self, thread: usize, number: u64, expanded: Expanded<T, K>) {
        self.done[(number - self.taken) as usize] = Some((thread, expanded));
    }

    /// Takes in what can be taken in by now. States that are not new are kept for their memory.
    pub fn take_in(&mut self, spare: &mut Spare<T>) {
        while !self.over && self.done.front().is_some_and(Option::is_some) {
            let Some((thread, expanded)) = self.done.pop_front().flatten() else { return };
            self.taken += 1;
            let too_many = expanded.too_many;
            self.take(expanded, spare);
            if too_many {
                self.end(Some(Bound::Answers));
            }
            if self.goes_on() {
                self.give_out(thread);
            }
        }
    }

    /// Whether there is more to see, and may be seen.
    fn goes_on(&mut self) -> bool {
        if self.frontier.is_empty() && self.away == 0 {
            self.end(None);
        } else if self.tally.unique() >= self.states_max {
            self.end(Some(Bound::States));
        }
        !self.over
    }

    /// Makes the block with the next number. It may be empty.
    fn give_out(&mut self, by: usize) {
        let count = self.block.min(self.frontier.len());
        let number = self.taken + self.done.len() as u64;
        self.away += count;
        if count == 0 {
            return self.done.push_back(Some((by, Expanded::default())));
        }
        self.done.push_back(None);
        let nodes = match self.order {
            Order::Bfs => self.frontier.drain(..count).collect(),
            Order::Dfs => self.frontier.drain(self.frontier.len() - count..).rev().collect(),
        };
        self.to_do.push_back(Block { number, by, nodes });
    }

    /// Takes in the successors of a block, in the order of the nodes that they came from.
    fn take(&mut self, expanded: Expanded<T, K>, spare: &mut Spare<T>) {
        let Expanded { parents, successors, answers, goals, too_many: _ } = expanded;
        self.away -= parents.len();
        if !parents.is_empty() {
            self.block = (SUCCESSORS_MAX * parents.len() / successors.len().max(1)).clamp(1, BLOCK);
        }
        self.tally.reach(goals);
        self.visited.touch(successors.iter().filter_map(|successor| Some(successor.next.as_ref()?.0)));
        for Successor { from, answers: (start, end), next, stepped } in successors {
            let (parent, depth) = parents[from as usize];
            let answers = &answers[start as usize..end as usize];
            let depth = depth + 1;
            self.tally.step(parent, depth, answers, stepped.as_deref());
            let Some((print, state)) = next else { continue };
            if self.visited.insert(print) {
                let id = self.tally.add(parent, answers);
                self.frontier.push_back(Node { id, depth, state });
            } else {
                keep(spare, state);
            }
        }
    }

    /// What the search saw.
    pub fn finish(self) -> Explored<K> {
        self.tally.finish(self.bound)
    }
}

impl<T> Block<T> {
    /// Which of the blocks it is.
    pub fn number(&self) -> u64 {
        self.number
    }
}
