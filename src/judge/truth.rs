//! The true tokens of one request and the state after each of its prefixes.
//!
//! Owns the running hash. Refuses to guess: a prefix that it has not seen is a state of known length and unknown hash.

use crate::record::{State, Token};

/// The hash of a state whose tokens the record does not tell.
pub(super) const UNKNOWN: u64 = 0;

/// A hash is kept at every so many tokens; those between are folded again when they are asked for.
const STRIDE: usize = 16;

/// The tokens of a request as far as the record tells them.
///
/// Nearly always the newest two prefixes are asked for, so their hashes are at hand.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Truth {
    /// The hash of all tokens, and of all but the last.
    newest: Newest,
    tokens: Vec<Token>,
    /// The hashes of the first `STRIDE` tokens, of twice as many, and so on.
    marks: Vec<u64>,
}

clone_in_place!(Truth { tokens, marks } copied { newest });

#[derive(Clone, Copy, Debug)]
struct Newest {
    all: u64,
    but_last: u64,
}

impl Default for Newest {
    fn default() -> Self {
        Newest { all: State::ZERO.h, but_last: State::ZERO.h }
    }
}

impl Truth {
    /// Reads a little of every part. What it returns says nothing.
    pub fn glance(&self) -> u64 {
        self.newest.all ^ self.tokens.last().map_or(0, |&token| u64::from(token))
    }

    /// Replaces everything by a prompt.
    pub fn prompt(&mut self, tokens: &[Token]) {
        self.truncate(0);
        self.tokens.extend_from_slice(tokens);
        self.marks.reserve_exact(tokens.len() / STRIDE);
        let (all, last) = tokens.split_at(tokens.len().saturating_sub(1));
        let mut state = State::ZERO;
        for chunk in all.chunks(STRIDE) {
            state = state.fold_all(chunk);
            if chunk.len() == STRIDE {
                self.marks.push(state.h);
            }
        }
        self.newest = Newest { all: state.h, but_last: state.h };
        if let [last] = last {
            self.fold_newest(*last, tokens.len());
        }
    }

    /// Tokens known.
    #[cfg(test)]
    pub fn count(&self) -> u32 {
        self.tokens.len() as u32
    }

    /// Makes room for `count` more tokens.
    pub fn reserve(&mut self, count: usize) {
        self.tokens.reserve_exact(count);
        self.marks.reserve_exact(count / STRIDE);
    }

    /// Token number `len + 1` was sampled. Sampling it again changes nothing unless it came out differently; a token
    /// after a gap is ignored.
    #[inline]
    pub fn sampled(&mut self, len: u32, token: Token) {
        let len = len as usize;
        if len < self.tokens.len() && self.tokens[len] != token {
            self.truncate(len);
        }
        if len == self.tokens.len() {
            self.tokens.push(token);
            self.fold_newest(token, len + 1);
        }
    }

    /// The state after a step to `k` from the content `base`, and then the token that it sampled: what [`Truth::advance`] and
    /// [`Truth::sampled`] do, where the content is right and the token is new. Otherwise nothing is changed.
    #[inline]
    pub fn step(&mut self, base: State, k: u32, token: Token) -> Option<State> {
        let Newest { all, but_last } = self.newest;
        let right = base.n == k.wrapping_sub(1) && base.h == but_last && but_last != UNKNOWN;
        if !right || k == 0 || self.tokens.len() != k as usize {
            return None;
        }
        self.tokens.push(token);
        self.fold_newest(token, k as usize + 1);
        Some(State { n: k, h: all })
    }

    /// The hashes with one more token, which makes `count` of them.
    #[inline]
    fn fold_newest(&mut self, token: Token, count: usize) {
        let before = self.newest.all;
        let all = State { n: 0, h: before }.fold(token).h;
        self.newest = Newest { all, but_last: before };
        if count.is_multiple_of(STRIDE) {
            self.marks.push(all);
        }
    }

    #[cold]
    fn truncate(&mut self, len: usize) {
        let newest = Newest { all: self.hash(len), but_last: self.hash(len.saturating_sub(1)) };
        self.tokens.truncate(len);
        self.marks.truncate(len / STRIDE);
        self.newest = newest;
    }

    /// The hash of the first `len` tokens, which are known.
    #[inline]
    fn hash(&self, len: usize) -> u64 {
        let count = self.tokens.len();
        if len == count {
            self.newest.all
        } else if len + 1 == count {
            self.newest.but_last
        } else {
            self.fold_from_mark(len)
        }
    }

    fn fold_from_mark(&self, len: usize) -> u64 {
        let mark = len / STRIDE;
        let h = mark.checked_sub(1).map_or(State::ZERO.h, |at| self.marks[at]);
        State { n: 0, h }.fold_all(&self.tokens[mark * STRIDE..len]).h
    }

    /// The state after the first `len` tokens.
    #[inline]
    pub fn at(&self, len: u32) -> State {
        let known = len as usize <= self.tokens.len();
        State { n: len, h: if known { self.hash(len as usize) } else { UNKNOWN } }
    }

    /// Whether `content` is the state after the first `len` tokens, for all that is known.
    pub fn holds(&self, content: State, len: u32) -> bool {
        let truth = self.at(len);
        content.n == len && (content.h == truth.h || content.h == UNKNOWN || truth.h == UNKNOWN)
    }

    /// Whether `content` is known to be the state after the first `len` tokens.
    pub fn surely_holds(&self, content: State, len: u32) -> bool {
        content.n == len && self.has(content)
    }

    /// Whether a state is known to be that after so many of the tokens as it has folded.
    #[inline]
    pub fn has(&self, state: State) -> bool {
        let len = state.n as usize;
        state.h != UNKNOWN && len <= self.tokens.len() && self.hash(len) == state.h
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
        match self.tokens.get(from as usize..to as usize) {
            Some(run) if base.h != UNKNOWN => base.fold_all(run),
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
    fn every_prefix_has_its_state_however_the_tokens_came() {
        let tokens: Vec<Token> = (0..3 * STRIDE as u32 + 2).map(|token| token * 7 % 5).collect();
        for prompt in 0..tokens.len() {
            let mut truth = Truth::default();
            truth.prompt(&tokens[..prompt]);
            for (len, &token) in tokens.iter().enumerate().skip(prompt) {
                truth.sampled(len as u32, token);
            }
            for cut in [tokens.len() - 1, 2 * STRIDE, 2 * STRIDE - 1, STRIDE + 1, 1, 0] {
                for len in 0..=truth.tokens.len() {
                    assert_eq!(truth.at(len as u32), State::ZERO.fold_all(&truth.tokens[..len]));
                }
                if cut < truth.tokens.len() {
                    let other = truth.tokens[cut] + 1;
                    truth.sampled(cut as u32, other);
                    assert_eq!(truth.tokens.last(), Some(&other));
                }
            }
        }
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
