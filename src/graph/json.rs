//! The JSON form: nodes and edges, in the order in which they were issued.

use petgraph::visit::EdgeRef as _;
use serde::Serialize;

use crate::record::SlotId;
use crate::report::name;

use super::label::plain;
use super::{Events, Order, Place};

#[derive(Debug, Serialize)]
struct GraphJson {
    nodes: Vec<NodeJson>,
    edges: Vec<EdgeJson>,
}

#[derive(Debug, Serialize)]
struct NodeJson {
    id: usize,
    lane: &'static str,
    kind: String,
    batch: Option<u32>,
    turn: u32,
    start_ns: u64,
    end_ns: u64,
    label: String,
    reads: Vec<u32>,
    writes: Vec<u32>,
    /// The findings that were found here, numbered from 1 as `run` prints them.
    findings: Vec<usize>,
}

#[derive(Debug, Serialize)]
struct EdgeJson {
    from: usize,
    to: usize,
    kind: &'static str,
    slots: Vec<u32>,
    /// The findings that miss it.
    findings: Vec<usize>,
}

/// The graph as pretty-printed JSON with a newline at its end.
pub fn json(events: &Events, names: &[String]) -> String {
    let numbers = |slots: Vec<SlotId>| slots.into_iter().map(|slot| slot.0).collect();
    let node = |index: petgraph::graph::NodeIndex| {
        let event = &events.graph[index];
        let (reads, writes) = event.slots();
        let found = events.places.iter().enumerate().filter(|(_, place)| place.at == Some(index));
        NodeJson {
            id: events.ids[index.index()],
            lane: name::lane_key(event.span.lane),
            kind: name::work(event.span.work).replace(' ', "-"),
            batch: event.span.batch.map(|batch| batch.0),
            turn: event.span.turn,
            start_ns: event.span.start_ns,
            end_ns: event.span.end_ns,
            label: plain(event, names),
            reads: numbers(reads),
            writes: numbers(writes),
            findings: found.map(|(number, _)| number + 1).collect(),
        }
    };
    let missed = |from, to, slots: &[SlotId]| {
        let places = events.places.iter().enumerate();
        let misses =
            |place: &Place| place.missing_edge().is_some_and(|of| (of.0, of.1) == (from, to) && slots.contains(&of.2));
        places.filter(|(_, place)| misses(place)).map(|(number, _)| number + 1).collect()
    };
    let edges = events.graph.edge_references().map(|edge| EdgeJson {
        from: events.ids[edge.source().index()],
        to: events.ids[edge.target().index()],
        kind: order_name(edge.weight().order),
        slots: numbers(edge.weight().slots.clone()),
        findings: match edge.weight().order {
            Order::Missing => missed(edge.source(), edge.target(), &edge.weight().slots),
            Order::Program | Order::Stream | Order::Launch | Order::Completion | Order::Data => Vec::new(),
        },
    });
    let value = GraphJson { nodes: events.graph.node_indices().map(node).collect(), edges: edges.collect() };
    let mut text = serde_json::to_string_pretty(&value).expect("strings and numbers always serialize");
    text.push('\n');
    text
}

fn order_name(order: Order) -> &'static str {
    match order {
        Order::Program => "program",
        Order::Stream => "stream",
        Order::Launch => "launch",
        Order::Completion => "completion",
        Order::Data => "data",
        Order::Missing => "missing",
    }
}
