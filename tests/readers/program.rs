//! The program as a whole: mutated files through every command that reads them. It ends with one of its exit codes, explains what it
//! refuses, prints the same the second time, stays below a stated memory, and leaves no file that is half written.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use overlapsim::runner::rule_names;
use overlapsim::scenario::parse;
use tempfile::TempDir;

use super::replay::is_small;
use super::soak::{Outcome, Reader, shape, soak};
use super::{recording, scenario};

/// The address space of the program, in KiB, and its CPU time, in seconds.
const MEMORY_KIB: u32 = 2 << 20;
const TIME_S: u32 = 60;

/// What is done with a scenario.
const OF_SCENARIO: [&str; 17] = [
    "run FILE --rule all --turns 0..200 --timeline",
    "run FILE --format json",
    "run FILE --skew --choices 0x5",
    "report FILE --rule all -o out",
    "diff FILE",
    "kl FILE",
    "graph FILE",
    "graph FILE --format json",
    "jitter FILE --all 2",
    "trace FILE -o out",
    "cost FILE --batch 1,3 --outputs 40",
    "explore FILE --script jjjc<right><enter>fm=w",
    "scenario FILE",
    "scenario FILE --format json",
    "check FILE --max-states 200 --jobs 1",
    "fuzz FILE --seeds 0..4 --jobs 1 --out .",
    "test FILE --max-states 200",
];

/// What is done with a recording.
const OF_RECORDING: [&str; 3] =
    ["conform FILE --jobs 1", "conform FILE --jobs 2 --plan own --format json", "import FILE -o out"];

struct Program;

/// Whether a file is a scenario too large to be run here.
fn is_large(input: &[u8]) -> bool {
    let read = std::str::from_utf8(input).ok().map(|text| parse("case.ron", text, "".as_ref(), &rule_names()));
    matches!(read, Some(Ok(scenario)) if !is_small(&scenario.setup))
}

/// Runs a line in a directory of its own. Returns what it did, and what files it left.
fn run(line: &str, input: &[u8]) -> (Output, Vec<(String, Vec<u8>)>) {
    let folder: TempDir = tempfile::tempdir().expect("a directory");
    let recording = OF_RECORDING.contains(&line);
    let name = if recording { "case.jsonl" } else { "case.ron" };
    std::fs::write(folder.path().join(name), input).expect("the file can be written");
    let words = line.split(' ').map(|word| if word == "FILE" { name } else { word });
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        &format!("ulimit -v {MEMORY_KIB}; ulimit -t {TIME_S}; exec \"$0\" \"$@\""),
        env!("CARGO_BIN_EXE_overlapsim"),
    ]);
    shell.args(words).current_dir(folder.path()).stdin(Stdio::null());
    let output = shell.output().expect("the program runs");
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for entry in std::fs::read_dir(folder.path()).expect("a directory") {
        let entry = entry.expect("an entry");
        let left = entry.file_name().to_string_lossy().into_owned();
        if left != name {
            files.push((left, std::fs::read(entry.path()).expect("a file")));
        }
    }
    files.sort();
    (output, files)
}

/// Asserts what holds of every end of the program.
fn assert_ended(line: &str, output: &Output, files: &[(String, Vec<u8>)]) {
    let said = String::from_utf8_lossy(&output.stderr);
    let shown = String::from_utf8_lossy(&output.stdout);
    let code = output.status.code().unwrap_or_else(|| panic!("{line}: {}\n{said}", output.status));
    assert!((0..=3).contains(&code), "{line}: exit code {code}\n{said}");
    assert!(
        std::str::from_utf8(&output.stdout).is_ok() && std::str::from_utf8(&output.stderr).is_ok(),
        "{line}: no UTF-8"
    );
    if code == 2 {
        assert!(said.contains("help: "), "{line}: {said}{shown}");
    }
    assert!(!files.iter().any(|(name, _)| name.ends_with(".part")), "{line}: a file is left behind");
    if let Some((_, text)) = files.iter().find(|(name, _)| name == "out") {
        assert!(code != 2, "{line}: an error, and a file of {} bytes", text.len());
        let whole = match line.split(' ').next() {
            Some("report") => text.ends_with(b"</html>\n"),
            Some("trace") => serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok(),
            _ => text.ends_with(b")\n"),
        };
        assert!(whole, "{line}: the file is not whole");
    }
}

impl Reader for Program {
    const NAME: &'static str = "program";
    const INPUTS: u64 = 120;

    fn words(&self) -> Vec<String> {
        scenario::WORDS.split_whitespace().map(str::to_string).collect()
    }

    fn samples(&self) -> Vec<Vec<u8>> {
        let small = |samples: Vec<Vec<u8>>| samples.into_iter().filter(|sample| sample.len() < 6000);
        small(scenario::files()).chain(small(recording::samples())).collect()
    }

    fn read(&mut self, input: &[u8]) -> Outcome {
        let pick = input.iter().map(|byte| usize::from(*byte)).sum::<usize>();
        if is_large(input) {
            return Outcome { accepted: true, signs: Vec::new() };
        }
        let is_recording = input.trim_ascii_start().starts_with(b"{");
        let line = if is_recording { OF_RECORDING[pick % 3] } else { OF_SCENARIO[pick % OF_SCENARIO.len()] };
        let (output, files) = run(line, input);
        assert_ended(line, &output, &files);
        if pick.is_multiple_of(4) {
            let (again, left) = run(line, input);
            assert!(
                again.stdout == output.stdout && again.stderr == output.stderr,
                "{line}: prints otherwise the second time"
            );
            assert!(again.status == output.status && left == files, "{line}: ends otherwise the second time");
        }
        let command = line.split(' ').next().unwrap_or_default();
        let code = output.status.code().unwrap_or_default();
        let said = String::from_utf8_lossy(&output.stderr);
        let error = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Outcome { accepted: code != 2, signs: vec![format!("{command} {code} {}", shape(error))] }
    }
}

#[test]
fn the_program_takes_any_file() {
    if !Path::new("/bin/sh").exists() {
        return;
    }
    soak(Program);
}
