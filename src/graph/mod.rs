//! The happens-before graph of a run: the order of its events, the write that each read sees, and for each finding the
//! edge that is missing.
//!
//! A pure function of a record and a judgement. The judge does not use it: it finds races by a clock of two counters
//! (`docs/streams.md`). The graph is for drawings, and a test compares the judge's races with it.

mod build;
mod cut;
mod dot;
mod drawn_edges;
mod find;
mod json;
mod label;
mod time;
mod title;

use std::collections::{BTreeMap, BTreeSet};

use petgraph::graph::{DiGraph, NodeIndex};

use crate::judge::{FindingKind, Judgement};
use crate::record::{BatchId, Record, ReqId, SlotId};
use crate::scene::{Lane, Span};

pub use cut::{CUT_MAX, cut};
pub use dot::dot;
pub use json::json;
pub use title::title;

/// How an event uses a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Use {
    /// Reads the slot.
    Read,
    /// Reads the slot to cache it: a donation.
    Offer,
    /// Writes the slot.
    Write,
    /// Writes a checkpoint into the slot.
    Keep,
}

/// One use of a slot by an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The slot.
    pub slot: SlotId,
    /// The request for which it is used.
    pub req: ReqId,
    /// How it is used.
    pub how: Use,
    /// The length of the state, if the record says it.
    pub len: Option<u32>,
}

/// A node of the graph: a stretch of work in one lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEvent {
    /// Its lane, work, batch, turn and times. A copy of a state has length 0.
    pub span: Span,
    /// The uses of slots, in order.
    pub accesses: Vec<Access>,
}

/// The kind of an edge: an order of two events, a flow of data, or a missing edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// Program order: the CPU does one event after the other, or issues it.
    Program,
    /// Stream order: both events run on the same stream.
    Stream,
    /// A forward starts after its launch by the CPU, and after all work that the schedule stream had issued at the
    /// launch.
    Launch,
    /// A completion event: the copy of a result starts after its forward, and the CPU continues a wait after that copy.
    Completion,
    /// Data, no order: from a write to a read that sees its state once all launched forwards have run.
    Data,
    /// Missing, no order: the order that a finding lacks, or the write that the state should have come from.
    Missing,
}

/// An edge of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its kind.
    pub kind: EdgeKind,
    /// For [`EdgeKind::Data`] and [`EdgeKind::Missing`]: the slots in question, in ascending order.
    pub slots: Vec<SlotId>,
}

/// The graph of a run, or a cut of one.
#[derive(Clone, Debug)]
pub struct EventGraph {
    /// Events in the order in which they were issued, and their edges.
    pub graph: DiGraph<GraphEvent, Edge>,
    /// The number of each event in the whole run.
    pub ids: Vec<usize>,
    /// By event: its position on the time axis. That is its start, or the end of its wait if it waits.
    pub when_ns: Vec<u64>,
    /// By event: its index in its lane of the whole run.
    pub in_lane: Vec<usize>,
    /// By lane: the number of events of the whole run.
    pub lane_events: [usize; 4],
    /// The requests of each batch that was launched, in ascending order.
    pub rows: BTreeMap<BatchId, Vec<ReqId>>,
    /// By finding: its event and its missing edge.
    pub places: Vec<FindingPlace>,
    /// For a cut: the index of the finding at its centre.
    pub around: Option<usize>,
}

/// The place of a finding in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingPlace {
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The request of the finding.
    pub req: Option<ReqId>,
    /// The event at which the finding was made.
    pub at: Option<NodeIndex>,
    /// The source of its missing edge, and the slot in question; or why there is no missing edge.
    pub missing: Result<(NodeIndex, SlotId), Absent>,
}

/// Why a finding has no missing edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Absent {
    /// The record has no event for the finding.
    Unplaced,
    /// The finding is about values or owners on the CPU, where all events are in program order.
    Bookkeeping,
    /// The use of the slot is ordered, but the request does not hold the slot.
    InOrder,
    /// The missing edge is that of another finding: the state was wrong when the request started from it.
    Inherited,
    /// No forward had kept a state of that length by then.
    NeverKept,
}

impl EventGraph {
    /// The graph of a whole run.
    pub fn new(record: &Record, judgement: &Judgement) -> EventGraph {
        let mut graph = build::build(record);
        let places = find::places(&graph, &judgement.findings);
        // Several findings may have the same missing edge: it is drawn once.
        let mut drawn = BTreeSet::new();
        for missing in places.iter().filter_map(FindingPlace::missing_edge).filter(|&missing| drawn.insert(missing)) {
            let (from, at, slot) = missing;
            graph.add_edge(from, at, Edge { kind: EdgeKind::Missing, slots: vec![slot] });
        }
        let mut lane_events = [0; 4];
        let mut in_lane = Vec::new();
        let mut rows: BTreeMap<BatchId, Vec<ReqId>> = BTreeMap::new();
        for event in graph.node_weights() {
            let count = &mut lane_events[event.span.lane as usize];
            in_lane.push(*count);
            *count += 1;
            if let (Lane::Forward, Some(batch)) = (event.span.lane, event.span.batch) {
                let mut reqs: Vec<ReqId> = event.accesses.iter().map(|access| access.req).collect();
                reqs.sort_unstable();
                reqs.dedup();
                rows.insert(batch, reqs);
            }
        }
        let (ids, when_ns) = ((0..graph.node_count()).collect(), time::when_ns(&graph));
        EventGraph { graph, ids, when_ns, in_lane, lane_events, rows, places, around: None }
    }
}

impl FindingPlace {
    /// Its missing edge, if it has one: source, target, slot.
    pub fn missing_edge(&self) -> Option<(NodeIndex, NodeIndex, SlotId)> {
        let (from, slot) = self.missing.ok()?;
        Some((from, self.at?, slot))
    }
}

impl GraphEvent {
    /// The slots that the event reads, and the slots that it writes, each in ascending order.
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
    /// Whether the slot is written.
    pub fn writes(self) -> bool {
        matches!(self, Use::Write | Use::Keep)
    }
}

impl EdgeKind {
    /// Whether the edge puts its target after its source.
    pub fn is_order(self) -> bool {
        !matches!(self, EdgeKind::Data | EdgeKind::Missing)
    }
}
