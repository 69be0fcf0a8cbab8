//! The lanes of CPU and GPU: a slice for each span, the arrows of batches, the counters by turn.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::record::{BatchId, Phase};
use crate::report::name;
use crate::scene::{Lane, Scene, Work};

use super::event::{Out, Thread, TraceEvent};
use super::{COPY, CPU, FORWARD, Trace};

/// Counter events of each turn.
pub(super) const COUNTERS: usize = 4;

#[derive(Serialize)]
struct SpanArgs {
    turn: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<u32>,
}

/// By batch, the spans of its arrow in order: prepare, forward, result. An arrow needs two.
pub(super) fn flows(scene: &Scene) -> BTreeMap<BatchId, Vec<usize>> {
    let mut flows: BTreeMap<BatchId, Vec<usize>> = BTreeMap::new();
    for (at, span) in scene.spans.iter().enumerate() {
        let on_the_way = match span.work {
            Work::Phase(Phase::Prepare | Phase::Result) | Work::Forward(_) => true,
            Work::Phase(Phase::Ingest | Phase::Plan | Phase::Launch) => false,
            Work::Cpu | Work::Wait | Work::StateCopy | Work::ResultCopy => false,
        };
        if let Some(batch) = span.batch.filter(|_| on_the_way) {
            flows.entry(batch).or_default().push(at);
        }
    }
    flows.retain(|_, points| points.len() > 1);
    flows
}

pub(super) fn thread(lane: Lane) -> Thread {
    match lane {
        Lane::Cpu => CPU,
        Lane::Forward => FORWARD,
        Lane::Copy => COPY,
        Lane::Schedule => unreachable!("a scene has no span on the schedule stream"),
    }
}

fn category(work: Work) -> &'static str {
    match work {
        Work::Phase(_) | Work::Cpu => "phase",
        Work::Wait => "wait",
        Work::Forward(_) => "forward",
        Work::StateCopy | Work::ResultCopy => "copy",
    }
}

impl Trace<'_> {
    /// Each span, followed by its point of an arrow: viewers attach the point to the slice begun last.
    pub(super) fn spans(&self, out: &mut Out) {
        for (at, span) in self.scene.spans.iter().enumerate() {
            let thread = thread(span.lane);
            let args = SpanArgs { turn: span.turn, batch: span.batch.map(|batch| batch.0) };
            let (name, time) = (name::span(span), (span.start_ns, span.end_ns));
            out.put(TraceEvent::slice(&name, category(span.work), thread, time, args));
            let Some(points) = span.batch.and_then(|batch| self.flows.get(&batch)) else { continue };
            let ph = match points.iter().position(|&point| point == at) {
                Some(0) => "s",
                Some(nth) if nth + 1 == points.len() => "f",
                Some(_) => "t",
                None => continue,
            };
            out.put(TraceEvent::flow(ph, thread, span.batch.map_or(0, |batch| batch.0), span.start_ns));
        }
    }

    /// The counters, at the beginning of each turn. Viewers join the name of a counter with that of its series.
    pub(super) fn counters(&self, out: &mut Out) {
        for turn in &self.scene.turns {
            let counters: [_; COUNTERS] = [
                ("batch", "rows", turn.rows),
                ("used", "slots", turn.slots_used),
                ("cached", "slots", turn.slots_cached),
                ("waiting", "requests", turn.waiting),
            ];
            for (name, series, value) in counters {
                out.put(TraceEvent::counter(name, CPU, turn.at_ns, BTreeMap::from([(series, value)])));
            }
        }
    }
}
