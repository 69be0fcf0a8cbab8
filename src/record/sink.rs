//! Where facts go: a trait, a recorder, and a way to feed two sinks at once.

use super::{Fact, ReqId, RowFacts, Token};

/// Receives what happened, in order.
pub trait Sink {
    /// One fact.
    fn fact(&mut self, fact: Fact);

    /// Whether tokens are to be spelled out.
    fn wants_tokens(&self) -> bool {
        false
    }

    /// Tokens of a request behind its first `from`, told where a sink wants them: its prompt, then one for each that is sampled.
    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        let _ = (req, from, tokens);
    }

    /// Facts of many rows, in order.
    fn rows(&mut self, rows: RowFacts<'_>) {
        rows.each(&mut |fact| self.fact(fact));
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn fact(&mut self, fact: Fact) {
        (**self).fact(fact);
    }

    fn wants_tokens(&self) -> bool {
        (**self).wants_tokens()
    }

    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        (**self).tokens(req, from, tokens);
    }

    fn rows(&mut self, rows: RowFacts<'_>) {
        (**self).rows(rows);
    }
}

/// One entry of a [`Record`].
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A fact.
    Fact(Fact),
    /// Tokens of a request behind its first so many, where they were told.
    Tokens(ReqId, u32, Vec<Token>),
}

/// Everything that happened in a run, in order. Can be written by hand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// The entries in order.
    pub entries: Vec<Entry>,
}

impl Record {
    /// Feeds every entry to `sink`, in order.
    pub fn replay(&self, sink: &mut impl Sink) {
        for entry in &self.entries {
            match entry {
                Entry::Fact(fact) => sink.fact(*fact),
                Entry::Tokens(req, from, tokens) => sink.tokens(*req, *from, tokens),
            }
        }
    }

    /// The facts in order, without the tokens.
    pub fn facts(&self) -> impl Iterator<Item = Fact> + '_ {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Fact(fact) => Some(*fact),
            Entry::Tokens(..) => None,
        })
    }
}

impl Sink for Record {
    fn fact(&mut self, fact: Fact) {
        self.entries.push(Entry::Fact(fact));
    }

    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        self.entries.push(Entry::Tokens(req, from, tokens.to_vec()));
    }
}

/// Feeds two sinks, the first one first. `None` is a sink that drops everything.
#[derive(Debug)]
pub struct Tee<A, B>(pub A, pub B);

impl<A: Sink, B: Sink> Sink for Tee<A, B> {
    // Where a fact is emitted its kind is known: inlined, little is left of it.
    #[inline(always)]
    fn fact(&mut self, fact: Fact) {
        self.0.fact(fact);
        self.1.fact(fact);
    }

    fn wants_tokens(&self) -> bool {
        self.0.wants_tokens() || self.1.wants_tokens()
    }

    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        self.0.tokens(req, from, tokens);
        self.1.tokens(req, from, tokens);
    }

    #[inline]
    fn rows(&mut self, rows: RowFacts<'_>) {
        self.0.rows(rows);
        self.1.rows(rows);
    }
}

impl<S: Sink> Sink for Option<S> {
    #[inline(always)]
    fn fact(&mut self, fact: Fact) {
        if let Some(sink) = self {
            sink.fact(fact);
        }
    }

    fn wants_tokens(&self) -> bool {
        self.as_ref().is_some_and(Sink::wants_tokens)
    }

    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        if let Some(sink) = self {
            sink.tokens(req, from, tokens);
        }
    }

    #[inline]
    fn rows(&mut self, rows: RowFacts<'_>) {
        if let Some(sink) = self {
            sink.rows(rows);
        }
    }
}
