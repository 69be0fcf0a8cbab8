//! The text above a drawing: the finding, and its missing edge or why it has none.

use crate::judge::{Finding, FindingKind};
use crate::report::name;

use super::label::head;
use super::{Absent, EventGraph, FindingPlace};

/// A few lines on the finding at `index`. `events` is the graph of the whole run.
pub fn title(events: &EventGraph, index: usize, findings: &[Finding], names: &[String]) -> String {
    let (Some(finding), Some(place)) = (findings.get(index), events.places.get(index)) else {
        return String::new();
    };
    let about = [
        finding.req.map(|req| format!("request {}", name::request(names, req))),
        finding.label.map(|label| format!("label {label}")),
        finding.slot.map(|slot| format!("slot {slot}")),
        Some(format!("turn {}, {}", finding.turn, name::phase(finding.phase))),
    ];
    let about: Vec<String> = about.into_iter().flatten().collect();
    let (number, count) = (index + 1, findings.len());
    let what = format!("finding {number} of {count}: {}: {}", name::kind(finding.kind), about.join(", "));
    format!("{what}\n{}\n{}", finding.reason, edge(events, finding, place, names))
}

/// The sentence on the missing edge, or on why there is none.
fn edge(events: &EventGraph, finding: &Finding, place: &FindingPlace, names: &[String]) -> String {
    let (from, slot) = match place.missing {
        Ok(missing) => missing,
        Err(absent) => return format!("no edge is missing: {}", why(absent, finding, names)),
    };
    let of = |event: petgraph::graph::NodeIndex| {
        let event = &events.graph[event];
        format!("{} of turn {}", head(event), event.span.turn)
    };
    let (from, at) = (of(from), place.at.map_or(String::new(), of));
    let length = finding.label.map_or(String::new(), |label| format!(" {label}"));
    match finding.kind {
        FindingKind::Torn | FindingKind::UseAfterFree => {
            format!("missing (red, dashed): nothing orders {from} before {at}, both use {slot}")
        }
        FindingKind::Lost => {
            format!("missing (red, dashed): {from} kept length{length} in {slot}, to be recorded at {at}")
        }
        FindingKind::Mislabelled
        | FindingKind::Unwritten
        | FindingKind::Foreign
        | FindingKind::Aliased
        | FindingKind::Inherited
        | FindingKind::Assertion
        | FindingKind::Leak
        | FindingKind::DoubleFree
        | FindingKind::Lock => {
            format!("missing (red, dashed): length{length} should have come from {from}, which kept it in {slot}")
        }
    }
}

fn why(absent: Absent, finding: &Finding, names: &[String]) -> String {
    match absent {
        Absent::Unplaced => "the record has no event for it".to_owned(),
        Absent::Bookkeeping if finding.kind == FindingKind::Assertion => {
            "an assertion is about values on the CPU, not about order".to_owned()
        }
        Absent::Bookkeeping => "owners of slots and pages change on the CPU, in program order".to_owned(),
        Absent::InOrder => "the use of the slot is ordered, but its request does not hold the slot".to_owned(),
        Absent::Inherited => match finding.root {
            Some(root) => format!("the wrong state is that of finding {0}, see --around {0}", root + 1),
            None => "the request started from a state that was wrong already, without a finding in this run".to_owned(),
        },
        Absent::NeverKept => {
            let whose = finding.req.map_or(String::new(), |req| format!(" of {}", name::request(names, req)));
            let length = finding.label.map_or("of that length".to_owned(), |label| format!("of length {label}"));
            format!("by then no forward had kept a state{whose} {length}")
        }
    }
}
