//! The true tokens of one request and the state after each of its prefixes.
//!
//! Owns the running hashes. Refuses to guess: a prefix that it has not seen is a state of known length and unknown hash.

use crate::record::{Short, State, Token};

/// The hash of a state whose tokens the record does not tell.
pub(super) const UNKNOWN: u64 = 0;

/// The tokens of a request as far as the record tells them, with the hash of every prefix.
#[derive(Debug, Default)]
pub(super) struct Truth {
    prefixes: Short<Prefix, 16>,
}

clone_in_place!(Truth { prefixes });

/// A token, and the hash of the prefix that ends with it.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    h: u64,
    token: Token,
}

impl Truth {
    /// Replaces everything by a prompt.
    pub fn prompt(&mut self, tokens: &[Token]) {
        self.prefixes.clear();
        self.reserve(tokens.len());
        for &token in tokens {
            self.append(token);
        }
    }

    /// Makes room for `count` more tokens.
    pub fn reserve(&mut self, count: usize) {
        self.prefixes.reserve(count);
    }

    /// Token number `len + 1` was sampled. Sampling it again changes nothing unless it came out differently; a token
    /// after a gap is ignored.
    #[inline]
    pub fn sampled(&mut self, len: u32, token: Token) {
        let known = self.prefixes.get(len as usize);
        if known.is_some_and(|known| known.token != token) {
            self.prefixes.truncate(len as usize);
        }
        if len as usize == self.prefixes.len() {
            self.append(token);
        }
    }

    #[inline]
    fn append(&mut self, token: Token) {
        let before = self.prefixes.last().map_or(State::ZERO.h, |last| last.h);
        let State { h, .. } = State { n: 0, h: before }.fold(token);
        self.prefixes.push(Prefix { h, token });
    }

    /// The state after the first `len` tokens.
    #[inline]
    pub fn at(&self, len: u32) -> State {
        if len == 0 {
            return State::ZERO;
        }
        State { n: len, h: self.prefixes.get(len as usize - 1).map_or(UNKNOWN, |prefix| prefix.h) }
    }

    /// Whether `content` is the state after the first `len` tokens, for all that is known.
    pub fn holds(&self, content: State, len: u32) -> bool {
        let truth = self.at(len);
        content.n == len && (content.h == truth.h || content.h == UNKNOWN || truth.h == UNKNOWN)
    }

    /// Whether `content` is known to be the state after the first `len` tokens.
    pub fn surely_holds(&self, content: State, len: u32) -> bool {
        content == self.at(len) && content.h != UNKNOWN
    }

    /// The state after folding this request's tokens `from..to` into `base`, which may be wrong.
    #[inline]
    pub fn advance(&self, base: State, from: u32, to: u32) -> State {
        if base == self.at(from) && base.h != UNKNOWN && from <= to {
            return self.at(to);
        }
        self.fold(base, from, to)
    }

    #[cold]
    fn fold(&self, base: State, from: u32, to: u32) -> State {
        match self.prefixes.get(from as usize..to as usize) {
            Some(run) if base.h != UNKNOWN => run.iter().fold(base, |state, prefix| state.fold(prefix.token)),
            Some(_) | None => State { n: base.n.saturating_add(to.saturating_sub(from)), h: UNKNOWN },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_states_are_looked_up_and_wrong_ones_folded() {
        let mut truth = Truth::default();
        truth.prompt(&[7, 8, 9]);
        let folded = State::ZERO.fold_all(&[7, 8, 9]);
        assert_eq!(truth.advance(State::ZERO, 0, 3), folded);
        assert_eq!(truth.advance(truth.at(1), 1, 3), folded);
        assert_eq!(truth.advance(State::ZERO, 1, 3), State::ZERO.fold(8).fold(9));
        assert!(truth.holds(folded, 3) && !truth.holds(folded, 2));
    }

    #[test]
    fn what_is_not_told_is_judged_by_length() {
        let mut truth = Truth::default();
        truth.sampled(3, 1);
        let state = truth.advance(State::ZERO, 0, 4);
        assert_eq!(state.n, 4);
        assert!(truth.holds(state, 4) && !truth.surely_holds(state, 4) && !truth.holds(state, 5));
        assert_eq!(truth.advance(state, 9, 3).n, 4);
    }

    #[test]
    fn a_token_sampled_again_changes_nothing_unless_it_differs() {
        let mut truth = Truth::default();
        truth.prompt(&[1]);
        truth.sampled(1, 5);
        truth.sampled(2, 6);
        truth.sampled(1, 5);
        assert_eq!(truth.at(3), State::ZERO.fold_all(&[1, 5, 6]));
        truth.sampled(1, 4);
        assert_eq!(truth.at(2), State::ZERO.fold_all(&[1, 4]));
        assert_eq!(truth.at(3).h, UNKNOWN);
    }
}
