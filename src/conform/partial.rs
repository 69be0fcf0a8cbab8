//! Compares a partial recording, such as one of a server in production, with the events of the model.
//!
//! Kinds of events that such a recording always has must come in the model's order and agree in every field that the
//! recording has. Events of other kinds, and any field, may be left out; they are counted as not checked.

use serde_json::Value;

use super::cursor::{RecordedEvent, RecordingCursor, first_difference};
use super::divergence::FieldDifference;
use super::event::{EncodedEvent, EventBody, FieldList, Listener, mode_name};
use super::inputs::Inputs;
use super::observed;

/// Kinds of events that a partial recording never leaves out.
const ALWAYS_RECORDED: [&str; 9] =
    ["arrive", "match", "prepare_extend", "slot_alloc", "slot_free", "retract", "mix", "donate", "no_insert"];

/// FieldList of partial recordings that the model does not have.
const RECORDING_ONLY: [&str; 5] = ["output_ids", "rows_left_out", "ignore_eos", "left", "joined"];

/// Lists with a value a row of a batch. A partial recording may give some rows only.
const ROW_LISTS: [&str; 11] = [
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

/// The comparison of a partial recording, event by event of the model.
#[derive(Debug)]
pub struct PartialComparison<'l, 'a> {
    cursor: &'l mut RecordingCursor<'a>,
    /// Requests that arrived before the recording began. They are not replayed.
    earlier_requests: &'l [String],
    /// Decode steps of the model that the recording has neither listed nor counted yet.
    steps: u64,
    /// The turn of the last of these steps.
    last_step: u32,
    /// The first turn that is not compared: the last one of a recording without `end`.
    until: u32,
    /// Tokens of the recording are hashes.
    hashed: bool,
    /// The recording lost events: nothing later is compared.
    cut: bool,
}

impl<'l, 'a> PartialComparison<'l, 'a> {
    /// Begins behind the `meta` event of a recording.
    pub fn new(cursor: &'l mut RecordingCursor<'a>, inputs: &'l Inputs) -> Self {
        let earlier_requests = inputs.earlier_requests.as_slice();
        if !earlier_requests.is_empty() {
            let note =
                format!("{} requests arrived before the recording began and are not replayed", earlier_requests.len());
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

    /// The model has ended: the remaining events of the recording must be of kinds that it does not have.
    pub fn end(&mut self) {
        while !self.over() {
            self.skip_to(u32::MAX);
            let Some(left) = self.cursor.pop() else { return };
            self.cursor.diverge(&left, "ev", left.kind.clone().into(), Value::Null, None);
        }
    }

    fn over(&self) -> bool {
        self.cut || self.cursor.is_over()
    }

    /// Skips events of the recording that the model does not have, up to a turn.
    fn skip_to(&mut self, turn: u32) {
        let earlier_requests = self.earlier_requests;
        while let Some(next) = self.cursor.peek() {
            let line = next.line.number;
            match next.kind.as_str() {
                "steps" => {
                    let (recorded, modelled) = (next.number("count").unwrap_or(0), self.steps);
                    // It counts steps up to iteration `last_i`, which the model must have reached.
                    let last = next.number("last_i").unwrap_or(0);
                    if last > u64::from(turn) && last != u64::from(self.last_step) + 1 {
                        return;
                    }
                    self.steps = 0;
                    let Some(steps) = self.cursor.pop() else { return };
                    if recorded != modelled {
                        return self.cursor.diverge(&steps, "count", recorded.into(), modelled.into(), None);
                    }
                    self.cursor.agree(steps);
                }
                "dropped" | "disabled" => {
                    let what =
                        if next.kind == "dropped" { "events were dropped" } else { "the capture disabled itself" };
                    self.cursor.notes.push(format!("{what} at line {line}: later events were not compared"));
                    self.cut = true;
                    self.cursor.cut = true;
                    return;
                }
                "end" | "verify" | "meta" => {
                    let kind = next.kind.clone();
                    self.cursor.pop();
                    self.cursor.count_unchecked(kind, 1);
                }
                _ if next.text("rid").is_some_and(|rid| earlier_requests.iter().any(|other| other == rid)) => {
                    let kind = next.kind.clone();
                    self.cursor.pop();
                    self.cursor.count_unchecked(format!("{kind} of requests from before"), 1);
                }
                _ => return,
            }
        }
    }

    fn compare(&mut self, encoded: &EncodedEvent<'_>) {
        self.skip_to(encoded.turn);
        self.cut |= encoded.turn >= self.until;
        if self.over() {
            return;
        }
        let Some(next) = self.cursor.peek() else {
            return self.cursor.count_unchecked(encoded.body.kind().to_string(), 1);
        };
        if next.turn < encoded.turn {
            let Some(unmatched) = self.cursor.pop() else { return };
            return self.cursor.diverge(&unmatched, "ev", unmatched.kind.clone().into(), Value::Null, Some(encoded));
        }
        let kind = encoded.body.kind();
        let same = next.kind == kind && next.turn == encoded.turn && same_mode(next, encoded);
        if same {
            if let Some(event) = self.cursor.pop() {
                self.compare_fields(event, encoded);
            }
        } else if ALWAYS_RECORDED.contains(&kind) {
            let Some(other) = self.cursor.pop() else { return };
            self.cursor.diverge(&other, "ev", other.kind.clone().into(), kind.into(), Some(encoded));
        } else {
            if matches!(encoded.body, EventBody::PrepareDecode(_)) {
                self.steps += 1;
                self.last_step = encoded.turn;
            }
            self.cursor.count_unchecked(kind.to_string(), 1);
        }
    }

    /// Compares the fields that the recording has.
    fn compare_fields(&mut self, event: RecordedEvent, encoded: &EncodedEvent<'_>) {
        if self.steps > 0 {
            // A `steps` event must have counted the steps before this event.
            return self.cursor.diverge(&event, "steps", 0.into(), self.steps.into(), Some(encoded));
        }
        let (kind, fields) = (encoded.body.kind(), encoded.body.fields());
        if let Some((given, all)) = rows_missing(&event, &fields) {
            return self.cursor.diverge(&event, "rows_left_out", given.into(), all.into(), Some(encoded));
        }
        for name in ["left", "joined"] {
            let is_given = event.fields.contains_key(name);
            self.cursor.count_unchecked(format!("{kind}.{name}"), u64::from(is_given));
        }
        let indices = rows_given(&event, encoded);
        if let Err(rid) = &indices {
            return self.cursor.diverge(&event, "rids", rid.clone().into(), Value::Null, Some(encoded));
        }
        let indices = indices.unwrap_or_default();
        for (name, value) in &fields {
            let Some(other) = event.fields.get(*name) else {
                self.cursor.count_unchecked(format!("{kind}.{name}"), 1);
                continue;
            };
            let mut independent = Vec::new();
            let first = match (*name, &indices) {
                ("reqs", _) => self.result_rows(kind, other, value, &mut independent),
                ("stop_token", _) => None,
                (name, Some(indices)) if ROW_LISTS.contains(&name) => {
                    first_difference(name, other, &picked(value, indices))
                }
                (name, _) if self.hashed && hashed_content(kind, name) => {
                    self.cursor.count_unchecked(format!("{kind}.{name}"), 1);
                    None
                }
                (name, _) => difference_in_given(name, other, value),
            };
            if self.cursor.field_ends(&event, encoded, observed::is_field(kind, name), first, independent) {
                return;
            }
        }
        let unknown = event
            .fields
            .keys()
            .find(|name| fields.iter().all(|(field, _)| field != name) && !RECORDING_ONLY.contains(&name.as_str()));
        if let Some(name) = unknown.cloned() {
            let value = event.fields[&name].clone();
            return self.cursor.diverge(&event, &name, value, Value::Null, Some(encoded));
        }
        self.cursor.agree(event);
    }

    /// Compares the rows of a result that the recording has, by request.
    fn result_rows(
        &mut self,
        kind: &str,
        recorded: &Value,
        modelled: &Value,
        independent: &mut Vec<FieldDifference>,
    ) -> Option<FieldDifference> {
        let (Some(recorded), Some(modelled)) = (recorded.as_array(), modelled.as_array()) else {
            return first_difference("reqs", recorded, modelled);
        };
        self.cursor.count_unchecked(format!("{kind}.reqs rows"), modelled.len().saturating_sub(recorded.len()) as u64);
        for (i, row) in recorded.iter().enumerate() {
            let path = format!("reqs[{i}]");
            let rid = row.get("rid");
            let Some(modelled) = modelled.iter().find(|modelled| modelled.get("rid") == rid) else {
                return first_difference(&path, row, &Value::Null);
            };
            let difference = match (row.as_object(), modelled.as_object()) {
                (Some(recorded), Some(modelled)) => {
                    observed::rows_differ(&path, (recorded, modelled), &RECORDING_ONLY, true, independent)
                }
                (_, _) => first_difference(&path, row, modelled),
            };
            if difference.is_some() {
                return difference;
            }
        }
        None
    }
}

/// Whether a field is a hash of the model's own tokens, which a recording of hashed tokens does not have.
fn hashed_content(kind: &str, name: &str) -> bool {
    kind == "donate" && (name == "hash" || name == "expected")
}

/// How many rows an event of the recording has, those left out counted in, and how many the model's event has, if the
/// two numbers differ. A row that is given twice counts once.
fn rows_missing(event: &RecordedEvent, fields: &FieldList) -> Option<(u64, u64)> {
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

/// The indices, among the model's rows, of the rows that a decode step of the recording gives, if it leaves some out;
/// or the name of a row that the model does not have.
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

fn picked(value: &Value, indices: &[usize]) -> Value {
    match value.as_array() {
        Some(values) => indices.iter().map(|&index| values.get(index).cloned().unwrap_or(Value::Null)).collect(),
        None => value.clone(),
    }
}

/// The first difference between two values; of two objects, in the fields that the recording has.
fn difference_in_given(path: &str, recorded: &Value, modelled: &Value) -> Option<FieldDifference> {
    let (Some(recorded), Some(modelled)) = (recorded.as_object(), modelled.as_object()) else {
        return first_difference(path, recorded, modelled);
    };
    recorded.iter().filter(|(name, _)| !RECORDING_ONLY.contains(&name.as_str())).find_map(|(name, value)| {
        first_difference(&format!("{path}.{name}"), value, modelled.get(name).unwrap_or(&Value::Null))
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
