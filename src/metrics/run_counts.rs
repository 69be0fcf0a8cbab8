//! Counts of a run beside verdict and latencies: the turn in which each request was admitted, evictions, and the turns
//! in which the admission latch alone kept a request waiting.

use crate::record::{Fact, Owner, ProbeFact, ReqId, RequestFact, RowFacts, RunFact, Sink, SlotFact};

/// Counts of one run, as a sink of its facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// By request index: the turn of its first admission.
    admitted: Vec<Option<u32>>,
    /// Cached states that were taken out of the tree.
    pub evictions: u64,
    /// The turns in which the admission latch alone kept a request waiting; `None` without such a turn.
    pub latched: Option<Latched>,
    turn: u32,
}

/// Turns in which the first waiting request was not admitted although there were rows, slots and KV for it, because the
/// running batch was still marked full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latched {
    /// The number of these turns.
    pub turns: u32,
    /// The first of these turns.
    pub first_turn: u32,
    /// The requests that were first in the queue in these turns, each once, in the order of the turns.
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
    // The kind of a fact is known where it is emitted, so inlining leaves a single arm.
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
            // These facts are about other slots, and about rows that were admitted before.
            RowFacts::SlotsFree(..)
            | RowFacts::SlotsAlloc(..)
            | RowFacts::PagesAlloc(_)
            | RowFacts::Prepared(..)
            | RowFacts::Stepped(..)
            | RowFacts::Results(..) => {}
        }
    }
}
