//! The state of the machine between two turns.

use std::sync::Arc;

use educe::Educe;

use crate::engine::Time;
use crate::record::{Owner, ReqId, SlotId, StreamId, Streams};

use super::arrivals::ArrivalQueue;
use super::batch::{Batch, Rows};
use super::budget::TokenRatio;
use super::clock::MachineClock;
use super::pages::PagePool;
use super::radix::{Radix, RadixConfig};
use super::request::Req;
use super::sequences::{Sequence, sequences};
use super::setup::Setup;
use super::slots::SlotPool;
use super::track_policy::TrackPolicy;

/// The batch that was launched last (`last_batch`).
#[derive(Educe, Debug)]
#[educe(Clone)]
pub(super) enum LastBatch {
    /// Nothing was launched.
    None,
    /// A prefill batch that has not been merged into the running batch.
    Extend(Box<Batch>),
    /// The running batch itself.
    Running,
}

/// A launched batch whose result has not been processed: an entry of the result queue.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub(super) struct PendingResult {
    pub batch: Box<Batch>,
    /// When the result is on the host.
    pub copied: Time,
    /// Speculative decoding: accepted tokens of each row.
    pub accepted: Rows<u32>,
}

/// The state of the machine. A clone is a snapshot.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct World {
    /// The grid of decode boundaries, in tokens. Fixed by the setup, and kept here since every row asks for it.
    pub(super) grid: u32,
    /// The track policy of the engine. Fixed by the setup, and kept here since every row asks for it.
    pub(super) policy: TrackPolicy,
    pub(super) clock: MachineClock,
    pub(super) turn: u32,
    pub(super) reqs: Vec<Req>,
    /// The names of all token sequences.
    pub(super) streams: Streams,
    pub(super) sequences: Arc<[Sequence]>,
    /// The number of streams emitted to the sink.
    pub(super) streams_emitted: u32,
    /// Streams attached since then and not yet emitted.
    pub(super) attached: Vec<StreamId>,
    /// The waiting queue.
    pub(super) waiting: Vec<ReqId>,
    pub(super) arrivals: ArrivalQueue,
    /// Requests pinned before a step that were seen in this turn.
    pub(super) pinned: Vec<ReqId>,
    /// The batch that decodes (`running_batch`).
    pub(super) running: Batch,
    pub(super) last: LastBatch,
    /// The result queue, oldest first: at most two entries.
    pub(super) queue: Vec<PendingResult>,
    pub(super) slots: SlotPool,
    pub(super) pages: PagePool,
    pub(super) tree: Radix,
    pub(super) ratio: TokenRatio,
    /// Rows of the request pool that requests hold.
    pub(super) rows_held: u32,
    /// Batches numbered so far, and batch objects made so far.
    pub(super) batches: u32,
    pub(super) objects: u32,
    /// The batch object that was last prepared for decode.
    pub(super) decoded: u32,
    /// The request that is being prefilled in chunks (`chunked_req`).
    pub(super) chunked: Option<ReqId>,
    /// The request in chunks that the next plan aborts.
    pub(super) chunk_abort: Option<ReqId>,
    /// Forwards launched so far.
    pub(super) forwards: u32,
    /// Slots of finished requests that a forward in flight may still write.
    pub(super) deferred_frees: Vec<(SlotId, Owner)>,
    /// Requests that are not over, with those not seen yet.
    pub(super) unfinished: u32,
    /// Scripted events that took effect, by position.
    pub(super) events_used: Vec<bool>,
    /// Admissions since the last refresh of the waiting prefixes.
    pub(super) refreshes: u32,
    /// Whether the last turn was idle.
    pub(super) idle: bool,
    /// Turns run, and how many of them were idle. Read only for the words about a bound.
    pub(super) turns_run: u32,
    pub(super) turns_idle: u32,
    /// Whether a request has finished since the running batch was last filtered.
    pub(super) unfiltered: bool,
    /// Admissions in which a request got pages of its own (grants).
    pub(super) grants: u32,
}

impl World {
    /// The state before turn 0.
    pub fn new(setup: &Setup) -> Self {
        let engine = &setup.engine;
        let (streams, sequences) = sequences(setup);
        World {
            grid: engine.grid_len(),
            policy: engine.track_policy(),
            clock: MachineClock::default(),
            turn: 0,
            reqs: vec![Req::unseen(); setup.requests.len()],
            streams,
            sequences,
            streams_emitted: 0,
            attached: Vec::new(),
            waiting: Vec::new(),
            arrivals: ArrivalQueue::new(setup),
            pinned: Vec::new(),
            running: Batch::empty(0),
            last: LastBatch::None,
            queue: Vec::new(),
            slots: SlotPool::new(engine.mamba_slots),
            pages: PagePool::new(engine.kv_tokens, engine.page_size),
            tree: Radix::new(RadixConfig {
                page_size: engine.page_size,
                state_chunk: engine.prefill_grid_len(),
                branching_beyond_state: engine.branching_beyond_state,
                split_refreshes_state: engine.split_refreshes_state,
                tombstone_lock: engine.tombstone_lock,
            }),
            ratio: TokenRatio::new(engine.conservativeness),
            rows_held: 0,
            batches: 0,
            objects: 0,
            decoded: 0,
            deferred_frees: Vec::new(),
            chunked: None,
            chunk_abort: None,
            forwards: 0,
            unfinished: setup.requests.len() as u32,
            events_used: vec![false; setup.events.len()],
            refreshes: 0,
            idle: false,
            turns_run: 0,
            turns_idle: 0,
            unfiltered: false,
            grants: 0,
        }
    }

    /// The number of the next turn.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// State slots in the free list.
    pub fn slots_free(&self) -> u32 {
        self.slots.available()
    }

    /// Requests that hold a row of the request pool.
    pub fn rows_held(&self) -> u32 {
        self.rows_held
    }

    /// The names of the token sequences.
    pub fn streams(&self) -> &Streams {
        &self.streams
    }

    /// The radix tree, for audits.
    pub fn tree(&self) -> &Radix {
        &self.tree
    }
}
