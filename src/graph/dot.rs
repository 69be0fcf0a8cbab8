//! The DOT form: time from left to right, a cluster a lane, missing edges dashed and red.

use petgraph::visit::EdgeRef as _;

use crate::record::{ReqId, SlotId};
use crate::report::name;

use super::{Access, Edge, Event, Events, LANES, Lane, Order, Use, Work};

/// Most slots or requests that a label names.
const NAMED_MAX: usize = 4;

const LEGEND: &str = "black: program order; thick: stream order; blue: launch; green: completion event; \
grey, dotted: data; red, dashed: missing";

/// The graph in the language of Graphviz. `title` is put above it.
pub fn dot(events: &Events, names: &[String], title: &str) -> String {
    let mut out = String::from("digraph overlapsim {\n");
    out.push_str("  rankdir=LR;\n  newrank=true;\n");
    out.push_str("  node [shape=box, fontname=\"monospace\", fontsize=10];\n");
    out.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
    out.push_str(&format!("  label={};\n  labelloc=t;\n", quoted(&format!("{title}\n{LEGEND}"))));
    for lane in LANES {
        let here: Vec<_> = events.graph.node_indices().filter(|&event| events.graph[event].lane == lane).collect();
        if here.is_empty() {
            continue;
        }
        out.push_str(&format!("  subgraph cluster_{} {{\n    label={};\n", lane_key(lane), quoted(lane_name(lane))));
        for event in here {
            let found = events.places.iter().any(|place| place.at == Some(event));
            let colour = if found { ", color=red, penwidth=2" } else { "" };
            let text = quoted(&label(&events.graph[event], names));
            out.push_str(&format!("    n{} [label={text}{colour}];\n", events.ids[event.index()]));
        }
        out.push_str("  }\n");
    }
    for edge in events.graph.edge_references() {
        let (from, to) = (events.ids[edge.source().index()], events.ids[edge.target().index()]);
        out.push_str(&format!("  n{from} -> n{to} [{}];\n", style(edge.weight())));
    }
    out.push_str("}\n");
    out
}

/// The words for an event, a few lines.
pub(super) fn label(event: &Event, names: &[String]) -> String {
    let mut lines = vec![match event.batch {
        Some(batch) => format!("{} {batch}", work_name(event.work)),
        None => work_name(event.work).to_owned(),
    }];
    let slots = |how: &[Use]| {
        let mut slots: Vec<SlotId> = uses(event, how).map(|access| access.slot).collect();
        slots.dedup();
        few(&slots)
    };
    match event.work {
        Work::StateCopy => {
            let owner = event.accesses.first().map_or(String::new(), |access| name::request(names, access.req));
            lines.push(format!("{owner}: {} -> {}", slots(&[Use::Read]), slots(&[Use::Write])));
        }
        Work::Forward(_) => {
            let mut reqs: Vec<ReqId> = event.accesses.iter().map(|access| access.req).collect();
            reqs.sort_unstable();
            reqs.dedup();
            let reqs: Vec<String> = reqs.into_iter().map(|req| name::request(names, req)).collect();
            lines.push(few(&reqs));
            lines.extend(uses(event, &[Use::Keep]).take(NAMED_MAX).map(|kept| format!("keeps {}", with_len(kept))));
        }
        Work::Phase(_) | Work::Cpu => {
            let offers = uses(event, &[Use::Offer]).take(NAMED_MAX);
            lines
                .extend(offers.map(|offer| format!("{} donates {}", name::request(names, offer.req), with_len(offer))));
        }
        Work::ResultCopy => {}
    }
    lines.push(format!("turn {}", event.turn));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

fn uses<'a>(event: &'a Event, how: &'a [Use]) -> impl Iterator<Item = &'a Access> {
    event.accesses.iter().filter(|access| how.contains(&access.how))
}

fn with_len(access: &Access) -> String {
    access.len.map_or(access.slot.to_string(), |len| format!("{len} in {}", access.slot))
}

/// The first few of a list, and how many more.
fn few(list: &[impl ToString]) -> String {
    let mut parts: Vec<String> = list.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    if list.len() > NAMED_MAX {
        parts.push(format!("+{}", list.len() - NAMED_MAX));
    }
    parts.join(" ")
}

/// The name of a lane.
pub(super) fn lane_key(lane: Lane) -> &'static str {
    match lane {
        Lane::Cpu => "cpu",
        Lane::Schedule => "schedule",
        Lane::Forward => "forward",
        Lane::Copy => "copy",
    }
}

fn lane_name(lane: Lane) -> &'static str {
    match lane {
        Lane::Cpu => "CPU",
        Lane::Schedule => "schedule stream",
        Lane::Forward => "forward stream",
        Lane::Copy => "copy stream",
    }
}

/// The name of a kind of event.
pub(super) fn work_name(work: Work) -> &'static str {
    match work {
        Work::Phase(phase) => name::phase(phase),
        Work::Cpu => "cpu",
        Work::StateCopy => "state copy",
        Work::Forward(mode) => name::mode(mode),
        Work::ResultCopy => "result copy",
    }
}

fn style(edge: &Edge) -> String {
    match edge.order {
        Order::Program => "color=black".to_owned(),
        Order::Stream => "color=black, penwidth=2".to_owned(),
        Order::Launch => "color=blue".to_owned(),
        Order::Completion => "color=darkgreen".to_owned(),
        Order::Data => format!("color=gray50, style=dotted, label={}", quoted(&few(&edge.slots))),
        Order::Missing => {
            let label = quoted(&format!("missing {}", few(&edge.slots)));
            format!("color=red, fontcolor=red, style=dashed, penwidth=2, label={label}")
        }
    }
}

/// A string of the DOT language. What ends a line or is no printable character must not end the string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
