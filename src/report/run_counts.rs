//! What a run did that neither its verdict nor its times say: in which turn each request was admitted, what was
//! evicted, and what the admission latch alone kept waiting.

use crate::record::{Fact, Owner, ProbeFact, ReqId, RequestFact, RowFacts, RunFact, Sink, SlotFact};

/// Counts of one run, as a sink of its facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// By request index: the turn of its first admission.
    admitted: Vec<Option<u32>>,
    /// Cached states that were taken out of the tree.
    pub evictions: u64,
    /// What the admission latch alone kept waiting, if it did.
    pub latched: Option<Latched>,
    turn: u32,
}

/// Turns in which the first waiting request was not admitted although rows, slots and KV for it were there: the running batch was
/// still marked full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latched {
    /// How many turns.
    pub turns: u32,
    /// The first of them.
    pub first_turn: u32,
    /// The requests that were first in the queue then, in the order in which they came to be.
    pub requests: Vec<ReqId>,
}

impl RunCounts {
    /// The turn in which a request was admitted for the first time, if it was.
    pub fn admitted(&self, req: ReqId) -> Option<u32> {
        self.admitted.get(req.index()).copied().flatten()
    }

    fn latch(&mut self, req: ReqId) {
        let none = Latched { turns: 0, first_turn: self.turn, requests: Vec::new() };
        let latched = self.latched.get_or_insert(none);
        latched.turns += 1;
        if !latched.requests.contains(&req) {
            latched.requests.push(req);
        }
    }

    fn admit(&mut self, req: ReqId) {
        if req.index() >= self.admitted.len() {
            self.admitted.resize(req.index() + 1, None);
        }
        self.admitted[req.index()].get_or_insert(self.turn);
    }
}

impl Sink for RunCounts {
    // Where a fact is emitted its kind is known: inlined, only one arm remains.
    #[inline(always)]
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Run(RunFact::Turn { turn, .. }) => self.turn = turn,
            Fact::Request(RequestFact::Admit { req }) => self.admit(req),
            Fact::Slot(SlotFact::Free { owner: Owner::Tree, .. }) => self.evictions += 1,
            Fact::Probe(ProbeFact::Latched { req }) => self.latch(req),
            _ => {}
        }
    }

    #[inline]
    fn rows(&mut self, rows: RowFacts<'_>) {
        match rows {
            RowFacts::SlotsFree(slots, Owner::Tree) => self.evictions += slots.len() as u64,
            // Other slots, and rows that were admitted long before.
            RowFacts::SlotsFree(..)
            | RowFacts::SlotsAlloc(..)
            | RowFacts::PagesAlloc(_)
            | RowFacts::Prepared(..)
            | RowFacts::Stepped(..)
            | RowFacts::Results(..) => {}
        }
    }
}
