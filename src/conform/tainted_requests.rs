//! Corrects `tainted` in recordings of older recorders. A request is tainted while it runs on a wrong state that it
//! started from. A retraction gives that state up with its slot, but recorders before `tree_core` kept `tainted` true
//! until the end of the request. Lines are corrected as they are read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The requests that the events read so far taint.
#[derive(Debug, Default)]
pub(super) struct TaintedRequests {
    /// Tainted now.
    now: BTreeSet<String>,
    /// No longer tainted, by a retraction.
    before: BTreeSet<String>,
    /// Wrong donations that the recorder's totals leave out because of a wrong `tainted`, by their reason.
    miscounted: BTreeMap<String, u64>,
    /// Donations whose `tainted` was corrected.
    pub corrected: u64,
}

impl TaintedRequests {
    /// Takes in an event. Corrects `tainted` of a donation, and the totals that depend on it.
    pub(super) fn correct(&mut self, kind: &str, fields: &mut Map<String, Value>) {
        let rid = || fields.get("rid").and_then(Value::as_str).unwrap_or_default().to_string();
        match kind {
            "active_mismatch" => {
                let rid = rid();
                self.before.remove(&rid);
                self.now.insert(rid);
            }
            "retract" => {
                let rid = rid();
                if self.now.remove(&rid) {
                    self.before.insert(rid);
                }
            }
            "donate" if self.before.contains(&rid()) => self.donate(fields),
            "end" if !self.miscounted.is_empty() => self.end(fields),
            _ => {}
        }
    }

    fn donate(&mut self, fields: &mut Map<String, Value>) {
        let yes = |name: &str| fields.get(name).and_then(Value::as_bool).unwrap_or(false);
        if !yes("tainted") {
            return;
        }
        if !yes("ok") && !yes("already_in_tree") {
            let reason = fields.get("reason").and_then(Value::as_str).unwrap_or_default();
            *self.miscounted.entry(reason.to_string()).or_default() += 1;
        }
        fields.insert("tainted".into(), false.into());
        self.corrected += 1;
    }

    /// Adds the donations that the totals leave out.
    fn end(&mut self, fields: &mut Map<String, Value>) {
        let Some(stats) = fields.get_mut("stats").and_then(Value::as_object_mut) else { return };
        if !stats.contains_key("donate_bad_root") {
            return;
        }
        let mut add = |name: String, more: u64| {
            let was = stats.get(&name).and_then(Value::as_u64).unwrap_or(0);
            stats.insert(name, (was + more).into());
        };
        for (reason, count) in std::mem::take(&mut self.miscounted) {
            add("donate_bad_root".to_string(), count);
            add(format!("donate_bad_root_{reason}"), count);
        }
    }
}
