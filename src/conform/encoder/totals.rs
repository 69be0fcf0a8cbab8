//! The totals that end a recording.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::record::ReqId;

/// Counts of a run, by the words of `end.stats`.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub lookahead: [u32; 2],
    pub donate: u32,
    pub donate_bad: u32,
    pub donate_finished_bad: u32,
    pub donate_bad_root: u32,
    /// By the reason of the donation.
    pub bad_root_by_reason: BTreeMap<&'static str, u32>,
    pub active_bad: u32,
    pub retract: u32,
    pub fired: u32,
    pub fired_same_boundary: u32,
    pub missed_boundary: u32,
    pub missed_record: u32,
    pub boundary: u32,
    pub asserts: u32,
    /// How often a boundary of a request fired.
    pub fired_at: BTreeMap<(ReqId, u32), u32>,
}

/// What is known at the end alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndCounts {
    pub tree_bad: u32,
    pub leak: i64,
    pub unfinished: u32,
    pub iters: u32,
}

impl Totals {
    pub(super) fn to_json(&self, last: EndCounts) -> Value {
        let mut map = Map::new();
        let mut put = |name: &str, value: Value| map.insert(name.to_string(), value);
        put("lookahead", self.lookahead.to_vec().into());
        put("donate", self.donate.into());
        put("donate_bad", self.donate_bad.into());
        put("donate_finished_bad", self.donate_finished_bad.into());
        put("donate_bad_root", self.donate_bad_root.into());
        for (reason, count) in &self.bad_root_by_reason {
            put(&format!("donate_bad_root_{reason}"), (*count).into());
        }
        put("active_bad", self.active_bad.into());
        put("tree_bad", last.tree_bad.into());
        put("retract", self.retract.into());
        put("fired", self.fired.into());
        put("fired_same_boundary", self.fired_same_boundary.into());
        put("missed_boundary", self.missed_boundary.into());
        put("missed_record", self.missed_record.into());
        put("boundary", self.boundary.into());
        put("leak", last.leak.into());
        put("asserts", self.asserts.into());
        put("unfinished", last.unfinished.into());
        put("iters", last.iters.into());
        Value::Object(map)
    }
}
