//! Records written by hand: the facts that every such record is made of.

use std::collections::BTreeMap;

use overlapsim::engine::Time;
use overlapsim::record::{
    BatchId, Fact, ForwardFact, ForwardMode, Owner, Prefix, ReqId, RequestFact, RunFact, SlotFact, SlotId, StreamId,
    Streams, Token,
};

/// The one time in records in which times do not matter.
pub const AT: Time = Time::ZERO;

/// A record under construction.
pub trait Facts: Sized {
    /// Adds a fact.
    fn fact(&mut self, fact: Fact) -> &mut Self;

    fn give(&mut self, slot: u32, owner: Owner) -> &mut Self {
        self.fact(Fact::Slot(SlotFact::Alloc { slot: SlotId(slot), owner, last: true }))
    }

    fn free(&mut self, slot: u32, owner: Owner) -> &mut Self {
        self.fact(Fact::Slot(SlotFact::Free { slot: SlotId(slot), owner, last: true }))
    }

    fn launch(&mut self, batch: u32) -> &mut Self {
        let mode = ForwardMode::Decode;
        self.fact(Fact::Forward(ForwardFact::Launch {
            batch: BatchId(batch),
            mode,
            rows: 1,
            start: AT,
            end: AT,
            copied: AT,
        }))
    }

    fn wait(&mut self, batch: u32) -> &mut Self {
        self.fact(Fact::Run(RunFact::Wait { batch: BatchId(batch), at: AT }))
    }
}

/// Names token lists as prefixes of streams, for records that list the tokens of requests.
#[derive(Clone, Default)]
pub struct TokenNames {
    streams: Streams,
    emitted: u32,
    tokens: BTreeMap<ReqId, Vec<Token>>,
}

impl TokenNames {
    /// The facts that name the prompt of a request.
    pub fn prompt(&mut self, req: ReqId, tokens: &[Token]) -> Vec<Fact> {
        self.tokens.insert(req, tokens.to_vec());
        let prompt = self.streams.listed(Prefix::EMPTY, tokens);
        let mut facts = self.new_streams();
        facts.push(Fact::Request(RequestFact::Prompt { req, prompt }));
        facts
    }

    /// The facts that name token number `len + 1` of a request.
    pub fn sampled(&mut self, req: ReqId, len: u32, token: Token) -> Vec<Fact> {
        let tokens = self.tokens.entry(req).or_default();
        if tokens.len() < len as usize {
            // After a gap the token has no name of its own.
            return vec![Fact::Forward(ForwardFact::Sampled { req, len, stream: StreamId::ROOT })];
        }
        tokens.truncate(len as usize);
        tokens.push(token);
        let stream = self.streams.listed(Prefix::EMPTY, tokens).stream;
        let mut facts = self.new_streams();
        facts.push(Fact::Forward(ForwardFact::Sampled { req, len, stream }));
        facts
    }

    fn new_streams(&mut self) -> Vec<Fact> {
        let lineage = self.streams.lineage();
        let new = self.emitted.max(1)..lineage.count();
        self.emitted = lineage.count();
        new.map(StreamId)
            .map(|stream| Fact::Forward(ForwardFact::Stream { stream, parent: lineage.parent(stream) }))
            .collect()
    }
}
