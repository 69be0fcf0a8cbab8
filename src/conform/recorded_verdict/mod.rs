//! The verdict of a recording by its own contents: what each slot held when it was offered or hit, what was due and never recorded, what was
//! raised, what leaked. Owns reading these events to the end of the recording. Knows nothing of the model's run, and so
//! says the same whether the two agree or not.

mod due_checkpoints;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::judge::Verdict;

use super::archive::Recording;
use super::config::Meta;
use super::lines::{Line, RecordingError};
use due_checkpoints::DueCheckpoints;

/// What a recording shows of the run that it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedVerdict {
    /// The verdict; none where contents are not in the recording, as in one of a server.
    pub verdict: Option<Verdict>,
    /// The first event that shows it; none of a clean one.
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

/// What every line is looked at for.
#[derive(Deserialize)]
struct Head<'a> {
    i: u32,
    #[serde(borrow)]
    ev: Cow<'a, str>,
}

/// Kinds of events that say something of a verdict.
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

/// Reads a recording through.
///
/// # Errors
/// The file is gone or cannot be read any more.
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
        // Of contents it says nothing.
        return Ok(RecordedVerdict { verdict: None, evidence: None, all });
    }
    let (verdict, evidence) = worst.map_or((Verdict::Clean, None), |(verdict, evidence)| (verdict, Some(evidence)));
    Ok(RecordedVerdict { verdict: Some(verdict), evidence, all })
}

struct Reader {
    due_checkpoints: DueCheckpoints,
    /// Of a server: without contents.
    partial: bool,
    /// The first event for every verdict that one shows.
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
                // What the recorder itself could not do says nothing of the code that it watches.
                let of_code = !["stall", "harness"].contains(&text(&event, "kind"));
                let verdict = if of_code { Verdict::Broken } else { Verdict::Inconclusive };
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

/// What a slot with a state of `held` tokens holds in place of one of `label`.
fn held_words(held: i64, label: i64) -> String {
    if held == label { "the state of other tokens".to_string() } else { format!("the state of {held} tokens") }
}

fn int(event: &Map<String, Value>, name: &str) -> i64 {
    event.get(name).and_then(Value::as_i64).unwrap_or(0)
}

fn text<'e>(event: &'e Map<String, Value>, name: &str) -> &'e str {
    event.get(name).and_then(Value::as_str).unwrap_or("")
}
