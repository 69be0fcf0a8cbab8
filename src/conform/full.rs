//! The recording beside the events that the model tells: in step, every field, up to the first difference.

use serde_json::Value;

use super::assertions;
use super::cursor::{RecordedEvent, RecordingCursor, first_difference};
use super::divergence::FieldDifference;
use super::event::{EncodedEvent, Listener};
use super::observed;

/// Fields that older recordings do not have, by event: absent, they are not compared.
const YOUNGER: [(&str, &str); 2] = [("donate", "tainted"), ("end", "stats.donate_bad_root")];

/// Compares as the model tells.
#[derive(Debug)]
pub struct FullComparison<'l, 'a> {
    cursor: &'l mut RecordingCursor<'a>,
    /// The recording says how many requests it was made of.
    counts_requests: bool,
    /// The requests that arrived.
    names: &'l [String],
}

impl<'l, 'a> FullComparison<'l, 'a> {
    /// At the first event of a recording.
    pub fn new(cursor: &'l mut RecordingCursor<'a>, counts_requests: bool, names: &'l [String]) -> Self {
        FullComparison { cursor, counts_requests, names }
    }

    /// Aborts of names that nobody has meet nothing, and the model does not hear of them.
    fn pass_aborts_of_nobody(&mut self) {
        while let Some(next) = self.cursor.peek() {
            let rid = next.fields.get("rid").and_then(Value::as_str);
            let nobody = next.kind == "abort" && rid.is_none_or(|rid| self.names.iter().all(|name| name != rid));
            let gone = next.fields.get("where").and_then(Value::as_str) == Some("gone");
            if !nobody || !gone {
                return;
            }
            if let Some(abort) = self.cursor.pop() {
                self.cursor.agree(abort);
            }
        }
    }

    /// The model is through: nothing may be left.
    pub fn end(&mut self) {
        if self.cursor.is_over() {
            return;
        }
        self.pass_aborts_of_nobody();
        if let Some(left) = self.cursor.pop() {
            let kind = left.kind.clone().into();
            self.cursor.differ(&left, "ev", kind, Value::Null, None);
        }
    }

    /// States in the tree that are wrong come in the order in which the recording walked the tree, which says nothing
    /// of the scheduler: those that follow each other are put into one order.
    fn sort_tree(&mut self, first: RecordedEvent) -> Option<RecordedEvent> {
        let mut all = vec![first];
        while let Some(next) = self.cursor.pop() {
            if next.kind != "tree_mismatch" {
                self.cursor.put_back(vec![next]);
                break;
            }
            all.push(next);
        }
        let number = |event: &RecordedEvent, name: &str| event.fields.get(name).and_then(Value::as_u64);
        all.sort_by_key(|event| (number(event, "label"), number(event, "slot"), number(event, "n")));
        self.cursor.put_back(all);
        self.cursor.pop()
    }

    fn compare(&mut self, encoded: &EncodedEvent<'_>) {
        let modelled_kind = encoded.body.kind();
        self.pass_aborts_of_nobody();
        let mut next = self.cursor.pop();
        if let Some(first) = next.take_if(|event| event.kind == "tree_mismatch" && modelled_kind == "tree_mismatch") {
            next = if self.cursor.compared.contains_key("tree_mismatch") { Some(first) } else { self.sort_tree(first) };
        }
        let Some(mut recorded) = next else {
            if self.cursor.error.is_none() {
                self.cursor.ran_out(encoded);
            }
            return;
        };
        let kind = recorded.kind.clone();
        if kind == "assert" {
            assertions::replace_message(&mut recorded.fields);
        }
        if kind != modelled_kind {
            return self.cursor.differ(&recorded, "ev", kind.into(), modelled_kind.into(), Some(encoded));
        }
        if recorded.turn != encoded.turn {
            return self.cursor.differ(
                &recorded,
                "i",
                (recorded.turn + 1).into(),
                (encoded.turn + 1).into(),
                Some(encoded),
            );
        }
        let fields = encoded.body.fields();
        for (name, value) in &fields {
            match recorded.fields.get(*name) {
                None if YOUNGER.contains(&(modelled_kind, name)) => {
                    self.cursor.leave(format!("{modelled_kind}.{name}"), 1)
                }
                None => return self.cursor.differ(&recorded, name, Value::Null, value.clone(), Some(encoded)),
                Some(other) => {
                    let mut seen = Vec::new();
                    let place = match *name {
                        "stats" => self.stats_differ(other, value, &mut seen),
                        "reqs" => result_differs(other, value, &mut seen),
                        name => first_difference(name, other, value),
                    };
                    if self.cursor.field_ends(&recorded, encoded, observed::is_field(modelled_kind, name), place, seen)
                    {
                        return;
                    }
                }
            }
        }
        if let Some(name) = recorded.fields.keys().find(|name| fields.iter().all(|(field, _)| field != name)).cloned() {
            let value = recorded.fields[&name].clone();
            return self.cursor.differ(&recorded, &name, value, Value::Null, Some(encoded));
        }
        self.cursor.agree(recorded);
    }

    /// The totals: those that older recordings do not have are left out.
    fn stats_differ(
        &mut self,
        recorded: &Value,
        modelled: &Value,
        seen: &mut Vec<FieldDifference>,
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
                self.cursor.leave(format!("end.stats.{name}"), 1);
                continue;
            }
            let (was, is) = (recorded.get(name), modelled.get(name));
            if name == "unfinished" && !self.counts_requests && more(was, is) {
                // Requests that had not arrived when the run was cut short: nothing tells of them.
                self.cursor.leave("end.stats.unfinished".to_string(), 1);
                continue;
            }
            if was == is {
                continue;
            }
            let shown = |value: Option<&Value>| value.cloned().unwrap_or(Value::Null);
            let place = FieldDifference { path: format!("stats.{name}"), recorded: shown(was), modelled: shown(is) };
            if observed::is_count(name) {
                seen.push(place);
            } else if first.is_none() {
                first = Some(place);
            }
        }
        first
    }
}

/// Where the rows of a result differ first, in a field on which others depend.
fn result_differs(recorded: &Value, modelled: &Value, seen: &mut Vec<FieldDifference>) -> Option<FieldDifference> {
    let (Value::Array(was), Value::Array(is)) = (recorded, modelled) else {
        return first_difference("reqs", recorded, modelled);
    };
    if was.len() != is.len() {
        return first_difference("reqs", recorded, modelled);
    }
    was.iter().zip(is).enumerate().find_map(|(i, (was, is))| {
        let path = format!("reqs[{i}]");
        match (was, is) {
            (Value::Object(was), Value::Object(is)) => observed::rows_differ(&path, (was, is), &[], false, seen),
            (was, is) => first_difference(&path, was, is),
        }
    })
}

/// Whether a count is larger than another one.
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
