//! `conform`, `import` and `scenario` as commands: what they find, what they refuse, and that an import replays its recording.

mod compare;
mod import;
mod notes;
mod partial;
mod unreadable;
mod verdicts;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn overlapsim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_overlapsim")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// An empty directory for one test.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// The text of a compressed file.
fn unpacked(path: &str) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(fs::File::open(root(path)).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// The recordings of an archive, each with its heading line if it has one.
fn recordings(path: &str) -> Vec<String> {
    let text = unpacked(path);
    let headed = text.starts_with("{\"scenario\"");
    let begins = |line: &str| if headed { line.starts_with("{\"scenario\"") } else { line.contains("\"ev\":\"meta\"") };
    let mut all: Vec<String> = Vec::new();
    for line in text.lines() {
        if begins(line) {
            all.push(String::new());
        }
        let last = all.last_mut().unwrap();
        last.push_str(line);
        last.push('\n');
    }
    all
}

/// The archive that most tests use.
const CASES: &str = "tests/recordings/whole/cases.jsonl.gz";

/// The lines of a recording as JSON.
fn events(recording: &str) -> Vec<Value> {
    recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Events as the lines of a recording.
fn written(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// Another value of the same type.
fn changed_value(value: &Value) -> Value {
    match value {
        Value::Null => 3.into(),
        Value::Bool(yes) => (!yes).into(),
        Value::Number(number) => (number.as_i64().unwrap() + 1).into(),
        Value::String(text) => format!("{text}x").into(),
        Value::Array(_) | Value::Object(_) => Value::Null,
    }
}
