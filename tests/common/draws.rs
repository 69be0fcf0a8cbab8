//! A chooser that draws every answer from a seed.

use overlapsim::engine::{Choice, Chooser};
use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Uniform draws from ChaCha8.
pub struct Draws(ChaCha8Rng);

impl Draws {
    pub fn new(seed: u64) -> Draws {
        Draws(ChaCha8Rng::seed_from_u64(seed))
    }
}

impl Chooser for Draws {
    fn choose(&mut self, choice: Choice) -> u32 {
        self.0.random_range(0..choice.options)
    }

    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64 {
        self.0.random_range(lo_ns..=hi_ns)
    }
}
