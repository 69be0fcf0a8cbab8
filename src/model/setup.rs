//! The validated input of a run: engine, costs, requests, events. Owns what the words of a scenario mean, not how a
//! file spells them.

mod costs;
mod engine;
mod release;
mod variants;

use std::sync::Arc;

use crate::engine::Time;
use crate::record::{ReqId, Token, TokenFold};

pub(crate) use costs::cost_fields;
pub use costs::{Cost, Costs};
pub use engine::{Engine, EngineField};
pub(crate) use engine::{engine_fields, lcm};
pub use release::{KernelChunk, Release};
pub use variants::{
    Accept, CopyOnWrite, Exhaustion, FieldValue, FinishOrder, Grid, KvEviction, MixedTracking, OptionalSize,
    OptionalSpec, ResultQueue, SlotFree, SlotHeadroom, Snapshot, Spec, Strategy,
};

/// When a request is first seen: the earliest moment at which the script shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrive {
    /// At the ingest of this turn.
    Turn(u32),
    /// At the first ingest at or after this virtual time.
    At(Time),
    /// At the first ingest after the result that finished this request.
    After(ReqId),
    /// At the first ingest at which that request is unfinished and its `kv_committed_len` is at least this length
    /// minus one: its prefill takes the turn in which that step would have been prepared.
    Before(ReqId, u32),
}

/// The prompt of a request. Fresh tokens are consecutive from `fresh`, which no other prompt of the setup uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// These tokens.
    Tokens(Arc<[Token]>),
    /// Fresh tokens only.
    Fresh {
        /// The first of them.
        fresh: Token,
        /// The number of tokens.
        len: u32,
    },
    /// The first `keep` tokens (all if `None`) of another request's prompt and outputs, then fresh ones.
    Of {
        /// The other request, which must have finished if `keep` reaches into its outputs.
        req: ReqId,
        /// The number of its tokens.
        keep: Option<u32>,
        /// The first fresh token.
        fresh: Token,
        /// The number of fresh tokens.
        len: u32,
    },
    /// Blocks of tokens by identity: equal block ids are equal tokens.
    Blocks {
        /// The first token of each block.
        firsts: Arc<[Token]>,
        /// Tokens in a block; the last one may be cut short by `len`.
        block_len: u32,
        /// The number of tokens in all.
        len: u32,
    },
}

/// How a request ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The n-th output is a stop token.
    Token(u32),
    /// It ends at its `max_new`-th output.
    Length,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestSpec {
    /// When it is first seen.
    pub arrive: Arrive,
    /// Its prompt.
    pub prompt: Prompt,
    /// How it ends.
    pub stop: Stop,
    /// The most outputs it may have; admission reserves KV by it.
    pub max_new: u32,
    /// Speculative decoding: the accept lengths of its first verifies. After the list, the engine's `spec` gives them.
    pub accept: Vec<u32>,
}

/// An event scripted for a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The lazy second slot of this request is refused in this turn.
    FailAlloc {
        /// The turn.
        turn: u32,
        /// The request.
        req: ReqId,
    },
    /// This request is aborted at the ingest of this turn.
    Abort {
        /// The turn.
        turn: u32,
        /// The request.
        req: ReqId,
    },
    /// This request is retracted in the plan of this turn, if it is about to decode.
    Retract {
        /// The turn.
        turn: u32,
        /// The request.
        req: ReqId,
    },
}

impl Event {
    /// Its turn and its request.
    pub fn at(self) -> (u32, ReqId) {
        match self {
            Event::FailAlloc { turn, req } | Event::Abort { turn, req } | Event::Retract { turn, req } => (turn, req),
        }
    }
}

/// A bound on turns that a run of these requests and events does not reach as long as it makes progress: every output
/// may take a few turns of its own. It is the default of a scenario file.
pub fn turns_max(requests: &[RequestSpec], events: &[Event]) -> u32 {
    let outputs: u64 = requests.iter().map(|request| u64::from(request.max_new) + 4).sum();
    let arrivals = requests.iter().map(|request| match request.arrive {
        Arrive::Turn(turn) => turn,
        Arrive::At(_) | Arrive::After(_) | Arrive::Before(..) => 0,
    });
    let scripted = events.iter().map(|event| event.at().0);
    let latest = arrivals.chain(scripted).max().unwrap_or(0);
    u32::try_from(64 + 4 * outputs + u64::from(latest)).unwrap_or(u32::MAX)
}

/// The numeric state that severity is measured with: a small selective state space model. Per token t (mod `vocab`) the
/// state is `h := a(t) * h + b(t)`, elementwise, and the logits are `C h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ssm {
    /// Numbers in a state, from 1 to `numeric::DIM_MAX`.
    pub dim: u32,
    /// Distinct tokens, and logits, from 1 to `numeric::VOCAB_MAX`.
    pub vocab: u32,
    /// Seed of the weights.
    pub seed: u64,
}

impl Default for Ssm {
    fn default() -> Ssm {
        Ssm { dim: 16, vocab: 64, seed: 0 }
    }
}

/// Everything that a run is a function of, together with the choices made; and the numeric state, which no run reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The engine.
    pub engine: Engine,
    /// The numeric state, if one is set. It changes nothing in a run.
    pub state: Option<Ssm>,
    /// The costs.
    pub costs: Costs,
    /// The requests; a request's [`ReqId`] is its position here. References point anywhere but never in a cycle.
    pub requests: Vec<RequestSpec>,
    /// Their names.
    pub names: Vec<String>,
    /// Scripted events.
    pub events: Vec<Event>,
    /// Most turns before a run is ended as inconclusive.
    pub turns_max: u32,
}

impl Setup {
    /// The stop token of a request with this prompt, if it has one: the token that the fake model samples as that
    /// output.
    pub fn stop_token(&self, req: ReqId, prompt: &[Token]) -> Option<Token> {
        let Stop::Token(nth) = self.requests[req.index()].stop else { return None };
        let mut state = TokenFold::ZERO.fold_all(prompt);
        for _ in 1..nth {
            state = state.fold(state.sample());
        }
        Some(state.sample())
    }

    /// The name of a request.
    pub fn name(&self, req: ReqId) -> &str {
        &self.names[req.index()]
    }
}
