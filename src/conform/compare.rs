//! The recording beside the events that the model tells: in step, every field, up to the first difference.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value};

use super::archive::SegmentLines;
use super::assertions;
use super::divergence::{Divergence, Place};
use super::lines::{Line, Trouble};
use super::told::{Listener, Told};

/// Lines of the recording shown before a difference, and after it.
const AROUND: usize = 3;

/// Longest line shown whole, in characters.
const SHOWN_MAX: usize = 400;

/// Fields that older recordings do not have, by event: absent, they are not compared.
const YOUNGER: [(&str, &str); 2] = [("donate", "tainted"), ("end", "stats.donate_bad_root")];

/// A donation of the recording, with what its own check said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDonation {
    /// The line.
    pub line: u64,
    /// The turn.
    pub turn: u32,
    /// The request.
    pub rid: String,
    /// The slot.
    pub slot: u32,
    /// The length of the key.
    pub label: u32,
    /// The slot held the state of the key.
    pub ok: bool,
    /// The request had itself started from a wrong state.
    pub tainted: bool,
    /// The line as it stands.
    pub text: String,
}

/// An event of the recording.
#[derive(Clone, Debug)]
struct Recorded {
    line: Line,
    turn: u32,
    kind: String,
    fields: Map<String, Value>,
}

/// Compares as the model tells.
#[derive(Debug)]
pub struct Comparer<'a> {
    lines: SegmentLines<'a>,
    ahead: VecDeque<Recorded>,
    before: VecDeque<Line>,
    /// Events compared, by kind.
    pub compared: BTreeMap<String, u64>,
    /// Fields that the recording does not have, by event and field.
    pub absent: BTreeMap<String, u64>,
    /// The first difference.
    pub divergence: Option<Divergence>,
    /// What kept the recording from being read on.
    pub trouble: Option<Trouble>,
    /// The donations compared so far.
    pub donations: Vec<RecordedDonation>,
}

impl<'a> Comparer<'a> {
    /// At the first event of a recording.
    pub fn new(lines: SegmentLines<'a>) -> Self {
        let mut comparer = Comparer {
            lines,
            ahead: VecDeque::new(),
            before: VecDeque::new(),
            compared: BTreeMap::new(),
            absent: BTreeMap::new(),
            divergence: None,
            trouble: None,
            donations: Vec::new(),
        };
        // The first event says what the recording is of: the setup was made from it.
        if let Some(meta) = comparer.pop() {
            *comparer.compared.entry(meta.kind).or_default() += 1;
        }
        comparer
    }

    /// The model is through: nothing may be left.
    pub fn end(&mut self) {
        if self.is_over() {
            return;
        }
        if let Some(left) = self.pop() {
            self.differ(&left, "ev", Value::from(left.kind.clone()), Value::Null, None);
        }
    }

    fn is_over(&self) -> bool {
        self.divergence.is_some() || self.trouble.is_some()
    }

    fn pop(&mut self) -> Option<Recorded> {
        if let Some(next) = self.ahead.pop_front() {
            return Some(next);
        }
        self.read()
    }

    fn read(&mut self) -> Option<Recorded> {
        let line = match self.lines.next() {
            Ok(line) => line?,
            Err(trouble) => {
                self.trouble = Some(trouble);
                return None;
            }
        };
        let parsed = serde_json::from_str::<Map<String, Value>>(&line.text).ok();
        let recorded = parsed.and_then(|mut fields| {
            let i = fields.remove("i")?.as_u64()?;
            let kind = fields.remove("ev")?.as_str()?.to_string();
            Some(Recorded { turn: (i as u32).saturating_sub(1), kind, fields, line: line.clone() })
        });
        if recorded.is_none() {
            self.trouble = Some(Trouble::at(line.number, "this line is no event", "the recording is damaged"));
        }
        recorded
    }

    /// States in the tree that are wrong come in the order in which the recording walked the tree, which says nothing
    /// of the scheduler: those that follow each other are put into one order.
    fn sort_tree(&mut self, first: Recorded) -> Option<Recorded> {
        let mut all = vec![first];
        while let Some(next) = self.pop() {
            if next.kind != "tree_mismatch" {
                self.ahead.push_front(next);
                break;
            }
            all.push(next);
        }
        let number = |event: &Recorded, name: &str| event.fields.get(name).and_then(Value::as_u64);
        all.sort_by_key(|event| (number(event, "label"), number(event, "slot"), number(event, "n")));
        for event in all.into_iter().rev() {
            self.ahead.push_front(event);
        }
        self.ahead.pop_front()
    }

    fn compare(&mut self, told: &Told) {
        let mut next = self.pop();
        if let Some(first) = next.take_if(|event| event.kind == "tree_mismatch" && told.kind == "tree_mismatch") {
            next = if self.compared.contains_key("tree_mismatch") { Some(first) } else { self.sort_tree(first) };
        }
        let Some(mut recorded) = next else {
            if self.trouble.is_none() {
                self.divergence = Some(self.ran_out(told));
            }
            return;
        };
        let kind = recorded.kind.clone();
        if kind == "assert" {
            assertions::name(&mut recorded.fields);
        }
        if kind != told.kind {
            return self.differ(&recorded, "ev", kind.into(), told.kind.into(), Some(told));
        }
        if recorded.turn != told.turn {
            return self.differ(&recorded, "i", (recorded.turn + 1).into(), (told.turn + 1).into(), Some(told));
        }
        for (name, value) in &told.fields {
            match recorded.fields.get(*name) {
                None if YOUNGER.contains(&(told.kind, name)) => self.note_absent(told.kind, name),
                None => return self.differ(&recorded, name, Value::Null, value.clone(), Some(told)),
                Some(other) if *name == "stats" => {
                    if let Some((path, was, is)) = self.stats_differ(other, value) {
                        return self.differ(&recorded, &path, was, is, Some(told));
                    }
                }
                Some(other) => {
                    if let Some(place) = difference(name, other, value) {
                        return self.differ(&recorded, &place.path, place.recorded, place.modelled, Some(told));
                    }
                }
            }
        }
        if let Some(name) = recorded.fields.keys().find(|name| told.get(name).is_none()).cloned() {
            let value = recorded.fields[&name].clone();
            return self.differ(&recorded, &name, value, Value::Null, Some(told));
        }
        *self.compared.entry(kind.clone()).or_default() += 1;
        if kind == "donate" {
            self.keep_donation(&recorded);
        }
        self.before.push_back(recorded.line);
        if self.before.len() > AROUND {
            self.before.pop_front();
        }
    }

    fn note_absent(&mut self, kind: &str, name: &str) {
        *self.absent.entry(format!("{kind}.{name}")).or_default() += 1;
    }

    /// The totals: those that older recordings do not have are left out.
    fn stats_differ(&mut self, recorded: &Value, modelled: &Value) -> Option<(String, Value, Value)> {
        let (Value::Object(recorded), Value::Object(modelled)) = (recorded, modelled) else {
            return Some(("stats".into(), recorded.clone(), modelled.clone()));
        };
        let older = !recorded.contains_key("donate_bad_root");
        for name in recorded.keys().chain(modelled.keys()) {
            if older && name.starts_with("donate_bad_root") {
                self.note_absent("end", &format!("stats.{name}"));
                continue;
            }
            let (was, is) = (recorded.get(name), modelled.get(name));
            if was != is {
                let shown = |value: Option<&Value>| value.cloned().unwrap_or(Value::Null);
                return Some((format!("stats.{name}"), shown(was), shown(is)));
            }
        }
        None
    }

    fn keep_donation(&mut self, event: &Recorded) {
        let number = |name: &str| event.fields.get(name).and_then(Value::as_u64).unwrap_or(0) as u32;
        let yes = |name: &str| event.fields.get(name).and_then(Value::as_bool).unwrap_or(false);
        self.donations.push(RecordedDonation {
            line: event.line.number,
            turn: event.turn,
            rid: event.fields.get("rid").and_then(Value::as_str).unwrap_or("").to_string(),
            slot: number("slot"),
            label: number("label"),
            ok: yes("ok"),
            tainted: yes("tainted"),
            text: shorten(&event.line.text),
        });
    }

    fn differ(&mut self, event: &Recorded, field: &str, recorded: Value, modelled: Value, told: Option<&Told>) {
        let mut around: Vec<String> = self.before.iter().map(|line| shorten(&line.text)).collect();
        around.push(shorten(&event.line.text));
        for _ in 0..AROUND {
            let Some(next) = self.pop() else { break };
            around.push(shorten(&next.line.text));
        }
        let request = row_of(field, &event.fields)
            .or_else(|| event.fields.get("rid").and_then(Value::as_str).map(str::to_string));
        self.divergence = Some(Divergence {
            line: event.line.number,
            turn: event.turn,
            phase: told.map(|told| told.phase),
            event: event.kind.clone(),
            request,
            field: field.to_string(),
            recorded,
            modelled,
            told: told.map(|told| shorten(&told.to_json().to_string())),
            around,
        });
    }

    fn ran_out(&self, told: &Told) -> Divergence {
        let line = self.before.back().map_or(0, |line| line.number);
        Divergence {
            line,
            turn: told.turn,
            phase: Some(told.phase),
            event: told.kind.to_string(),
            request: told.get("rid").and_then(Value::as_str).map(str::to_string),
            field: "ev".to_string(),
            recorded: Value::Null,
            modelled: told.kind.into(),
            told: Some(shorten(&told.to_json().to_string())),
            around: self.before.iter().map(|line| shorten(&line.text)).collect(),
        }
    }
}

impl Listener for Comparer<'_> {
    fn told(&mut self, event: Told) {
        if !self.is_over() {
            self.compare(&event);
        }
    }
}

/// Where two values of a field differ first.
fn difference(path: &str, recorded: &Value, modelled: &Value) -> Option<Place> {
    let differs = |path: String, recorded: &Value, modelled: &Value| {
        Some(Place { path, recorded: recorded.clone(), modelled: modelled.clone() })
    };
    match (recorded, modelled) {
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            was.iter().zip(is).enumerate().find_map(|(i, (was, is))| difference(&format!("{path}[{i}]"), was, is))
        }
        (Value::Object(was), Value::Object(is)) => was.keys().chain(is.keys()).find_map(|name| {
            let (was, is) = (was.get(name), is.get(name));
            match (was, is) {
                (Some(was), Some(is)) => difference(&format!("{path}.{name}"), was, is),
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
