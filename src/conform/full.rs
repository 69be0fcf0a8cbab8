//! Compares a complete recording with the events of the model: every event, every field, up to the first difference.

use serde_json::Value;

use super::assertions;
use super::cursor::{RecordedEvent, RecordingCursor, first_difference};
use super::divergence::FieldDifference;
use super::event::{EncodedEvent, Listener};
use super::observed;

/// Fields that older recordings lack, by event. They are compared if the recording has them.
const ADDED_LATER: [(&str, &str); 2] = [("donate", "tainted"), ("end", "stats.donate_bad_root")];

/// The comparison of a complete recording, event by event of the model.
#[derive(Debug)]
pub struct FullComparison<'l, 'a> {
    cursor: &'l mut RecordingCursor<'a>,
    /// The number of requests is known, including requests that never arrived.
    counts_requests: bool,
    /// The names of the requests that arrived.
    names: &'l [String],
}

impl<'l, 'a> FullComparison<'l, 'a> {
    /// Begins behind the `meta` event of a recording.
    pub fn new(cursor: &'l mut RecordingCursor<'a>, counts_requests: bool, names: &'l [String]) -> Self {
        FullComparison { cursor, counts_requests, names }
    }

    /// Skips aborts of names that no request has. They have no effect, and the model's setup leaves them out.
    fn skip_aborts_without_request(&mut self) {
        while let Some(next) = self.cursor.peek() {
            let is_known = |rid| self.names.iter().any(|name| name == rid);
            let is_abort = next.kind == "abort" && next.text("where") == Some("gone");
            if !is_abort || next.text("rid").is_some_and(is_known) {
                return;
            }
            if let Some(abort) = self.cursor.pop() {
                self.cursor.agree(abort);
            }
        }
    }

    /// The model has ended: the recording must end too.
    pub fn end(&mut self) {
        if self.cursor.is_over() {
            return;
        }
        self.skip_aborts_without_request();
        if let Some(left) = self.cursor.pop() {
            self.cursor.diverge(&left, "ev", left.kind.clone().into(), Value::Null, None);
        }
    }

    /// Sorts consecutive `tree_mismatch` events. A recording lists them in the order in which its recorder walked the
    /// tree, which does not depend on the scheduler.
    fn sort_tree_mismatches(&mut self, first: RecordedEvent) -> Option<RecordedEvent> {
        let mut all = vec![first];
        while let Some(next) = self.cursor.pop() {
            if next.kind != "tree_mismatch" {
                self.cursor.put_back(vec![next]);
                break;
            }
            all.push(next);
        }
        all.sort_by_key(|event| (event.number("label"), event.number("slot"), event.number("n")));
        self.cursor.put_back(all);
        self.cursor.pop()
    }

    fn compare(&mut self, encoded: &EncodedEvent<'_>) {
        let modelled_kind = encoded.body.kind();
        self.skip_aborts_without_request();
        let mut next = self.cursor.pop();
        if let Some(first) = next.take_if(|event| event.kind == "tree_mismatch" && modelled_kind == "tree_mismatch") {
            next = if self.cursor.compared.contains_key("tree_mismatch") {
                Some(first)
            } else {
                self.sort_tree_mismatches(first)
            };
        }
        let Some(mut recorded) = next else {
            if self.cursor.error.is_none() {
                self.cursor.recording_ended(encoded);
            }
            return;
        };
        if recorded.kind == "assert" {
            assertions::replace_message(&mut recorded.fields);
        }
        if recorded.kind != modelled_kind {
            let kind = recorded.kind.clone().into();
            self.cursor.diverge(&recorded, "ev", kind, modelled_kind.into(), Some(encoded));
        } else if recorded.turn != encoded.turn {
            let (i, modelled_i) = (recorded.turn + 1, encoded.turn + 1);
            self.cursor.diverge(&recorded, "i", i.into(), modelled_i.into(), Some(encoded));
        } else {
            self.compare_fields(recorded, encoded);
        }
    }

    /// Compares the fields of two events of the same kind and turn.
    fn compare_fields(&mut self, recorded: RecordedEvent, encoded: &EncodedEvent<'_>) {
        let (modelled_kind, fields) = (encoded.body.kind(), encoded.body.fields());
        for (name, value) in &fields {
            match recorded.fields.get(*name) {
                None if ADDED_LATER.contains(&(modelled_kind, name)) => {
                    self.cursor.count_unchecked(format!("{modelled_kind}.{name}"), 1);
                }
                None => return self.cursor.diverge(&recorded, name, Value::Null, value.clone(), Some(encoded)),
                Some(other) => {
                    let mut independent = Vec::new();
                    let first = match *name {
                        "stats" => self.stats_differ(other, value, &mut independent),
                        "reqs" => result_differs(other, value, &mut independent),
                        name => first_difference(name, other, value),
                    };
                    let is_independent = observed::is_field(modelled_kind, name);
                    if self.cursor.field_ends(&recorded, encoded, is_independent, first, independent) {
                        return;
                    }
                }
            }
        }
        if let Some(name) = recorded.fields.keys().find(|name| fields.iter().all(|(field, _)| field != name)).cloned() {
            let value = recorded.fields[&name].clone();
            return self.cursor.diverge(&recorded, &name, value, Value::Null, Some(encoded));
        }
        self.cursor.agree(recorded);
    }

    /// The first difference in the totals. Totals that older recordings lack are not compared.
    fn stats_differ(
        &mut self,
        recorded: &Value,
        modelled: &Value,
        independent: &mut Vec<FieldDifference>,
    ) -> Option<FieldDifference> {
        let (Value::Object(recorded), Value::Object(modelled)) = (recorded, modelled) else {
            return Some(FieldDifference {
                path: "stats".into(),
                recorded: recorded.clone(),
                modelled: modelled.clone(),
            });
        };
        let older = !recorded.contains_key("donate_bad_root");
        let only_modelled = modelled.keys().filter(|name| !recorded.contains_key(*name));
        let mut first = None;
        for name in recorded.keys().chain(only_modelled) {
            if older && name.starts_with("donate_bad_root") {
                self.cursor.count_unchecked(format!("end.stats.{name}"), 1);
                continue;
            }
            let (recorded, modelled) = (recorded.get(name), modelled.get(name));
            if name == "unfinished" && !self.counts_requests && more(recorded, modelled) {
                // Requests that had not arrived when the run was cut short: the recording does not list them.
                self.cursor.count_unchecked("end.stats.unfinished".to_string(), 1);
                continue;
            }
            if recorded == modelled {
                continue;
            }
            let or_null = |value: Option<&Value>| value.cloned().unwrap_or(Value::Null);
            let difference = FieldDifference {
                path: format!("stats.{name}"),
                recorded: or_null(recorded),
                modelled: or_null(modelled),
            };
            if observed::is_count(name) {
                independent.push(difference);
            } else if first.is_none() {
                first = Some(difference);
            }
        }
        first
    }
}

/// The first difference in the rows of a result that later events depend on.
fn result_differs(
    recorded: &Value,
    modelled: &Value,
    independent: &mut Vec<FieldDifference>,
) -> Option<FieldDifference> {
    let (Value::Array(recorded_rows), Value::Array(modelled_rows)) = (recorded, modelled) else {
        return first_difference("reqs", recorded, modelled);
    };
    if recorded_rows.len() != modelled_rows.len() {
        return first_difference("reqs", recorded, modelled);
    }
    recorded_rows.iter().zip(modelled_rows).enumerate().find_map(|(i, (recorded, modelled))| {
        let path = format!("reqs[{i}]");
        match (recorded, modelled) {
            (Value::Object(recorded), Value::Object(modelled)) => {
                observed::rows_differ(&path, (recorded, modelled), &[], false, independent)
            }
            (recorded, modelled) => first_difference(&path, recorded, modelled),
        }
    })
}

/// Whether the first count is larger than the second.
fn more(one: Option<&Value>, other: Option<&Value>) -> bool {
    one.and_then(Value::as_u64) > other.and_then(Value::as_u64)
}

impl Listener for FullComparison<'_, '_> {
    fn event(&mut self, event: &EncodedEvent<'_>) {
        if !self.cursor.is_over() {
            self.compare(event);
        }
    }

    fn is_over(&self) -> bool {
        self.cursor.is_over()
    }
}
