//! The one door for choice: everything a run leaves undetermined is asked here.

use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One question to a chooser: a closed range of answers, with the scripted answer as the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is being asked; a stable name given by the asker (`"arrival"`, `"stop"`, ..).
    pub site: &'static str,
    /// What it is asked about: an index given by the asker.
    pub subject: u32,
    /// How many answers there are: `0..options`.
    pub options: u32,
    /// The answer that the script gives; below `options`.
    pub default: u32,
}

/// Answers what is undetermined. Replay, fuzzing, exhaustive search and a person are implementations.
pub trait Chooser {
    /// Picks an answer in `0..choice.options`.
    fn choose(&mut self, choice: Choice) -> u32;

    /// Whether questions of this site may get another answer than the script's. Where they never do, an asker may save
    /// itself the asking.
    fn is_open(&self, site: &'static str) -> bool {
        let _ = site;
        false
    }

    /// Picks a duration in `lo_ns..=hi_ns` nanoseconds. Asked only if `lo_ns < hi_ns`.
    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64;
}

impl<C: Chooser + ?Sized> Chooser for &mut C {
    fn choose(&mut self, choice: Choice) -> u32 {
        (**self).choose(choice)
    }

    fn is_open(&self, site: &'static str) -> bool {
        (**self).is_open(site)
    }

    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64 {
        (**self).duration_ns(lo_ns, hi_ns)
    }
}

/// Gives the scripted answer to every question and the shortest duration.
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

/// The sites whose questions may get another answer than the script's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Open(pub Vec<&'static str>);

impl Open {
    /// Whether a site is one of them.
    #[inline]
    pub fn has(&self, site: &'static str) -> bool {
        // Nearly always it is the very same text: a site is named in one place.
        self.0.iter().any(|open| std::ptr::eq(*open, site) || *open == site)
    }
}

/// Gives the scripted answer to every question and draws durations from ChaCha8 by seed.
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
    fn the_script_answers_with_the_default() {
        let choice = Choice { site: "arrival", subject: 3, options: 2, default: 1 };
        assert_eq!(Scripted.choose(choice), 1);
        assert_eq!(Seeded::new(0).choose(choice), 1);
        assert_eq!(Scripted.duration_ns(4, 9), 4);
    }
}
