//! The cut of a graph around a finding: the events with the fewest edges to it.

use std::collections::BTreeMap;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef as _;

use crate::judge::Finding;

use super::{Absent, EventGraph, FindingPlace};

/// Most events of a cut, so that a drawing stays readable: 40 nodes with the names of the four lanes and the legend.
pub const CUT_MAX: usize = 35;

/// The events nearest to the finding at `index`, at most [`CUT_MAX`], with all edges between them.
///
/// The distance is the number of edges, in either direction. At equal distance events that use the slot of the finding
/// come first, then events of its request, then events with the nearest number. `None` if the finding does not exist or
/// has no event.
pub fn cut(events: &EventGraph, index: usize, finding: &Finding) -> Option<EventGraph> {
    let place = *events.places.get(index)?;
    let at = place.at?;
    let mut kept = Vec::new();
    let mut seen = vec![false; events.graph.node_count()];
    let mut ring: Vec<NodeIndex> =
        [Some(at), place.missing.ok().map(|missing| missing.0)].into_iter().flatten().collect();
    while !ring.is_empty() && kept.len() < CUT_MAX {
        for &event in &ring {
            seen[event.index()] = true;
        }
        ring.sort_by_key(|&event| (relevance(events, event, finding), event.index().abs_diff(at.index()), event));
        ring.truncate(CUT_MAX - kept.len());
        kept.extend_from_slice(&ring);
        let mut next: Vec<NodeIndex> =
            ring.iter().flat_map(|&event| events.graph.neighbors_undirected(event)).collect();
        next.sort_unstable();
        next.dedup();
        next.retain(|event| !seen[event.index()]);
        ring = next;
    }
    kept.sort_unstable();
    Some(EventGraph { around: Some(index), ..induced(events, &kept) })
}

/// The rank of an event at equal distance: 0 if it uses the slot of the finding, 1 if it is of its request, else 2.
fn relevance(events: &EventGraph, event: NodeIndex, finding: &Finding) -> u8 {
    let accesses = &events.graph[event].accesses;
    if finding.slot.is_some_and(|slot| accesses.iter().any(|access| access.slot == slot)) {
        0
    } else if finding.req.is_some_and(|req| accesses.iter().any(|access| access.req == req)) {
        1
    } else {
        2
    }
}

/// The subgraph induced by the events `kept`, in the same order.
fn induced(events: &EventGraph, kept: &[NodeIndex]) -> EventGraph {
    let mut graph = DiGraph::new();
    let mut ids = Vec::new();
    let mut new = BTreeMap::new();
    for &event in kept {
        new.insert(event, graph.add_node(events.graph[event].clone()));
        ids.push(events.ids[event.index()]);
    }
    for edge in events.graph.edge_references() {
        if let (Some(&from), Some(&to)) = (new.get(&edge.source()), new.get(&edge.target())) {
            graph.add_edge(from, to, edge.weight().clone());
        }
    }
    // A missing edge whose source is outside the cut is not drawn, so its finding is marked as unplaced here.
    let moved = |event: NodeIndex| new.get(&event).copied();
    let place = |place: &FindingPlace| FindingPlace {
        kind: place.kind,
        req: place.req,
        at: place.at.and_then(moved),
        missing: place.missing.and_then(|(from, slot)| Ok((moved(from).ok_or(Absent::Unplaced)?, slot))),
    };
    EventGraph {
        graph,
        when_ns: kept.iter().map(|event| events.when_ns[event.index()]).collect(),
        in_lane: kept.iter().map(|event| events.in_lane[event.index()]).collect(),
        lane_events: events.lane_events,
        rows: events.rows.clone(),
        places: events.places.iter().map(place).collect(),
        around: events.around,
        ids,
    }
}
