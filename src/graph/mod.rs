//! The happens-before graph of a run: who ran after whom, what each read saw, and which edge a finding misses.
//!
//! A pure function of a record and a judgement. The judge needs no graph to find a race: it keeps a clock of two
//! counters (`docs/streams.md`). This one is for people, and for a test that holds the judge to it.

mod build;
mod cut;
mod dot;
mod find;
mod json;
mod label;
mod lines;
mod time;
mod title;

use std::collections::{BTreeMap, BTreeSet};

use petgraph::graph::{DiGraph, NodeIndex};

use crate::judge::{FindingKind, Judgement};
use crate::record::{BatchId, ForwardMode, Phase, Record, ReqId, SlotId};

pub use cut::{CUT_MAX, cut};
pub use dot::dot;
pub use json::json;
pub use title::title;

/// Where an event runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// The scheduler's CPU.
    Cpu,
    /// The stream of the scheduler.
    Schedule,
    /// The stream of the forwards.
    Forward,
    /// The stream that copies results to the host.
    Copy,
}

/// Every lane, from top to bottom.
pub const LANES: [Lane; 4] = [Lane::Cpu, Lane::Schedule, Lane::Forward, Lane::Copy];

/// What kind of event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// A CPU phase, or the part of it after a wait.
    Phase(Phase),
    /// CPU work that a record written by hand puts into no phase.
    Cpu,
    /// A copy of a state on the schedule stream.
    StateCopy,
    /// A forward.
    Forward(ForwardMode),
    /// The copy of a result to the host.
    ResultCopy,
}

/// What an event does with a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Use {
    /// Reads it.
    Read,
    /// Reads it in order to cache it: a donation.
    Offer,
    /// Writes it.
    Write,
    /// Writes it as a checkpoint.
    Keep,
}

/// One use of a slot by an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The slot.
    pub slot: SlotId,
    /// For which request.
    pub req: ReqId,
    /// How it is used.
    pub how: Use,
    /// The length of the state, where the record says so.
    pub len: Option<u32>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Where it runs.
    pub lane: Lane,
    /// What it is.
    pub work: Work,
    /// The batch it works on, if it has one.
    pub batch: Option<BatchId>,
    /// The loop turn in which it was issued.
    pub turn: u32,
    /// When it begins, in virtual time. A copy of a state takes no time of its own.
    pub start_ns: u64,
    /// When it ends.
    pub end_ns: u64,
    /// Its uses of slots, in order.
    pub accesses: Vec<Access>,
}

/// Why one event is ordered after another, or what it has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// The CPU does one after the other, or issues it.
    Program,
    /// Both run on the same stream.
    Stream,
    /// A forward waits for what the schedule stream had issued when it was launched.
    Launch,
    /// A completion event: of a forward before its result is copied, and of that copy before the CPU goes on.
    Completion,
    /// No order of its own: the write whose state a read sees once all launched forwards have run.
    Data,
    /// No order at all: where a finding says that one is absent, or which write it should have come from.
    Missing,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its kind.
    pub order: Order,
    /// For [`Order::Data`] and [`Order::Missing`]: the slots in question, in ascending order.
    pub slots: Vec<SlotId>,
}

/// The graph of a run, or a cut of one.
#[derive(Clone, Debug)]
pub struct Events {
    /// Events in the order in which they were issued, and their edges.
    pub graph: DiGraph<Event, Edge>,
    /// The number of each event in the whole run.
    pub ids: Vec<usize>,
    /// By event: when it is under way. That is its start, or for one that waits the end of the wait.
    pub when_ns: Vec<u64>,
    /// By event: its number in its lane of the whole run, from 0.
    pub in_lane: Vec<usize>,
    /// By lane: how many events the whole run has there.
    pub lane_events: [usize; 4],
    /// The requests of each batch that was launched, in ascending order.
    pub rows: BTreeMap<BatchId, Vec<ReqId>>,
    /// By finding: the event at which it was found, and the one that its missing edge comes from.
    pub places: Vec<Place>,
    /// Of a cut: the index of the finding that it is around.
    pub around: Option<usize>,
}

/// Where a finding is in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// What kind of finding it is.
    pub kind: FindingKind,
    /// Whose it is.
    pub req: Option<ReqId>,
    /// The event at which it was found.
    pub at: Option<NodeIndex>,
    /// The event that its missing edge comes from, and the slot in question; or why there is none.
    pub missing: Result<(NodeIndex, SlotId), Absent>,
}

/// Why a finding misses no edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Absent {
    /// The record has no event at which it was found.
    Unplaced,
    /// It is about values or owners on the CPU, where everything is in program order.
    Bookkeeping,
    /// The slot was used in order, by one who does not hold it.
    InOrder,
    /// The edge is that of another finding: the one it started from.
    Inherited,
    /// By then no forward had kept the state of that length.
    NeverKept,
}

impl Events {
    /// The graph of a whole run.
    pub fn new(record: &Record, judgement: &Judgement) -> Events {
        let mut graph = build::build(record);
        let places = find::places(&graph, &judgement.findings);
        // Several findings may miss the same edge: it is drawn once.
        let mut drawn = BTreeSet::new();
        for missing in places.iter().filter_map(Place::missing_edge).filter(|&missing| drawn.insert(missing)) {
            let (from, at, slot) = missing;
            graph.add_edge(from, at, Edge { order: Order::Missing, slots: vec![slot] });
        }
        let mut lane_events = [0; 4];
        let mut in_lane = Vec::new();
        let mut rows: BTreeMap<BatchId, Vec<ReqId>> = BTreeMap::new();
        for event in graph.node_weights() {
            let count = &mut lane_events[event.lane as usize];
            in_lane.push(*count);
            *count += 1;
            if let (Lane::Forward, Some(batch)) = (event.lane, event.batch) {
                let mut reqs: Vec<ReqId> = event.accesses.iter().map(|access| access.req).collect();
                reqs.sort_unstable();
                reqs.dedup();
                rows.insert(batch, reqs);
            }
        }
        let (ids, when_ns) = ((0..graph.node_count()).collect(), time::when_ns(&graph));
        Events { graph, ids, when_ns, in_lane, lane_events, rows, places, around: None }
    }
}

impl Place {
    /// Its missing edge, if it has one: from, to, and the slot.
    pub fn missing_edge(&self) -> Option<(NodeIndex, NodeIndex, SlotId)> {
        let (from, slot) = self.missing.ok()?;
        Some((from, self.at?, slot))
    }
}

impl Event {
    /// The slots that it reads, and those that it writes, each in ascending order.
    pub fn slots(&self) -> (Vec<SlotId>, Vec<SlotId>) {
        let of = |writes: bool| {
            let fits = |access: &&Access| access.how.writes() == writes;
            let mut slots: Vec<SlotId> = self.accesses.iter().filter(fits).map(|access| access.slot).collect();
            slots.sort_unstable();
            slots.dedup();
            slots
        };
        (of(false), of(true))
    }
}

impl Use {
    /// Whether it changes the slot.
    pub fn writes(self) -> bool {
        matches!(self, Use::Write | Use::Keep)
    }
}

impl Order {
    /// Whether the edge puts its target after its source.
    pub fn is_order(self) -> bool {
        !matches!(self, Order::Data | Order::Missing)
    }
}
