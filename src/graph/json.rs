//! The JSON form: nodes and edges, in the order of the graph.

use petgraph::visit::EdgeRef as _;
use serde::Serialize;

use crate::escape;
use crate::record::SlotId;
use crate::report::name;

use super::label::plain;
use super::{EdgeKind, EventGraph, FindingPlace};

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
    /// The findings at this event, numbered from 1 as `run` prints them.
    findings: Vec<usize>,
}

#[derive(Debug, Serialize)]
struct EdgeJson {
    from: usize,
    to: usize,
    kind: &'static str,
    slots: Vec<u32>,
    /// For a missing edge: its findings, numbered likewise.
    findings: Vec<usize>,
}

/// The graph as pretty-printed JSON with a newline at its end.
pub fn json(events: &EventGraph, names: &[String]) -> String {
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
        let misses = |place: &FindingPlace| {
            place.missing_edge().is_some_and(|of| (of.0, of.1) == (from, to) && slots.contains(&of.2))
        };
        places.filter(|(_, place)| misses(place)).map(|(number, _)| number + 1).collect()
    };
    let edges = events.graph.edge_references().map(|edge| EdgeJson {
        from: events.ids[edge.source().index()],
        to: events.ids[edge.target().index()],
        kind: edge_kind_name(edge.weight().kind),
        slots: numbers(edge.weight().slots.clone()),
        findings: match edge.weight().kind {
            EdgeKind::Missing => missed(edge.source(), edge.target(), &edge.weight().slots),
            EdgeKind::Program | EdgeKind::Stream | EdgeKind::Launch | EdgeKind::Completion | EdgeKind::Data => {
                Vec::new()
            }
        },
    });
    let value = GraphJson { nodes: events.graph.node_indices().map(node).collect(), edges: edges.collect() };
    let text = serde_json::to_string_pretty(&value).expect("strings and numbers always serialize");
    format!("{}\n", escape::json(&text))
}

fn edge_kind_name(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Program => "program",
        EdgeKind::Stream => "stream",
        EdgeKind::Launch => "launch",
        EdgeKind::Completion => "completion",
        EdgeKind::Data => "data",
        EdgeKind::Missing => "missing",
    }
}
