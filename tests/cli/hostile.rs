//! Small inputs that would take much memory, much time or a foreign file: a table of inputs, commands, exit codes and
//! sentences. Every command runs with a bound on its memory, so that a regression fails fast.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The address space of a command, in kB: threads and libraries take much of it without using it.
const SPACE_KB: u32 = 3_000_000;
/// The longest time of a command. It is generous, because the machine may be busy.
const TIME_MAX: Duration = Duration::from_secs(60);

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("overlapsim-hostile-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("in")).unwrap();
    folder
}

/// Runs a command line in a directory, with a bound on its address space.
fn limited(folder: &Path, space_kb: u32, line: &str) -> Output {
    let script = format!("ulimit -v {space_kb}; exec {} {line}", env!("CARGO_BIN_EXE_overlapsim"));
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let begun = Instant::now();
    // The outputs of these commands fit into a pipe.
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > TIME_MAX {
            child.kill().unwrap();
            panic!("{line}: does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// Runs a command line and compares exit code and sentence; the text of both outputs.
fn ends(folder: &Path, line: &str, code: i32, sentence: &str) -> String {
    let output = limited(folder, SPACE_KB, line);
    let text = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
    assert_eq!(output.status.code(), Some(code), "{line}: {text}");
    assert!(text.contains(sentence), "{line}: want {sentence:?} in\n{text}");
    text
}

/// One request with as many outputs as a scenario may give, and a boundary at each.
const LONG: &str = r#"(engine: (kv_tokens: 33554432, track_interval: 1, mamba_chunk: 1),
    requests: [(id: "a", prompt: Fresh(1), stop: Length(16777216))])"#;

#[test]
fn what_would_take_too_much_memory_is_refused_before_it_starts() {
    let folder = folder("memory");
    let prefixes: String =
        (1..512).map(|nth| format!("(id: \"r{nth}\", prompt: Prefix(\"r0\", 8388608, 1), stop: Length(1)),")).collect();
    let engine = "engine: (kv_tokens: 33554432, max_prefill_tokens: 33554432)";
    let prefix = format!("({engine}, requests: [(id: \"r0\", prompt: Fresh(8388608), stop: Length(1)), {prefixes}])");
    let many: String = (0..40_000).map(|nth| format!("(id:\"{nth}\",prompt:Fresh(1),stop:Length(1)),")).collect();
    fs::write(folder.join("long.ron"), LONG).unwrap();
    fs::write(folder.join("prefix.ron"), prefix).unwrap();
    fs::write(folder.join("many.ron"), format!("(requests: [{many}])")).unwrap();
    let gib = "GiB of memory, more than the 4 GiB that a command takes\nhelp: ";
    for (line, code, sentence) in [
        ("graph long.ron", 2, gib),
        ("graph long.ron --around 1 --format json", 2, gib),
        ("explore long.ron --script n", 2, gib),
        ("explore many.ron --script n", 2, gib),
        ("trace long.ron -o x.json", 2, "help: write some of its turns, as with --turns"),
        ("report long.ron -o x.html", 2, "help: show a part of it, as in --turns"),
        ("diff long.ron", 2, gib),
        ("jitter long.ron", 2, gib),
        ("jitter long.ron --all 12", 2, gib),
        ("cost long.ron", 2, "help: give smaller batches with --batch, or fewer outputs with --outputs"),
        ("kl prefix.ron", 2, gib),
        ("run prefix.ron", 0, "clean"),
        ("check prefix.ron", 0, "clean"),
        ("graph prefix.ron", 0, "digraph"),
        ("explore prefix.ron --script n", 0, "prefix.ron"),
        ("trace prefix.ron -o x.json", 0, "clean"),
        ("report prefix.ron -o x.html", 0, "clean"),
        ("test prefix.ron long.ron", 0, "nothing expected"),
        ("scenario long.ron", 0, "Length(16777216)"),
    ] {
        ends(&folder, line, code, sentence);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn only_regular_files_are_read_and_only_up_to_a_bound() {
    let folder = folder("kinds");
    let fifo = Command::new("mkfifo").args(["fifo", "x.ron", "fuzz-0-of-2.json"]).current_dir(&folder).status();
    assert!(fifo.expect("mkfifo").success());
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
    for (name, len) in [("sparse", 1 << 40), ("zeros.jsonl", 1 << 26)] {
        fs::File::create(folder.join(name)).unwrap().set_len(len).unwrap();
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::copy(&mut std::io::Read::take(std::io::repeat(b'['), 1 << 27), &mut gzip).unwrap();
    fs::write(folder.join("bomb.jsonl.gz"), gzip.finish().unwrap()).unwrap();
    let scenario = |path: &str| format!("(trace: (format: AzureCsv, path: \"{path}\"))");
    for (file, path) in
        [("t-fifo.ron", "fifo"), ("t-socket.ron", "socket"), ("t-folder.ron", "in"), ("t-sparse.ron", "sparse")]
    {
        fs::write(folder.join(file), scenario(path)).unwrap();
    }
    let kinds = [
        ("fifo", "it is not a regular file"),
        ("socket", "it is not a regular file"),
        ("/dev/zero", "it is not a regular file"),
        ("/proc/self/environ", "it is a file of the system"),
        ("in", "it is a directory"),
    ];
    let size = [("sparse", "it is larger than the ")];
    let commands = ["run NAME", "report NAME -o out.html", "fuzz NAME --seeds 0..1", "test NAME", "cost NAME"];
    for (name, sentence) in kinds.into_iter().chain(size) {
        for command in commands {
            // `test` searches a directory.
            if name != "in" || !command.starts_with("test") {
                ends(&folder, &command.replace("NAME", name), 2, sentence);
            }
        }
    }
    for (name, sentence) in kinds {
        if name != "in" {
            ends(&folder, &format!("merge {name}"), 2, sentence);
            ends(&folder, &format!("conform {name}"), 2, sentence);
        }
        ends(&folder, &format!("import {name} -o out.ron"), 2, sentence);
    }
    ends(&folder, "merge sparse", 2, "it is larger than the 64 MiB that are read");
    ends(&folder, "merge .", 2, "it is not a regular file");
    ends(&folder, "conform zeros.jsonl bomb.jsonl.gz", 2, "the line is longer than 32 MiB");
    ends(&folder, "import bomb.jsonl.gz -o out.ron", 2, "the line is longer than 32 MiB");
    ends(&folder, "fuzz --generate small --seeds 0..2 --shard 0/2 --out .", 2, "is not a regular file");
    for (file, sentence) in [
        ("t-fifo.ron", "it is not a regular file"),
        ("t-socket.ron", "it is not a regular file"),
        ("t-folder.ron", "it is a directory"),
        ("t-sparse.ron", "it is larger than the 1024 MiB that are read"),
    ] {
        ends(&folder, &format!("run {file}"), 2, sentence);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn standard_input_is_read_to_the_same_bound() {
    let folder = folder("stdin");
    let scenario = r#"(requests: [(id: "a", prompt: Fresh(1), stop: Length(2))])"#;
    fs::write(folder.join("a.ron"), scenario).unwrap();
    let shell = |script: &str| {
        let script = format!("ulimit -v {SPACE_KB}; {}", script.replace("BIN", env!("CARGO_BIN_EXE_overlapsim")));
        Command::new("sh").args(["-c", &script]).current_dir(&folder).output().unwrap()
    };
    assert_eq!(shell("cat a.ron | BIN run /dev/stdin").status.code(), Some(0));
    assert_eq!(shell("BIN run /dev/stdin < a.ron").status.code(), Some(0));
    let endless = shell("BIN merge /dev/stdin < /dev/zero");
    assert_eq!(endless.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&endless.stderr).contains("it is larger than the 64 MiB that are read"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_scenario_names_no_file_outside_its_directory_unless_asked() {
    let folder = folder("outside");
    let secret = "TOKEN=s3cr3t-of-the-house\nnext s3cr3t line\n";
    fs::write(folder.join("secret"), secret).unwrap();
    let rows = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,3,2\n";
    fs::write(folder.join("rows.csv"), rows).unwrap();
    fs::write(folder.join("in/bad.csv"), format!("{rows}2023-11-16 18:15:47,s3cr3t,2\n")).unwrap();
    std::os::unix::fs::symlink("../rows.csv", folder.join("in/link.csv")).unwrap();
    let absolute = folder.join("rows.csv").display().to_string();
    let named = |format: &str, path: &str| format!("(trace: (format: {format}, path: \"{path}\"))");
    for (file, path) in [
        ("up.ron", "../rows.csv"),
        ("round.ron", "../in/../rows.csv"),
        ("link.ron", "link.csv"),
        ("absolute.ron", &absolute),
    ] {
        fs::write(folder.join("in").join(file), named("AzureCsv", path)).unwrap();
        let outside = "it is outside the directory of the scenario";
        for command in ["run", "check", "scenario", "diff", "graph", "kl", "test"] {
            ends(&folder, &format!("{command} in/{file}"), 2, outside);
        }
        let said = ends(&folder, &format!("run in/{file} --allow-outside"), 0, "clean");
        assert!(!said.contains("help:"), "{said}");
    }
    let graph = ends(&folder, "graph in/up.ron --allow-outside", 0, "digraph");
    assert!(graph.contains("in/up.ron --rule mask-lookahead --timeline --allow-outside"), "{graph}");
    // Whether a file exists is not told either.
    fs::write(folder.join("in/none.ron"), named("AzureCsv", "../nothing.csv")).unwrap();
    ends(&folder, "run in/none.ron", 2, "it is outside the directory of the scenario");
    for format in ["AzureCsv", "MooncakeJsonl"] {
        for (path, option) in [("../secret", " --allow-outside"), ("bad.csv", "")] {
            fs::write(folder.join("in/leak.ron"), named(format, path)).unwrap();
            let said = ends(&folder, &format!("run in/leak.ron{option}"), 2, "help: ");
            assert!(!said.contains("s3cr3t") && !said.contains("TOKEN"), "{said}");
        }
    }
    fs::write(
        folder.join("in/secret.jsonl"),
        r#"{"timestamp": 1, "input_length": 1, "output_length": 1, "hash_ids": ["s3cr3t"]}"#,
    )
    .unwrap();
    fs::write(folder.join("in/leak.ron"), named("MooncakeJsonl", "secret.jsonl")).unwrap();
    let said = ends(&folder, "run in/leak.ron", 2, "secret.jsonl:1:");
    assert!(!said.contains("s3cr3t"), "{said}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_allocation_that_fails_ends_with_3_and_a_sentence() {
    let folder = folder("allocation");
    let requests: String = (0..60_000).map(|nth| format!("(id:\"{nth}\",prompt:Fresh(1),stop:Length(1)),")).collect();
    fs::write(folder.join("many.ron"), format!("(requests: [{requests}])")).unwrap();
    let output = limited(&folder, 60_000, "run many.ron");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("memory allocation of ") && text.contains(" bytes failed"), "{text}");
    fs::remove_dir_all(folder).unwrap();
}
