//! The label of an event: a few short lines of text.

use crate::record::{ReqId, SlotId};
use crate::report::name;

use super::{Access, EventGraph, EventKind, GraphEvent, GraphLane, Use};

/// Most slots or requests that a label names.
const NAMED_MAX: usize = 4;

/// The label of the JSON form.
pub(super) fn plain(event: &GraphEvent, names: &[String]) -> String {
    let mut lines = vec![head(event)];
    match event.work {
        EventKind::Forward(_) => lines.push(requests(event, names)),
        EventKind::Phase(_) | EventKind::Cpu | EventKind::StateCopy | EventKind::ResultCopy => {}
    }
    lines.extend(slots(event, None, names));
    lines.push(format!("turn {}", event.turn));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// The label in a drawing: kind, requests, slots, turn, virtual time. In a cut the request of its finding is named first.
pub(super) fn drawn(events: &EventGraph, event: petgraph::graph::NodeIndex, names: &[String]) -> Vec<String> {
    let (of, when_ns) = (&events.graph[event], events.when_ns[event.index()]);
    let rows = of.batch.filter(|_| of.lane != GraphLane::Copy).and_then(|batch| events.rows.get(&batch));
    let subject = events.around.and_then(|index| events.places.get(index)?.req);
    let mut lines = vec![head(of)];
    lines.extend(rows.map(|rows| {
        let mut rows = rows.clone();
        rows.sort_by_key(|&req| Some(req) != subject);
        few(&rows.into_iter().map(|req| name::request(names, req)).collect::<Vec<_>>())
    }));
    lines.extend(slots(of, subject, names));
    let when = match of.lane {
        GraphLane::Forward => format!("{} to {} ms", ms(of.start_ns), ms(of.end_ns)),
        GraphLane::Cpu if when_ns > of.start_ns => format!("waits to {} ms", ms(when_ns)),
        GraphLane::Cpu | GraphLane::Schedule | GraphLane::Copy => format!("{} ms", ms(when_ns)),
    };
    lines.push(format!("turn {}", of.turn));
    lines.push(when);
    lines.retain(|line| !line.is_empty());
    lines
}

/// The name of the kind of an event, and its batch.
pub(super) fn head(event: &GraphEvent) -> String {
    match event.batch {
        Some(batch) => format!("{} {batch}", event_kind_name(event.work)),
        None => event_kind_name(event.work).to_owned(),
    }
}

/// The slots that an event copies, keeps or donates; those of request `first` come first.
fn slots(event: &GraphEvent, first: Option<ReqId>, names: &[String]) -> Vec<String> {
    let some = |how: Use| {
        let mut some: Vec<&Access> = event.accesses.iter().filter(|access| access.how == how).collect();
        some.sort_by_key(|access| first.is_some() && Some(access.req) != first);
        some.into_iter().take(NAMED_MAX)
    };
    let slots = |how: Use| {
        let all = event.accesses.iter().filter(|access| access.how == how);
        let mut slots: Vec<SlotId> = all.map(|access| access.slot).collect();
        slots.dedup();
        few(&slots)
    };
    match event.work {
        EventKind::StateCopy => {
            let owner = event.accesses.first().map_or(String::new(), |access| name::request(names, access.req));
            vec![format!("{owner}: {} -> {}", slots(Use::Read), slots(Use::Write))]
        }
        EventKind::Forward(_) => some(Use::Keep).map(|kept| format!("keeps {}", with_len(kept))).collect(),
        EventKind::Phase(_) | EventKind::Cpu => some(Use::Offer)
            .map(|offer| format!("{} donates {}", name::request(names, offer.req), with_len(offer)))
            .collect(),
        EventKind::ResultCopy => Vec::new(),
    }
}

fn requests(event: &GraphEvent, names: &[String]) -> String {
    let mut reqs: Vec<ReqId> = event.accesses.iter().map(|access| access.req).collect();
    reqs.sort_unstable();
    reqs.dedup();
    few(&reqs.into_iter().map(|req| name::request(names, req)).collect::<Vec<_>>())
}

fn with_len(access: &Access) -> String {
    access.len.map_or(access.slot.to_string(), |len| format!("{len} in {}", access.slot))
}

/// The first [`NAMED_MAX`] items of a list, and the number of the others.
pub(super) fn few(list: &[impl ToString]) -> String {
    let mut parts: Vec<String> = list.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    if list.len() > NAMED_MAX {
        parts.push(format!("+{}", list.len() - NAMED_MAX));
    }
    parts.join(" ")
}

/// Milliseconds with three decimals, rounded down.
fn ms(ns: u64) -> String {
    format!("{}.{:03}", ns / 1_000_000, ns / 1000 % 1000)
}

/// The name of a lane in JSON and in DOT identifiers.
pub(super) fn lane_key(lane: GraphLane) -> &'static str {
    match lane {
        GraphLane::Cpu => "cpu",
        GraphLane::Schedule => "schedule",
        GraphLane::Forward => "forward",
        GraphLane::Copy => "copy",
    }
}

/// The name of a lane in a drawing.
pub(super) fn lane_name(lane: GraphLane) -> &'static str {
    match lane {
        GraphLane::Cpu => "CPU",
        GraphLane::Schedule => "schedule stream",
        GraphLane::Forward => "forward stream",
        GraphLane::Copy => "copy stream",
    }
}

/// The name of a kind of event.
pub(super) fn event_kind_name(work: EventKind) -> &'static str {
    match work {
        EventKind::Phase(phase) => name::phase(phase),
        EventKind::Cpu => "cpu",
        EventKind::StateCopy => "state copy",
        EventKind::Forward(mode) => name::mode(mode),
        EventKind::ResultCopy => "result copy",
    }
}
