//! Files of a test, and the command line as a person uses it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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

/// A directory that goes away with its test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("overlapsim-search-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a directory can be made");
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file can be written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

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
