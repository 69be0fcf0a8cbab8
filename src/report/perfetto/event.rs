//! An event of the trace-event format: its fields, letters and unit of time; and the text of all events.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::escape;

/// The processes by number, from 1.
pub(super) const PROCESSES: [&str; 4] = ["scheduler", "GPU", "requests", "slots"];

/// A process and a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    pub pid: u32,
    pub tid: u64,
}

/// A time or a duration. The format has microseconds: three decimals are exact to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Micros {
    /// In nanoseconds.
    pub ns: u64,
}

impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = format!("{}.{:03}", self.ns / 1000, self.ns % 1000);
        RawValue::from_string(text).expect("digits around a point are a number of JSON").serialize(serializer)
    }
}

/// An event. Fields without a value are left out.
#[derive(Serialize)]
pub(super) struct TraceEvent<'a, Args> {
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cat: Option<&'static str>,
    pub ph: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<Micros>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dur: Option<Micros>,
    pub pid: u32,
    pub tid: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bp: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cname: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Args>,
}

impl Micros {
    fn of(ns: u64) -> Option<Micros> {
        Some(Micros { ns })
    }
}

impl<'a, Args> TraceEvent<'a, Args> {
    fn new(name: &'a str, ph: &'static str, Thread { pid, tid }: Thread) -> TraceEvent<'a, Args> {
        let (cat, ts, dur, id, bp, s, cname, args) = Default::default();
        TraceEvent { name, cat, ph, ts, dur, pid, tid, id, bp, s, cname, args }
    }

    /// Metadata of a process or a thread.
    pub fn meta(name: &'a str, thread: Thread) -> TraceEvent<'a, Args> {
        TraceEvent::new(name, "M", thread)
    }

    /// A slice.
    pub fn slice(
        name: &'a str,
        cat: &'static str,
        thread: Thread,
        (start_ns, end_ns): (u64, u64),
        args: Args,
    ) -> TraceEvent<'a, Args> {
        let (ts, dur) = (Micros::of(start_ns), Micros::of(end_ns - start_ns));
        TraceEvent { cat: Some(cat), ts, dur, args: Some(args), ..TraceEvent::new(name, "X", thread) }
    }

    /// An instant event, in a thread or across a process.
    pub fn mark(
        name: &'a str,
        cat: &'static str,
        (thread, across): (Thread, bool),
        at_ns: u64,
        args: Args,
    ) -> TraceEvent<'a, Args> {
        let s = Some(if across { "p" } else { "t" });
        TraceEvent { cat: Some(cat), ts: Micros::of(at_ns), s, args: Some(args), ..TraceEvent::new(name, "i", thread) }
    }

    /// The value of a counter.
    pub fn counter(name: &'a str, thread: Thread, at_ns: u64, args: Args) -> TraceEvent<'a, Args> {
        TraceEvent { ts: Micros::of(at_ns), args: Some(args), ..TraceEvent::new(name, "C", thread) }
    }
}

impl TraceEvent<'static, ()> {
    /// A point of the arrow of a batch, at the beginning of a slice. `ph` is `s` for the first point, `f` for the last,
    /// `t` between.
    pub fn flow(ph: &'static str, thread: Thread, batch: u32, at_ns: u64) -> TraceEvent<'static, ()> {
        let (cat, bp) = (Some("batch"), (ph != "s").then_some("e"));
        TraceEvent { cat, ts: Micros::of(at_ns), id: Some(batch), bp, ..TraceEvent::new("batch", ph, thread) }
    }
}

/// The text under construction.
pub(super) struct Out {
    text: String,
    first: bool,
}

impl Out {
    pub fn new(other: &impl Serialize) -> Out {
        let mut out = Out { text: String::new(), first: true };
        out.text.push_str("{\"otherData\":");
        out.value(other);
        out.text.push_str(",\n\"traceEvents\":[");
        out
    }

    pub fn put(&mut self, event: TraceEvent<'_, impl Serialize>) {
        self.text.push_str(if std::mem::take(&mut self.first) { "\n" } else { ",\n" });
        self.value(&event);
    }

    pub fn end(mut self) -> String {
        self.text.push_str("\n]}\n");
        self.text
    }

    fn value(&mut self, value: &impl Serialize) {
        let text = serde_json::to_string(value).expect("strings, numbers and booleans always serialize");
        self.text.push_str(&escape::json(&text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_however_long() {
        let text = |ns| serde_json::to_string(&Micros { ns }).unwrap();
        assert_eq!([0, 1, 999, 1_000, 12_548_360].map(text), ["0.000", "0.001", "0.999", "1.000", "12548.360"]);
        assert_eq!(text(u64::MAX), "18446744073709551.615", "more digits than a float holds");
    }
}
