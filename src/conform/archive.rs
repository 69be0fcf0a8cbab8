//! Splits a file into its recordings. The lines of a recording are read more than once: for what it was made of, for
//! its own verdict, and for the comparison. A small recording is kept in memory for that; a large one is read from the
//! file again.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::lines::{Line, Lines, RecordingError};

/// The largest recording that is kept in memory, in bytes.
const HELD_MAX: u64 = 32 << 20;

/// One recording of a file.
#[derive(Debug)]
pub struct Recording {
    /// Its index in the file, from 0.
    pub index: usize,
    /// The line of its `meta`.
    pub line: u64,
    /// How many requests its scenario has, if the recording has a heading.
    pub requests: Option<usize>,
    /// The settings of its scenario beyond configuration and requests, if the recording has a heading.
    pub beyond: Vec<String>,
    bytes: u64,
    lines: StoredLines,
}

/// Where the lines of a recording are.
#[derive(Debug)]
enum StoredLines {
    InMemory(Vec<Line>),
    /// In the file, from the first of these lines to the last.
    InFile(PathBuf, u64, u64),
}

/// What a line means for the split into recordings.
#[derive(Debug, PartialEq, Eq)]
enum Role {
    /// `{"scenario": ..}`, before the `meta` of a recording.
    Heading,
    /// `meta`, the first event of a recording.
    Meta,
    /// The `meta` of a file that continues another file.
    Continues,
    Other,
}

/// The role of a line. Only lines with one of the two words in quotes are parsed.
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
    /// The last recording was read, or an error ended the reading.
    over: bool,
}

impl Archive {
    /// Opens a file whose first line begins a recording.
    ///
    /// # Errors
    /// The file cannot be read, or is not a recording.
    pub fn open(path: &Path) -> Result<Archive, RecordingError> {
        let mut lines = Lines::open(path)?;
        let Some(first) = lines.next()? else {
            return Err(RecordingError::at(0, "the file is empty", "give a recording: .jsonl or .jsonl.gz"));
        };
        let kind = role(&first.text);
        if kind == Role::Continues {
            let message = "the file continues an earlier part";
            return Err(RecordingError::at(
                first.number,
                message,
                "put the parts together in order: cat PART.. > whole.jsonl",
            ));
        }
        if kind == Role::Other {
            let message = "this is not a recording: the first line is neither a `meta` event nor a `scenario`";
            return Err(RecordingError::at(first.number, message, "docs/conformance.md describes the format"));
        }
        Ok(Archive { path: path.to_path_buf(), lines, next: Some((first, kind)), index: 0, over: false })
    }

    /// The next recording whose index is `wanted`, or the error of the next recording.
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

    /// Reads one recording. Its lines are stored if `keep`.
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
        let lines = match large {
            true => StoredLines::InFile(self.path.clone(), from, last),
            false => StoredLines::InMemory(lines),
        };
        let heading: Option<Value> = heading.and_then(|text| serde_json::from_str(&text).ok());
        let scenario = heading.as_ref().and_then(|heading| heading.get("scenario"));
        let requests = scenario.and_then(|scenario| Some(scenario.get("requests")?.as_array()?.len()));
        let beyond = scenario.map(beyond).unwrap_or_default();
        Ok(Some(Recording { index, line: from, requests, beyond, bytes, lines }))
    }
}

/// The settings in the part `x` of a scenario that are neither empty, zero nor false.
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
    /// The size of its text, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its lines, from the first.
    ///
    /// # Errors
    /// The file no longer exists or cannot be read.
    pub fn lines(&self) -> Result<RecordingLines<'_>, RecordingError> {
        match &self.lines {
            StoredLines::InMemory(lines) => Ok(RecordingLines::InMemory(lines.iter())),
            StoredLines::InFile(path, from, last) => {
                let mut lines = Lines::open(path)?;
                lines.skip_to(*from)?;
                Ok(RecordingLines::InFile(lines, *last))
            }
        }
    }
}

/// The lines of one recording.
#[derive(Debug)]
pub enum RecordingLines<'a> {
    /// From memory.
    InMemory(std::slice::Iter<'a, Line>),
    /// From the file, up to a line.
    InFile(Lines, u64),
}

impl RecordingLines<'_> {
    /// The next line; none at the end of the recording.
    ///
    /// # Errors
    /// Reading the file failed.
    pub fn next(&mut self) -> Result<Option<Line>, RecordingError> {
        match self {
            RecordingLines::InMemory(lines) => Ok(lines.next().cloned()),
            RecordingLines::InFile(lines, last) => Ok(lines.next()?.filter(|line| line.number <= *last)),
        }
    }
}
