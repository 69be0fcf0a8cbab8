//! The live view: requests and slots after the facts so far.
//!
//! It keeps no past. Contents of slots come from the judge.

mod facts;

use crate::engine::Time;
use crate::judge::Judge;
use crate::record::{BatchId, FinishKind, KeptState, Owner, Phase, ReqId, RequestFields, SlotId};

use super::Fit;

/// The status of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestStatus {
    /// The scheduler has not seen it.
    #[default]
    Unseen,
    /// Waiting for admission, for the first time or after a retraction.
    Waiting,
    /// Admitted, and prefilling its prompt.
    Prefill,
    /// Decoding.
    Decode,
    /// Finished.
    Finished,
}

/// A request after the facts so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestView {
    /// Its status.
    pub status: RequestStatus,
    /// Tokens of its prompt.
    pub prompt_len: u32,
    /// Tokens taken from the cache at its last admission.
    pub hit: u32,
    /// Outputs processed.
    pub outputs: u32,
    /// `seq_lens[i]` of the batch prepared last: the length after its step; with speculation the length before.
    pub k: u32,
    /// L at its last processed decode result.
    pub lookahead: Option<i64>,
    /// `kv_committed_len`, the track indices and the label, by the latest facts.
    pub fields: RequestFields,
    /// The active slot.
    pub active: Option<SlotId>,
    /// The track slots.
    pub track: [Option<SlotId>; 2],
    /// How it finished.
    pub finish: Option<FinishKind>,
    /// The number of retractions.
    pub retracted: u32,
}

impl RequestView {
    /// The label and the slot of a donation now.
    pub fn kept(&self) -> KeptState {
        KeptState { label: self.fields.last_track_seqlen, slot: self.fields.kept }
    }
}

/// A slot after the facts so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotView {
    /// The owner; `None` if the slot is free.
    pub owner: Option<Owner>,
    /// The length of its content in tokens once all launched forwards have run; `None` if no forward has written the
    /// slot since its owner got it.
    pub holds: Option<u32>,
    /// The request that wrote it last since its owner got it.
    pub writer: Option<ReqId>,
    /// The label under which it is kept or cached, in tokens.
    pub label: Option<u32>,
    /// Whether label and content agree.
    pub fit: Fit,
    /// The forward in flight that writes it, and the end of that forward.
    pub lands: Option<(BatchId, Time)>,
}

/// The stored part of a slot. [`LiveView::slot`] derives the rest.
#[derive(Clone, Copy, Debug, Default)]
struct SlotEntry {
    owner: Option<Owner>,
    /// The length under which the tree has it.
    cached: Option<u32>,
    /// The forward that wrote it last, and the end of that forward.
    written: Option<(BatchId, Time)>,
}

/// A launched forward whose result has not been processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// The batch.
    pub batch: BatchId,
    /// When the forward starts.
    pub start: Time,
    /// When it ends.
    pub end: Time,
}

/// Requests and slots after the facts so far.
#[derive(Clone, Debug, Default)]
pub struct LiveView {
    /// The loop turn.
    pub turn: u32,
    /// The time on the CPU.
    pub now: Time,
    /// The CPU phase under way, and the batch that it works on.
    pub phase: Option<(Phase, Option<BatchId>)>,
    /// Forwards whose results have not been processed, in stream order.
    pub in_flight: Vec<InFlight>,
    reqs: Vec<RequestView>,
    slots: Vec<SlotEntry>,
    launch: Option<(BatchId, Time)>,
}

impl LiveView {
    /// The requests by index, up to the last that a fact has named.
    pub fn reqs(&self) -> &[RequestView] {
        &self.reqs
    }

    /// The slots up to the last that a fact has named.
    pub fn slot_ids(&self) -> impl Iterator<Item = SlotId> + use<> {
        (0..self.slots.len() as u32).map(SlotId)
    }

    /// The owner of a slot; `None` if it is free.
    pub fn owner(&self, slot: SlotId) -> Option<Owner> {
        self.slots.get(slot.index())?.owner
    }

    /// A slot after the facts so far. `judge` has seen the same facts.
    pub fn slot(&self, judge: &Judge, slot: SlotId) -> SlotView {
        let entry = self.slots.get(slot.index()).copied().unwrap_or_default();
        let holding = judge.holding(slot);
        let offer = match entry.owner {
            Some(Owner::Track(req, _)) => self.reqs.get(req.index()).and_then(|it| Some((req, it.fields.offer?))),
            Some(Owner::Spare | Owner::Active(_) | Owner::Request(_) | Owner::Tree) | None => None,
        };
        let (label, fit) = match (entry.cached, offer.filter(|(_, offer)| offer.slot == slot)) {
            (Some(len), _) => (Some(len), fit(judge.holds_donation(slot), Fit::Wrong)),
            (None, Some((req, offer))) => (Some(offer.label), fit(judge.holds(slot, req, offer.key_len), Fit::Exposed)),
            (None, None) => (None, Fit::None),
        };
        let lands = entry.written.filter(|_| holding.in_flight);
        SlotView { owner: entry.owner, holds: holding.tokens, writer: holding.writer, label, fit, lands }
    }

    fn req(&mut self, req: ReqId) -> &mut RequestView {
        if req.index() >= self.reqs.len() {
            self.reqs.resize(req.index() + 1, RequestView::default());
        }
        &mut self.reqs[req.index()]
    }

    fn entry(&mut self, slot: SlotId) -> &mut SlotEntry {
        if slot.index() >= self.slots.len() {
            self.slots.resize(slot.index() + 1, SlotEntry::default());
        }
        &mut self.slots[slot.index()]
    }

    fn give(&mut self, slot: SlotId, to: Option<Owner>) {
        let from = std::mem::replace(&mut self.entry(slot).owner, to);
        match from {
            Some(Owner::Active(req)) => self.req(req).active = None,
            Some(Owner::Track(req, idx)) if self.req(req).track[usize::from(idx)] == Some(slot) => {
                self.req(req).track[usize::from(idx)] = None;
            }
            Some(Owner::Track(..) | Owner::Spare | Owner::Request(_) | Owner::Tree) | None => {}
        }
        match to {
            Some(Owner::Active(req)) => self.req(req).active = Some(slot),
            Some(Owner::Track(req, idx)) => self.req(req).track[usize::from(idx)] = Some(slot),
            Some(Owner::Spare | Owner::Request(_) | Owner::Tree) | None => {}
        }
        if to != Some(Owner::Tree) {
            self.entry(slot).cached = None;
        }
    }

    fn write(&mut self, slot: SlotId) {
        let launch = self.launch;
        self.entry(slot).written = launch;
    }

    /// Clears the kept state of a request; of a finished request also the track indices.
    fn forget(&mut self, req: ReqId) {
        let it = self.req(req);
        (it.fields.last_track_seqlen, it.fields.kept, it.fields.offer) = (None, None, None);
        if it.status == RequestStatus::Finished {
            (it.fields.next_track_idx, it.fields.last_track_idx) = (None, None);
        }
    }
}

fn fit(right: Option<bool>, wrong: Fit) -> Fit {
    match right {
        Some(true) => Fit::Right,
        Some(false) => wrong,
        None => Fit::None,
    }
}
