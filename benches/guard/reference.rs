//! What the simulator's time is compared with: a loop that does what a discrete simulation does, and never changes.
//!
//! Refuses to call anything of the simulator.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

/// Entries of the table: four bytes each, more than a first-level cache holds.
const TABLE: usize = 1 << 15;
const EVENTS: u64 = 64;
const ROUNDS: u32 = 60_000;

/// Some milliseconds: events from a heap, each of which writes a few rows of a table and folds what was there into a hash.
pub fn run() {
    let mut table = vec![1u32; TABLE];
    let mut events: BinaryHeap<Reverse<(u64, u64)>> = (0..EVENTS).map(|nth| Reverse((nth * 7 % EVENTS, nth))).collect();
    let mut hash = 0u64;
    let mut rows: Vec<u32> = Vec::new();
    for nth in 0..ROUNDS {
        let Reverse((at, id)) = events.pop().expect("as many are put back");
        rows.clear();
        rows.extend((0..8).map(|row| (mixed(at + row) as u32).wrapping_add(nth)));
        for row in &rows {
            let cell = &mut table[*row as usize % TABLE];
            hash = mixed(hash ^ u64::from(*cell));
            *cell = if cell.is_multiple_of(5) { *row } else { *cell + 1 };
        }
        events.push(Reverse((at + 1 + hash % 50, id)));
    }
    black_box((hash, table));
}

fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word ^ word >> 29
}
