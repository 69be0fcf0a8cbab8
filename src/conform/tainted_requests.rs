//! Which requests of a recording run on a wrong state that they started from. A retraction gives that state up with the slot;
//! recorders before `tree_core` went on saying `tainted` until the end of the request. Owns putting that right as lines are read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Requests by what the events read so far say of them.
#[derive(Debug, Default)]
pub(super) struct TaintedRequests {
    now: BTreeSet<String>,
    /// Given up by a retraction, and not met again since.
    before: BTreeSet<String>,
    /// Wrong donations that were counted as another one's fault, by their reason.
    miscounted: BTreeMap<String, u64>,
    /// Donations whose `tainted` was put right.
    pub corrected: u64,
}

impl TaintedRequests {
    /// Takes in an event, and puts `tainted` of a donation, or what the end counts by it, right.
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

    /// The totals count the donations of a request that is tainted apart.
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
