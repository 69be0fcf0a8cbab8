//! A recording that leaves things out, as one from a server in production does, beside the events that the model tells.
//!
//! What such a recording always has must come in the model's order and agree in every field that is there. What it may
//! leave out is passed over and counted, and so is every field that it does not have.

use serde_json::Value;

use super::cursor::{RecordedEvent, RecordingCursor, first_difference};
use super::divergence::FieldDifference;
use super::event::{EncodedEvent, EventBody, Fields, Listener, mode_name};
use super::inputs::Inputs;
use super::observed;

/// Kinds that a partial recording has in full: where the model tells one, it must be there.
const ALWAYS: [&str; 9] =
    ["arrive", "match", "prepare_extend", "slot_alloc", "slot_free", "retract", "mix", "donate", "no_insert"];

/// Fields of a recording that are none of the model's.
const EXTRA: [&str; 5] = ["output_ids", "rows_left_out", "ignore_eos", "left", "joined"];

/// Fields of a row at the moment of a batch; a partial recording may give some rows only.
const ROWS: [&str; 11] = [
    "rids",
    "seq_lens",
    "decode_batch_idx",
    "kv_committed",
    "kv_allocated",
    "mask",
    "next_mask",
    "track_slots",
    "next_idx",
    "plan",
    "active",
];

/// Compares as the model tells.
#[derive(Debug)]
pub struct PartialComparison<'l, 'a> {
    cursor: &'l mut RecordingCursor<'a>,
    /// Requests that were there before the recording began.
    earlier_requests: &'l [String],
    /// Decode steps encoded that the recording has neither shown nor counted yet.
    steps: u64,
    /// The turn of the last of them.
    last_step: u32,
    /// The turn from which on nothing is compared: the last one, where the recording has no end.
    until: u32,
    hashed: bool,
    /// Events were dropped: nothing is compared any more.
    cut: bool,
}

impl<'l, 'a> PartialComparison<'l, 'a> {
    /// At the first event of a recording.
    pub fn new(cursor: &'l mut RecordingCursor<'a>, inputs: &'l Inputs) -> Self {
        let earlier_requests = inputs.earlier_requests.as_slice();
        if !earlier_requests.is_empty() {
            let note =
                format!("{} requests were there before the recording began: not replayed", earlier_requests.len());
            cursor.notes.push(note);
        }
        let until = if inputs.ended { u32::MAX } else { inputs.turns };
        cursor.cut = !inputs.ended;
        PartialComparison {
            cursor,
            earlier_requests,
            steps: 0,
            last_step: 0,
            until,
            hashed: inputs.meta.hashed,
            cut: false,
        }
    }

    /// The model is through: what is left in the recording must be what it does not tell.
    pub fn end(&mut self) {
        while !self.over() {
            self.pass_over(u32::MAX);
            let Some(left) = self.cursor.pop() else { return };
            let kind = left.kind.clone().into();
            self.cursor.differ(&left, "ev", kind, Value::Null, None);
        }
    }

    fn over(&self) -> bool {
        self.cut || self.cursor.is_over()
    }

    /// Passes over events of the recording that are none of the model's, up to a turn.
    fn pass_over(&mut self, turn: u32) {
        let earlier_requests = self.earlier_requests;
        while let Some(next) = self.cursor.peek() {
            let line = next.line.number;
            let number = |name: &str| next.fields.get(name).and_then(Value::as_u64).unwrap_or(0);
            match next.kind.as_str() {
                "steps" => {
                    let (recorded, modelled) = (number("count"), self.steps);
                    // It counts up to an iteration: the model must have come so far.
                    let last = number("last_i");
                    if last > u64::from(turn) && last != u64::from(self.last_step) + 1 {
                        return;
                    }
                    self.steps = 0;
                    let Some(steps) = self.cursor.pop() else { return };
                    if recorded != modelled {
                        return self.cursor.differ(&steps, "count", recorded.into(), modelled.into(), None);
                    }
                    self.cursor.agree(steps);
                }
                "dropped" | "disabled" => {
                    let what =
                        if next.kind == "dropped" { "events were dropped" } else { "the capture disabled itself" };
                    self.cursor.notes.push(format!("{what} at line {line}: what comes after was not compared"));
                    self.cut = true;
                    self.cursor.cut = true;
                    return;
                }
                "end" | "verify" | "meta" => {
                    let kind = next.kind.clone();
                    self.cursor.pop();
                    self.cursor.leave(kind, 1);
                }
                _ if next
                    .fields
                    .get("rid")
                    .and_then(Value::as_str)
                    .is_some_and(|rid| earlier_requests.iter().any(|one| one == rid)) =>
                {
                    let kind = next.kind.clone();
                    self.cursor.pop();
                    self.cursor.leave(format!("{kind} of requests from before"), 1);
                }
                _ => return,
            }
        }
    }

    fn compare(&mut self, encoded: &EncodedEvent<'_>) {
        self.pass_over(encoded.turn);
        self.cut |= encoded.turn >= self.until;
        if self.over() {
            return;
        }
        let Some(next) = self.cursor.peek() else {
            return self.cursor.leave(encoded.body.kind().to_string(), 1);
        };
        if next.turn < encoded.turn {
            let Some(missed) = self.cursor.pop() else { return };
            let kind = missed.kind.clone().into();
            return self.cursor.differ(&missed, "ev", kind, Value::Null, Some(encoded));
        }
        let kind = encoded.body.kind();
        let same = next.kind == kind && next.turn == encoded.turn && same_mode(next, encoded);
        if same {
            if let Some(event) = self.cursor.pop() {
                self.fields(event, encoded);
            }
        } else if ALWAYS.contains(&kind) {
            let Some(other) = self.cursor.pop() else { return };
            self.cursor.differ(&other, "ev", other.kind.clone().into(), kind.into(), Some(encoded));
        } else {
            if matches!(encoded.body, EventBody::PrepareDecode(_)) {
                self.steps += 1;
                self.last_step = encoded.turn;
            }
            self.cursor.leave(kind.to_string(), 1);
        }
    }

    /// Compares the fields that are there.
    fn fields(&mut self, event: RecordedEvent, encoded: &EncodedEvent<'_>) {
        if self.steps > 0 {
            // The steps before it should have been counted by now.
            return self.cursor.differ(&event, "steps", 0.into(), self.steps.into(), Some(encoded));
        }
        let (kind, fields) = (encoded.body.kind(), encoded.body.fields());
        if let Some((given, all)) = rows_missing(&event, &fields) {
            return self.cursor.differ(&event, "rows_left_out", given.into(), all.into(), Some(encoded));
        }
        for name in ["left", "joined"] {
            let there = event.fields.contains_key(name);
            self.cursor.leave(format!("{}.{name}", kind), u64::from(there));
        }
        let places = rows_given(&event, encoded);
        if let Err(rid) = &places {
            return self.cursor.differ(&event, "rids", rid.clone().into(), Value::Null, Some(encoded));
        }
        let places = places.unwrap_or_default();
        for (name, value) in &fields {
            let Some(other) = event.fields.get(*name) else {
                self.cursor.leave(format!("{}.{name}", kind), 1);
                continue;
            };
            let mut seen = Vec::new();
            let place = match (*name, &places) {
                ("reqs", _) => self.result_rows(kind, other, value, &mut seen),
                ("stop_token", _) => None,
                (name, Some(places)) if ROWS.contains(&name) => first_difference(name, other, &picked(value, places)),
                (name, _) if self.hashed && hashed_content(kind, name) => {
                    self.cursor.leave(format!("{}.{name}", kind), 1);
                    None
                }
                (name, _) => common(name, other, value),
            };
            if self.cursor.field_ends(&event, encoded, observed::is_field(kind, name), place, seen) {
                return;
            }
        }
        let strange = event
            .fields
            .keys()
            .find(|name| fields.iter().all(|(field, _)| field != name) && !EXTRA.contains(&name.as_str()));
        if let Some(name) = strange.cloned() {
            let value = event.fields[&name].clone();
            return self.cursor.differ(&event, &name, value, Value::Null, Some(encoded));
        }
        self.cursor.agree(event);
    }

    /// Compares the rows that are there, by request.
    fn result_rows(
        &mut self,
        kind: &str,
        recorded: &Value,
        modelled: &Value,
        seen: &mut Vec<FieldDifference>,
    ) -> Option<FieldDifference> {
        let (Some(recorded), Some(modelled)) = (recorded.as_array(), modelled.as_array()) else {
            return first_difference("reqs", recorded, modelled);
        };
        self.cursor.leave(format!("{kind}.reqs rows"), modelled.len().saturating_sub(recorded.len()) as u64);
        for (i, row) in recorded.iter().enumerate() {
            let path = format!("reqs[{i}]");
            let rid = row.get("rid");
            let Some(encoded) = modelled.iter().find(|encoded| encoded.get("rid") == rid) else {
                return first_difference(&path, row, &Value::Null);
            };
            let place = match (row.as_object(), encoded.as_object()) {
                (Some(was), Some(is)) => observed::rows_differ(&path, (was, is), &EXTRA, true, seen),
                (_, _) => first_difference(&path, row, encoded),
            };
            if place.is_some() {
                return place;
            }
        }
        None
    }
}

/// Contents are encoded by the model's own tokens, which a recording of hashed ones does not have.
fn hashed_content(kind: &str, name: &str) -> bool {
    kind == "donate" && (name == "hash" || name == "expected")
}

/// How many rows an event of the recording has, those left out counted in, and how many the model's event has, if the two
/// numbers differ. A row that is given twice counts once.
fn rows_missing(event: &RecordedEvent, fields: &Fields) -> Option<(u64, u64)> {
    let left_out = event.fields.get("rows_left_out")?.as_u64()?;
    let list = if event.kind == "result" { "reqs" } else { "rids" };
    let mut names: Vec<&str> =
        list_of(event, list).iter().map(|row| row.get("rid").unwrap_or(row).as_str().unwrap_or_default()).collect();
    names.sort_unstable();
    names.dedup();
    let modelled = fields.iter().find(|(name, _)| *name == list).and_then(|(_, value)| value.as_array());
    let (given, all) = (names.len() as u64 + left_out, modelled.map_or(0, Vec::len) as u64);
    (given != all).then_some((given, all))
}

/// Whether a launch or a result of the recording has the mode of the model's.
fn same_mode(event: &RecordedEvent, encoded: &EncodedEvent<'_>) -> bool {
    let (EventBody::Launch { mode, .. } | EventBody::Result { mode, .. }) = &encoded.body else { return true };
    event.fields.get("mode").and_then(Value::as_str) == Some(mode_name(*mode))
}

/// The indices, among the model's rows, of the rows that a decode step of the recording gives, if it leaves some out; or
/// the name of a row that the model does not have.
fn rows_given(event: &RecordedEvent, encoded: &EncodedEvent<'_>) -> Result<Option<Vec<usize>>, String> {
    let left_out = event.fields.get("rows_left_out").and_then(Value::as_u64).unwrap_or(0);
    let EventBody::PrepareDecode(batch) = &encoded.body else { return Ok(None) };
    if left_out == 0 {
        return Ok(None);
    }
    let find = |rid: &Value| {
        let rid = rid.as_str().unwrap_or_default();
        batch.rids.iter().position(|other| *other == rid).ok_or_else(|| rid.to_string())
    };
    list_of(event, "rids").iter().map(find).collect::<Result<_, _>>().map(Some)
}

/// A list of a recorded event; empty if it has none.
fn list_of<'e>(event: &'e RecordedEvent, name: &str) -> &'e [Value] {
    event.fields.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn picked(value: &Value, places: &[usize]) -> Value {
    match value.as_array() {
        Some(values) => places.iter().map(|&at| values.get(at).cloned().unwrap_or(Value::Null)).collect(),
        None => value.clone(),
    }
}

/// Where two values differ, of two objects in the fields that the recording has.
fn common(path: &str, recorded: &Value, modelled: &Value) -> Option<FieldDifference> {
    let (Some(was), Some(is)) = (recorded.as_object(), modelled.as_object()) else {
        return first_difference(path, recorded, modelled);
    };
    was.iter().filter(|(name, _)| !EXTRA.contains(&name.as_str())).find_map(|(name, value)| {
        first_difference(&format!("{path}.{name}"), value, is.get(name).unwrap_or(&Value::Null))
    })
}

impl Listener for PartialComparison<'_, '_> {
    fn event(&mut self, event: &EncodedEvent<'_>) {
        if !self.over() {
            self.compare(event);
        }
    }

    fn is_over(&self) -> bool {
        self.over()
    }
}
