//! The places of the findings of a judgement in the graph, and the sources of their missing edges.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::Direction::Incoming;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef as _;

use crate::judge::{Finding, FindingKind};
use crate::record::{ReqId, SlotId};
use crate::scene::{Lane, Work};

use super::{Absent, Access, Edge, EdgeKind, FindingPlace, GraphEvent, Use};

type Graph = DiGraph<GraphEvent, Edge>;

/// The places of the findings, in order.
pub(super) fn places(graph: &Graph, findings: &[Finding]) -> Vec<FindingPlace> {
    let index = EventIndex::new(graph);
    let mut taken = BTreeSet::new();
    let place = |finding: &Finding| {
        let at = index.place(finding, &taken);
        taken.extend(at.map(|at| (finding.kind, at)));
        let missing = at.ok_or(Absent::Unplaced).and_then(|at| index.origin(finding, at));
        FindingPlace { kind: finding.kind, req: finding.req, at, missing }
    };
    findings.iter().map(place).collect()
}

/// Events by the fields of findings: turn, slot, request, length.
struct EventIndex<'a> {
    graph: &'a Graph,
    by_turn: BTreeMap<u32, Vec<NodeIndex>>,
    /// By slot: the forwards that use it, and whether they write it.
    by_slot: BTreeMap<SlotId, Vec<(NodeIndex, bool)>>,
    /// By request and length: the forwards that wrote a checkpoint of it, and its slot.
    kept: BTreeMap<(ReqId, u32), Vec<(NodeIndex, SlotId)>>,
    /// By slot and length: the donations to the tree, and their requests.
    offers: BTreeMap<(SlotId, u32), Vec<(NodeIndex, ReqId)>>,
    /// By event of the schedule stream: the last forward that the CPU had waited for when the event was issued.
    completed: BTreeMap<NodeIndex, Option<NodeIndex>>,
}

impl EventIndex<'_> {
    fn new(graph: &Graph) -> EventIndex<'_> {
        let (by_slot, kept, offers, completed) = Default::default();
        let mut index = EventIndex { graph, by_turn: BTreeMap::new(), by_slot, kept, offers, completed };
        let mut waited = None;
        for at in graph.node_indices() {
            let event = &graph[at];
            index.by_turn.entry(event.span.turn).or_default().push(at);
            match event.span.lane {
                Lane::Cpu => {
                    let copies =
                        graph.edges_directed(at, Incoming).filter(|of| of.weight().kind == EdgeKind::Completion);
                    let forwards = copies.flat_map(|copy| {
                        graph
                            .neighbors_directed(copy.source(), Incoming)
                            .filter(|&of| graph[of].span.lane == Lane::Forward)
                    });
                    waited = waited.max(forwards.max());
                    for access in event.accesses.iter().filter(|access| access.how == Use::Offer) {
                        if let Some(len) = access.len {
                            index.offers.entry((access.slot, len)).or_default().push((at, access.req));
                        }
                    }
                }
                Lane::Schedule => {
                    index.completed.insert(at, waited);
                }
                Lane::Forward => {
                    for access in &event.accesses {
                        index.by_slot.entry(access.slot).or_default().push((at, access.how.writes()));
                        if let (Use::Keep, Some(len)) = (access.how, access.len) {
                            index.kept.entry((access.req, len)).or_default().push((at, access.slot));
                        }
                    }
                }
                Lane::Copy => {}
            }
        }
        index
    }

    /// The event of a finding: the use of its slot for its request, else its phase, else the last event up to its turn.
    /// Findings of one kind that fit several events are assigned to different events, in order.
    fn place(&self, finding: &Finding, taken: &BTreeSet<(FindingKind, NodeIndex)>) -> Option<NodeIndex> {
        let in_phase =
            |event: &GraphEvent| event.span.work == Work::Phase(finding.phase) || event.span.work == Work::Cpu;
        let turn = self.by_turn.get(&finding.turn).into_iter().flatten().copied();
        let mut events = turn.map(|at| (at, &self.graph[at]));
        let uses = events.clone().filter_map(|(at, event)| {
            let is_use = |access: &&Access| Some(access.slot) == finding.slot && Some(access.req) == finding.req;
            let ranks = event.accesses.iter().filter(is_use).filter_map(|access| use_rank(finding.kind, event, access));
            ranks.min().filter(|_| event.span.lane != Lane::Cpu || in_phase(event)).map(|rank| (rank, at))
        });
        let used = uses.min_by_key(|&(rank, at)| (taken.contains(&(finding.kind, at)), rank, at));
        let phase = || events.rfind(|(_, event)| in_phase(event)).map(|(at, _)| at);
        let before = || self.by_turn.range(..=finding.turn).next_back()?.1.last().copied();
        used.map(|(_, at)| at).or_else(phase).or_else(before)
    }

    /// The source of the missing edge: the event that should be ordered before the event `at`, or the write that the
    /// state should have come from, with the slot in question.
    fn origin(&self, finding: &Finding, at: NodeIndex) -> Result<(NodeIndex, SlotId), Absent> {
        match finding.kind {
            FindingKind::Torn | FindingKind::UseAfterFree => self.unordered(finding, at).ok_or(Absent::InOrder),
            FindingKind::Mislabelled
            | FindingKind::Unwritten
            | FindingKind::Foreign
            | FindingKind::Aliased
            | FindingKind::Lost => self.keeper(finding, at).ok_or(Absent::NeverKept),
            FindingKind::Inherited => Err(Absent::Inherited),
            FindingKind::Assertion | FindingKind::Leak | FindingKind::DoubleFree | FindingKind::Lock => {
                Err(Absent::Bookkeeping)
            }
        }
    }

    /// The last forward in flight with which a copy on the schedule stream races: a forward that writes the slot, else
    /// a forward that reads the slot if the copy writes it. A forward that the CPU has waited for is ordered before the
    /// copy.
    fn unordered(&self, finding: &Finding, at: NodeIndex) -> Option<(NodeIndex, SlotId)> {
        let (slot, &completed) = (finding.slot?, self.completed.get(&at)?);
        let uses = self.by_slot.get(&slot).map_or(&[][..], Vec::as_slice);
        let in_flight = &uses[uses.partition_point(|of| Some(of.0) <= completed)..uses.partition_point(|of| of.0 < at)];
        let writes = self.graph[at].accesses.iter().any(|access| access.slot == slot && access.how.writes());
        let of = in_flight.iter().rfind(|of| of.1).or_else(|| in_flight.last().filter(|_| writes));
        of.map(|of| (of.0, slot))
    }

    /// The last forward that wrote a checkpoint of the length in question: for the request of the finding, else, at a
    /// hit, for the request that donated the slot under that length.
    fn keeper(&self, finding: &Finding, at: NodeIndex) -> Option<(NodeIndex, SlotId)> {
        let (req, label) = (finding.req?, finding.label?);
        let kept = |req| {
            let kept = self.kept.get(&(req, label))?;
            kept[..kept.partition_point(|of| of.0 < at)].last().copied()
        };
        let offer = || {
            let offers = self.offers.get(&(finding.slot?, label))?;
            offers[..offers.partition_point(|of| of.0 < at)].last().map(|of| of.1)
        };
        kept(req).or_else(|| kept(offer()?))
    }
}

/// The rank of a use of the slot as the event of a finding of this kind, 0 first; `None` if it cannot be its event.
fn use_rank(kind: FindingKind, event: &GraphEvent, access: &Access) -> Option<u8> {
    let reads = !access.how.writes();
    match (kind, event.span.lane) {
        (_, Lane::Copy) => None,
        // Torn reads are found at the copy.
        (FindingKind::Torn, Lane::Schedule) => Some(0),
        (FindingKind::Torn, Lane::Cpu | Lane::Forward) => None,
        // Wrong states are found at the donation, or at the read of a hit, not at the forward that writes the slot.
        (
            FindingKind::Mislabelled
            | FindingKind::Unwritten
            | FindingKind::Foreign
            | FindingKind::Aliased
            | FindingKind::Inherited,
            lane,
        ) => match lane {
            Lane::Cpu => Some(0),
            Lane::Schedule => reads.then_some(1),
            Lane::Forward => reads.then_some(2),
            Lane::Copy => None,
        },
        (
            FindingKind::Lost
            | FindingKind::Assertion
            | FindingKind::Leak
            | FindingKind::DoubleFree
            | FindingKind::UseAfterFree
            | FindingKind::Lock,
            lane,
        ) => Some(u8::from(lane != Lane::Schedule)),
    }
}
