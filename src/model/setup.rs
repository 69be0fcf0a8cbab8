//! The validated input of a run: engine, costs, requests, events. Owns what the words mean, not how a file spells them.

use std::sync::Arc;

use crate::engine::Time;
use crate::record::{ReqId, Token};

use super::radix::TombstoneLock;

/// Where the recurrent states of a request live beside its active one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// None: the active slot itself is donated. Needs overlap off and page size 1.
    NoBuffer,
    /// A ping-pong pair of track slots; a single one with overlap off.
    ExtraBuffer,
    /// One track slot, a second one taken on demand at a boundary. Needs overlap on.
    ExtraBufferLazy,
}

/// The releases whose bookkeeping differs in ways modelled here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Release {
    /// sglang 0.5.16
    V0_5_16,
    /// sglang 0.5.17
    V0_5_17,
    /// sglang 0.5.18
    V0_5_18,
    /// sglang 0.5.23
    V0_5_23,
}

/// The length multiple at which decode states are checkpointed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grid {
    /// `track_interval` alone.
    Interval,
    /// Least common multiple of `mamba_chunk`, `page_size` and `track_interval`.
    Lcm,
}

/// What the result queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResultQueue {
    /// A copy of the batch, with its own host masks.
    Copy,
    /// The live batch, whose host masks a filter or merge drops before the result is processed.
    Alias,
}

/// How much KV an allocation evicts when the pool is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KvEviction {
    /// As much as is asked for, whatever is free.
    Whole,
    /// Only what is missing.
    Shortfall,
}

/// Which of two reasons to finish is looked at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FinishOrder {
    /// Length, then stop token.
    LengthFirst,
    /// Stop token, then length.
    TokenFirst,
}

/// How many state slots admission makes free by eviction before it takes any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SlotHeadroom {
    /// Three a request, two with the lazy strategy.
    PerRequest,
    /// Exactly what the batch will take.
    Exact,
}

/// The modelled engine: strategy, sizes, and the variants in which releases differ (`docs/releases.md`).
#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    /// The release whose preset filled the fields that were not set.
    pub release: Release,
    /// Where track slots come from.
    pub strategy: Strategy,
    /// Whether the next batch is launched before the last result is processed.
    pub overlap: bool,
    /// Tokens between decode checkpoints.
    pub track_interval: u32,
    /// Tokens to which prefill tracking aligns, relative to the cached prefix.
    pub mamba_chunk: u32,
    /// Tokens in a KV page.
    pub page_size: u32,
    /// What the decode grid is made of.
    pub grid: Grid,
    /// State slots in the pool.
    pub mamba_slots: u32,
    /// Tokens in the KV pool, a multiple of the page.
    pub kv_tokens: u32,
    /// Most requests running at once.
    pub max_running: u32,
    /// Most prompt tokens in one prefill batch (the first request is always taken).
    pub max_prefill_tokens: u32,
    /// `schedule_conservativeness`: scales the share of outputs that admission reserves KV for.
    pub conservativeness: f64,
    /// What the result queue holds.
    pub result_queue: ResultQueue,
    /// Process the last prefill before launching another one.
    pub disable_consecutive_prefill_overlap: bool,
    /// Leave a request out of the next decode batch when the result in flight will end it by length.
    pub skip_finishing_decode: bool,
    /// Filter finished requests out of the running batch before admission, not only before decode.
    pub filter_before_prefill: bool,
    /// The lazy second slot may evict a cached state.
    pub lazy_prealloc_evicts: bool,
    /// A refused lazy second slot clears the label, since the write goes in place.
    pub refused_prealloc_clears_label: bool,
    /// How much an allocation evicts.
    pub kv_eviction: KvEviction,
    /// Which reason to finish comes first.
    pub finish_order: FinishOrder,
    /// Slots made free before admission.
    pub slot_headroom: SlotHeadroom,
    /// A branching point is reported only if it lies beyond the state match.
    pub branching_beyond_state: bool,
    /// Splitting a tree node makes the state of its lower half the most recent one.
    pub split_refreshes_state: bool,
    /// What locking a tree node without a state means for its state lock.
    pub tombstone_lock: TombstoneLock,
    /// Admission forgets that its node had no state when it was locked.
    pub admission_forgets_skip: bool,
    /// Admission reserves KV for every output of a running request that can only end by length.
    pub fixed_length_reserves_all: bool,
    /// Every 32nd admission refreshes the cached prefixes of the waiting requests.
    pub waiting_prefix_refresh: bool,
    /// After an insert the prefix is matched again, which refreshes it once more.
    pub rematch_after_insert: bool,
    /// Lazy: a donation that finds no free slot unlocks the state it started from before it evicts.
    pub handover_unlocks_state: bool,
}

impl Engine {
    /// The preset of a release, with the documented defaults for everything that is not a release difference.
    pub fn preset(release: Release) -> Engine {
        let newer = release >= Release::V0_5_18;
        let newest = release >= Release::V0_5_23;
        Engine {
            release,
            strategy: Strategy::ExtraBuffer,
            overlap: true,
            track_interval: 256,
            mamba_chunk: 64,
            page_size: 1,
            grid: if newest { Grid::Lcm } else { Grid::Interval },
            mamba_slots: 256,
            kv_tokens: 65536,
            max_running: 64,
            max_prefill_tokens: 16384,
            conservativeness: 1.0,
            result_queue: ResultQueue::Copy,
            disable_consecutive_prefill_overlap: false,
            skip_finishing_decode: newest,
            filter_before_prefill: newest,
            lazy_prealloc_evicts: release == Release::V0_5_16,
            refused_prealloc_clears_label: newest,
            kv_eviction: if release == Release::V0_5_16 { KvEviction::Whole } else { KvEviction::Shortfall },
            finish_order: if newer { FinishOrder::TokenFirst } else { FinishOrder::LengthFirst },
            slot_headroom: if newest { SlotHeadroom::Exact } else { SlotHeadroom::PerRequest },
            branching_beyond_state: release != Release::V0_5_16,
            split_refreshes_state: !newest,
            tombstone_lock: match release {
                Release::V0_5_16 => TombstoneLock::Steal,
                Release::V0_5_17 | Release::V0_5_18 => TombstoneLock::Skip,
                Release::V0_5_23 => TombstoneLock::Count,
            },
            admission_forgets_skip: !newest,
            fixed_length_reserves_all: newest,
            waiting_prefix_refresh: newest,
            rematch_after_insert: !newest,
            handover_unlocks_state: newest,
        }
    }

    /// G: the decode checkpoint grid in tokens.
    pub fn grid_len(&self) -> u32 {
        match self.grid {
            Grid::Interval => self.track_interval,
            Grid::Lcm => lcm(self.prefill_grid_len(), self.track_interval),
        }
    }

    /// c: the grid of prefill checkpoints in tokens, relative to the cached prefix.
    pub fn prefill_grid_len(&self) -> u32 {
        lcm(self.mamba_chunk, self.page_size)
    }

    /// Track slots of a request, counting the one taken on demand.
    pub fn track_slots(&self) -> u8 {
        match self.strategy {
            Strategy::NoBuffer => 0,
            Strategy::ExtraBuffer if self.overlap => 2,
            Strategy::ExtraBuffer => 1,
            Strategy::ExtraBufferLazy => 2,
        }
    }

    /// Slots that a request takes when it is admitted: the active one and its first track slots.
    pub fn slots_at_admission(&self) -> u32 {
        match self.strategy {
            Strategy::NoBuffer => 1,
            Strategy::ExtraBuffer => 1 + u32::from(self.track_slots()),
            Strategy::ExtraBufferLazy => 2,
        }
    }
}

fn lcm(a: u32, b: u32) -> u32 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

/// How long something takes, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Always this long.
    Fixed(u64),
    /// Drawn evenly from this closed range at every use.
    Uniform(u64, u64),
}

/// The virtual cost of each kind of work. Defaults are of the size measured on a Python scheduler with 1000 requests
/// and illustrative for the GPU (`docs/model.md`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// CPU: taking in arrivals, once a turn.
    pub ingest: Cost,
    /// CPU: planning, once a turn.
    pub plan: Cost,
    /// CPU: preparing a batch.
    pub prepare: Cost,
    /// CPU: preparing, a request.
    pub prepare_request: Cost,
    /// CPU: launching a forward.
    pub launch: Cost,
    /// CPU: processing a result.
    pub result: Cost,
    /// CPU: processing a result, a request.
    pub result_request: Cost,
    /// CPU: finding out whether a row is a boundary, by computing it.
    pub check_recompute: Cost,
    /// CPU: finding out whether a row is a boundary, from a mask.
    pub check_mask: Cost,
    /// CPU: updating the bookkeeping at a boundary.
    pub boundary_update: Cost,
    /// GPU: a prefill forward.
    pub gpu_extend: Cost,
    /// GPU: a prefill forward, a token.
    pub gpu_extend_token: Cost,
    /// GPU: a decode forward.
    pub gpu_decode: Cost,
    /// GPU: a decode forward, a request.
    pub gpu_decode_request: Cost,
    /// Copying a result to the host.
    pub result_copy: Cost,
}

impl Default for Costs {
    fn default() -> Self {
        Costs {
            ingest: Cost::Fixed(20_000),
            plan: Cost::Fixed(50_000),
            prepare: Cost::Fixed(150_000),
            prepare_request: Cost::Fixed(800),
            launch: Cost::Fixed(200_000),
            result: Cost::Fixed(50_000),
            result_request: Cost::Fixed(2_500),
            check_recompute: Cost::Fixed(800),
            check_mask: Cost::Fixed(60),
            boundary_update: Cost::Fixed(4_000),
            gpu_extend: Cost::Fixed(4_000_000),
            gpu_extend_token: Cost::Fixed(25_000),
            gpu_decode: Cost::Fixed(8_000_000),
            gpu_decode_request: Cost::Fixed(30_000),
            result_copy: Cost::Fixed(20_000),
        }
    }
}

/// When a request is first seen. All of these are the earliest moment at which the script shows it.
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
        /// How many.
        len: u32,
    },
    /// The first `keep` tokens (all if `None`) of another request's prompt and outputs, then fresh ones.
    Of {
        /// The other request, which must have finished if `keep` reaches into its outputs.
        req: ReqId,
        /// How many tokens of it.
        keep: Option<u32>,
        /// The first fresh token.
        fresh: Token,
        /// How many fresh tokens.
        len: u32,
    },
    /// Blocks of tokens by identity: equal block ids are equal tokens.
    Blocks {
        /// The first token of each block.
        firsts: Arc<[Token]>,
        /// Tokens in a block; the last one may be cut short by `len`.
        block_len: u32,
        /// How many tokens in all.
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
}

/// Something scripted to happen in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The lazy second slot of this request is refused in this turn.
    FailAlloc {
        /// The turn.
        turn: u32,
        /// The request.
        req: ReqId,
    },
}

/// Everything that a run is a function of, together with the choices made.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The engine.
    pub engine: Engine,
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
    /// The name of a request.
    pub fn name(&self, req: ReqId) -> &str {
        &self.names[req.index()]
    }
}
