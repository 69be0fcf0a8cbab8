//! Where the findings of a judgement are in the graph, and which event their missing edge comes from.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::Direction::Incoming;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef as _;

use crate::judge::{Finding, FindingKind};
use crate::record::{ReqId, SlotId};

use super::{Absent, Access, Edge, Event, Lane, Order, Place, Use, Work};

type Graph = DiGraph<Event, Edge>;

/// The place of every finding, in order.
pub(super) fn places(graph: &Graph, findings: &[Finding]) -> Vec<Place> {
    let index = Index::new(graph);
    let mut taken = BTreeSet::new();
    let place = |finding: &Finding| {
        let at = index.place(finding, &taken);
        taken.extend(at.map(|at| (finding.kind, at)));
        let missing = at.ok_or(Absent::Unplaced).and_then(|at| index.origin(finding, at));
        Place { kind: finding.kind, req: finding.req, at, missing }
    };
    findings.iter().map(place).collect()
}

/// Events by what findings know of them.
struct Index<'a> {
    graph: &'a Graph,
    by_turn: BTreeMap<u32, Vec<NodeIndex>>,
    /// The forwards that use a slot, and whether they write it.
    by_slot: BTreeMap<SlotId, Vec<(NodeIndex, bool)>>,
    /// The forwards that kept the state of a length, and where.
    kept: BTreeMap<(ReqId, u32), Vec<(NodeIndex, SlotId)>>,
    /// Who offered a slot to the tree, and under which length.
    offers: BTreeMap<(SlotId, u32), Vec<(NodeIndex, ReqId)>>,
    /// By event of the schedule stream: the last forward that the CPU had waited for when it was issued.
    known: BTreeMap<NodeIndex, Option<NodeIndex>>,
}

impl Index<'_> {
    fn new(graph: &Graph) -> Index<'_> {
        let (by_slot, kept, offers, known) = Default::default();
        let mut index = Index { graph, by_turn: BTreeMap::new(), by_slot, kept, offers, known };
        let mut waited = None;
        for at in graph.node_indices() {
            let event = &graph[at];
            index.by_turn.entry(event.turn).or_default().push(at);
            match event.lane {
                Lane::Cpu => {
                    let copies = graph.edges_directed(at, Incoming).filter(|of| of.weight().order == Order::Completion);
                    let forwards = copies.flat_map(|copy| {
                        graph.neighbors_directed(copy.source(), Incoming).filter(|&of| graph[of].lane == Lane::Forward)
                    });
                    waited = waited.max(forwards.max());
                    for access in event.accesses.iter().filter(|access| access.how == Use::Offer) {
                        if let Some(len) = access.len {
                            index.offers.entry((access.slot, len)).or_default().push((at, access.req));
                        }
                    }
                }
                Lane::Schedule => {
                    index.known.insert(at, waited);
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

    /// The event at which a finding was found: the use of its slot for its request, else the phase, else the last
    /// event up to its turn. Findings that look alike are given alike events in order.
    fn place(&self, finding: &Finding, taken: &BTreeSet<(FindingKind, NodeIndex)>) -> Option<NodeIndex> {
        let in_phase = |event: &Event| event.work == Work::Phase(finding.phase) || event.work == Work::Cpu;
        let turn = self.by_turn.get(&finding.turn).into_iter().flatten().copied();
        let mut events = turn.map(|at| (at, &self.graph[at]));
        let uses = events.clone().filter_map(|(at, event)| {
            let is_use = |access: &&Access| Some(access.slot) == finding.slot && Some(access.req) == finding.req;
            let likely = event.accesses.iter().filter(is_use).filter_map(|access| likely(finding.kind, event, access));
            likely.min().filter(|_| event.lane != Lane::Cpu || in_phase(event)).map(|likely| (likely, at))
        });
        let used = uses.min_by_key(|&(likely, at)| (taken.contains(&(finding.kind, at)), likely, at));
        let phase = || events.rfind(|(_, event)| in_phase(event)).map(|(at, _)| at);
        let before = || self.by_turn.range(..=finding.turn).next_back()?.1.last().copied();
        used.map(|(_, at)| at).or_else(phase).or_else(before)
    }

    /// The event that should have come first, or that the state should have come from, with the slot in question.
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

    /// The last forward in flight that a copy on the schedule stream races with: one that writes the slot, else one that
    /// reads what the copy writes. A forward that the CPU has waited for is ordered before the copy.
    fn unordered(&self, finding: &Finding, at: NodeIndex) -> Option<(NodeIndex, SlotId)> {
        let (slot, &known) = (finding.slot?, self.known.get(&at)?);
        let uses = self.by_slot.get(&slot).map_or(&[][..], Vec::as_slice);
        let in_flight = &uses[uses.partition_point(|of| Some(of.0) <= known)..uses.partition_point(|of| of.0 < at)];
        let writes = self.graph[at].accesses.iter().any(|access| access.slot == slot && access.how.writes());
        let of = in_flight.iter().rfind(|of| of.1).or_else(|| in_flight.last().filter(|_| writes));
        of.map(|of| (of.0, slot))
    }

    /// The last forward that kept the state of the length in question: for the request itself, else, at a hit, for the
    /// one that had offered the slot under that length.
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

/// How likely a use of the slot is what a finding of this kind is about, from 0 on; `None` if it cannot be.
fn likely(kind: FindingKind, event: &Event, access: &Access) -> Option<u8> {
    let reads = !access.how.writes();
    match (kind, event.lane) {
        (_, Lane::Copy) => None,
        // Found at the copy.
        (FindingKind::Torn, Lane::Schedule) => Some(0),
        (FindingKind::Torn, Lane::Cpu | Lane::Forward) => None,
        // Found where the state is offered, or read by a hit: the forward that writes the slot is not where it goes wrong.
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
