//! The trace of a run as trace-event JSON, for Perfetto and `chrome://tracing`.
//!
//! A lane is a thread of the trace, a span a slice, a mark an instant event, an arrow a flow. Times are virtual, in the
//! unit of the format, so that a trace has the scale of a trace of a real server.

mod event;
mod lanes;
mod marks;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde::Serialize;

use crate::record::{BatchId, ReqId, SlotId};
use crate::scene::{Lane, Scene};

use super::{Run, name, warning};
use event::{Out, Thread, TraceEvent};

/// The thread of the scheduler's CPU. All numbers of threads and processes differ: viewers take equal numbers for the
/// same thread.
const CPU: Thread = Thread { pid: 1, tid: 11 };
const FORWARD: Thread = Thread { pid: 2, tid: 21 };
const COPY: Thread = Thread { pid: 2, tid: 22 };
const REQUESTS_PID: u32 = 3;
const SLOTS_PID: u32 = 4;
/// The thread of the first request. The threads of slots follow that of the last request.
const FIRST_TID: u64 = 100;

/// A trace, counted and ready to be written out.
#[derive(Debug)]
pub struct Trace<'a> {
    run: &'a Run<'a>,
    scene: &'a Scene,
    turns: Option<RangeInclusive<u32>>,
    /// By batch, the spans of its arrow: prepare, forward, result.
    flows: BTreeMap<BatchId, Vec<usize>>,
    /// Requests with a span or mark in these turns.
    requests: BTreeSet<ReqId>,
    /// Slots with a segment in these turns.
    slots: BTreeSet<SlotId>,
}

#[derive(Serialize)]
struct Other<'a> {
    program: &'static str,
    version: &'a str,
    scenario: &'a str,
    rule: &'a str,
    verdict: &'static str,
    way: &'a str,
    replay: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<&'static str>,
    time: &'static str,
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct SortIndex {
    sort_index: u64,
}

impl<'a> Trace<'a> {
    /// The trace of a run. `scene` includes these `turns`; all if not given.
    pub fn new(run: &'a Run<'a>, scene: &'a Scene, turns: Option<RangeInclusive<u32>>) -> Trace<'a> {
        let (flows, requests, slots) = (lanes::flows(scene), BTreeSet::new(), BTreeSet::new());
        let mut trace = Trace { run, scene, turns, flows, requests, slots };
        trace.slots = scene.segments.iter().map(|segment| segment.slot).collect();
        let stepped = trace.steps().map(|(step, _)| step.req);
        let donated = scene.donations.iter().map(|donation| donation.req);
        trace.requests = stepped.chain(donated).chain(trace.lives().map(|mark| mark.req)).collect();
        trace
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        let Scene { turns, spans, segments, donations, .. } = self.scene;
        let named = event::PROCESSES.len() + self.threads().count();
        let arrows: usize = self.flows.values().map(Vec::len).sum();
        let marks = donations.len() + self.lives().count() + self.findings().count();
        let slices = spans.len() + self.steps().count() + segments.len();
        2 * named + slices + arrows + lanes::COUNTERS * turns.len() + marks
    }

    /// Whether it has no turn at all.
    pub fn is_empty(&self) -> bool {
        self.scene.turns.is_empty()
    }

    /// The JSON text, an event a line. `version` is that of the program.
    pub fn json(&self, version: &str) -> String {
        let run = self.run;
        let other = Other {
            program: "overlapsim",
            version,
            scenario: run.scenario,
            rule: run.rule,
            verdict: name::verdict(run.judgement.verdict),
            way: &run.way,
            replay: &run.replay,
            turns: self.turns.as_ref().map(|turns| format!("{}..{}", turns.start(), turns.end())),
            bound: warning::bound_name(run.judgement.bound),
            time: "virtual; ts, dur and lands are in microseconds",
        };
        let mut out = Out::new(&other);
        self.names(&mut out);
        self.spans(&mut out);
        self.counters(&mut out);
        self.requests(&mut out);
        self.segments(&mut out);
        self.finding_marks(&mut out);
        out.end()
    }

    /// The names and sort indices of processes and threads.
    fn names(&self, out: &mut Out) {
        for (index, name) in event::PROCESSES.iter().enumerate() {
            let pid = index as u32 + 1;
            let thread = Thread { pid, tid: u64::from(pid) };
            out.put(TraceEvent { args: Some(Name { name }), ..TraceEvent::meta("process_name", thread) });
            let sort_index = u64::from(pid);
            out.put(TraceEvent {
                args: Some(SortIndex { sort_index }),
                ..TraceEvent::meta("process_sort_index", thread)
            });
        }
        for (thread, name) in self.threads() {
            out.put(TraceEvent { args: Some(Name { name: &name }), ..TraceEvent::meta("thread_name", thread) });
            let sort_index = thread.tid;
            out.put(TraceEvent {
                args: Some(SortIndex { sort_index }),
                ..TraceEvent::meta("thread_sort_index", thread)
            });
        }
    }

    fn threads(&self) -> impl Iterator<Item = (Thread, String)> {
        let lanes = [(CPU, Lane::Cpu), (FORWARD, Lane::Forward), (COPY, Lane::Copy)];
        let lanes = lanes.into_iter().map(|(thread, lane)| (thread, name::lane(lane).to_owned()));
        let requests = self.requests.iter().map(|&req| (self.request(req), name::request(self.run.names, req)));
        let slots = self.slots.iter().map(|&slot| (self.slot(slot), slot.to_string()));
        lanes.chain(requests).chain(slots)
    }

    fn request(&self, req: ReqId) -> Thread {
        Thread { pid: REQUESTS_PID, tid: FIRST_TID + u64::from(req.0) }
    }

    fn slot(&self, slot: SlotId) -> Thread {
        let first = FIRST_TID + self.run.names.len().max(self.scene.lives.len()) as u64;
        Thread { pid: SLOTS_PID, tid: first + u64::from(slot.0) }
    }

    fn shows(&self, turn: u32) -> bool {
        self.turns.as_ref().is_none_or(|turns| turns.contains(&turn))
    }
}
