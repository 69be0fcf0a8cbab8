//! Where the threads of a search meet: the frontier, the states seen, and the blocks that are under way.
//!
//! Owns the order. The frontier is worked off in blocks with numbers, a few of them at a time, and their successors are taken in by number:
//! which states make a block is decided when the block so many numbers before it has been taken in, whoever expanded it and whenever that
//! was. Refuses to expand anything.

use std::collections::VecDeque;

use crate::record::Spare;

use super::block::{Next, Node, Parent, Successor, Work};
use super::expand::{drop_if, keep};
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
pub(super) struct Block<T, K> {
    number: u64,
    /// The thread that made most of the states, or at least the block before.
    by: usize,
    pub work: Work<T, K>,
}

/// The frontier, and what is under way.
pub(super) struct Desk<T, K> {
    order: Order,
    states_max: u64,
    visited: Visited,
    frontier: VecDeque<Node<T>>,
    /// Blocks that nobody has begun with, by number.
    to_do: VecDeque<Block<T, K>>,
    /// By number, the blocks that have not been taken in: what came of those that are expanded, and who did it.
    done: VecDeque<Option<(usize, Work<T, K>)>>,
    /// Lists of blocks that have been taken in, for the next ones.
    rooms: Vec<Work<T, K>>,
    /// Of the block that is taken in, by step: the state from which another step was taken, if it is new: its id and depth.
    passed: Vec<Option<(u32, u32)>>,
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
            rooms: Vec::new(),
            passed: Vec::new(),
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

    /// Which state of the frontier is next.
    pub fn order(&self) -> Order {
        self.order
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
    pub fn next(&mut self, thread: usize) -> Option<Block<T, K>> {
        let own = self.to_do.iter().position(|block| block.by == thread);
        self.to_do.remove(own.unwrap_or(0))
    }

    /// Drops states that were seen in blocks that have been taken in.
    pub fn sift(&self, successors: &mut [Successor<T, K>], spare: &mut Spare<T>) {
        self.visited.touch(successors.iter().filter_map(|successor| successor.next.print()));
        drop_if(successors, spare, |print| self.visited.contains(print));
    }

    /// A thread has expanded a block.
    pub fn hand_in(&mut self, thread: usize, block: Block<T, K>) {
        let Block { number, by: _, work } = block;
        self.done[(number - self.taken) as usize] = Some((thread, work));
    }

    /// Takes in what can be taken in by now. States that are not new are kept for their memory. In a search that was told to stop, threads
    /// still take in what they have expanded.
    pub fn take_in(&mut self, spare: &mut Spare<T>) {
        while (!self.over || self.bound == Some(Bound::Stopped)) && self.done.front().is_some_and(Option::is_some) {
            let Some((thread, mut work)) = self.done.pop_front().flatten() else { return };
            self.taken += 1;
            self.take(&mut work, spare);
            if work.too_many {
                self.end(Some(Bound::Answers));
            }
            work.clear();
            self.rooms.push(work);
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
        let mut work = self.rooms.pop().unwrap_or_default();
        if count == 0 {
            return self.done.push_back(Some((by, work)));
        }
        self.done.push_back(None);
        match self.order {
            Order::Bfs => work.nodes.extend(self.frontier.drain(..count)),
            Order::Dfs => work.nodes.extend(self.frontier.drain(self.frontier.len() - count..).rev()),
        }
        self.to_do.push_back(Block { number, by, work });
    }

    /// Takes in the successors of a block, in their order.
    fn take(&mut self, work: &mut Work<T, K>, spare: &mut Spare<T>) {
        let Work { nodes: _, parents, too_many: _, successors, answers } = work;
        self.away -= parents.len();
        if !parents.is_empty() {
            // Steps that were followed do not count: how many those are depends on what was known at that moment.
            let own = successors.iter().take_while(|successor| matches!(successor.parent, Parent::Node(_))).count();
            self.block = (SUCCESSORS_MAX * parents.len() / own.max(1)).clamp(1, BLOCK);
        }
        self.visited.touch(successors.iter().filter_map(|successor| successor.next.print()));
        self.passed.clear();
        for Successor { parent, answers: (start, end), next, goals, stepped } in successors.drain(..) {
            let origin = match parent {
                Parent::Node(at) => Some(parents[at as usize]),
                Parent::Step(at) => self.passed[at as usize],
            };
            let passed = origin.and_then(|(parent, depth)| {
                let answers = &answers[start as usize..end as usize];
                let depth = depth + 1;
                self.tally.step(parent, depth, answers, goals, stepped.as_deref());
                let is_new = next.print().is_some_and(|print| self.visited.insert(print));
                is_new.then(|| (self.tally.add(parent, answers), depth))
            });
            self.passed.push(passed);
            match (next, passed) {
                (Next::State(_, state), Some((id, depth))) => self.frontier.push_back(Node { id, depth, state }),
                (Next::State(_, state), None) => keep(spare, state),
                (Next::Nothing | Next::Passed(_), _) => {}
            }
        }
    }

    /// What the search saw.
    pub fn finish(self) -> Explored<K> {
        self.tally.finish(self.bound)
    }
}
