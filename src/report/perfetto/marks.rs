//! Marks: arrivals, ends and donations in the threads of requests, findings on the CPU.

use serde::Serialize;

use crate::judge::Finding;
use crate::record::ReqId;
use crate::report::name;
use crate::report::text::held;

use super::event::{Out, TraceEvent};
use super::lanes::thread;
use super::{CPU, Trace};

#[derive(Serialize)]
struct NoArgs {}

#[derive(Serialize)]
struct DonationArgs {
    turn: u32,
    label: u32,
    key_len: u32,
    slot: u32,
    finished: bool,
    existed: bool,
}

#[derive(Serialize)]
struct FindingArgs<'a> {
    number: usize,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    turn: u32,
    phase: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<u32>,
    reason: &'a str,
    /// The number of the finding that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<usize>,
    replay: &'a str,
}

/// The arrival of a request, or its end.
pub(super) struct LifeMark {
    pub req: ReqId,
    at_ns: u64,
    name: String,
}

impl Trace<'_> {
    /// Arrivals and ends in these turns.
    pub(super) fn lives(&self) -> impl Iterator<Item = LifeMark> {
        let first_ns = self.scene.turns.first().map_or(0, |turn| turn.at_ns);
        let included = move |at_ns: &u64| self.turns.is_none() || (first_ns..=self.scene.end_ns).contains(at_ns);
        self.scene.lives.iter().enumerate().flat_map(move |(index, life)| {
            let req = ReqId(index as u32);
            let how = life.finish.map_or(String::new(), |finish| format!(": {}", name::finish(finish)));
            let arrives = life.arrived_ns.map(|at_ns| LifeMark { req, at_ns, name: "arrives".to_owned() });
            let ends = life.finished_ns.map(|at_ns| LifeMark { req, at_ns, name: format!("ends{how}") });
            [arrives, ends].into_iter().flatten().filter(move |mark| included(&mark.at_ns))
        })
    }

    /// Findings in these turns, each with its span.
    pub(super) fn findings(&self) -> impl Iterator<Item = (usize, &Finding, Option<usize>)> {
        let found = self.run.judgement.findings.iter().zip(&self.scene.places).enumerate();
        found.map(|(index, (finding, &span))| (index, finding, span)).filter(|(_, of, _)| self.shows(of.turn))
    }

    /// The marks of requests.
    pub(super) fn request_marks(&self, out: &mut Out) {
        for LifeMark { req, at_ns, name } in self.lives() {
            out.put(TraceEvent::mark(&name, "life", (self.request(req), false), at_ns, NoArgs {}));
        }
        for donation in &self.scene.donations {
            let span = self.scene.spans[donation.span];
            let name = format!("donates {} as {}", donation.slot, donation.label);
            let args = DonationArgs {
                turn: span.turn,
                label: donation.label,
                key_len: donation.key_len,
                slot: donation.slot.0,
                finished: donation.finished,
                existed: donation.existed,
            };
            out.put(TraceEvent::mark(&name, "donation", (self.request(donation.req), false), span.start_ns, args));
        }
    }

    /// The marks of findings. A finding without a span is at the end, across the process.
    pub(super) fn finding_marks(&self, out: &mut Out) {
        for (index, finding, span) in self.findings() {
            let request = finding.req.map(|req| name::request(self.run.names, req));
            let whose = request.as_ref().map_or(String::new(), |request| format!(" {request}"));
            let name = format!("{}. {}{whose}", index + 1, name::kind(finding.kind));
            let (at, at_ns) = match span.map(|span| self.scene.spans[span]) {
                Some(span) => ((thread(span.lane), false), span.start_ns),
                None => ((CPU, true), self.scene.end_ns),
            };
            let args = FindingArgs {
                number: index + 1,
                kind: name::kind(finding.kind),
                request,
                turn: finding.turn,
                phase: name::phase(finding.phase),
                label: finding.label,
                holds: held(finding, &self.run.judgement.findings),
                slot: finding.slot.map(|slot| slot.0),
                reason: &finding.reason,
                from: finding.root.map(|root| root + 1),
                replay: &self.run.replay,
            };
            out.put(TraceEvent { cname: Some("terrible"), ..TraceEvent::mark(&name, "finding", at, at_ns, args) });
        }
    }
}
