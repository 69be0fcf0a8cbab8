//! The recording read event by event, and what has come of the comparison so far. Owns reading on, the lines around a
//! difference and the counts; whether an event agrees is decided in `strict` and `partial`.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value};

use super::archive::RecordingLines;
use super::divergence::{Divergence, FieldDifference, without_indices};
use super::event::EncodedEvent;
use super::lines::{Line, RecordingError};
use super::tainted_requests::TaintedRequests;

/// Lines of the recording shown before a difference, and after it.
const AROUND: usize = 3;

/// Longest line shown whole, in characters.
const SHOWN_MAX: usize = 400;

/// A donation of the recording, with what its own check said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDonation {
    /// The line.
    pub line: u64,
    /// The turn.
    pub turn: u32,
    /// The request.
    pub rid: String,
    /// The slot; a release may offer slot -1, which is none.
    pub slot: i64,
    /// The length of the key.
    pub label: u32,
    /// The slot held the state of the key.
    pub ok: bool,
    /// The request had itself started from a wrong state, if the recording says.
    pub tainted: Option<bool>,
    /// The line as it stands.
    pub text: String,
}

/// An event of the recording.
#[derive(Clone, Debug)]
pub(super) struct RecordedEvent {
    pub line: Line,
    pub turn: u32,
    pub kind: String,
    pub fields: Map<String, Value>,
}

/// The recording under comparison, and what has come of it.
#[derive(Debug)]
pub struct RecordingCursor<'a> {
    lines: RecordingLines<'a>,
    tainted_requests: TaintedRequests,
    ahead: VecDeque<RecordedEvent>,
    before: VecDeque<Line>,
    /// Events compared, by kind.
    pub compared: BTreeMap<String, u64>,
    /// What could not be compared, by event and field.
    pub unchecked: BTreeMap<String, u64>,
    /// The first difference.
    pub divergence: Option<Divergence>,
    /// Differences in fields on which nothing depends, by event and field.
    pub observed: BTreeMap<String, u64>,
    /// The first of them.
    pub first_observed: Option<Divergence>,
    /// What kept the recording from being read on.
    pub error: Option<RecordingError>,
    /// The donations compared so far.
    pub donations: Vec<RecordedDonation>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// The comparison ended before the recording did.
    pub cut: bool,
}

impl<'a> RecordingCursor<'a> {
    /// At the first event of a recording.
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
        // The first event says what the recording is of: the setup was made from it.
        if let Some(meta) = cursor.pop() {
            *cursor.compared.entry(meta.kind).or_default() += 1;
        }
        cursor
    }

    /// Whether there is nothing more to compare.
    pub fn is_over(&self) -> bool {
        self.divergence.is_some() || self.error.is_some()
    }

    /// The next event of the recording, taken.
    pub(super) fn pop(&mut self) -> Option<RecordedEvent> {
        match self.ahead.pop_front() {
            Some(next) => Some(next),
            None => self.read(),
        }
    }

    /// The next event of the recording, left where it is.
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

    /// An event agrees.
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

    /// A part of an event, or all of it, could not be compared.
    pub(super) fn leave(&mut self, what: String, count: u64) {
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
            self.error = Some(RecordingError::at(line.number, "this line is no event", "the recording is damaged"));
        }
        recorded
    }

    fn keep_donation(&mut self, event: &RecordedEvent) {
        let number = |name: &str| event.fields.get(name).and_then(Value::as_u64).unwrap_or(0) as u32;
        let yes = |name: &str| event.fields.get(name).and_then(Value::as_bool).unwrap_or(false);
        self.donations.push(RecordedDonation {
            line: event.line.number,
            turn: event.turn,
            rid: event.fields.get("rid").and_then(Value::as_str).unwrap_or("").to_string(),
            slot: event.fields.get("slot").and_then(Value::as_i64).unwrap_or(0),
            label: number("label"),
            ok: yes("ok"),
            tainted: event.fields.get("tainted").and_then(Value::as_bool),
            text: shorten(&event.line.text),
        });
    }

    /// An event differs in a field: the comparison is over.
    pub(super) fn differ(
        &mut self,
        event: &RecordedEvent,
        field: &str,
        recorded: Value,
        modelled: Value,
        encoded: Option<&EncodedEvent<'_>>,
    ) {
        let place = FieldDifference { path: field.to_string(), recorded, modelled };
        self.divergence = Some(self.divergence_at(event, place, encoded));
    }

    /// A field of an event was compared: it differs at `place`, if it does, and in `seen`, on which nothing depends. If nothing depends on
    /// the field itself, `place` is one of those. Says whether the comparison is over, as something depends on the difference.
    pub(super) fn field_ends(
        &mut self,
        event: &RecordedEvent,
        encoded: &EncodedEvent<'_>,
        nothing_depends: bool,
        place: Option<FieldDifference>,
        seen: Vec<FieldDifference>,
    ) -> bool {
        seen.into_iter().for_each(|place| self.observe(event, place, encoded));
        let Some(place) = place else { return false };
        if nothing_depends {
            self.observe(event, place, encoded);
            return false;
        }
        self.differ(event, &place.path, place.recorded, place.modelled, Some(encoded));
        true
    }

    /// An event differs in a field on which nothing depends: the comparison goes on.
    fn observe(&mut self, event: &RecordedEvent, place: FieldDifference, encoded: &EncodedEvent<'_>) {
        let field = without_indices(&place.path);
        *self.observed.entry(format!("{}.{field}", event.kind)).or_default() += 1;
        if self.first_observed.is_none() {
            self.first_observed = Some(self.divergence_at(event, place, Some(encoded)));
        }
    }

    fn divergence_at(
        &mut self,
        event: &RecordedEvent,
        place: FieldDifference,
        encoded: Option<&EncodedEvent<'_>>,
    ) -> Divergence {
        while self.ahead.len() < AROUND {
            let Some(next) = self.read() else { break };
            self.ahead.push_back(next);
        }
        let mut around: Vec<String> = self.before.iter().map(|line| shorten(&line.text)).collect();
        around.push(shorten(&event.line.text));
        around.extend(self.ahead.iter().take(AROUND).map(|next| shorten(&next.line.text)));
        let FieldDifference { path, recorded, modelled } = place;
        let request = row_of(&path, &event.fields)
            .or_else(|| event.fields.get("rid").and_then(Value::as_str).map(str::to_string));
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

    /// What the reader should know, all of it.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        if self.tainted_requests.corrected > 0 {
            let note = "its recorder took `tainted` beyond a retraction: read as false there";
            self.notes.push(note.to_string());
        }
        std::mem::take(&mut self.notes)
    }

    /// The recording is over, and the model is not.
    pub(super) fn ran_out(&mut self, encoded: &EncodedEvent<'_>) {
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

/// Where two values of a field differ first.
pub(super) fn first_difference(path: &str, recorded: &Value, modelled: &Value) -> Option<FieldDifference> {
    let differs = |path: String, recorded: &Value, modelled: &Value| {
        Some(FieldDifference { path, recorded: recorded.clone(), modelled: modelled.clone() })
    };
    match (recorded, modelled) {
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            was.iter().zip(is).enumerate().find_map(|(i, (was, is))| first_difference(&format!("{path}[{i}]"), was, is))
        }
        (Value::Object(was), Value::Object(is)) => was.keys().chain(is.keys()).find_map(|name| {
            let (was, is) = (was.get(name), is.get(name));
            match (was, is) {
                (Some(was), Some(is)) => first_difference(&format!("{path}.{name}"), was, is),
                (was, is) => differs(format!("{path}.{name}"), was.unwrap_or(&Value::Null), is.unwrap_or(&Value::Null)),
            }
        }),
        (was, is) if was == is => None,
        (was, is) => differs(path.to_string(), was, is),
    }
}

/// The request that a row of a list is about.
fn row_of(path: &str, fields: &Map<String, Value>) -> Option<String> {
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
