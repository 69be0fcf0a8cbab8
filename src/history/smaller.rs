//! Candidates for shrinking a setup, the largest reduction first. A candidate is smaller by [`measure`]. The caller
//! checks whether it is valid and still shows the finding.

mod drops;
mod engine;
mod lengths;
mod prompts;
mod turns;

use crate::model::Setup;

pub(super) use drops::keep;

use super::measure::measure;
use super::prompts::deal_fresh;

/// Setups that are smaller than `setup`, each by one change. Their bound on turns is that of `setup`. A setup with very
/// many requests first loses blocks of requests.
pub fn smaller(setup: &Setup) -> Vec<Setup> {
    let mut moves = Moves { setup, list: Vec::new() };
    drops::requests(&mut moves);
    drops::events(&mut moves);
    engine::engine(&mut moves);
    if drops::is_large(setup) {
        return moves.list;
    }
    prompts::kinds(&mut moves);
    turns::kinds(&mut moves);
    lengths::ends(&mut moves);
    lengths::outputs(&mut moves);
    lengths::prompts(&mut moves);
    lengths::accepted(&mut moves);
    engine::sizes(&mut moves);
    turns::turns(&mut moves);
    moves.list
}

/// The candidates so far.
struct Moves<'a> {
    setup: &'a Setup,
    list: Vec<Setup>,
}

impl Moves<'_> {
    /// Adds the setup with a change, if that makes it smaller.
    fn propose(&mut self, change: impl FnOnce(&mut Setup)) {
        let mut candidate = self.setup.clone();
        change(&mut candidate);
        deal_fresh(&mut candidate.requests);
        if measure(&candidate) < measure(self.setup) {
            self.list.push(candidate);
        }
    }
}

/// `least`, half of `number`, and one less than it, without those below `least` or not below `number`. The smallest is
/// first.
fn below(number: u32, least: u32) -> Vec<u32> {
    let mut list = vec![least, number / 2, number.saturating_sub(1)];
    list.retain(|&less| less >= least && less < number);
    list.dedup();
    list
}
