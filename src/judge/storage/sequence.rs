//! The names of contents, and the true tokens of one request.
//!
//! A content is a [`Prefix`]: the first so many tokens of a stream. One that was continued from anything else than those tokens is no
//! prefix of any request, and never becomes one again but by being overwritten; of it only the length is kept. Refuses to guess: of a
//! prefix that the record does not tell, only the length is known.

use crate::record::{Lineage, Prefix, StreamId};

/// The stream of contents whose tokens the record does not tell.
const UNKNOWN: StreamId = StreamId(u32::MAX);
/// The stream of contents that were continued from something else than the tokens before.
const WRONG: StreamId = StreamId(u32::MAX - 1);
/// The stream of contents that a racing copy left.
const TORN: StreamId = StreamId(u32::MAX - 2);

/// Whether the tokens of a content are told.
#[inline]
pub(crate) fn is_known(content: Prefix) -> bool {
    content.stream != UNKNOWN
}

/// What a copy reads that is not ordered after the write of `new` over `old`: neither, as long as the old one.
pub(crate) fn torn(old: Prefix, new: Prefix) -> Prefix {
    if old == new || !is_known(old) || !is_known(new) { old } else { Prefix { stream: TORN, ..old } }
}

/// The tokens of a request as far as the record tells them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Truth {
    stream: StreamId,
    /// How many are told.
    known: u32,
}

impl Truth {
    /// Replaces everything by a prompt.
    pub fn prompt(&mut self, prompt: Prefix) {
        *self = Truth { stream: prompt.stream, known: prompt.len };
    }

    /// Token number `len + 1` was sampled, and all up to it lie on `stream`. Sampling it again changes nothing unless it came out
    /// differently; a token after a gap is ignored.
    #[inline]
    pub fn sampled(&mut self, len: u32, stream: StreamId, lineage: &Lineage) {
        let Some(known) = len.checked_add(1) else { return };
        let is_new = len == self.known;
        if is_new || len < self.known && lineage.prefix(stream, known) != lineage.prefix(self.stream, known) {
            *self = Truth { stream, known };
        }
    }

    /// The state after the first `len` tokens.
    #[inline]
    pub fn at(&self, len: u32, lineage: &Lineage) -> Prefix {
        if len <= self.known { lineage.prefix(self.stream, len) } else { Prefix { stream: UNKNOWN, len } }
    }

    /// Whether `content` is the state after the first `len` tokens, for all that is known.
    pub fn holds(&self, content: Prefix, len: u32, lineage: &Lineage) -> bool {
        let truth = self.at(len, lineage);
        content.len == len && (content == truth || !is_known(content) || !is_known(truth))
    }

    /// Whether `content` is known to be the state after the first `len` tokens.
    pub fn surely_holds(&self, content: Prefix, len: u32, lineage: &Lineage) -> bool {
        content.len == len && self.has(content, lineage)
    }

    /// Whether a content is known to be that after so many of the tokens as it has folded.
    #[inline]
    pub fn has(&self, content: Prefix, lineage: &Lineage) -> bool {
        content.len <= self.known && lineage.prefix(self.stream, content.len) == content
    }

    /// The state after folding this request's tokens `from..to` into `base`, which may be wrong.
    #[inline]
    pub fn advance(&self, base: Prefix, from: u32, to: u32, lineage: &Lineage) -> Prefix {
        if from <= to && is_known(base) && base == self.at(from, lineage) {
            return self.at(to, lineage);
        }
        let told = from <= to && to <= self.known && is_known(base);
        match (told, to.saturating_sub(from)) {
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

    fn prompt(len: u32) -> Truth {
        let mut truth = Truth::default();
        truth.prompt(Prefix { stream: OWN, len });
        truth
    }

    #[test]
    fn right_states_are_prefixes_and_wrong_ones_are_none() {
        let (truth, lineage) = (prompt(3), Lineage::default());
        let right = Prefix { stream: OWN, len: 3 };
        assert_eq!(truth.advance(Prefix::EMPTY, 0, 3, &lineage), right);
        assert_eq!(truth.advance(truth.at(1, &lineage), 1, 3, &lineage), right);
        let wrong = truth.advance(Prefix::EMPTY, 1, 3, &lineage);
        assert_eq!((wrong.len, truth.holds(wrong, 2, &lineage)), (2, false));
        assert!(truth.holds(right, 3, &lineage) && !truth.holds(right, 2, &lineage));
        let worse = truth.advance(wrong, 2, 3, &lineage);
        assert!(worse.len == 3 && !truth.holds(worse, 3, &lineage));
    }

    #[test]
    fn what_is_not_told_is_judged_by_length() {
        let (mut truth, lineage) = (Truth::default(), Lineage::default());
        truth.sampled(3, OWN, &lineage);
        let state = truth.advance(Prefix::EMPTY, 0, 4, &lineage);
        assert_eq!(state.len, 4);
        assert!(truth.holds(state, 4, &lineage) && !truth.surely_holds(state, 4, &lineage));
        assert!(!truth.holds(state, 5, &lineage));
        assert_eq!(truth.advance(state, 9, 3, &lineage).len, 4);
    }

    #[test]
    fn a_token_sampled_again_changes_nothing_unless_it_differs() {
        let (mut truth, mut lineage, other) = (prompt(1), Lineage::default(), StreamId(2));
        lineage.set(other, Prefix { stream: OWN, len: 1 });
        truth.sampled(1, OWN, &lineage);
        truth.sampled(2, OWN, &lineage);
        truth.sampled(1, OWN, &lineage);
        assert_eq!(truth.at(3, &lineage), Prefix { stream: OWN, len: 3 });
        truth.sampled(1, other, &lineage);
        assert_eq!(truth.at(2, &lineage), Prefix { stream: other, len: 2 });
        assert!(!is_known(truth.at(3, &lineage)));
    }
}
