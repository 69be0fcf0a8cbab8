//! The lanes of requests and slots: a slice for each step at its forward, and for each segment of a slot.

use serde::Serialize;

use crate::judge::Class;
use crate::record::{ForwardMode, Owner};
use crate::report::name;
use crate::scene::{Fit, RequestStep, SlotSegment, Span};

use super::Trace;
use super::event::{Micros, Out, TraceEvent};

/// Lengths are in tokens.
#[derive(Serialize)]
struct StepArgs {
    turn: u32,
    batch: u32,
    from: u32,
    k: u32,
    #[serde(rename = "L", skip_serializing_if = "Option::is_none")]
    lookahead: Option<i64>,
    #[serde(rename = "C at prepare")]
    committed_at_prepare: u32,
    #[serde(rename = "C at result", skip_serializing_if = "Option::is_none")]
    committed_at_result: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<KeptArgs>,
    #[serde(skip_serializing_if = "str::is_empty")]
    check: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fired: Option<KeptArgs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    skipped: bool,
}

/// A label and a slot.
#[derive(Serialize)]
struct KeptArgs {
    label: Option<u32>,
    slot: Option<u32>,
}

#[derive(Serialize)]
struct SegmentArgs {
    turn: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    writer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<&'static str>,
    /// The end of the forward that wrote it, if that was under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    lands: Option<Micros>,
}

impl Trace<'_> {
    /// The steps that were launched, with their forwards.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&RequestStep, &Span)> {
        self.scene.steps.iter().filter_map(|step| Some((step, &self.scene.spans[step.forward?])))
    }

    /// The steps and marks of requests.
    pub(super) fn requests(&self, out: &mut Out) {
        for (step, forward) in self.steps() {
            let name = match step.mode {
                ForwardMode::Decode => format!("D{}", step.k),
                ForwardMode::Extend | ForwardMode::Mixed => format!("P {}..{}", step.from, step.k),
                ForwardMode::Verify => format!("V {}..{}", step.from, step.k),
            };
            let args = StepArgs {
                turn: forward.turn,
                batch: step.batch.0,
                from: step.from,
                k: step.k,
                lookahead: step.lookahead,
                committed_at_prepare: step.committed_at_prepare,
                committed_at_result: step.committed_at_result,
                due: step.due.map(|(slot, label)| KeptArgs { label: Some(label), slot: Some(slot.0) }),
                check: name::check(step.check),
                fired: step.fired.map(|(label, slot)| KeptArgs { label, slot: slot.map(|slot| slot.0) }),
                class: step.class.map(name::class),
                outputs: step.outputs,
                skipped: step.skipped.is_some(),
            };
            let (thread, time) = (self.request(step.req), (forward.start_ns, forward.end_ns));
            let cname = step.class.and_then(colour_of_class);
            out.put(TraceEvent { cname, ..TraceEvent::slice(&name, "step", thread, time, args) });
        }
        self.request_marks(out);
    }

    /// The segments of slots.
    pub(super) fn segments(&self, out: &mut Out) {
        for segment in &self.scene.segments {
            let args = SegmentArgs {
                turn: segment.turn,
                owner: segment.owner.map(|owner| self.owner(owner)),
                holds: segment.holds,
                writer: segment.writer.map(|req| name::request(self.run.names, req)),
                label: segment.label,
                fit: name::fit(segment.fit),
                lands: segment.lands_ns.map(|ns| Micros { ns }),
            };
            let (name, thread) = (self.content(segment), self.slot(segment.slot));
            let time = (segment.start_ns, segment.end_ns);
            let cname = colour_of_segment(segment);
            out.put(TraceEvent { cname, ..TraceEvent::slice(&name, "slot", thread, time, args) });
        }
    }

    fn content(&self, segment: &SlotSegment) -> String {
        let content = match (segment.owner, segment.holds, segment.writer) {
            (None, ..) => "free".to_owned(),
            (Some(_), None, _) => "unwritten".to_owned(),
            (Some(_), Some(tokens), None) => tokens.to_string(),
            (Some(_), Some(tokens), Some(req)) => format!("{tokens} of {}", name::request(self.run.names, req)),
        };
        let label = segment.label.map_or(String::new(), |label| format!(" as {label}"));
        match segment.fit {
            Fit::None | Fit::Right => content,
            Fit::Exposed => format!("EXPOSED: {content}{label}"),
            Fit::Wrong => format!("WRONG: {content}{label}"),
        }
    }

    fn owner(&self, owner: Owner) -> String {
        let request = |req| name::request(self.run.names, req);
        match owner {
            Owner::Spare => "spare".to_owned(),
            Owner::Active(req) => format!("{}, active", request(req)),
            Owner::Track(req, idx) => format!("{}, track {idx}", request(req)),
            Owner::Request(req) => request(req),
            Owner::Tree => "tree".to_owned(),
        }
    }
}

fn colour_of_class(class: Class) -> Option<&'static str> {
    match class {
        Class::Agree | Class::Settled | Class::Early => None,
        Class::Repeat | Class::Missed | Class::WrongLabel | Class::WrongSlot => Some("bad"),
    }
}

fn colour_of_segment(segment: &SlotSegment) -> Option<&'static str> {
    match (segment.fit, segment.owner) {
        (Fit::Wrong, _) => Some("terrible"),
        (Fit::Exposed, _) => Some("bad"),
        (Fit::Right, _) => Some("good"),
        (Fit::None, None) => Some("grey"),
        (Fit::None, Some(_)) => None,
    }
}
