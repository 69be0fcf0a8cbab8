//! The hash of a token sequence that recordings of the real scheduler contain, and the token that the modelled model
//! samples after a sequence.

use super::Token;

/// A recurrent state, named by its provenance: the number `n` of folded tokens and a 64-bit running hash `h` of exactly
/// those tokens.
///
/// Equal sequences have equal folds. Different sequences with equal folds are easily made, since the hash is linear:
/// a fold is compared with folds of recordings, and with nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenFold {
    /// The number of folded tokens.
    pub n: u32,
    /// Their running hash.
    pub h: u64,
}

impl TokenFold {
    /// The fold of no tokens: the content of a cleared slot.
    pub const ZERO: TokenFold = TokenFold { n: 0, h: 0xCBF2_9CE4_8422_2325 };

    /// [`TokenFold::sample`] returns tokens below this.
    pub const SAMPLED_END: Token = 1000;

    /// The fold with one more token.
    #[inline]
    pub fn fold(self, token: Token) -> TokenFold {
        TokenFold { n: self.n + 1, h: (self.h ^ (u64::from(token) + 1)).wrapping_mul(0x0100_0000_01B3) }
    }

    /// The fold with several more tokens.
    pub fn fold_all(self, tokens: &[Token]) -> TokenFold {
        tokens.iter().fold(self, |state, &token| state.fold(token))
    }

    /// The token that the modelled model samples after this sequence: below [`TokenFold::SAMPLED_END`].
    #[inline]
    pub fn sample(self) -> Token {
        ((self.h >> 17) % u64::from(TokenFold::SAMPLED_END)) as Token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fold_is_the_one_the_recordings_use() {
        // Request "a" of the recorded histories: prompt [1], whose first eight tokens fold to this hash.
        let mut state = TokenFold::ZERO.fold(1);
        while state.n < 8 {
            state = state.fold(state.sample());
        }
        assert_eq!(format!("{:016x}", state.h), "fa0708a9fac9f3a0");
    }
}
