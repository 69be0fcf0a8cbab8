//! The names of contents, and the true tokens of one request.
//!
//! Owns the comparison of a content with tokens. A content is a [`Prefix`]. A content that was extended with tokens of
//! a request although it was not the state before these tokens is wrong: it is a prefix of no request, stays wrong
//! until it is overwritten, and only its length is kept. Does not guess: if the record lacks the tokens, only lengths
//! are compared.

use crate::record::{Lineage, Prefix, StreamId};

/// The stream of contents whose tokens are not in the record.
const UNKNOWN: StreamId = StreamId(u32::MAX);
/// The stream of wrong contents: extended from something else than the preceding tokens.
const WRONG: StreamId = StreamId(u32::MAX - 1);
/// The stream of contents that a torn copy left.
const TORN: StreamId = StreamId(u32::MAX - 2);

/// Whether the tokens of a content are known, or it is known to be wrong.
#[inline]
pub(crate) fn is_known(content: Prefix) -> bool {
    content.stream != UNKNOWN
}

/// The content that a copy reads if it is not ordered after the write of `new` over `old`: neither of them, with the
/// length of `old`.
pub(crate) fn torn(old: Prefix, new: Prefix) -> Prefix {
    if old == new || !is_known(old) || !is_known(new) { old } else { Prefix { stream: TORN, ..old } }
}

/// The tokens of a request, as far as the record has them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tokens {
    stream: StreamId,
    /// The number of known tokens.
    known: u32,
}

impl Tokens {
    /// Sets the tokens to a prompt.
    pub fn prompt(&mut self, prompt: Prefix) {
        *self = Tokens { stream: prompt.stream, known: prompt.len };
    }

    /// Token number `len + 1` was sampled; `stream` is the stream of all tokens up to it. A token that was sampled
    /// before changes nothing unless it differs; a token after a gap is ignored.
    #[inline]
    pub fn sampled(&mut self, len: u32, stream: StreamId, lineage: &Lineage) {
        let Some(known) = len.checked_add(1) else { return };
        let is_new = len == self.known;
        if is_new || len < self.known && lineage.prefix(stream, known) != lineage.prefix(self.stream, known) {
            *self = Tokens { stream, known };
        }
    }

    /// The state after the first `len` tokens; unknown if not all of them are known.
    #[inline]
    pub fn at(&self, len: u32, lineage: &Lineage) -> Prefix {
        if len <= self.known { lineage.prefix(self.stream, len) } else { Prefix { stream: UNKNOWN, len } }
    }

    /// Whether `content` can be the state after the first `len` tokens: by tokens if both are known, else by length.
    pub fn holds(&self, content: Prefix, len: u32, lineage: &Lineage) -> bool {
        let tokens = self.at(len, lineage);
        content.len == len && (content == tokens || !is_known(content) || !is_known(tokens))
    }

    /// Whether `content` is known to be the state after the first `len` tokens.
    pub fn surely_holds(&self, content: Prefix, len: u32, lineage: &Lineage) -> bool {
        content.len == len && self.has(content, lineage)
    }

    /// Whether `content` is known to be a prefix of the tokens.
    #[inline]
    pub fn has(&self, content: Prefix, lineage: &Lineage) -> bool {
        content.len <= self.known && lineage.prefix(self.stream, content.len) == content
    }

    /// The state after folding the tokens `from..to` of this request into `base`, which may be wrong.
    #[inline]
    pub fn advance(&self, base: Prefix, from: u32, to: u32, lineage: &Lineage) -> Prefix {
        if from <= to && is_known(base) && base == self.at(from, lineage) {
            return self.at(to, lineage);
        }
        let known = from <= to && to <= self.known && is_known(base);
        match (known, to.saturating_sub(from)) {
            (true, 0) => base,
            (true, count) => Prefix { stream: WRONG, len: base.len.saturating_add(count) },
            (false, count) => Prefix { stream: UNKNOWN, len: base.len.saturating_add(count) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: StreamId = StreamId(1);

    fn prompt(len: u32) -> Tokens {
        let mut tokens = Tokens::default();
        tokens.prompt(Prefix { stream: OWN, len });
        tokens
    }

    #[test]
    fn right_states_are_prefixes_and_wrong_ones_are_none() {
        let (tokens, lineage) = (prompt(3), Lineage::default());
        let right = Prefix { stream: OWN, len: 3 };
        assert_eq!(tokens.advance(Prefix::EMPTY, 0, 3, &lineage), right);
        assert_eq!(tokens.advance(tokens.at(1, &lineage), 1, 3, &lineage), right);
        let wrong = tokens.advance(Prefix::EMPTY, 1, 3, &lineage);
        assert_eq!((wrong.len, tokens.holds(wrong, 2, &lineage)), (2, false));
        assert!(tokens.holds(right, 3, &lineage) && !tokens.holds(right, 2, &lineage));
        let worse = tokens.advance(wrong, 2, 3, &lineage);
        assert!(worse.len == 3 && !tokens.holds(worse, 3, &lineage));
    }

    #[test]
    fn what_is_not_told_is_judged_by_length() {
        let (mut tokens, lineage) = (Tokens::default(), Lineage::default());
        tokens.sampled(3, OWN, &lineage);
        let state = tokens.advance(Prefix::EMPTY, 0, 4, &lineage);
        assert_eq!(state.len, 4);
        assert!(tokens.holds(state, 4, &lineage) && !tokens.surely_holds(state, 4, &lineage));
        assert!(!tokens.holds(state, 5, &lineage));
        assert_eq!(tokens.advance(state, 9, 3, &lineage).len, 4);
        // An extend that goes back proves nothing about the tokens, an extend by no token leaves the state as it is.
        let (tokens, right) = (prompt(3), Prefix { stream: OWN, len: 3 });
        assert!(!is_known(tokens.advance(right, 2, 1, &lineage)));
        assert_eq!(tokens.advance(right, 2, 2, &lineage), right);
    }

    #[test]
    fn a_token_sampled_again_changes_nothing_unless_it_differs() {
        let (mut tokens, mut lineage, other) = (prompt(1), Lineage::default(), StreamId(2));
        lineage.set(other, Prefix { stream: OWN, len: 1 });
        tokens.sampled(1, OWN, &lineage);
        tokens.sampled(2, OWN, &lineage);
        tokens.sampled(1, OWN, &lineage);
        assert_eq!(tokens.at(3, &lineage), Prefix { stream: OWN, len: 3 });
        tokens.sampled(1, other, &lineage);
        assert_eq!(tokens.at(2, &lineage), Prefix { stream: other, len: 2 });
        assert!(!is_known(tokens.at(3, &lineage)));
    }
}
