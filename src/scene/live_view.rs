//! Where everything stands at one moment: requests and slots, after the facts so far.
//!
//! Owns what is shown as it is now. Refuses to keep the past, and to know what a slot holds: that the judge is asked.

mod facts;

use crate::engine::Time;
use crate::judge::Judge;
use crate::record::{BatchId, FinishKind, KeptState, Owner, Phase, ReqId, RequestFields, SlotId};

use super::Fit;

/// How far a request is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Not seen yet.
    #[default]
    Unseen,
    /// It waits, for the first time or after a retraction.
    Waiting,
    /// Admitted; its prompt is being prefilled.
    Prefill,
    /// It decodes.
    Decode,
    /// It has finished.
    Finished,
}

/// A request as it is now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReqNow {
    /// How far it is.
    pub stage: Stage,
    /// Tokens of its prompt.
    pub prompt_len: u32,
    /// Tokens taken from the cache at its last admission.
    pub hit: u32,
    /// Outputs processed.
    pub outputs: u32,
    /// `seq_lens[i]` of the batch prepared last: the length that its step reaches; with speculation the one that it begins from.
    pub k: u32,
    /// L at its last processed decode result.
    pub lookahead: Option<i64>,
    /// `kv_committed_len`, the track indices and the label, as they were last told.
    pub fields: RequestFields,
    /// The active slot.
    pub active: Option<SlotId>,
    /// The track slots.
    pub track: [Option<SlotId>; 2],
    /// How it finished.
    pub finish: Option<FinishKind>,
    /// How often it was retracted.
    pub retracted: u32,
}

impl ReqNow {
    /// The label and the slot that a donation would hand over now.
    pub fn kept(&self) -> KeptState {
        KeptState { label: self.fields.last_track_seqlen, slot: self.fields.kept }
    }
}

/// A slot as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotNow {
    /// Who holds it; nobody if it is free.
    pub owner: Option<Owner>,
    /// How many tokens it holds once all launched forwards have run; nothing if nobody has written it since its owner got it.
    pub holds: Option<u32>,
    /// Who wrote it last since its owner got it.
    pub writer: Option<ReqId>,
    /// The label that it is kept or cached under, in tokens.
    pub label: Option<u32>,
    /// Whether label and content agree.
    pub fit: Fit,
    /// The forward in flight that writes it, and when that ends.
    pub lands: Option<(BatchId, Time)>,
}

/// What is kept of a slot: the rest follows.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    owner: Option<Owner>,
    /// The length that the tree has it under.
    cached: Option<u32>,
    /// The forward that wrote it last, and when that ends.
    written: Option<(BatchId, Time)>,
}

/// A forward that was launched and whose result has not been processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// The batch.
    pub batch: BatchId,
    /// When the forward starts.
    pub start: Time,
    /// When it ends.
    pub end: Time,
}

/// Requests and slots now.
#[derive(Clone, Debug, Default)]
pub struct LiveView {
    /// The loop turn.
    pub turn: u32,
    /// The time on the CPU.
    pub now: Time,
    /// The CPU phase under way, and the batch that it works on.
    pub phase: Option<(Phase, Option<BatchId>)>,
    /// Launched and not processed, in stream order.
    pub flights: Vec<Flight>,
    reqs: Vec<ReqNow>,
    slots: Vec<Held>,
    launch: Option<(BatchId, Time)>,
}

impl LiveView {
    /// By request index; requests that were never named are left out at the end.
    pub fn reqs(&self) -> &[ReqNow] {
        &self.reqs
    }

    /// Every slot that was ever named, up to the last.
    pub fn slot_ids(&self) -> impl Iterator<Item = SlotId> + use<> {
        (0..self.slots.len() as u32).map(SlotId)
    }

    /// Who holds a slot.
    pub fn owner(&self, slot: SlotId) -> Option<Owner> {
        self.slots.get(slot.index())?.owner
    }

    /// A slot as it is now. `judge` has seen the same facts.
    pub fn slot(&self, judge: &Judge, slot: SlotId) -> SlotNow {
        let held = self.slots.get(slot.index()).copied().unwrap_or_default();
        let holding = judge.holding(slot);
        let offer = match held.owner {
            Some(Owner::Track(req, _)) => self.reqs.get(req.index()).and_then(|it| Some((req, it.fields.offer?))),
            Some(Owner::Spare | Owner::Active(_) | Owner::Request(_) | Owner::Tree) | None => None,
        };
        let (label, fit) = match (held.cached, offer.filter(|(_, offer)| offer.slot == slot)) {
            (Some(len), _) => (Some(len), fit(judge.holds_donation(slot), Fit::Wrong)),
            (None, Some((req, offer))) => (Some(offer.label), fit(judge.holds(slot, req, offer.key_len), Fit::Exposed)),
            (None, None) => (None, Fit::None),
        };
        let lands = held.written.filter(|_| holding.in_flight);
        SlotNow { owner: held.owner, holds: holding.tokens, writer: holding.writer, label, fit, lands }
    }

    fn req(&mut self, req: ReqId) -> &mut ReqNow {
        if req.index() >= self.reqs.len() {
            self.reqs.resize(req.index() + 1, ReqNow::default());
        }
        &mut self.reqs[req.index()]
    }

    fn held(&mut self, slot: SlotId) -> &mut Held {
        if slot.index() >= self.slots.len() {
            self.slots.resize(slot.index() + 1, Held::default());
        }
        &mut self.slots[slot.index()]
    }

    fn give(&mut self, slot: SlotId, to: Option<Owner>) {
        let from = std::mem::replace(&mut self.held(slot).owner, to);
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
            self.held(slot).cached = None;
        }
    }

    fn write(&mut self, slot: SlotId) {
        let launch = self.launch;
        self.held(slot).written = launch;
    }

    /// It has no state to hand over any more; at its end it has no track slots either.
    fn forget(&mut self, req: ReqId) {
        let it = self.req(req);
        (it.fields.last_track_seqlen, it.fields.kept, it.fields.offer) = (None, None, None);
        if it.stage == Stage::Finished {
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
