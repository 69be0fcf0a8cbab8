//! Reads a recording event by event and holds the results of the comparison so far: the counts, the differences, and
//! the lines around a difference. Whether an event agrees is decided in `full` and `partial`.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value};

use super::archive::RecordingLines;
use super::divergence::{Divergence, FieldDifference, without_indices};
use super::event::EncodedEvent;
use super::lines::{Line, RecordingError};
use super::tainted_requests::TaintedRequests;

/// Lines of the recording shown before a difference, and as many after it.
const AROUND: usize = 3;

/// Longest line shown whole, in characters.
const SHOWN_MAX: usize = 400;

/// A donation of the recording and the result of the recorder's content check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDonation {
    /// The line.
    pub line: u64,
    /// The turn.
    pub turn: u32,
    /// The request.
    pub rid: String,
    /// The slot. A release may offer slot -1, which is no slot.
    pub slot: i64,
    /// The length of the key.
    pub label: u32,
    /// The slot held the state of the key.
    pub ok: bool,
    /// The request had itself started from a wrong state. Absent in older recordings.
    pub tainted: Option<bool>,
    /// The text of the line, shortened if it is long.
    pub text: String,
}

/// An event of the recording, with its fields as they stand in the file. Why they are not typed: [`super::event`].
#[derive(Clone, Debug)]
pub(super) struct RecordedEvent {
    pub line: Line,
    /// The loop turn, counted from 0: `i` less 1.
    pub turn: u32,
    /// `ev`.
    pub kind: String,
    /// All fields but `i` and `ev`.
    pub fields: Map<String, Value>,
}

impl RecordedEvent {
    /// A field that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// A field that is a number from 0.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.fields.get(name).and_then(Value::as_u64)
    }
}

/// The recording under comparison, and the results so far.
#[derive(Debug)]
pub struct RecordingCursor<'a> {
    lines: RecordingLines<'a>,
    tainted_requests: TaintedRequests,
    /// Events read and not yet compared.
    ahead: VecDeque<RecordedEvent>,
    /// The last lines that agree.
    before: VecDeque<Line>,
    /// Events compared, by kind.
    pub compared: BTreeMap<String, u64>,
    /// Events and fields that could not be compared, by name.
    pub unchecked: BTreeMap<String, u64>,
    /// The difference that ended the comparison.
    pub divergence: Option<Divergence>,
    /// Differences in independent fields ([`super::observed`]), by event and field.
    pub observed: BTreeMap<String, u64>,
    /// The first of these differences.
    pub first_observed: Option<Divergence>,
    /// The error that ended the reading.
    pub error: Option<RecordingError>,
    /// The donations compared so far.
    pub donations: Vec<RecordedDonation>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The comparison ended before the recording did.
    pub cut: bool,
}

impl<'a> RecordingCursor<'a> {
    /// A cursor behind the `meta` event of a recording.
    pub fn new(lines: RecordingLines<'a>) -> Self {
        let mut cursor = RecordingCursor {
            lines,
            tainted_requests: TaintedRequests::default(),
            ahead: VecDeque::new(),
            before: VecDeque::new(),
            compared: BTreeMap::new(),
            unchecked: BTreeMap::new(),
            divergence: None,
            observed: BTreeMap::new(),
            first_observed: None,
            error: None,
            donations: Vec::new(),
            notes: Vec::new(),
            cut: false,
        };
        // The setup was made from `meta`, so it agrees by construction.
        if let Some(meta) = cursor.pop() {
            *cursor.compared.entry(meta.kind).or_default() += 1;
        }
        cursor
    }

    /// Whether the comparison has ended: by a difference or an error.
    pub fn is_over(&self) -> bool {
        self.divergence.is_some() || self.error.is_some()
    }

    /// Takes the next event of the recording.
    pub(super) fn pop(&mut self) -> Option<RecordedEvent> {
        match self.ahead.pop_front() {
            Some(next) => Some(next),
            None => self.read(),
        }
    }

    /// The next event of the recording, which stays the next one.
    pub(super) fn peek(&mut self) -> Option<&RecordedEvent> {
        if self.ahead.is_empty() {
            let next = self.read()?;
            self.ahead.push_back(next);
        }
        self.ahead.front()
    }

    /// Puts events back before the next one.
    pub(super) fn put_back(&mut self, events: Vec<RecordedEvent>) {
        for event in events.into_iter().rev() {
            self.ahead.push_front(event);
        }
    }

    /// Counts an event that agrees, and keeps a donation for the comparison with the judge.
    pub(super) fn agree(&mut self, event: RecordedEvent) {
        if event.kind == "donate" && event.fields.contains_key("ok") {
            self.keep_donation(&event);
        }
        *self.compared.entry(event.kind).or_default() += 1;
        self.before.push_back(event.line);
        if self.before.len() > AROUND {
            self.before.pop_front();
        }
    }

    /// Counts events or fields that could not be compared.
    pub(super) fn count_unchecked(&mut self, what: String, count: u64) {
        if count > 0 {
            *self.unchecked.entry(what).or_default() += count;
        }
    }

    fn read(&mut self) -> Option<RecordedEvent> {
        let line = match self.lines.next() {
            Ok(line) => line?,
            Err(error) => {
                self.error = Some(error);
                return None;
            }
        };
        let parsed = serde_json::from_str::<Map<String, Value>>(&line.text).ok();
        let recorded = parsed.and_then(|mut fields| {
            let i = fields.remove("i")?.as_u64()?;
            let kind = fields.remove("ev")?.as_str()?.to_string();
            self.tainted_requests.correct(&kind, &mut fields);
            Some(RecordedEvent { turn: (i as u32).saturating_sub(1), kind, fields, line: line.clone() })
        });
        if recorded.is_none() {
            self.error = Some(RecordingError::at(line.number, "this line is not an event", "the recording is damaged"));
        }
        recorded
    }

    fn keep_donation(&mut self, event: &RecordedEvent) {
        let yes = |name: &str| event.fields.get(name).and_then(Value::as_bool).unwrap_or(false);
        self.donations.push(RecordedDonation {
            line: event.line.number,
            turn: event.turn,
            rid: event.text("rid").unwrap_or("").to_string(),
            slot: event.fields.get("slot").and_then(Value::as_i64).unwrap_or(0),
            label: event.number("label").unwrap_or(0) as u32,
            ok: yes("ok"),
            tainted: event.fields.get("tainted").and_then(Value::as_bool),
            text: shorten(&event.line.text),
        });
    }

    /// Ends the comparison: an event differs in a field. `encoded` is the model's event, if it has one here.
    pub(super) fn diverge(
        &mut self,
        event: &RecordedEvent,
        field: &str,
        recorded: Value,
        modelled: Value,
        encoded: Option<&EncodedEvent<'_>>,
    ) {
        let difference = FieldDifference { path: field.to_string(), recorded, modelled };
        self.divergence = Some(self.divergence_at(event, difference, encoded));
    }

    /// Takes in the result of comparing a field: the first difference that later events depend on, and differences in
    /// independent fields. If the field itself is independent, so is its first difference. Returns whether the
    /// comparison ends.
    pub(super) fn field_ends(
        &mut self,
        event: &RecordedEvent,
        encoded: &EncodedEvent<'_>,
        is_independent: bool,
        first: Option<FieldDifference>,
        independent: Vec<FieldDifference>,
    ) -> bool {
        independent.into_iter().for_each(|difference| self.observe(event, difference, encoded));
        let Some(first) = first else { return false };
        if is_independent {
            self.observe(event, first, encoded);
            return false;
        }
        self.diverge(event, &first.path, first.recorded, first.modelled, Some(encoded));
        true
    }

    /// Counts a difference in an independent field. The comparison continues.
    fn observe(&mut self, event: &RecordedEvent, difference: FieldDifference, encoded: &EncodedEvent<'_>) {
        let field = without_indices(&difference.path);
        *self.observed.entry(format!("{}.{field}", event.kind)).or_default() += 1;
        if self.first_observed.is_none() {
            self.first_observed = Some(self.divergence_at(event, difference, Some(encoded)));
        }
    }

    fn divergence_at(
        &mut self,
        event: &RecordedEvent,
        difference: FieldDifference,
        encoded: Option<&EncodedEvent<'_>>,
    ) -> Divergence {
        while self.ahead.len() < AROUND {
            let Some(next) = self.read() else { break };
            self.ahead.push_back(next);
        }
        let mut around: Vec<String> = self.before.iter().map(|line| shorten(&line.text)).collect();
        around.push(shorten(&event.line.text));
        around.extend(self.ahead.iter().take(AROUND).map(|next| shorten(&next.line.text)));
        let FieldDifference { path, recorded, modelled } = difference;
        let request = rid_of_row(&path, &event.fields).or_else(|| event.text("rid").map(str::to_string));
        Divergence {
            line: event.line.number,
            turn: event.turn,
            phase: encoded.map(|encoded| encoded.phase),
            event: event.kind.clone(),
            request,
            field: path,
            recorded,
            modelled,
            modelled_event: encoded.map(|encoded| shorten(&encoded.to_json().to_string())),
            around,
        }
    }

    /// Takes the notes for the user.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        if self.tainted_requests.corrected > 0 {
            let note = "the recorder left `tainted` set after a retraction: it is read as false there";
            self.notes.push(note.to_string());
        }
        std::mem::take(&mut self.notes)
    }

    /// Ends the comparison: the recording ends before this event of the model.
    pub(super) fn recording_ended(&mut self, encoded: &EncodedEvent<'_>) {
        let line = self.before.back().map_or(0, |line| line.number);
        self.divergence = Some(Divergence {
            line,
            turn: encoded.turn,
            phase: Some(encoded.phase),
            event: encoded.body.kind().to_string(),
            request: encoded.body.rid(),
            field: "ev".to_string(),
            recorded: Value::Null,
            modelled: encoded.body.kind().into(),
            modelled_event: Some(shorten(&encoded.to_json().to_string())),
            around: self.before.iter().map(|line| shorten(&line.text)).collect(),
        });
    }
}

/// The first difference between two values of a field: within lists of equal length and within objects, of their
/// elements.
pub(super) fn first_difference(path: &str, recorded: &Value, modelled: &Value) -> Option<FieldDifference> {
    let differs = |path: String, recorded: &Value, modelled: &Value| {
        Some(FieldDifference { path, recorded: recorded.clone(), modelled: modelled.clone() })
    };
    match (recorded, modelled) {
        (Value::Array(recorded), Value::Array(modelled)) if recorded.len() == modelled.len() => recorded
            .iter()
            .zip(modelled)
            .enumerate()
            .find_map(|(i, (recorded, modelled))| first_difference(&format!("{path}[{i}]"), recorded, modelled)),
        (Value::Object(recorded), Value::Object(modelled)) => recorded.keys().chain(modelled.keys()).find_map(|name| {
            let (recorded, modelled) = (recorded.get(name), modelled.get(name));
            match (recorded, modelled) {
                (Some(recorded), Some(modelled)) => first_difference(&format!("{path}.{name}"), recorded, modelled),
                (recorded, modelled) => differs(
                    format!("{path}.{name}"),
                    recorded.unwrap_or(&Value::Null),
                    modelled.unwrap_or(&Value::Null),
                ),
            }
        }),
        (recorded, modelled) if recorded == modelled => None,
        (recorded, modelled) => differs(path.to_string(), recorded, modelled),
    }
}

/// The request of the row that a path points into.
fn rid_of_row(path: &str, fields: &Map<String, Value>) -> Option<String> {
    let (name, rest) = path.split_once('[')?;
    let at: usize = rest.split_once(']')?.0.parse().ok()?;
    let rid = match name {
        "reqs" => fields.get("reqs")?.get(at)?.get("rid")?,
        _ => fields.get("rids")?.get(at)?,
    };
    rid.as_str().map(str::to_string)
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((cut, _)) => format!("{}..", &text[..cut]),
        None => text.to_string(),
    }
}
