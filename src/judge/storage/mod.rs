//! Storage as it really is: what every slot holds, who owns every slot, page and lock, and which requests run on a wrong state.
//!
//! This part of the judge is the emulation that everything else is compared with. It reads effects in the order of the streams and knows
//! nothing of track slots, lookahead, or what a rule decided: any number of forwards may be in flight, and a scheduler with other
//! bookkeeping is judged by the same code. Each fact is one small update; nothing is put off.

mod audit;
mod clock;
mod contents;
mod effects;
mod owners;
mod pages;
mod race;
mod sequence;

use educe::Educe;

use crate::record::{Encoding, Lineage, Owner, Prefix, ReqId, SlotId, StreamId};

use super::findings::Findings;
use super::live_table::LiveTable;

pub(super) use audit::OfferedState;
pub(super) use contents::Contents;
pub(super) use owners::{Owners, req_of};
use pages::PageOwners;
use sequence::Tokens;

/// Requests from this index on are not followed; the run is then at best inconclusive.
pub(super) const REQS_MAX: usize = 1 << 22;

/// Slots from this index on are not followed; the run is then at best inconclusive.
const SLOTS_MAX: usize = 1 << 20;

/// Streams from this index on are not followed; the run is then at best inconclusive.
const STREAMS_MAX: usize = 1 << 24;

/// What is known of a request that has not been released.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LiveRequest {
    /// Its tokens.
    pub tokens: Tokens,
    /// The finding that it started from, if it runs on a wrong state.
    pub taint: Option<usize>,
    /// Its last cache hit.
    pub hit: Option<Hit>,
}

/// A cache hit that a request starts from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// The slot copied from.
    pub source: SlotId,
    /// The length that it is cached under.
    pub len: u32,
    /// The finding, if that was wrong.
    pub root: Option<usize>,
}

/// All that is followed.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(super) struct Storage {
    pub lineage: Lineage,
    pub contents: Contents,
    pub owners: Owners,
    pub pages: PageOwners,
    pub requests: LiveTable<LiveRequest>,
    /// Whether a stream was named that is not followed.
    pub streams_overflow: bool,
}

impl Storage {
    /// A stream goes on from a prefix, unless there are more of them than are followed.
    pub fn stream(&mut self, stream: StreamId, parent: Prefix) {
        if stream.index() < STREAMS_MAX && parent.stream.index() < STREAMS_MAX {
            self.lineage.set(stream, parent);
        } else {
            self.streams_overflow = true;
        }
    }

    /// A request was seen by the scheduler.
    pub fn arrive(&mut self, req: ReqId) {
        self.requests.get_or_new(req);
    }

    /// The prompt of a request.
    pub fn prompt(&mut self, req: ReqId, prompt: Prefix) {
        if let Some(running) = self.requests.get_or_new(req) {
            running.tokens.prompt(prompt);
        }
    }

    /// The token after the first `len` tokens of a request was sampled, and lies on `stream`.
    #[inline]
    pub fn sampled(&mut self, req: ReqId, len: u32, stream: StreamId) {
        if let Some(running) = self.requests.get(req) {
            running.tokens.sampled(len, stream, &self.lineage);
        }
    }

    /// A slot was allocated.
    pub fn slot_alloc(&mut self, slot: SlotId, owner: Owner, findings: &mut Findings) {
        self.owners.alloc(slot, owner, findings);
        self.contents.begin_owner(slot);
    }

    /// A slot went from one owner to another.
    pub fn slot_move(&mut self, slot: SlotId, from: Owner, to: Owner, findings: &mut Findings) {
        self.owners.transfer(slot, from, Some(to), findings);
        // In the tree the history of the donor's writes goes on, and so it does within a request.
        if to != Owner::Tree && (req_of(to).is_none() || req_of(from) != req_of(to)) {
            self.contents.begin_owner(slot);
        }
    }

    /// A request was retracted: it will be prefilled again, and start from whatever it hits then.
    pub fn retract(&mut self, req: ReqId) {
        if let Some(running) = self.requests.get(req) {
            (running.taint, running.hit) = (None, None);
        }
    }

    /// Everything that is neither free nor in the tree at the end, but for what `excused` requests hold.
    pub fn close(&self, excused: impl Fn(ReqId) -> bool, findings: &mut Findings) {
        self.owners.close_slots(&excused, findings);
        self.pages.close(&excused, findings);
        self.owners.close_locks(&excused, findings);
    }

    /// Whether the run named more than is followed.
    pub fn is_overflow(&self) -> bool {
        let requests = self.requests.overflow;
        self.streams_overflow || requests || self.contents.overflow || self.owners.overflow || self.pages.overflow
    }

    /// Whether a content is a prefix of the tokens of a live request.
    pub fn is_prefix_of(&self, content: Prefix, req: ReqId) -> bool {
        self.requests.peek(req).is_some_and(|running| running.tokens.has(content, &self.lineage))
    }

    /// Encodes all that a sequence depends on: its stream, and where each ancestor of that goes on.
    pub fn encode_sequence(&self, content: Prefix, out: &mut Encoding) {
        let mut at = content.stream;
        while at != StreamId::ROOT {
            let parent = self.lineage.parent(at);
            out.put([at.0, parent.len]);
            at = parent.stream;
        }
        out.word(StreamId::ROOT.0);
    }
}
