//! What a search reports does not depend on the number of threads, even where blocks are smaller because states have many successors, and
//! where a bound ends it.

use std::time::Duration;

use overlapsim::engine::{Choice, ChoicePoint, Chooser, OpenPoints};
use overlapsim::search::{Order, SearchLimits, StepOutcome, System, explore};

use super::small::Dice;

/// A graph without a pattern: from two thirds of its states so many ways lead on, from the others one.
struct Graph {
    states: u64,
    ways: u32,
}

fn mix(state: u64, other: u64) -> u64 {
    u64::from(Dice(state << 32 ^ other).below(u32::MAX))
}

impl Graph {
    fn asks(&self, state: u64) -> bool {
        !mix(state, 1 << 20).is_multiple_of(3)
    }
}

impl System for Graph {
    type State = u64;
    type Kind = u64;
    type Scratch = ();

    fn start(&self) -> u64 {
        1
    }

    fn step(&self, state: u64, chooser: &mut impl Chooser) -> (u64, StepOutcome<u64>) {
        if mix(state, 1 << 21).is_multiple_of(50) {
            // So that threads overtake each other.
            std::thread::sleep(Duration::from_micros(60));
        }
        let choice = Choice { point: ChoicePoint::Arrival, subject: 0, options: self.ways, default: 0 };
        let way = if self.asks(state) { chooser.choose(choice) } else { 0 };
        let after = mix(state, way.into()) % self.states;
        let found = if after.is_multiple_of(97) { vec![after / 97 % 5] } else { Vec::new() };
        (after, StepOutcome { over: false, cut: None, found, goals: 0 })
    }

    fn scratch(&self) {}

    fn fingerprint(&self, state: &u64, (): &mut ()) -> u128 {
        u128::from(*state) | u128::from(mix(*state, 1 << 22)) << 64
    }
}

#[test]
fn a_bound_falls_at_the_same_state_for_any_number_of_threads() {
    let open = OpenPoints(vec![ChoicePoint::Arrival]);
    for ways in [357, 366, 420, 429] {
        let graph = Graph { states: 60_000, ways };
        for order in [Order::Dfs, Order::Bfs] {
            let run = |jobs| explore(&graph, &open, order, jobs, SearchLimits { states_max: 30_000, stop: &|_| false });
            let one = run(1);
            assert!(one.unique == 30_000 && one.found.len() == 5);
            for jobs in [2, 5, 2, 5] {
                assert_eq!(run(jobs), one, "{ways} ways, {order:?}, {jobs} threads");
            }
        }
    }
}
