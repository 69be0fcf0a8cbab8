//! Choices and choosers: everything that a run leaves undetermined is a question to a [`Chooser`].

use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::ChoicePoint;

/// One question to a chooser: a closed range of answers, with a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is asked.
    pub point: ChoicePoint,
    /// The number that the question is about; [`ChoicePoint`] says what it counts.
    pub subject: u32,
    /// The number of answers: `0..options`.
    pub options: u32,
    /// The answer of the script, or the machine's own decision; below `options`.
    pub default: u32,
}

/// Answers everything that a run leaves undetermined. Replay, random search, exhaustive search and the interactive
/// chooser are implementations.
pub trait Chooser {
    /// Picks an answer in `0..choice.options`.
    fn choose(&mut self, choice: Choice) -> u32;

    /// Whether questions of this choice point may get another answer than the default. The machine may skip the
    /// questions of a closed point.
    fn is_open(&self, point: ChoicePoint) -> bool {
        let _ = point;
        false
    }

    /// Picks a duration in `lo_ns..=hi_ns` nanoseconds. Asked only if `lo_ns < hi_ns`.
    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64;
}

impl<C: Chooser + ?Sized> Chooser for &mut C {
    fn choose(&mut self, choice: Choice) -> u32 {
        (**self).choose(choice)
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        (**self).is_open(point)
    }

    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64 {
        (**self).duration_ns(lo_ns, hi_ns)
    }
}

/// Gives the default answer to every question, and the shortest durations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scripted;

impl Chooser for Scripted {
    fn choose(&mut self, choice: Choice) -> u32 {
        choice.default
    }

    fn duration_ns(&mut self, lo_ns: u64, _hi_ns: u64) -> u64 {
        lo_ns
    }
}

/// The open choice points: their questions may get another answer than the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenPoints(pub Vec<ChoicePoint>);

impl OpenPoints {
    /// Whether a choice point is open.
    #[inline]
    pub fn has(&self, point: ChoicePoint) -> bool {
        self.0.contains(&point)
    }
}

/// Gives the default answer to every question, and draws durations from ChaCha8 by seed.
#[derive(Clone, Debug)]
pub struct Seeded {
    rng: ChaCha8Rng,
}

impl Seeded {
    /// A chooser whose draws are a function of `seed` alone, the same on every machine.
    pub fn new(seed: u64) -> Self {
        Seeded { rng: ChaCha8Rng::seed_from_u64(seed) }
    }
}

impl Chooser for Seeded {
    fn choose(&mut self, choice: Choice) -> u32 {
        choice.default
    }

    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64 {
        self.rng.random_range(lo_ns..=hi_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_a_function_of_the_seed() {
        let draws = |seed| {
            let mut chooser = Seeded::new(seed);
            (0..8).map(|_| chooser.duration_ns(10, 1000)).collect::<Vec<_>>()
        };
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
        assert!(draws(7).iter().all(|ns| (10..=1000).contains(ns)));
    }

    #[test]
    fn scripted_choosers_give_the_default() {
        let choice = Choice { point: ChoicePoint::Arrival, subject: 3, options: 2, default: 1 };
        assert_eq!(Scripted.choose(choice), 1);
        assert_eq!(Seeded::new(0).choose(choice), 1);
        assert_eq!(Scripted.duration_ns(4, 9), 4);
    }
}
