//! Names of token sequences: a tree of streams, each of which goes on from a prefix of its parent.
//!
//! Owns which sequences are the same: a [`Prefix`] is the first so many tokens of a stream, equal sequences have equal prefixes once
//! they are canonical, and the longest common prefix of two costs the depth of the tree, not their length. Tokens are spelled out only
//! where somebody asks. Leaves to the caller which sequences there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use educe::Educe;

use super::{Lineage, Prefix, StreamId, Token, TokenFold};

#[cfg(test)]
mod tests;

/// Where the outputs of a prefix are filed among what goes on from it.
const OUTPUTS: Token = Token::MAX;

/// Some tokens of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TokenRun {
    /// Consecutive numbers, from this one on.
    Consecutive(Token),
    /// These.
    Listed(Vec<Token>),
    /// What the model samples after each token, without end.
    Outputs,
}

/// The tokens of a stream behind those of its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct StreamTokens {
    /// Each with its place behind the parent's tokens.
    runs: Vec<(u32, TokenRun)>,
    /// How many there are.
    count: u32,
}

/// What never depends on the history of a run, but for what is sampled otherwise than the model does.
#[derive(Clone, Debug, Default)]
struct TokenTable {
    contents: Vec<StreamTokens>,
    /// The streams that go on from a prefix, by their first token.
    branches: BTreeMap<(Prefix, Token), StreamId>,
}

/// All streams of a run, and their tokens.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct Streams {
    lineage: Lineage,
    shape: Arc<TokenTable>,
    /// How many there were when the setup was made; without end until then.
    of_setup: u32,
}

impl Default for Streams {
    fn default() -> Self {
        Streams::new()
    }
}

impl Streams {
    /// The root alone.
    pub fn new() -> Streams {
        let shape = TokenTable { contents: vec![StreamTokens::default()], branches: BTreeMap::new() };
        Streams { lineage: Lineage::default(), shape: Arc::new(shape), of_setup: u32::MAX }
    }

    /// What each stream goes on from.
    #[inline]
    pub fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// The canonical name of the first `len` tokens of a stream.
    #[inline]
    pub fn prefix(&self, stream: StreamId, len: u32) -> Prefix {
        self.lineage.prefix(stream, len)
    }

    /// Every stream there is belongs to the setup: their tokens never depend on the history of a run.
    pub fn seal(&mut self) {
        self.of_setup = self.lineage.count();
    }

    /// Of each stream made since the setup: what it goes on from, and its first token. Says which sequences their numbers stand for.
    pub fn made_since_setup(&self) -> impl Iterator<Item = (Prefix, Token)> + '_ {
        (self.of_setup..self.lineage.count()).map(StreamId).map(|stream| {
            let first = self.token_at(stream, 0).unwrap_or(OUTPUTS);
            (self.lineage.parent(stream), first)
        })
    }

    /// The sequence `from` and consecutive tokens behind it, `first` and so on.
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

    /// The sequence `from` and these tokens behind it.
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

    /// The stream on which the model's own outputs go on from a sequence.
    pub fn outputs(&mut self, from: Prefix) -> StreamId {
        let mut at = from;
        loop {
            if self.is_outputs(at.stream) {
                return at.stream;
            }
            // Where tokens that could be outputs were spelled out, the model's own may be among them.
            let spelled = self.first_tokens(at).any(|token| token < TokenFold::SAMPLED_END);
            let same = if spelled { self.next(at, self.fold(at).sample()) } else { None };
            match same {
                Some(stream) => at = Prefix { stream, len: at.len + 1 },
                None => return self.branch(at, TokenRun::Outputs, u32::MAX - at.len, OUTPUTS),
            }
        }
    }

    /// Whether a stream is the model's own outputs from some length on.
    pub fn is_outputs(&self, stream: StreamId) -> bool {
        matches!(self.shape.contents[stream.index()].runs.last(), Some((_, TokenRun::Outputs)))
    }

    /// The stream on which a sequence goes on with one more token, whether the model would sample that or not.
    pub fn follow(&mut self, from: Prefix, token: Token) -> StreamId {
        match self.next(from, token) {
            Some(stream) => stream,
            None => self.grow(from, TokenRun::Listed(vec![token]), 1).stream,
        }
    }

    /// A stream that goes on from nothing yet, with consecutive tokens: [`Streams::attach`] says from what.
    pub fn detached(&mut self, first: Token, count: u32) -> StreamId {
        let content = StreamTokens { runs: vec![(0, TokenRun::Consecutive(first))], count };
        self.push(Prefix::EMPTY, content)
    }

    /// The same with the outputs that follow the tokens of a detached stream.
    pub fn detached_outputs(&mut self) -> StreamId {
        self.push(Prefix::EMPTY, StreamTokens { runs: vec![(0, TokenRun::Outputs)], count: u32::MAX })
    }

    /// Lets a detached stream go on from a sequence that is not empty.
    pub fn attach(&mut self, stream: StreamId, from: Prefix) {
        assert!(from.len > 0, "what is attached goes on from something");
        self.lineage.set(stream, from);
    }

    /// What a detached stream was attached to, if it was.
    pub fn attached_to(&self, stream: StreamId) -> Option<Prefix> {
        Some(self.lineage.parent(stream)).filter(|parent| parent.len > 0)
    }

    /// The tokens of a sequence.
    pub fn tokens(&self, of: Prefix) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(of.len as usize);
        self.spell(of, |token, _| tokens.push(token));
        tokens
    }

    /// The fold of the tokens of a sequence.
    pub fn fold(&self, of: Prefix) -> TokenFold {
        let mut state = TokenFold::ZERO;
        self.spell(of, |_, folded| state = folded);
        state
    }

    /// Tells every token of a sequence, and the fold of all up to it.
    fn spell(&self, of: Prefix, mut tell: impl FnMut(Token, TokenFold)) {
        let mut parts = vec![of];
        while let Some(&Prefix { stream, .. }) = parts.last()
            && stream != StreamId::ROOT
        {
            parts.push(self.lineage.parent(stream));
        }
        let mut state = TokenFold::ZERO;
        // A part ends where its descendant goes on, or at the end of all.
        for part in parts.into_iter().rev() {
            let from = self.lineage.parent(part.stream).len;
            for place in 0..part.len.saturating_sub(from) {
                let token = self.token_at(part.stream, place).unwrap_or_else(|| state.sample());
                state = state.fold(token);
                tell(token, state);
            }
        }
    }

    /// The token at a place behind those of the parent; nothing where it is an output.
    fn token_at(&self, stream: StreamId, place: u32) -> Option<Token> {
        let runs = &self.shape.contents[stream.index()].runs;
        let (start, run) = &runs[runs.partition_point(|run| run.0 <= place) - 1];
        match run {
            TokenRun::Consecutive(first) => Some(first + (place - start)),
            TokenRun::Listed(tokens) => Some(tokens[(place - start) as usize]),
            TokenRun::Outputs => None,
        }
    }

    /// The place of the token after a prefix in its own stream, if it has one.
    fn own_place(&self, at: Prefix) -> Option<u32> {
        let place = at.len - self.lineage.parent(at.stream).len;
        (place < self.shape.contents[at.stream.index()].count).then_some(place)
    }

    /// The first tokens of all that goes on from a prefix, but for outputs.
    fn first_tokens(&self, at: Prefix) -> impl Iterator<Item = Token> + '_ {
        let own = self.own_place(at).and_then(|place| self.token_at(at.stream, place));
        let branches = self.shape.branches.range((at, 0)..(at, OUTPUTS));
        own.into_iter().chain(branches.map(|((_, token), _)| *token))
    }

    /// The stream that goes on from a prefix with this token.
    fn next(&self, at: Prefix, token: Token) -> Option<StreamId> {
        let own = self.own_place(at);
        if let Some(place) = own
            && self.token_at(at.stream, place) == Some(token)
        {
            return Some(at.stream);
        }
        if let Some(&stream) = self.shape.branches.get(&(at, token)) {
            return Some(stream);
        }
        // Only a token that the model could sample is worth folding all before it.
        let outputs = match own {
            Some(_) if self.is_outputs(at.stream) => Some(at.stream),
            Some(_) | None => self.shape.branches.get(&(at, OUTPUTS)).copied(),
        };
        outputs.filter(|_| token < TokenFold::SAMPLED_END && self.fold(at).sample() == token)
    }

    /// How many consecutive tokens, of which the first is known to be the stream's, are the stream's from a length on.
    fn same_count(&self, stream: StreamId, len: u32, first: Token, count: u32) -> u32 {
        let place = len - self.lineage.parent(stream).len;
        let content = &self.shape.contents[stream.index()];
        let at = content.runs.partition_point(|run| run.0 <= place) - 1;
        let end = content.runs.get(at + 1).map_or(content.count, |run| run.0);
        match &content.runs[at] {
            (start, TokenRun::Consecutive(_)) => {
                assert!(*start <= place, "the run at a place begins there or before");
                count.min(end - place)
            }
            (start, TokenRun::Listed(tokens)) => {
                let own = &tokens[(place - start) as usize..];
                let same = own.iter().zip(first..).take_while(|(own, token)| *own == token);
                (same.count() as u32).min(count)
            }
            (_, TokenRun::Outputs) => 1,
        }
    }

    /// Puts tokens behind a prefix with which nothing goes on: at the end of its stream if it is that, else on a stream of their own.
    fn grow(&mut self, at: Prefix, run: TokenRun, count: u32) -> Prefix {
        let first = match &run {
            TokenRun::Consecutive(first) => *first,
            TokenRun::Listed(tokens) => tokens[0],
            TokenRun::Outputs => OUTPUTS,
        };
        let ends = at.stream != StreamId::ROOT && self.own_place(at).is_none();
        // A stream of the setup stays as it is in a run; another one grows by tokens that a recording has.
        let grows = self.of_setup == u32::MAX || at.stream.0 >= self.of_setup && matches!(run, TokenRun::Listed(_));
        // Another stream that goes on from the end keeps its place.
        let stream = if ends && grows {
            let content = &mut Arc::make_mut(&mut self.shape).contents[at.stream.index()];
            content.runs.push((content.count, run));
            content.count += count;
            at.stream
        } else {
            self.branch(at, run, count, first)
        };
        Prefix { stream, len: at.len + count }
    }

    /// The stream that goes on from a prefix with a run, made if there is none.
    fn branch(&mut self, at: Prefix, run: TokenRun, count: u32, first: Token) -> StreamId {
        if let Some(&stream) = self.shape.branches.get(&(at, first)) {
            return stream;
        }
        let stream = self.push(at, StreamTokens { runs: vec![(0, run)], count });
        Arc::make_mut(&mut self.shape).branches.insert((at, first), stream);
        stream
    }

    fn push(&mut self, parent: Prefix, content: StreamTokens) -> StreamId {
        let id = StreamId(self.lineage.count());
        self.lineage.set(id, parent);
        Arc::make_mut(&mut self.shape).contents.push(content);
        id
    }
}
