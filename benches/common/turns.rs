//! Things timed turn about in one run, so that what else the computer does falls on all of them.

use std::time::Duration;

/// Best time and median ratio to the first of several things.
pub struct Turn {
    /// Nanoseconds a unit.
    pub best: f64,
    /// The median of the ratios to the first thing within a round.
    pub ratio: f64,
}

/// Times `count` things in `rounds` rounds, each beginning with the next one; `time` gives the time of one of them, for
/// `per` units.
pub fn turns(rounds: usize, count: usize, per: usize, mut time: impl FnMut(usize) -> Duration) -> Vec<Turn> {
    let mut times = vec![vec![0.0; count]; rounds];
    for (nth, round) in times.iter_mut().enumerate() {
        for turn in 0..count {
            let at = (nth + turn) % count;
            round[at] = time(at).as_nanos() as f64 / per as f64;
        }
    }
    let best = |at: usize| times.iter().map(|round| round[at]).fold(f64::INFINITY, f64::min);
    let ratio = |at: usize| median(times.iter().map(|round| round[at] / round[0]).collect());
    (0..count).map(|at| Turn { best: best(at), ratio: ratio(at) }).collect()
}

/// The middle one of an odd number of values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
