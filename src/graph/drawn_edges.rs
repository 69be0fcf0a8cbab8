//! The edges that a drawing shows, and the gaps between the events of a cut. Redundant edges are left out. Colours and
//! line styles are in `dot`.

use std::collections::BTreeSet;

use petgraph::Direction::Outgoing;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef as _;

use crate::record::SlotId;

use crate::scene::Lane;

use super::{Edge, EdgeKind, EventGraph, Use};

/// An edge of a drawing: between two lanes, or within a lane but not its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DrawnEdge {
    /// The source.
    pub from: NodeIndex,
    /// The target.
    pub to: NodeIndex,
    /// Its kind.
    pub kind: EdgeKind,
    /// The slots, for data and missing edges.
    pub slots: Vec<SlotId>,
}

/// How an event is joined to the next event of its lane in the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneLink {
    /// By the order of the lane; no event is between them.
    Next,
    /// By the order of the lane; this many events between them are not in the drawing.
    Gap(usize),
    /// Not at all: the record has no order for them.
    None,
}

/// How two neighbours of a lane are joined.
pub(super) fn link(events: &EventGraph, from: NodeIndex, to: NodeIndex) -> LaneLink {
    let between = events.in_lane[to.index()].saturating_sub(events.in_lane[from.index()] + 1);
    let mut direct = events.graph.edges_connecting(from, to).map(|edge| edge.weight().kind);
    if between > 0 {
        LaneLink::Gap(between)
    } else if direct.any(|kind| matches!(kind, EdgeKind::Program | EdgeKind::Stream)) {
        LaneLink::Next
    } else {
        LaneLink::None
    }
}

/// All edges of a drawing but the order of each lane.
///
/// Left out are: program order that another path implies; data for the slots of a missing edge between the same events;
/// the active state of a request from one forward to the next; and, in a cut, the missing edges of other findings.
pub(super) fn drawn_edges(events: &EventGraph) -> Vec<DrawnEdge> {
    let graph = &events.graph;
    let shown: Option<BTreeSet<_>> = events
        .around
        .map(|index| events.places.get(index).and_then(|place| place.missing_edge()).into_iter().collect());
    let mut lines = Vec::new();
    for edge in graph.edge_references() {
        let (from, to, Edge { kind, slots }) = (edge.source(), edge.target(), edge.weight());
        let same_lane = graph[from].span.lane == graph[to].span.lane;
        let mut slots = slots.clone();
        let keep = match kind {
            EdgeKind::Program | EdgeKind::Stream => !same_lane && !is_implied(events, from, to),
            EdgeKind::Launch | EdgeKind::Completion => true,
            EdgeKind::Missing => {
                slots.retain(|&slot| shown.as_ref().is_none_or(|shown| shown.contains(&(from, to, slot))));
                !slots.is_empty()
            }
            EdgeKind::Data => {
                let missing = |slot| {
                    let mut beside = graph.edges_connecting(from, to).map(|beside| beside.weight());
                    beside.any(|beside| beside.kind == EdgeKind::Missing && beside.slots.contains(&slot))
                };
                slots.retain(|&slot| !runs_on(events, from, to, slot) && !missing(slot));
                !slots.is_empty()
            }
        };
        if keep {
            lines.push(DrawnEdge { from, to, kind: *kind, slots });
        }
    }
    lines
}

/// Whether order edges lead from one event to another through a third event.
fn is_implied(events: &EventGraph, from: NodeIndex, to: NodeIndex) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(event) = open.pop() {
        let after = events.graph.edges_directed(event, Outgoing).filter(|edge| edge.weight().kind.is_order());
        for next in after.map(|edge| edge.target()).filter(|&next| event != from || next != to) {
            if next == to {
                return true;
            }
            // Order edges lead to events that were issued later.
            if next < to && seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

/// Whether a slot carries the active state of one request from forward to forward. Stream order shows that already.
fn runs_on(events: &EventGraph, from: NodeIndex, to: NodeIndex, slot: SlotId) -> bool {
    let [from, to] = [&events.graph[from], &events.graph[to]];
    let wrote = from.accesses.iter().rfind(|access| access.slot == slot && access.how.writes());
    let reads = to.accesses.iter().find(|access| access.slot == slot && !access.how.writes());
    let one = wrote.zip(reads).is_some_and(|(wrote, reads)| wrote.how == Use::Write && wrote.req == reads.req);
    from.span.lane == Lane::Forward && to.span.lane == Lane::Forward && one
}
