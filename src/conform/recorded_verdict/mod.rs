//! The verdict of a recording by its own contents: what each slot held when it was offered or hit, which checkpoints
//! were due and never recorded, which assertions were raised, and how many slots leaked. The model's run takes no part,
//! so the verdict does not depend on whether the two agree.

mod due_checkpoints;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::judge::Verdict;

use super::archive::Recording;
use super::config::Meta;
use super::lines::{Line, RecordingError};
use due_checkpoints::DueCheckpoints;

/// The verdict of a recording by its own contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedVerdict {
    /// The verdict; none if the recording has no contents, as one of a server.
    pub verdict: Option<Verdict>,
    /// The first event that shows the verdict; none of a clean recording.
    pub evidence: Option<Evidence>,
    /// All verdicts that an event shows.
    pub all: Vec<Verdict>,
}

/// An event of a recording that shows a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The line of the file.
    pub line: u64,
    /// What it shows.
    pub reason: String,
}

/// The fields that every event has.
#[derive(Deserialize)]
struct Head<'a> {
    i: u32,
    #[serde(borrow)]
    ev: Cow<'a, str>,
}

/// Kinds of events that a verdict depends on.
const KINDS: [&str; 14] = [
    "active_mismatch",
    "arrive",
    "assert",
    "donate",
    "end",
    "launch",
    "match",
    "no_insert",
    "prepare_decode",
    "result",
    "retract",
    "slot_alloc",
    "tree_mismatch",
    "verify",
];

/// Reads a whole recording.
///
/// # Errors
/// The file no longer exists or cannot be read.
pub(super) fn verdict(recording: &Recording, meta: &Meta) -> Result<RecordedVerdict, RecordingError> {
    let mut reader =
        Reader { due_checkpoints: DueCheckpoints::new(&meta.config), partial: meta.partial, firsts: Vec::new() };
    let mut lines = recording.lines()?;
    while let Some(line) = lines.next()? {
        reader.line(&line);
    }
    let all = reader.firsts.iter().map(|(verdict, _)| *verdict).collect();
    let worst = reader.firsts.into_iter().max_by_key(|(verdict, _)| *verdict);
    if meta.partial && worst.is_none() {
        // The recording has no contents.
        return Ok(RecordedVerdict { verdict: None, evidence: None, all });
    }
    let (verdict, evidence) = worst.map_or((Verdict::Clean, None), |(verdict, evidence)| (verdict, Some(evidence)));
    Ok(RecordedVerdict { verdict: Some(verdict), evidence, all })
}

struct Reader {
    due_checkpoints: DueCheckpoints,
    /// The recording has no contents.
    partial: bool,
    /// The first event that shows each verdict.
    firsts: Vec<(Verdict, Evidence)>,
}

impl Reader {
    fn line(&mut self, line: &Line) {
        let Ok(Head { i, ev }) = serde_json::from_str(&line.text) else { return };
        if !KINDS.contains(&ev.as_ref()) || self.partial && !["assert", "end"].contains(&ev.as_ref()) {
            return;
        }
        let Ok(event) = serde_json::from_str::<Map<String, Value>>(&line.text) else { return };
        match ev.as_ref() {
            "donate" => self.donate(line.number, &event),
            "match" => self.hit(line.number, &event),
            "active_mismatch" => {
                let (len, held) = (int(&event, "seq_len"), int(&event, "n"));
                let reason =
                    || format!("request {} runs at length {len} on {}", text(&event, "rid"), held_words(held, len));
                self.show(Verdict::Corrupt, line.number, reason);
            }
            "tree_mismatch" => {
                let (label, slot, held) = (int(&event, "label"), int(&event, "slot"), int(&event, "n"));
                let reason = || {
                    format!(
                        "at the end the tree has slot {slot} under {label}, which holds {}",
                        held_words(held, label)
                    )
                };
                self.show(Verdict::Corrupt, line.number, reason);
            }
            "assert" => {
                // A failure of the recorder is not a fault of the recorded code.
                let is_of_code = !["stall", "harness"].contains(&text(&event, "kind"));
                let verdict = if is_of_code { Verdict::Broken } else { Verdict::Inconclusive };
                self.show(verdict, line.number, || text(&event, "message").to_string());
            }
            "end" if int(&event, "leak") != 0 => {
                let reason =
                    || format!("{} state slots are neither free nor in the tree at the end", int(&event, "leak"));
                self.show(Verdict::Broken, line.number, reason);
            }
            _ => {}
        }
        if self.partial {
            return;
        }
        for lost in self.due_checkpoints.event(i, ev.as_ref(), line.number, &event) {
            self.show(Verdict::Lossy, lost.line, || lost.reason);
        }
    }

    fn donate(&mut self, line: u64, event: &Map<String, Value>) {
        let ok = event.get("ok").and_then(Value::as_bool) == Some(true);
        if ok && event.get("hash") == event.get("expected") {
            return;
        }
        let (label, slot, held) = (int(event, "label"), int(event, "slot"), int(event, "n"));
        let reason = || {
            let held = held_words(held, label);
            format!("request {} offers slot {slot} under label {label}, and it holds {held}", text(event, "rid"))
        };
        self.show(Verdict::Corrupt, line, reason);
    }

    fn hit(&mut self, line: u64, event: &Map<String, Value>) {
        let (Some(slot), Some(held)) =
            (event.get("slot").and_then(Value::as_i64), event.get("n").and_then(Value::as_i64))
        else {
            return;
        };
        let len = int(event, "prefix_len");
        if held != len {
            let reason = || {
                let held = held_words(held, len);
                format!("request {} matches slot {slot} at length {len}, and it holds {held}", text(event, "rid"))
            };
            self.show(Verdict::Corrupt, line, reason);
        }
    }

    fn show(&mut self, verdict: Verdict, line: u64, reason: impl FnOnce() -> String) {
        if self.firsts.iter().all(|(other, _)| *other != verdict) {
            self.firsts.push((verdict, Evidence { line, reason: reason() }));
        }
    }
}

/// The content of a slot with a state of `held` tokens that should hold a state of `label` tokens.
fn held_words(held: i64, label: i64) -> String {
    if held == label { "the state of other tokens".to_string() } else { format!("the state of {held} tokens") }
}

fn int(event: &Map<String, Value>, name: &str) -> i64 {
    event.get(name).and_then(Value::as_i64).unwrap_or(0)
}

fn text<'e>(event: &'e Map<String, Value>, name: &str) -> &'e str {
    event.get(name).and_then(Value::as_str).unwrap_or("")
}
