//! Receivers of facts: the trait [`Sink`], the recorder [`Record`], and [`Tee`], which feeds two sinks.

use super::{Fact, ReqId, RowFacts, Token};

/// Receives the facts of a run, in order.
pub trait Sink {
    /// Receives one fact.
    fn fact(&mut self, fact: Fact);

    /// Whether the sink needs the tokens themselves. If not, [`Sink::tokens`] is never called.
    fn wants_tokens(&self) -> bool {
        false
    }

    /// Receives the tokens of a request from index `from` on: first its prompt, then each sampled token.
    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        let _ = (req, from, tokens);
    }

    /// Receives the facts of many rows, in order.
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
    /// A request, an index, and the tokens of the request from that index on.
    Tokens(ReqId, u32, Vec<Token>),
}

/// The facts of a run, in order. A record can be written by hand.
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
    // The variant of the fact is a constant at each call: after inlining, only one arm of each match is left.
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
