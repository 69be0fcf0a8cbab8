//! Where one recording of a file ends and the next begins, and its lines, twice: once to see what it was made of, once
//! to be compared. What is small is kept in memory; what is large is read again.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::lines::{Line, Lines, RecordingError};

/// Bytes of one recording that are kept in memory; a larger one is read a second time instead.
const HELD_MAX: u64 = 32 << 20;

/// One recording of a file.
#[derive(Debug)]
pub struct Recording {
    /// Its place in the file, from 0.
    pub index: usize,
    /// The line of its `meta`.
    pub line: u64,
    /// How many requests its scenario has, if a heading says so.
    pub requests: Option<usize>,
    /// What its scenario sets beyond configuration and requests, if a heading says so.
    pub beyond: Vec<String>,
    bytes: u64,
    held: Held,
}

#[derive(Debug)]
enum Held {
    Lines(Vec<Line>),
    /// To be read again: from this line of the file to that.
    Again(PathBuf, u64, u64),
}

/// What a line is to an archive.
#[derive(Debug, PartialEq, Eq)]
enum Role {
    /// `{"scenario": ..}`: a recording follows.
    Heading,
    /// The first event of a recording.
    Meta,
    /// The `meta` of a file that goes on from another one.
    Continues,
    Other,
}

/// Only lines that name one of the two words are looked at closely.
fn role(text: &str) -> Role {
    if !text.contains("\"meta\"") && !text.contains("\"scenario\"") {
        return Role::Other;
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.get("ev").and_then(Value::as_str) == Some("meta") => {
            let continues = value.get("continues").and_then(Value::as_bool).unwrap_or(false);
            if continues { Role::Continues } else { Role::Meta }
        }
        Ok(value) if value.get("ev").is_none() && value.get("scenario").is_some() => Role::Heading,
        Ok(_) | Err(_) => Role::Other,
    }
}

/// The recordings of a file, one after the other.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    lines: Lines,
    /// The first line of the next recording, if it has been read.
    next: Option<(Line, Role)>,
    index: usize,
    over: bool,
}

impl Archive {
    /// Opens a file and makes sure that a recording is in it.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub fn open(path: &Path) -> Result<Archive, RecordingError> {
        let mut lines = Lines::open(path)?;
        let Some(first) = lines.next()? else {
            return Err(RecordingError::at(0, "the file is empty", "give a recording: .jsonl or .jsonl.gz"));
        };
        let kind = role(&first.text);
        if kind == Role::Continues {
            let message = "the file goes on from an earlier part";
            return Err(RecordingError::at(
                first.number,
                message,
                "put the parts together in order: cat PART.. > whole.jsonl",
            ));
        }
        if kind == Role::Other {
            let message = "this is no recording: the first line is neither a `meta` event nor a `scenario`";
            return Err(RecordingError::at(first.number, message, "docs/conformance.md describes the format"));
        }
        Ok(Archive { path: path.to_path_buf(), lines, next: Some((first, kind)), index: 0, over: false })
    }

    /// The next recording for which `wanted` holds by its index, or what is wrong with the next one.
    pub fn next(&mut self, wanted: impl Fn(usize) -> bool) -> Option<(usize, Result<Recording, RecordingError>)> {
        loop {
            if self.over {
                return None;
            }
            let index = self.index;
            self.index += 1;
            let keep = wanted(index);
            match self.read_one(index, keep) {
                Ok(None) => return None,
                Ok(Some(recording)) if keep => return Some((index, Ok(recording))),
                Ok(Some(_)) => {}
                Err(error) => {
                    self.over = true;
                    return keep.then_some((index, Err(error)));
                }
            }
        }
    }

    /// Reads up to the beginning of the recording after.
    fn read_one(&mut self, index: usize, keep: bool) -> Result<Option<Recording>, RecordingError> {
        let Some((first, kind)) = self.next.take() else { return Ok(None) };
        let mut from = first.number;
        let heading = (kind == Role::Heading).then(|| first.text.clone());
        let mut lines = Vec::new();
        let mut bytes = 0;
        let mut large = false;
        let mut has_meta = kind == Role::Meta;
        let mut last = from;
        if has_meta {
            lines.push(first);
        }
        while let Some(line) = self.lines.next()? {
            match if line.is_text { role(&line.text) } else { Role::Other } {
                Role::Heading => {
                    self.next = Some((line, Role::Heading));
                    break;
                }
                Role::Meta if has_meta => {
                    self.next = Some((line, Role::Meta));
                    break;
                }
                Role::Meta => {
                    has_meta = true;
                    from = line.number;
                }
                Role::Continues | Role::Other => {}
            }
            last = line.number;
            bytes += line.text.len() as u64;
            if keep && !large {
                lines.push(line);
                large = bytes > HELD_MAX;
                if large {
                    lines = Vec::new();
                }
            }
        }
        let held = if large { Held::Again(self.path.clone(), from, last) } else { Held::Lines(lines) };
        let heading: Option<Value> = heading.and_then(|text| serde_json::from_str(&text).ok());
        let scenario = heading.as_ref().and_then(|heading| heading.get("scenario"));
        let requests = scenario.and_then(|scenario| Some(scenario.get("requests")?.as_array()?.len()));
        let beyond = scenario.map(beyond).unwrap_or_default();
        Ok(Some(Recording { index, line: from, requests, beyond, bytes, held }))
    }
}

/// The words of a scenario's part `x` that are in force.
fn beyond(scenario: &Value) -> Vec<String> {
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::Bool(on) => *on,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
    };
    let given = scenario.get("x").and_then(Value::as_object);
    given.map_or(Vec::new(), |x| x.iter().filter(|(_, value)| is_set(value)).map(|(name, _)| name.clone()).collect())
}

impl Recording {
    /// Bytes of its text.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its lines from the first on.
    ///
    /// # Errors
    /// The file is gone or cannot be read any more.
    pub fn lines(&self) -> Result<RecordingLines<'_>, RecordingError> {
        match &self.held {
            Held::Lines(lines) => Ok(RecordingLines::Held(lines.iter())),
            Held::Again(path, from, last) => {
                let mut lines = Lines::open(path)?;
                lines.skip_to(*from)?;
                Ok(RecordingLines::Again(lines, *last))
            }
        }
    }
}

/// The lines of one recording.
#[derive(Debug)]
pub enum RecordingLines<'a> {
    /// From memory.
    Held(std::slice::Iter<'a, Line>),
    /// From the file, up to a line.
    Again(Lines, u64),
}

impl RecordingLines<'_> {
    /// The next line, if there is one.
    ///
    /// # Errors
    /// The file cannot be read on.
    pub fn next(&mut self) -> Result<Option<Line>, RecordingError> {
        match self {
            RecordingLines::Held(lines) => Ok(lines.next().cloned()),
            RecordingLines::Again(lines, last) => Ok(lines.next()?.filter(|line| line.number <= *last)),
        }
    }
}
