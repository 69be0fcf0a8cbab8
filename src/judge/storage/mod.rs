//! The true state of storage: the content of every slot, the owner of every slot, page and lock, and the requests that
//! run on a wrong state.
//!
//! Owns the emulation that donations and hits are compared with. Effects are applied in the order of the record, each
//! fact at once. Does not know boundaries, lookahead, or the decisions of a rule: any number of forwards may be in
//! flight, and a scheduler with other bookkeeping is judged by the same code.

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

/// Requests from this index on are not tracked. A run with one is at best inconclusive.
pub(super) const REQS_MAX: usize = 1 << 22;

/// Slots from this index on are not tracked. A run with one is at best inconclusive.
const SLOTS_MAX: usize = 1 << 20;

/// Streams from this index on are not tracked. A run with one is at best inconclusive.
const STREAMS_MAX: usize = 1 << 24;

/// The state of a request that has not been released.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LiveRequest {
    /// Its tokens, as far as the record has them.
    pub tokens: Tokens,
    /// If the request runs on a wrong state: the index of the finding at the root.
    pub taint: Option<usize>,
    /// Its last cache hit.
    pub hit: Option<Hit>,
}

/// A cache hit that a request starts from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// The slot of the cached state.
    pub source: SlotId,
    /// The length under which the state is cached.
    pub len: u32,
    /// If the cached state is wrong: the index of the finding at the root.
    pub root: Option<usize>,
}

/// Contents, owners and live requests.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(super) struct Storage {
    pub lineage: Lineage,
    pub contents: Contents,
    pub owners: Owners,
    pub pages: PageOwners,
    pub requests: LiveTable<LiveRequest>,
    /// Whether the record has a stream from [`STREAMS_MAX`] on.
    pub streams_overflow: bool,
}

impl Storage {
    /// A stream continues a prefix.
    pub fn stream(&mut self, stream: StreamId, parent: Prefix) {
        if stream.index() < STREAMS_MAX && parent.stream.index() < STREAMS_MAX {
            self.lineage.set(stream, parent);
        } else {
            self.streams_overflow = true;
        }
    }

    /// A request arrived.
    pub fn arrive(&mut self, req: ReqId) {
        self.requests.get_or_new(req);
    }

    /// The prompt of a request is known.
    pub fn prompt(&mut self, req: ReqId, prompt: Prefix) {
        if let Some(running) = self.requests.get_or_new(req) {
            running.tokens.prompt(prompt);
        }
    }

    /// Token number `len + 1` of a request was sampled. `stream` is the stream of its tokens including this one.
    #[inline]
    pub fn sampled(&mut self, req: ReqId, len: u32, stream: StreamId) {
        if let Some(running) = self.requests.get(req) {
            running.tokens.sampled(len, stream, &self.lineage);
        }
    }

    /// A slot was allocated: a finding if it has an owner. The history of its writes starts again.
    pub fn slot_alloc(&mut self, slot: SlotId, owner: Owner, findings: &mut Findings) {
        self.owners.alloc(slot, owner, findings);
        self.contents.begin_owner(slot);
    }

    /// A slot moved between owners: a finding if `from` does not own it.
    pub fn slot_move(&mut self, slot: SlotId, from: Owner, to: Owner, findings: &mut Findings) {
        self.owners.transfer(slot, from, Some(to), findings);
        // Within a request, and from a request to the tree, the history of the donor's writes continues.
        if to != Owner::Tree && (req_of(to).is_none() || req_of(from) != req_of(to)) {
            self.contents.begin_owner(slot);
        }
    }

    /// A request was retracted: it will be prefilled again, so its wrong start does not matter any more.
    pub fn retract(&mut self, req: ReqId) {
        if let Some(running) = self.requests.get(req) {
            (running.taint, running.hit) = (None, None);
        }
    }

    /// The run has ended: a finding for every slot, page and lock that is neither free nor the tree's, except those of
    /// `excused` requests.
    pub fn close(&self, excused: impl Fn(ReqId) -> bool, findings: &mut Findings) {
        self.owners.close_slots(&excused, findings);
        self.pages.close(&excused, findings);
        self.owners.close_locks(&excused, findings);
    }

    /// Whether the record has an index that is not tracked.
    pub fn is_overflow(&self) -> bool {
        let requests = self.requests.overflow;
        self.streams_overflow || requests || self.contents.overflow || self.owners.overflow || self.pages.overflow
    }

    /// Whether a content is known to be a prefix of the tokens of this live request.
    pub fn is_prefix_of(&self, content: Prefix, req: ReqId) -> bool {
        self.requests.peek(req).is_some_and(|running| running.tokens.has(content, &self.lineage))
    }

    /// Encodes the identity of a sequence: its stream, and the length at which each ancestor of the stream continues.
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
