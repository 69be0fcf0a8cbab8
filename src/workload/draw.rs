//! Draws of a generator, all of them questions to a chooser. The answer 0 is always the plainest one, so that a chooser
//! that gives the scripted answers makes the smallest setup.

use crate::engine::Choice;
use crate::engine::ChoicePoint;
use crate::engine::Chooser;

/// A chooser, and the number of draws so far.
pub(super) struct Draws<'c, C> {
    chooser: &'c mut C,
    count: u32,
}

impl<'c, C: Chooser> Draws<'c, C> {
    pub fn new(chooser: &'c mut C) -> Self {
        Draws { chooser, count: 0 }
    }

    /// One of `0..options`. With a single option nothing is asked.
    pub fn below(&mut self, options: u32) -> u32 {
        if options < 2 {
            return 0;
        }
        let choice = Choice { point: ChoicePoint::Generate, subject: self.count, options, default: 0 };
        let answer = self.chooser.choose(choice);
        assert!(answer < options, "a chooser answers within the options");
        self.count += 1;
        answer
    }

    /// One of `lo..=hi`.
    pub fn between(&mut self, lo: u32, hi: u32) -> u32 {
        lo + self.below(hi - lo + 1)
    }

    /// Yes once in `n` draws.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == n - 1
    }

    /// One of these.
    pub fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32) as usize]
    }

    /// Sets the field to one of these values in a third of the draws, and leaves it as it is in the others.
    pub fn vary<T: Copy>(&mut self, field: &mut T, values: &[T]) {
        let count = values.len() as u32;
        if let Some(nth) = self.below(3 * count).checked_sub(2 * count) {
            *field = values[nth as usize];
        }
    }
}
