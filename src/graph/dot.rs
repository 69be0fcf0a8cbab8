//! The DOT form: time from left to right, one band for each lane, missing edges dashed and red.
//!
//! Graphviz places events by time because only the edges between neighbours of a lane have `constraint=true`, with the
//! distance of their columns as `minlen`; all other edges have no influence on ranks. Crossings with such edges cost
//! nothing, so Graphviz keeps the bands in the order in which its search first meets them. That is the order of the
//! edges of the legend, which is the first node.

use std::fmt::Write as _;

use petgraph::graph::NodeIndex;

use crate::escape;
use crate::report::name;
use crate::scene::Lane;

use super::drawn_edges::{DrawnEdge, LaneLink, drawn_edges, link};
use super::label::{drawn, few};
use super::{EdgeKind, EventGraph, time};

const LEGEND: [&str; 6] = [
    "thin: program order",
    "thick: stream order",
    "blue, open arrow: launch",
    "green, hollow arrow: completion",
    "grey, dotted: data, its slot",
    "red, dashed: missing, its slot",
];

/// The graph in the DOT language, with `title` above it.
pub fn dot(events: &EventGraph, names: &[String], title: &str) -> String {
    let lanes = time::lanes(events);
    let mut out = String::from("digraph overlapsim {\n");
    out.push_str("  rankdir=LR;\n  newrank=true;\n  ranksep=0.2;\n  nodesep=0.15;\n  bgcolor=white;\n");
    out.push_str("  fontname=\"Helvetica\";\n  fontsize=13;\n  labelloc=t;\n  labeljust=l;\n");
    let _ = writeln!(out, "  label={};", quoted(title, "\\l"));
    out.push_str("  node [shape=box, style=filled, fillcolor=white, fontname=\"Helvetica\", fontsize=10, ");
    out.push_str("margin=\"0.06,0.03\", height=0.3];\n");
    out.push_str("  edge [fontname=\"Helvetica\", fontsize=10, arrowsize=0.7, constraint=false];\n");
    let legend = quoted(&LEGEND.join("\n"), "\\l");
    let _ = writeln!(out, "  legend [shape=plaintext, fontsize=8, fontcolor=gray30, label={legend}];");
    for (lane, here) in &lanes {
        band(&mut out, events, names, *lane, here);
    }
    for (lane, here) in &lanes {
        let key = name::lane_key(*lane);
        let _ = writeln!(out, "  legend -> lane_{key} [style=invis, constraint=true];");
        lane_order(&mut out, events, *lane, here);
    }
    for edge in drawn_edges(events) {
        let (from, to) = (events.ids[edge.from.index()], events.ids[edge.to.index()]);
        let _ = writeln!(out, "  n{from} -> n{to} [{}];", style(&edge));
    }
    out.push_str("}\n");
    out
}

/// Writes the cluster of a lane: its name, then its events.
fn band(out: &mut String, events: &EventGraph, names: &[String], lane: Lane, here: &[(NodeIndex, usize)]) {
    let key = name::lane_key(lane);
    let mut title = name::lane(lane).to_owned();
    if events.around.is_some() {
        let all = events.lane_events[lane as usize];
        let of = if here.len() == all { String::new() } else { format!("{} of ", here.len()) };
        let _ = write!(title, "\n{of}{all} events");
    }
    let _ = writeln!(out, "  subgraph cluster_{key} {{\n    label=\"\";\n    style=filled;\n    color=gray75;");
    let _ = writeln!(out, "    fillcolor=gray97;");
    let title = quoted(&title, "\\n");
    let _ = writeln!(out, "    lane_{key} [group={key}, shape=plaintext, style=\"\", fontsize=12, label={title}];");
    for &(event, _) in here {
        let mut lines = drawn(events, event, names);
        let (mark, frame) = found(events, event);
        lines.splice(0..0, mark);
        let text = quoted(&lines.join("\n"), "\\n");
        let _ = writeln!(out, "    n{} [group={key}, label={text}{frame}];", events.ids[event.index()]);
    }
    out.push_str("  }\n");
}

/// The text on the findings at an event, and the attributes of its frame. In a cut the finding at its centre is
/// highlighted.
fn found(events: &EventGraph, event: NodeIndex) -> (Option<String>, &'static str) {
    let here = events.places.iter().enumerate().filter(|(_, place)| place.at == Some(event));
    let here: Vec<(usize, &'static str)> = here.map(|(index, place)| (index, name::kind(place.kind))).collect();
    let subject = here.iter().find(|of| Some(of.0) == events.around);
    let Some(first) = subject.or_else(|| here.first()) else { return (None, "") };
    let more = if here.len() > 1 { format!(", +{}", here.len() - 1) } else { String::new() };
    let text = format!("{}: {}{more}", first.0 + 1, first.1);
    if subject.is_some() || events.around.is_none() {
        (Some(format!("FINDING {text}")), ", color=red, penwidth=2, peripheries=2")
    } else {
        (Some(format!("finding {text}")), ", color=red")
    }
}

/// Writes the edges between neighbours of a lane. They determine the columns of the events.
fn lane_order(out: &mut String, events: &EventGraph, lane: Lane, here: &[(NodeIndex, usize)]) {
    let id = |event: NodeIndex| events.ids[event.index()];
    let scaffold = |length: usize| format!("constraint=true, weight=100, minlen={length}");
    if let Some(&(first, column)) = here.first() {
        let key = name::lane_key(lane);
        let _ = writeln!(out, "  lane_{key} -> n{} [style=invis, {}];", id(first), scaffold(column + 1));
    }
    let width = match lane {
        Lane::Cpu => "",
        Lane::Schedule | Lane::Forward | Lane::Copy => "penwidth=2.5, ",
    };
    for pair in here.windows(2) {
        let [(from, left), (to, right)] = [pair[0], pair[1]];
        let style = match link(events, from, to) {
            LaneLink::Next => width.to_owned(),
            LaneLink::Gap(count) => format!("{width}label={}, ", quoted(&gap(count), "\\n")),
            LaneLink::None => "style=invis, ".to_owned(),
        };
        let _ = writeln!(out, "  n{} -> n{} [{style}{}];", id(from), id(to), scaffold(right - left));
    }
}

fn gap(count: usize) -> String {
    if count == 1 { "… 1 event".to_owned() } else { format!("… {count} events") }
}

fn style(edge: &DrawnEdge) -> String {
    let label = quoted(&few(&edge.slots), "\\n");
    match edge.kind {
        EdgeKind::Program => "color=black".to_owned(),
        EdgeKind::Stream => "color=black, penwidth=2.5".to_owned(),
        EdgeKind::Launch => "color=blue, arrowhead=vee".to_owned(),
        EdgeKind::Completion => "color=darkgreen, arrowhead=empty".to_owned(),
        EdgeKind::Data => format!("color=gray40, style=dotted, label={label}"),
        EdgeKind::Missing => {
            let label = quoted(&format!("missing {}", few(&edge.slots)), "\\n");
            format!("color=red, fontcolor=red, style=dashed, penwidth=2.5, label={label}")
        }
    }
}

/// A string of the DOT language, with `line` in place of each line end. What is not printable is shown as `\u{202e}`.
fn quoted(text: &str, line: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str(line),
            // Graphviz reads entities in labels.
            '&' => out.push_str("&amp;"),
            c if escape::is_printable(c) => out.push(c),
            c => out.push_str(&format!("\\{}", c.escape_unicode())),
        }
    }
    if line == "\\l" && !text.ends_with('\n') && !text.is_empty() {
        out.push_str(line);
    }
    out.push('"');
    out
}
