//! The recurrence of the numeric state in exact arithmetic.
//!
//! h := a(t) h + b(t), as in `ssm.rs`, but over the integers modulo the prime 2^61 - 1, and with weights for every token
//! in place of a vocabulary. Single precision would hide differences: it rounds, its a is below 1, so that two states
//! become equal after a few hundred equal tokens, and tokens count modulo the vocabulary. Here a(t) is never 0, so a
//! step has an inverse: different states stay different whatever follows, and no tolerance is needed.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::record::Token;

/// The modulus: a prime.
const MODULUS: u64 = (1 << 61) - 1;
/// The numbers of a state.
const DIM: usize = 2;

/// The numbers of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers([u64; DIM]);

impl Numbers {
    /// The state before any token, and of a cleared slot.
    pub const ZERO: Numbers = Numbers([0; DIM]);

    /// The state with one more token.
    pub fn step(self, token: Token) -> Numbers {
        let mut lane = 0;
        Numbers(self.0.map(|h| {
            let (a, b) = (weight(token, 2 * lane), weight(token, 2 * lane + 1));
            lane += 1;
            let next = u128::from(a) * u128::from(h) + u128::from(b);
            (next % u128::from(MODULUS)) as u64
        }))
    }
}

/// A weight of a token, from 1 to the modulus less 1.
fn weight(token: Token, nth: u64) -> u64 {
    1 + xxh3_64_with_seed(&token.to_le_bytes(), nth) % (MODULUS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(tokens: &[Token]) -> Numbers {
        tokens.iter().fold(Numbers::ZERO, |state, &token| state.step(token))
    }

    #[test]
    fn different_sequences_have_different_numbers_and_stay_different() {
        let sequences: Vec<Vec<Token>> = vec![
            vec![],
            vec![0],
            vec![64],
            vec![1000],
            vec![0, 0],
            vec![0, 64],
            vec![64, 0],
            vec![1, 2, 3],
            vec![1, 3, 2],
            vec![u32::MAX],
        ];
        let common: Vec<Token> = (0..5000).map(|i| i % 7).collect();
        for (i, one) in sequences.iter().enumerate() {
            for other in &sequences[..i] {
                assert_ne!(after(one), after(other), "{one:?} {other:?}");
                let longer = |start: &[Token]| after(&[start, &common].concat());
                assert_ne!(longer(one), longer(other), "{one:?} {other:?}, then many equal tokens");
            }
        }
    }

    #[test]
    fn numbers_stay_below_the_modulus_and_a_weight_is_never_0() {
        let mut state = Numbers::ZERO;
        for token in 0..10_000 {
            state = state.step(token);
            assert!(state.0.iter().all(|&h| h < MODULUS));
            assert!((0..4).all(|nth| (1..MODULUS).contains(&weight(token, nth))));
        }
    }
}
