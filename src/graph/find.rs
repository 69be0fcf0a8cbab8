//! Where the findings of a judgement are in the graph, and which event their missing edge comes from.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::graph::{DiGraph, NodeIndex};

use crate::judge::{Finding, Kind};
use crate::record::{ReqId, SlotId};

use super::{Access, Edge, Event, Lane, Place, Use, Work};

type Graph = DiGraph<Event, Edge>;

/// The place of every finding, in order.
pub(super) fn places(graph: &Graph, findings: &[Finding]) -> Vec<Place> {
    let index = Index::new(graph);
    let (mut taken, mut drawn) = (BTreeSet::new(), BTreeSet::new());
    let place = |finding: &Finding| {
        let at = index.place(finding, &taken);
        taken.extend(at.map(|at| (finding.kind, at)));
        let missing = at.and_then(|at| index.origin(finding, at));
        // Several findings may miss the same edge: it is drawn once.
        Place { at, missing: missing.filter(|missing| drawn.insert((at, *missing))) }
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
}

impl Index<'_> {
    fn new(graph: &Graph) -> Index<'_> {
        let mut index = Index { graph, by_turn: BTreeMap::new(), by_slot: BTreeMap::new(), kept: BTreeMap::new() };
        for at in graph.node_indices() {
            let event = &graph[at];
            index.by_turn.entry(event.turn).or_default().push(at);
            for access in event.accesses.iter().filter(|_| event.lane == Lane::Forward) {
                index.by_slot.entry(access.slot).or_default().push((at, access.how.writes()));
                if let (Use::Keep, Some(len)) = (access.how, access.len) {
                    index.kept.entry((access.req, len)).or_default().push((at, access.slot));
                }
            }
        }
        index
    }

    /// The event at which a finding was found: the use of its slot for its request, else the phase, else the last
    /// event up to its turn. Findings that look alike are given alike events in order.
    fn place(&self, finding: &Finding, taken: &BTreeSet<(Kind, NodeIndex)>) -> Option<NodeIndex> {
        let in_phase = |event: &Event| event.work == Work::Phase(finding.phase) || event.work == Work::Cpu;
        let is_use = |access: &Access| Some(access.slot) == finding.slot && Some(access.req) == finding.req;
        let fits = |event: &Event| match event.lane {
            Lane::Schedule => true,
            Lane::Cpu => finding.kind != Kind::Torn && in_phase(event),
            Lane::Forward => finding.kind != Kind::Torn,
            Lane::Copy => false,
        };
        let turn = self.by_turn.get(&finding.turn).into_iter().flatten().copied();
        let mut events = turn.map(|at| (at, &self.graph[at]));
        let uses = events.clone().filter(|(_, event)| fits(event) && event.accesses.iter().any(is_use));
        let used = uses.min_by_key(|&(at, event)| {
            let again = taken.contains(&(finding.kind, at));
            (again, event.lane != Lane::Schedule, at)
        });
        let phase = || events.rfind(|(_, event)| in_phase(event));
        let before = || self.by_turn.range(..=finding.turn).next_back()?.1.last().copied();
        used.or_else(phase).map(|(at, _)| at).or_else(before)
    }

    /// The event that should have come first, or that the state should have come from, with the slot in question.
    fn origin(&self, finding: &Finding, at: NodeIndex) -> Option<(NodeIndex, SlotId)> {
        match finding.kind {
            Kind::Torn | Kind::UseAfterFree if self.graph[at].lane == Lane::Schedule => {
                let slot = finding.slot?;
                let uses = self.by_slot.get(&slot).map_or(&[][..], Vec::as_slice);
                let uses = &uses[..uses.partition_point(|of| of.0 < at)];
                let write = uses.iter().rfind(|of| of.1).or_else(|| uses.last());
                write.map(|of| (of.0, slot))
            }
            Kind::Mislabelled | Kind::Unwritten | Kind::Foreign | Kind::Aliased | Kind::Lost => {
                let kept = self.kept.get(&(finding.req?, finding.label?))?;
                kept[..kept.partition_point(|of| of.0 < at)].last().copied()
            }
            Kind::Torn | Kind::UseAfterFree | Kind::Inherited => None,
            Kind::Assertion | Kind::Leak | Kind::DoubleFree | Kind::Lock => None,
        }
    }
}
