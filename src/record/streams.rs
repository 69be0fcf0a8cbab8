//! The token sequences of a run, each stored once: a tree of streams with their tokens.
//!
//! Owns the tokens, and the invariant that equal sequences have equal canonical names ([`Prefix`]). Tokens are computed
//! only on request. Does not know which request a sequence belongs to.

use std::collections::BTreeMap;
use std::sync::Arc;

use educe::Educe;

use super::{Lineage, Prefix, StreamId, Token, TokenFold};

#[cfg(test)]
mod tests;

/// The key of a stream of outputs in [`TokenTable::branches`], in place of its first token.
const OUTPUTS: Token = Token::MAX;

/// A run of tokens within a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TokenRun {
    /// Consecutive tokens, starting with this one.
    Consecutive(Token),
    /// Exactly these tokens.
    Listed(Vec<Token>),
    /// The tokens that the model samples, without end.
    Outputs,
}

/// The tokens of a stream after those of its parent prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct StreamTokens {
    /// Each run with its offset from the end of the parent prefix.
    runs: Vec<(u32, TokenRun)>,
    /// The number of tokens.
    count: u32,
}

/// The tokens of all streams. The table does not depend on the history of a run, except for tokens of a recording that
/// the model would not sample.
#[derive(Clone, Debug, Default)]
struct TokenTable {
    contents: Vec<StreamTokens>,
    /// The streams that continue a prefix, by their first token.
    branches: BTreeMap<(Prefix, Token), StreamId>,
}

/// All streams of a run, with their tokens.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct Streams {
    lineage: Lineage,
    table: Arc<TokenTable>,
    /// The number of streams that belong to the setup; `u32::MAX` until [`Streams::seal`].
    setup_count: u32,
}

impl Default for Streams {
    fn default() -> Self {
        Streams::new()
    }
}

impl Streams {
    /// The root alone.
    pub fn new() -> Streams {
        let table = TokenTable { contents: vec![StreamTokens::default()], branches: BTreeMap::new() };
        Streams { lineage: Lineage::default(), table: Arc::new(table), setup_count: u32::MAX }
    }

    /// The parent prefix of each stream.
    #[inline]
    pub fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// The canonical name of the first `len` tokens of a stream.
    #[inline]
    pub fn prefix(&self, stream: StreamId, len: u32) -> Prefix {
        self.lineage.prefix(stream, len)
    }

    /// Declares all streams so far to belong to the setup: their tokens do not depend on the history of a run.
    pub fn seal(&mut self) {
        self.setup_count = self.lineage.count();
    }

    /// The parent prefix and first token of each stream added since [`Streams::seal`]: they identify the sequences that
    /// the numbers of these streams stand for.
    pub fn made_since_setup(&self) -> impl Iterator<Item = (Prefix, Token)> + '_ {
        (self.setup_count..self.lineage.count()).map(StreamId).map(|stream| {
            let first = self.token_at(stream, 0).unwrap_or(OUTPUTS);
            (self.lineage.parent(stream), first)
        })
    }

    /// The sequence `from` followed by `count` consecutive tokens, starting with `first`.
    pub fn consecutive(&mut self, from: Prefix, first: Token, count: u32) -> Prefix {
        let (mut at, mut done) = (from, 0);
        while done < count {
            let token = first + done;
            let Some(stream) = self.next(at, token) else {
                return self.grow(at, TokenRun::Consecutive(token), count - done);
            };
            let same = self.same_count(stream, at.len, token, count - done);
            at = Prefix { stream, len: at.len + same };
            done += same;
        }
        at
    }

    /// The sequence `from` followed by these tokens.
    pub fn listed(&mut self, from: Prefix, tokens: &[Token]) -> Prefix {
        let mut at = from;
        for (done, &token) in tokens.iter().enumerate() {
            match self.next(at, token) {
                Some(stream) => at = Prefix { stream, len: at.len + 1 },
                None => return self.grow(at, TokenRun::Listed(tokens[done..].to_vec()), (tokens.len() - done) as u32),
            }
        }
        at
    }

    /// The stream on which the model's own outputs continue a sequence.
    pub fn outputs(&mut self, from: Prefix) -> StreamId {
        let mut at = from;
        loop {
            if self.is_outputs(at.stream) {
                return at.stream;
            }
            // A stream with listed tokens below `SAMPLED_END` may already have the token that the model samples here.
            let spelled = self.first_tokens(at).any(|token| token < TokenFold::SAMPLED_END);
            let same = if spelled { self.next(at, self.fold(at).sample()) } else { None };
            match same {
                Some(stream) => at = Prefix { stream, len: at.len + 1 },
                None => return self.branch(at, TokenRun::Outputs, u32::MAX - at.len, OUTPUTS),
            }
        }
    }

    /// Whether a stream ends in the model's own outputs.
    pub fn is_outputs(&self, stream: StreamId) -> bool {
        matches!(self.table.contents[stream.index()].runs.last(), Some((_, TokenRun::Outputs)))
    }

    /// The stream on which a sequence continues with `token`, whether or not the model would sample that token.
    pub fn follow(&mut self, from: Prefix, token: Token) -> StreamId {
        match self.next(from, token) {
            Some(stream) => stream,
            None => self.grow(from, TokenRun::Listed(vec![token]), 1).stream,
        }
    }

    /// A stream of consecutive tokens without a parent prefix yet: [`Streams::attach`] sets it.
    pub fn detached(&mut self, first: Token, count: u32) -> StreamId {
        let content = StreamTokens { runs: vec![(0, TokenRun::Consecutive(first))], count };
        self.push(Prefix::EMPTY, content)
    }

    /// A stream of outputs without a parent prefix yet: the outputs after the tokens of a detached stream.
    pub fn detached_outputs(&mut self) -> StreamId {
        self.push(Prefix::EMPTY, StreamTokens { runs: vec![(0, TokenRun::Outputs)], count: u32::MAX })
    }

    /// Sets the parent prefix of a detached stream. The prefix must not be empty.
    pub fn attach(&mut self, stream: StreamId, from: Prefix) {
        assert!(from.len > 0, "what is attached goes on from something");
        self.lineage.set(stream, from);
    }

    /// The parent prefix of a detached stream, if it was attached.
    pub fn attached_to(&self, stream: StreamId) -> Option<Prefix> {
        Some(self.lineage.parent(stream)).filter(|parent| parent.len > 0)
    }

    /// The tokens of a sequence.
    pub fn tokens(&self, of: Prefix) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(of.len as usize);
        self.visit_tokens(of, |token, _| tokens.push(token));
        tokens
    }

    /// The fold of the tokens of a sequence.
    pub fn fold(&self, of: Prefix) -> TokenFold {
        let mut state = TokenFold::ZERO;
        self.visit_tokens(of, |_, folded| state = folded);
        state
    }

    /// Calls `visit` with every token of a sequence and the fold up to and including it.
    fn visit_tokens(&self, of: Prefix, mut visit: impl FnMut(Token, TokenFold)) {
        let mut parts = vec![of];
        while let Some(&Prefix { stream, .. }) = parts.last()
            && stream != StreamId::ROOT
        {
            parts.push(self.lineage.parent(stream));
        }
        let mut state = TokenFold::ZERO;
        // A part ends where its descendant begins; the last one ends with the sequence.
        for part in parts.into_iter().rev() {
            let from = self.lineage.parent(part.stream).len;
            for offset in 0..part.len.saturating_sub(from) {
                let token = self.token_at(part.stream, offset).unwrap_or_else(|| state.sample());
                state = state.fold(token);
                visit(token, state);
            }
        }
    }

    /// The token at an offset from the end of the parent prefix; `None` if it is an output.
    fn token_at(&self, stream: StreamId, offset: u32) -> Option<Token> {
        let runs = &self.table.contents[stream.index()].runs;
        let (start, run) = &runs[runs.partition_point(|run| run.0 <= offset) - 1];
        match run {
            TokenRun::Consecutive(first) => Some(first + (offset - start)),
            TokenRun::Listed(tokens) => Some(tokens[(offset - start) as usize]),
            TokenRun::Outputs => None,
        }
    }

    /// The offset, in the stream of a prefix, of the token after the prefix, if the stream has one.
    fn own_offset(&self, at: Prefix) -> Option<u32> {
        let offset = at.len - self.lineage.parent(at.stream).len;
        (offset < self.table.contents[at.stream.index()].count).then_some(offset)
    }

    /// The next tokens of all sequences that continue a prefix, without outputs.
    fn first_tokens(&self, at: Prefix) -> impl Iterator<Item = Token> + '_ {
        let own = self.own_offset(at).and_then(|offset| self.token_at(at.stream, offset));
        let branches = self.table.branches.range((at, 0)..(at, OUTPUTS));
        own.into_iter().chain(branches.map(|((_, token), _)| *token))
    }

    /// The stream that continues a prefix with this token, if there is one.
    fn next(&self, at: Prefix, token: Token) -> Option<StreamId> {
        let own = self.own_offset(at);
        if let Some(offset) = own
            && self.token_at(at.stream, offset) == Some(token)
        {
            return Some(at.stream);
        }
        if let Some(&stream) = self.table.branches.get(&(at, token)) {
            return Some(stream);
        }
        // The fold costs the length of the prefix, so it is computed only for a token that the model could sample.
        let outputs = match own {
            Some(_) if self.is_outputs(at.stream) => Some(at.stream),
            Some(_) | None => self.table.branches.get(&(at, OUTPUTS)).copied(),
        };
        outputs.filter(|_| token < TokenFold::SAMPLED_END && self.fold(at).sample() == token)
    }

    /// The number of tokens that a stream, from length `len` on, has in common with `first`, `first + 1`, ..: at most
    /// `count`. The first token must be common.
    fn same_count(&self, stream: StreamId, len: u32, first: Token, count: u32) -> u32 {
        let offset = len - self.lineage.parent(stream).len;
        let content = &self.table.contents[stream.index()];
        let at = content.runs.partition_point(|run| run.0 <= offset) - 1;
        let end = content.runs.get(at + 1).map_or(content.count, |run| run.0);
        match &content.runs[at] {
            (start, TokenRun::Consecutive(_)) => {
                assert!(*start <= offset, "the run at an offset begins there or before");
                count.min(end - offset)
            }
            (start, TokenRun::Listed(tokens)) => {
                let own = &tokens[(offset - start) as usize..];
                let same = own.iter().zip(first..).take_while(|(own, token)| *own == token);
                (same.count() as u32).min(count)
            }
            (_, TokenRun::Outputs) => 1,
        }
    }

    /// Adds tokens after a prefix that no stream continues with them: to the stream of the prefix if the prefix ends
    /// it, else as a new stream.
    fn grow(&mut self, at: Prefix, run: TokenRun, count: u32) -> Prefix {
        let first = match &run {
            TokenRun::Consecutive(first) => *first,
            TokenRun::Listed(tokens) => tokens[0],
            TokenRun::Outputs => OUTPUTS,
        };
        let ends = at.stream != StreamId::ROOT && self.own_offset(at).is_none();
        // In a run, a stream of the setup never changes. Other streams grow by tokens of a recording.
        let grows =
            self.setup_count == u32::MAX || at.stream.0 >= self.setup_count && matches!(run, TokenRun::Listed(_));
        // Streams that already continue the end of this stream stay as they are.
        let stream = if ends && grows {
            let content = &mut Arc::make_mut(&mut self.table).contents[at.stream.index()];
            content.runs.push((content.count, run));
            content.count += count;
            at.stream
        } else {
            self.branch(at, run, count, first)
        };
        Prefix { stream, len: at.len + count }
    }

    /// The stream that continues a prefix with this run; added if there is none.
    fn branch(&mut self, at: Prefix, run: TokenRun, count: u32, first: Token) -> StreamId {
        if let Some(&stream) = self.table.branches.get(&(at, first)) {
            return stream;
        }
        let stream = self.push(at, StreamTokens { runs: vec![(0, run)], count });
        Arc::make_mut(&mut self.table).branches.insert((at, first), stream);
        stream
    }

    fn push(&mut self, parent: Prefix, content: StreamTokens) -> StreamId {
        let id = StreamId(self.lineage.count());
        self.lineage.set(id, parent);
        Arc::make_mut(&mut self.table).contents.push(content);
        id
    }
}
