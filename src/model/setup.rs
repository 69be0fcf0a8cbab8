//! The validated input of a run: engine, costs, requests, events. Owns what the words mean, not how a file spells them.

use std::sync::Arc;

use crate::engine::Time;
use crate::numeric::Ssm;
use crate::record::{BoundaryCheck, ReqId, Token, TokenFold};

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

impl Release {
    /// All of them, oldest first.
    pub const ALL: [Release; 4] = [Release::V0_5_16, Release::V0_5_17, Release::V0_5_18, Release::V0_5_23];

    /// The version of the package, as in `0.5.23`.
    pub fn version(self) -> &'static str {
        match self {
            Release::V0_5_16 => "0.5.16",
            Release::V0_5_17 => "0.5.17",
            Release::V0_5_18 => "0.5.18",
            Release::V0_5_23 => "0.5.23",
        }
    }
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

/// What happens to the track fields of a prefill batch when decode rows join it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MixedTracking {
    /// They are dropped: the forward keeps no state, whatever the requests believe.
    Dropped,
    /// Those of the prefill rows are kept; decode rows are untracked, and a lazy second slot is given back.
    Kept,
}

/// What happens when no state slot can be had where one could be done without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exhaustion {
    /// The donation is skipped, the admission waits.
    Skip,
    /// An assertion of the modelled system fails, as in the releases.
    Assert,
}

/// How the state of an unfinished request gets into the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Snapshot {
    /// The kept slot itself is handed over, and a fresh one takes its place.
    HandOver,
    /// A fresh slot receives a copy on the schedule stream, which waits for no forward.
    Copy,
}

/// When the state of a cache hit is copied into the active slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CopyOnWrite {
    /// First thing in the prefill forward, on the forward stream.
    Deferred,
    /// At the match, on the schedule stream, which waits for no forward.
    Immediate,
}

/// When the slots of a finished request are free for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SlotFree {
    /// At the result that finishes it, though a step in flight may still write them.
    AtResult,
    /// When the result of the last forward that names it has been processed.
    Deferred,
    /// At the result that finishes it; rows of a forward that is launched later run on the padding slot.
    Masked,
}

/// How many tokens a verify step accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accept {
    /// These numbers in turn, over and over, a sequence of its own for each request.
    Fixed(Vec<u32>),
    /// Each draft in order with this probability in millionths, until one is rejected; and one more token.
    Seeded(u32),
}

/// Speculative decoding: a linear draft, verified in one forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Draft tokens a step; a verify accepts 1 to `draft + 1` tokens.
    pub draft: u32,
    /// How many it accepts, by script.
    pub accept: Accept,
}

impl Spec {
    /// Most tokens that a verify accepts.
    pub fn accept_max(&self) -> u32 {
        self.draft + 1
    }

    /// KV that a step reserves beyond the committed length: twice what it may accept, since the committed length is
    /// one verify behind (`get_alloc_reserve_per_decode`).
    pub fn reserve(&self) -> u32 {
        2 * self.accept_max()
    }
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
    /// Most new prompt tokens in one prefill batch; a longer prompt is prefilled in chunks, one request at a time. No
    /// limit if not set.
    pub chunked_prefill_size: Option<u32>,
    /// Decode rows ride along in prefill batches.
    pub mixed_chunk: bool,
    /// What riding along does to the track fields of the batch.
    pub mixed_tracking: MixedTracking,
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
    /// Speculative decoding, if on.
    pub spec: Option<Spec>,
    /// At the end of a request only the tokens up to its stop are cached, not all that a verify accepted.
    pub caches_through_stop: bool,
    /// A label beyond what is cached falls back to the checkpoint before, in the other slot.
    pub previous_checkpoint: bool,
    /// How an unfinished request's state gets into the tree.
    pub snapshot: Snapshot,
    /// When a hit is copied.
    pub copy_on_write: CopyOnWrite,
    /// When the slots of a finished request are free.
    pub slot_free: SlotFree,
    /// What a lack of slots leads to.
    pub exhaustion: Exhaustion,
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
    /// The numeric state that severity is measured with. Changes nothing in a run.
    pub state: Option<Ssm>,
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
            chunked_prefill_size: None,
            mixed_chunk: false,
            mixed_tracking: if newest { MixedTracking::Kept } else { MixedTracking::Dropped },
            disable_consecutive_prefill_overlap: false,
            skip_finishing_decode: newest,
            filter_before_prefill: newest,
            lazy_prealloc_evicts: release == Release::V0_5_16,
            refused_prealloc_clears_label: newest,
            kv_eviction: if release == Release::V0_5_16 { KvEviction::Whole } else { KvEviction::Shortfall },
            finish_order: if newer { FinishOrder::TokenFirst } else { FinishOrder::LengthFirst },
            slot_headroom: if newest { SlotHeadroom::Exact } else { SlotHeadroom::PerRequest },
            spec: None,
            caches_through_stop: newest,
            previous_checkpoint: newest,
            snapshot: Snapshot::HandOver,
            copy_on_write: CopyOnWrite::Deferred,
            slot_free: SlotFree::AtResult,
            exhaustion: Exhaustion::Assert,
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
            state: None,
        }
    }

    /// G: the decode checkpoint grid in tokens.
    pub fn grid_len(&self) -> u32 {
        match self.grid {
            Grid::Interval => self.track_interval,
            Grid::Lcm => grid_len(self.prefill_grid_len(), self.track_interval),
        }
    }

    /// c: the grid of prefill checkpoints in tokens, relative to the cached prefix.
    pub fn prefill_grid_len(&self) -> u32 {
        grid_len(self.mamba_chunk, self.page_size)
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

    /// Whether a request has both its track slots from the start, so that the write index flips between them.
    pub fn is_pair(&self) -> bool {
        self.strategy == Strategy::ExtraBuffer && self.track_slots() == 2
    }

    /// Tokens beyond the committed length for which speculative decoding reserves KV; 0 without it.
    pub fn spec_reserve(&self) -> u32 {
        self.spec.as_ref().map_or(0, Spec::reserve)
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

/// The grid of the places that lie on two grids. Who makes a setup sees to it that it is below 2^31.
fn grid_len(a: u32, b: u32) -> u32 {
    u32::try_from(lcm(a.into(), b.into())).expect("grids of a setup are below 2^31")
}

/// The least common multiple of two lengths that are not 0, or the greatest number if it is beyond that.
pub(crate) fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
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

impl Costs {
    /// CPU: finding out in this way whether a row is a boundary.
    #[inline]
    pub fn of_check(&self, check: BoundaryCheck) -> Cost {
        match check {
            BoundaryCheck::Mask => self.check_mask,
            BoundaryCheck::Recompute | BoundaryCheck::MaskLost | BoundaryCheck::None => self.check_recompute,
        }
    }

    /// Every cost.
    pub fn each_mut(&mut self) -> [&mut Cost; 15] {
        let Costs {
            ingest,
            plan,
            prepare,
            prepare_request,
            launch,
            result,
            result_request,
            check_recompute,
            check_mask,
            boundary_update,
            gpu_extend,
            gpu_extend_token,
            gpu_decode,
            gpu_decode_request,
            result_copy,
        } = self;
        [
            ingest,
            plan,
            prepare,
            prepare_request,
            launch,
            result,
            result_request,
            check_recompute,
            check_mask,
            boundary_update,
            gpu_extend,
            gpu_extend_token,
            gpu_decode,
            gpu_decode_request,
            result_copy,
        ]
    }
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
    /// Speculative decoding: what its first verifies accept; behind the list it is as the engine says.
    pub accept: Vec<u32>,
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

/// A bound on turns that no run of these requests and events reaches which makes progress: every output may take a few
/// turns of its own. A scenario file that names no bound has this one.
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
    /// The token that ends a request with this prompt, if one does: what the fake model samples as that output.
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
