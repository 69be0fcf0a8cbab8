//! The emulated model: its weights, the recurrence, and the read-out.
//!
//! The weights are a function of the seed, with the same bits on every machine. They are not a choice of a run, so no
//! `Chooser` is asked.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::model::Ssm;
use crate::record::Token;

/// The largest state.
pub const DIM_MAX: u32 = 256;
/// The largest vocabulary.
pub const VOCAB_MAX: u32 = 4096;

/// The ChaCha stream of the read-out. The stream of the update of token t is t + 1.
const READ_OUT: u64 = 0;
/// The range of the decay of a state per token.
const DECAY: (f64, f64) = (0.9, 0.999);

/// The weights of an [`Ssm`].
///
/// The entries of a are uniform in (0.9, 0.999) and those of b in (-1, 1), from ChaCha8 by (seed, token). The entries
/// of C are uniform in (-√3, √3), which is unit variance, from ChaCha8 by seed. They are drawn in double and kept in
/// single precision.
#[derive(Clone, Debug)]
pub struct Weights {
    dim: usize,
    vocab: usize,
    /// `dim` decays, then `dim` inputs, for each token.
    updates: Vec<f32>,
    /// `dim` factors for each logit.
    read_out: Vec<f32>,
}

impl Weights {
    /// Draws the weights.
    ///
    /// # Panics
    /// If a size is 0 or above its limit.
    pub fn new(ssm: Ssm) -> Weights {
        assert!((1..=DIM_MAX).contains(&ssm.dim), "a state of {} numbers", ssm.dim);
        assert!((1..=VOCAB_MAX).contains(&ssm.vocab), "a vocabulary of {} tokens", ssm.vocab);
        let (dim, vocab) = (ssm.dim as usize, ssm.vocab as usize);
        let mut updates = Vec::with_capacity(2 * dim * vocab);
        for token in 0..u64::from(ssm.vocab) {
            let mut draws = Draws::new(ssm.seed, token + 1);
            updates.extend((0..dim).map(|_| draws.between(DECAY.0, DECAY.1)));
            updates.extend((0..dim).map(|_| draws.between(-1.0, 1.0)));
        }
        let mut draws = Draws::new(ssm.seed, READ_OUT);
        let side = 3f64.sqrt();
        let read_out = (0..dim * vocab).map(|_| draws.between(-side, side)).collect();
        Weights { dim, vocab, updates, read_out }
    }

    /// The number of values in a state.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// a and b of a token.
    #[inline]
    pub fn update(&self, token: Token) -> (&[f32], &[f32]) {
        let start = token as usize % self.vocab * 2 * self.dim;
        self.updates[start..start + 2 * self.dim].split_at(self.dim)
    }

    /// One step of the recurrence, as in a decode forward.
    #[inline]
    pub fn step(&self, state: &mut [f32], token: Token) {
        let (a, b) = self.update(token);
        for ((h, a), b) in state.iter_mut().zip(a).zip(b) {
            *h = a * *h + b;
        }
    }

    /// C h: the logits of the next token. Sums go in the order of the values of the state.
    pub fn logits(&self, state: &[f32]) -> Vec<f32> {
        let one = |row: &[f32]| row.iter().zip(state).fold(0.0, |sum, (c, h)| sum + c * h);
        self.read_out.chunks_exact(self.dim).map(one).collect()
    }
}

/// Draws from one ChaCha8 stream.
struct Draws(ChaCha8Rng);

impl Draws {
    fn new(seed: u64, stream: u64) -> Draws {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Draws(rng)
    }

    /// Uniform over the midpoints of 2^23 equal parts of the range, so neither end is drawn.
    fn between(&mut self, lo: f64, hi: f64) -> f32 {
        let part = (f64::from(self.0.next_u32() >> 9) + 0.5) / f64::from(1u32 << 23);
        (lo + (hi - lo) * part) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_a_function_of_the_seed() {
        let draw = |seed| Weights::new(Ssm { seed, ..Ssm::default() });
        let (one, two) = (draw(1), draw(2));
        assert_eq!(one.updates, draw(1).updates);
        assert_eq!(one.read_out, draw(1).read_out);
        assert!(one.updates != two.updates && one.read_out != two.read_out);
        // The bits themselves: the same on every machine and under every release of the generator.
        let first = [one.updates[0], one.updates[16], one.read_out[0]].map(f32::to_bits);
        assert_eq!(first, [1065154511, 1062401042, 1043277833]);
    }

    #[test]
    fn weights_are_of_the_documented_size() {
        let weights = Weights::new(Ssm { seed: 3, ..Ssm::default() });
        for token in 0..64 {
            let (a, b) = weights.update(token);
            assert!(a.iter().all(|&a| 0.9 < a && a < 0.999) && b.iter().all(|&b| -1.0 < b && b < 1.0));
            assert_eq!((a, b), weights.update(token + 64), "tokens count modulo the vocabulary");
        }
        let square: f32 = weights.read_out.iter().map(|c| c * c).sum();
        let variance = square / weights.read_out.len() as f32;
        assert!((0.9..1.1).contains(&variance), "{variance}");
    }
}
