//! Files of a test, and the command line as a person uses it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

pub use crate::common::folder::Folder;

/// One request, and three prefills at any turn.
pub const INTERLEAVED: &str = r#"(
    engine: (release: V0_5_17, track_interval: 4, mamba_chunk: 4),
    requests: [
        (id: "a", prompt: Fresh(1), stop: Length(12)),
        (id: "b", prompt: Fresh(1), stop: Length(1)),
        (id: "c", prompt: Fresh(1), stop: Length(1)),
        (id: "d", prompt: Fresh(1), stop: Length(1)),
    ],
    vary: (arrivals: true, stops: true),
)"#;

/// The lazy strategy, with one prefill at any turn.
pub const LAZY: &str = r#"(
    engine: (release: V0_5_17, strategy: ExtraBufferLazy, track_interval: 4, mamba_chunk: 4),
    requests: [
        (id: "a", prompt: Fresh(1), stop: Length(9)),
        (id: "b", prompt: Fresh(1), stop: Length(1)),
    ],
    vary: (arrivals: true, stops: true, alloc_failure: true),
)"#;

/// Runs the binary in a directory.
pub fn overlapsim(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_overlapsim"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

/// What it printed, and what it said of mistakes.
pub fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
    (text(&output.stdout), text(&output.stderr))
}

/// The words of a command line whose words need no quotes, without the name of the program.
pub fn words(line: &str) -> Vec<&str> {
    assert!(!line.contains(['\'', '$', '\\']), "{line}");
    line.strip_prefix("overlapsim ").expect("a command line of ours").split(' ').collect()
}
