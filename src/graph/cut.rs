//! The part of a graph around a finding: the events nearest to it by edges.

use std::collections::BTreeMap;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef as _;

use crate::judge::Finding;

use super::{Absent, Events, Place};

/// Most events of a cut: what a person can take in. With the names of four lanes and the legend they are 40 nodes.
pub const CUT_MAX: usize = 35;

/// The at most [`CUT_MAX`] events nearest to finding number `index`, from 0, with all edges among them.
///
/// Nearest by number of edges, whichever way they point; among equals, those that use the slot of the finding come
/// first, then those of its request, then those issued closest to it. `None` if there is no such finding or no event.
pub fn cut(events: &Events, index: usize, finding: &Finding) -> Option<Events> {
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
    Some(Events { around: Some(index), ..induced(events, &kept) })
}

/// 0 for events that use the slot of a finding, 1 for those of its request, 2 for the rest.
fn relevance(events: &Events, event: NodeIndex, finding: &Finding) -> u8 {
    let accesses = &events.graph[event].accesses;
    if finding.slot.is_some_and(|slot| accesses.iter().any(|access| access.slot == slot)) {
        0
    } else if finding.req.is_some_and(|req| accesses.iter().any(|access| access.req == req)) {
        1
    } else {
        2
    }
}

/// The graph of these events alone, in the same order.
fn induced(events: &Events, kept: &[NodeIndex]) -> Events {
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
    // A missing edge that leads out of the cut is not drawn, which is not to say that there is none.
    let moved = |event: NodeIndex| new.get(&event).copied();
    let place = |place: &Place| Place {
        kind: place.kind,
        req: place.req,
        at: place.at.and_then(moved),
        missing: place.missing.and_then(|(from, slot)| Ok((moved(from).ok_or(Absent::Unplaced)?, slot))),
    };
    Events {
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
