//! The time axis: when an event is under way, and its column in a drawing.
//!
//! Owns the order from left to right. Refuses to look at what an event does.

use petgraph::Direction::Incoming;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef as _;

use crate::scene::Lane;

use super::{Edge, Event, Events, Order};

/// By event: when it is under way, in virtual time. What waits is under way once the wait is over, so that every edge
/// of order leads from an earlier event to a later one, or to one of the same time that was issued later.
pub(super) fn when_ns(graph: &DiGraph<Event, Edge>) -> Vec<u64> {
    let mut when: Vec<u64> = Vec::with_capacity(graph.node_count());
    // Edges of order lead to events that were issued later.
    for event in graph.node_indices() {
        let before = graph.edges_directed(event, Incoming).filter_map(|edge| match edge.weight().order {
            Order::Completion => Some(graph[edge.source()].span.end_ns),
            Order::Program | Order::Stream | Order::Launch => when.get(edge.source().index()).copied(),
            Order::Data | Order::Missing => None,
        });
        let at = before.fold(graph[event].span.start_ns, u64::max);
        when.push(at);
    }
    when
}

/// The lanes, from top to bottom, that have events; each with its events from left to right and their columns, from 0.
///
/// Events of different times are never in one column, and neither are two of a lane or two that an edge of order joins.
pub(super) fn lanes(events: &Events) -> Vec<(Lane, Vec<(NodeIndex, usize)>)> {
    let mut order: Vec<NodeIndex> = events.graph.node_indices().collect();
    order.sort_by_key(|&event| (events.when_ns[event.index()], event));
    let mut columns: Vec<Option<usize>> = vec![None; order.len()];
    let mut lanes: Vec<(Lane, Vec<(NodeIndex, usize)>)> = Lane::ALL.map(|lane| (lane, Vec::new())).into();
    let (mut now, mut column) = (None, 0);
    for event in order {
        let at = events.when_ns[event.index()];
        let here = &mut lanes[events.graph[event].span.lane as usize].1;
        let before = events.graph.edges_directed(event, Incoming).filter(|edge| edge.weight().order.is_order());
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
