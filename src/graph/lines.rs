//! Which edges a drawing shows, and as what.
//!
//! Owns what is left out because something else in the picture says it, and the gaps of a cut. Refuses to style.

use std::collections::BTreeSet;

use petgraph::Direction::Outgoing;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef as _;

use crate::record::SlotId;
use crate::scene::Lane;

use super::{Edge, Use};

/// An edge from one lane to another, or one within a lane that is not its own order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// From.
    pub from: NodeIndex,
    /// To.
    pub to: NodeIndex,
    /// Of what kind.
    pub order: Order,
    /// With which slots, if it is data or missing.
    pub slots: Vec<SlotId>,
}

/// What joins an event to the next one of its lane in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// The order of the lane, with nothing between them.
    Next,
    /// The same, and so many events between them are not in the picture.
    Gap(usize),
    /// Nothing that the record tells.
    None,
}

/// What joins two neighbours of a lane.
pub(super) fn link(events: &Events, from: NodeIndex, to: NodeIndex) -> Link {
    let between = events.in_lane[to.index()].saturating_sub(events.in_lane[from.index()] + 1);
    let mut direct = events.graph.edges_connecting(from, to).map(|edge| edge.weight().order);
    if between > 0 {
        Link::Gap(between)
    } else if direct.any(|order| matches!(order, Order::Program | Order::Stream)) {
        Link::Next
    } else {
        Link::None
    }
}

/// All edges but the order of each lane.
///
/// Left out are: program order that another path says as well; data beside a missing edge; a request's own running
/// state from one forward to the next; and in a cut the missing edges of other findings.
pub(super) fn lines(events: &Events) -> Vec<Line> {
    let graph = &events.graph;
    let shown: Option<BTreeSet<_>> = events
        .around
        .map(|index| events.places.get(index).and_then(|place| place.missing_edge()).into_iter().collect());
    let mut lines = Vec::new();
    for edge in graph.edge_references() {
        let (from, to, Edge { order, slots }) = (edge.source(), edge.target(), edge.weight());
        let same_lane = graph[from].span.lane == graph[to].span.lane;
        let mut slots = slots.clone();
        let keep = match order {
            Order::Program | Order::Stream => !same_lane && !is_implied(events, from, to),
            Order::Launch | Order::Completion => true,
            Order::Missing => {
                slots.retain(|&slot| shown.as_ref().is_none_or(|shown| shown.contains(&(from, to, slot))));
                !slots.is_empty()
            }
            Order::Data => {
                let missing = |slot| {
                    let mut beside = graph.edges_connecting(from, to).map(|beside| beside.weight());
                    beside.any(|beside| beside.order == Order::Missing && beside.slots.contains(&slot))
                };
                slots.retain(|&slot| !runs_on(events, from, to, slot) && !missing(slot));
                !slots.is_empty()
            }
        };
        if keep {
            lines.push(Line { from, to, order: *order, slots });
        }
    }
    lines
}

/// Whether a path of order by way of another event leads from one event to another.
fn is_implied(events: &Events, from: NodeIndex, to: NodeIndex) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(event) = open.pop() {
        let after = events.graph.edges_directed(event, Outgoing).filter(|edge| edge.weight().order.is_order());
        for next in after.map(|edge| edge.target()).filter(|&next| event != from || next != to) {
            if next == to {
                return true;
            }
            // Edges of order lead to events that were issued later.
            if next < to && seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

/// Whether a slot passes between forwards as the running state of one request, which the order of the stream says.
fn runs_on(events: &Events, from: NodeIndex, to: NodeIndex, slot: SlotId) -> bool {
    let [from, to] = [&events.graph[from], &events.graph[to]];
    let wrote = from.accesses.iter().rfind(|access| access.slot == slot && access.how.writes());
    let reads = to.accesses.iter().find(|access| access.slot == slot && !access.how.writes());
    let one = wrote.zip(reads).is_some_and(|(wrote, reads)| wrote.how == Use::Write && wrote.req == reads.req);
    from.span.lane == Lane::Forward && to.span.lane == Lane::Forward && one
}
