//! The accesses of a run to the state slots, taken from its facts.
//!
//! Owns the order of the record, the tokens that each forward folds, and the numbers that each place should hold: those
//! of a cold prefill of the same tokens. Computes no content of a slot (`orders.rs`).

use crate::record::{
    BatchId, CacheFact, Fact, ForwardFact, GpuStream, Owner, ReqId, RequestFact, RunFact, Sink, SlotFact, SlotId, Token,
};

use super::exact::Numbers;
use super::{Place, StatePlace};

/// One access, in the order of the record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    /// A forward was queued; the accesses that follow are its own, up to the next one that is not a forward's.
    Launch(BatchId),
    /// The CPU has waited for a forward.
    Wait(BatchId),
    /// A forward sets a slot to zero.
    Clear(SlotId),
    /// A state is copied.
    Copy { from: SlotId, to: SlotId, stream: GpuStream },
    /// A forward folds tokens into a slot.
    Fold(Fold),
    /// A slot should hold the numbers of this entry of [`Accesses::places`].
    Read(usize),
}

/// Tokens that a forward folds into a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// The slot.
    pub slot: SlotId,
    /// The tokens: a range of [`Accesses::tokens`]; `None` if the record lacks one of them.
    pub tokens: Option<(usize, usize)>,
    /// The slot that receives the state after so many of these tokens.
    pub keep: Option<(SlotId, usize)>,
}

/// The tokens of a request, and the numbers after each prefix.
#[derive(Clone, Debug)]
struct Cold {
    tokens: Vec<Token>,
    /// By the number of tokens, from 0.
    numbers: Vec<Numbers>,
}

impl Default for Cold {
    fn default() -> Self {
        Cold { tokens: Vec::new(), numbers: vec![Numbers::ZERO] }
    }
}

impl Cold {
    /// Tokens from index `from` on. Tokens after a gap are ignored.
    fn extend(&mut self, from: usize, tokens: &[Token]) {
        if from > self.tokens.len() {
            return;
        }
        self.tokens.truncate(from);
        self.numbers.truncate(from + 1);
        let mut state = self.numbers[from];
        for &token in tokens {
            state = state.step(token);
            self.tokens.push(token);
            self.numbers.push(state);
        }
    }
}

/// A place with the numbers that its slot should hold; `None` if the record lacks the tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub place: StatePlace,
    pub numbers: Option<Numbers>,
}

/// A sink that lists the accesses of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses {
    pub list: Vec<Access>,
    /// The folded tokens, of all forwards.
    pub tokens: Vec<Token>,
    /// The places at which a content is compared, in the order of the record.
    pub places: Vec<Expected>,
    turn: u32,
    requests: Vec<Cold>,
    /// The cached states by slot: donor, length of the key, numbers.
    cached: Vec<Option<Expected>>,
}

impl Accesses {
    fn cold(&mut self, req: ReqId) -> &mut Cold {
        if req.index() >= self.requests.len() {
            self.requests.resize_with(req.index() + 1, Cold::default);
        }
        &mut self.requests[req.index()]
    }

    /// What a slot should hold if it holds the first `len` tokens of a request.
    fn expected(&mut self, at: Place, req: ReqId, slot: SlotId, len: u32) -> Expected {
        let numbers = self.cold(req).numbers.get(len as usize).copied();
        Expected { place: StatePlace { at, turn: self.turn, req, slot, len }, numbers }
    }

    fn read(&mut self, expected: Expected) {
        self.list.push(Access::Read(self.places.len()));
        self.places.push(expected);
    }

    /// A forward folds the tokens `from..to` of a request into a slot. It starts from the state of the first `from`
    /// tokens.
    fn fold(&mut self, req: ReqId, slot: SlotId, (from, to): (u32, u32), keep: Option<(SlotId, u32)>) {
        // Slot 0 is padding: what it holds is used by no one.
        if slot.0 != 0 {
            let start = self.expected(Place::Start, req, slot, from);
            self.read(start);
        }
        let first = self.tokens.len();
        let cold = self.requests.get(req.index());
        let tokens = cold.and_then(|cold| cold.tokens.get(from as usize..to as usize));
        let tokens = tokens.map(|tokens| {
            self.tokens.extend_from_slice(tokens);
            (first, self.tokens.len())
        });
        let keep = keep.filter(|(_, len)| (from..=to).contains(len)).map(|(slot, len)| (slot, (len - from) as usize));
        self.list.push(Access::Fold(Fold { slot, tokens, keep }));
    }

    /// A slot leaves the tree, or the run ends: it should still hold what it was cached under.
    fn leave(&mut self, slot: SlotId) {
        let cached = self.cached.get_mut(slot.index()).and_then(Option::take);
        if let Some(Expected { place, numbers }) = cached {
            self.read(Expected { place: StatePlace { at: Place::Cached, turn: self.turn, ..place }, numbers });
        }
    }

    /// The run has ended.
    pub fn close(&mut self) {
        for index in 0..self.cached.len() {
            self.leave(SlotId(index as u32));
        }
    }

    fn slot_fact(&mut self, fact: SlotFact) {
        match fact {
            SlotFact::Alloc { slot, .. } => self.leave(slot),
            SlotFact::Free { slot, owner: Owner::Tree, .. } => self.leave(slot),
            SlotFact::Move { slot, from: Owner::Tree, .. } => self.leave(slot),
            SlotFact::Move { .. } | SlotFact::Free { .. } | SlotFact::Refused { .. } => {}
        }
    }

    fn cache_fact(&mut self, fact: CacheFact) {
        match fact {
            CacheFact::Hit { req, source, len } => {
                let expected = self.expected(Place::Hit, req, source, len);
                self.read(expected);
            }
            CacheFact::Donate { req, key_len, slot, how, .. } => {
                let expected = self.expected(Place::Donation, req, slot, key_len);
                self.read(expected);
                if !how.existed {
                    if slot.index() >= self.cached.len() {
                        self.cached.resize(slot.index() + 1, None);
                    }
                    self.cached[slot.index()] = Some(expected);
                }
            }
            CacheFact::Match { .. }
            | CacheFact::Lock { .. }
            | CacheFact::Unlock { .. }
            | CacheFact::NoDonate { .. } => {}
        }
    }

    fn forward_fact(&mut self, fact: ForwardFact) {
        match fact {
            ForwardFact::Launch { batch, .. } => self.list.push(Access::Launch(batch)),
            ForwardFact::Clear { slot, .. } => self.list.push(Access::Clear(slot)),
            ForwardFact::CopyState { req, from, to, stream } => {
                if stream == GpuStream::Schedule {
                    // The length is that of the hit or donation, which is another place.
                    let expected = self.expected(Place::Copy { to }, req, from, 0);
                    self.read(Expected { numbers: None, ..expected });
                }
                self.list.push(Access::Copy { from, to, stream });
            }
            ForwardFact::Extend { req, slot, from, to, track, .. }
            | ForwardFact::Verify { req, slot, from, to, track, .. } => self.fold(req, slot, (from, to), track),
            ForwardFact::Step { req, slot, k, track, .. } => {
                self.fold(req, slot, (k.saturating_sub(1), k), track.map(|track| (track, k)));
            }
            ForwardFact::Stream { .. } | ForwardFact::Sampled { .. } => {}
        }
    }
}

impl Sink for Accesses {
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Run(RunFact::Turn { turn, .. }) => self.turn = turn,
            Fact::Run(RunFact::Wait { batch, .. }) => self.list.push(Access::Wait(batch)),
            Fact::Slot(fact) => self.slot_fact(fact),
            Fact::Cache(fact) => self.cache_fact(fact),
            Fact::Forward(fact) => self.forward_fact(fact),
            Fact::Run(
                RunFact::Begin { .. }
                | RunFact::End { .. }
                | RunFact::Assert { .. }
                | RunFact::Bound { .. }
                | RunFact::Done { .. },
            )
            | Fact::Request(
                RequestFact::Prompt { .. }
                | RequestFact::Arrive { .. }
                | RequestFact::Admit { .. }
                | RequestFact::Skip { .. }
                | RequestFact::MiddleChunk { .. }
                | RequestFact::Output { .. }
                | RequestFact::Finish { .. }
                | RequestFact::Retract { .. }
                | RequestFact::Abort { .. },
            )
            | Fact::Page(_)
            | Fact::Batch(_)
            | Fact::Decision(_)
            | Fact::Probe(_)
            | Fact::Script(_) => {}
        }
    }

    fn wants_tokens(&self) -> bool {
        true
    }

    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        self.cold(req).extend(from as usize, tokens);
    }
}
