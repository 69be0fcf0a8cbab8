//! The time axis: the position of each event in virtual time, and its column in a drawing.

use petgraph::Direction::Incoming;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef as _;

use super::{Edge, EdgeKind, EventGraph, GraphEvent};
use crate::scene::Lane;

/// By event: its position in virtual time, the start, or the end of the wait if it waits. Every order edge leads to a
/// later position, or to an event at the same position that was issued later.
pub(super) fn when_ns(graph: &DiGraph<GraphEvent, Edge>) -> Vec<u64> {
    let mut when: Vec<u64> = Vec::with_capacity(graph.node_count());
    // Order edges lead to events that were issued later, so their sources have positions already.
    for event in graph.node_indices() {
        let before = graph.edges_directed(event, Incoming).filter_map(|edge| match edge.weight().kind {
            EdgeKind::Completion => Some(graph[edge.source()].span.end_ns),
            EdgeKind::Program | EdgeKind::Stream | EdgeKind::Launch => when.get(edge.source().index()).copied(),
            EdgeKind::Data | EdgeKind::Missing => None,
        });
        let at = before.fold(graph[event].span.start_ns, u64::max);
        when.push(at);
    }
    when
}

/// The lanes that have events, from top to bottom; each with its events from left to right and their columns, from 0.
///
/// Events at different positions are in different columns, and so are events of one lane and events joined by an order
/// edge.
pub(super) fn lanes(events: &EventGraph) -> Vec<(Lane, Vec<(NodeIndex, usize)>)> {
    let mut order: Vec<NodeIndex> = events.graph.node_indices().collect();
    order.sort_by_key(|&event| (events.when_ns[event.index()], event));
    let mut columns: Vec<Option<usize>> = vec![None; order.len()];
    let mut lanes: Vec<(Lane, Vec<(NodeIndex, usize)>)> = Lane::ALL.map(|lane| (lane, Vec::new())).into();
    let (mut now, mut column) = (None, 0);
    for event in order {
        let at = events.when_ns[event.index()];
        let here = &mut lanes[events.graph[event].span.lane as usize].1;
        let before = events.graph.edges_directed(event, Incoming).filter(|edge| edge.weight().kind.is_order());
        let mut before = before.filter_map(|edge| columns[edge.source().index()]);
        let taken = here.last().is_some_and(|last| last.1 == column) || before.any(|of| of == column);
        if now.is_some_and(|now| now != at) || taken {
            column += 1;
        }
        (now, columns[event.index()]) = (Some(at), Some(column));
        here.push((event, column));
    }
    lanes.retain(|lane| !lane.1.is_empty());
    lanes
}
