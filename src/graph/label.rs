//! The label of an event: a few short lines of text.

use crate::record::{ReqId, SlotId};
use crate::report::name;
use crate::scene::{Lane, Work};

use super::{Access, EventGraph, GraphEvent, Use};

/// Most slots or requests that a label names.
const NAMED_MAX: usize = 4;

/// The label of the JSON form.
pub(super) fn plain(event: &GraphEvent, names: &[String]) -> String {
    let mut lines = vec![head(event)];
    match event.span.work {
        Work::Forward(_) => lines.push(requests(event, names)),
        Work::Phase(_) | Work::Cpu | Work::Wait | Work::StateCopy | Work::ResultCopy => {}
    }
    lines.extend(slots(event, None, names));
    lines.push(format!("turn {}", event.span.turn));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// The label in a drawing: kind, requests, slots, turn, virtual time. In a cut the request of its finding is named
/// first.
pub(super) fn drawn(events: &EventGraph, event: petgraph::graph::NodeIndex, names: &[String]) -> Vec<String> {
    let (of, when_ns) = (&events.graph[event], events.when_ns[event.index()]);
    let rows = of.span.batch.filter(|_| of.span.lane != Lane::Copy).and_then(|batch| events.rows.get(&batch));
    let subject = events.around.and_then(|index| events.places.get(index)?.req);
    let mut lines = vec![head(of)];
    lines.extend(rows.map(|rows| {
        let mut rows = rows.clone();
        rows.sort_by_key(|&req| Some(req) != subject);
        few(&rows.into_iter().map(|req| name::request(names, req)).collect::<Vec<_>>())
    }));
    lines.extend(slots(of, subject, names));
    let when = match of.span.lane {
        Lane::Forward => format!("{} to {} ms", ms(of.span.start_ns), ms(of.span.end_ns)),
        Lane::Cpu if when_ns > of.span.start_ns => format!("waits to {} ms", ms(when_ns)),
        Lane::Cpu | Lane::Schedule | Lane::Copy => format!("{} ms", ms(when_ns)),
    };
    lines.push(format!("turn {}", of.span.turn));
    lines.push(when);
    lines.retain(|line| !line.is_empty());
    lines
}

/// The name of the kind of an event, and its batch.
pub(super) fn head(event: &GraphEvent) -> String {
    match event.span.batch {
        Some(batch) => format!("{} {batch}", name::work(event.span.work)),
        None => name::work(event.span.work).to_owned(),
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
    match event.span.work {
        Work::StateCopy => {
            let owner = event.accesses.first().map_or(String::new(), |access| name::request(names, access.req));
            vec![format!("{owner}: {} -> {}", slots(Use::Read), slots(Use::Write))]
        }
        Work::Forward(_) => some(Use::Keep).map(|kept| format!("keeps {}", with_len(kept))).collect(),
        Work::Phase(_) | Work::Cpu => some(Use::Offer)
            .map(|offer| format!("{} donates {}", name::request(names, offer.req), with_len(offer)))
            .collect(),
        Work::Wait | Work::ResultCopy => Vec::new(),
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
