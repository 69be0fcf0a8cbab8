//! Files that are written: by several processes in one directory, beside what others left there, and where they cannot be written.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::folder::Folder;

const BINARY: &str = env!("CARGO_BIN_EXE_overlapsim");
const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/check/interleaved.ron");

impl Folder {
    fn shell(&self, script: &str) -> Output {
        Command::new("sh").args(["-c", script, "sh", BINARY]).current_dir(&self.0).output().unwrap()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn ends(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
}

const FUZZ: [&str; 7] = ["fuzz", "--generate", "small", "--seeds", "0..40", "--out", "reports"];

#[test]
fn files_of_an_earlier_process_with_the_same_id_are_kept_and_not_read() {
    let folder = Folder::new("files-left");
    // `exec` keeps the process id.
    let left = "touch .overlapsim-$$.part .overlapsim.part reports/.overlapsim-$$.part reports/.overlapsim.part; ";
    let fuzz = FUZZ.join(" ");
    fs::create_dir(folder.0.join("reports")).unwrap();
    for command in [&format!("trace {SCENARIO} -o trace.json"), &format!("report {SCENARIO} -o page.html"), &fuzz] {
        let output = folder.shell(&format!("{left} exec \"$1\" {command}"));
        assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{command}: {}", text(&output.stderr));
    }
    let parts = |below: &str| folder.names(below).iter().filter(|name| name.ends_with(".part")).count();
    assert_eq!((parts("."), parts("reports")), (4, 4), "each run left two, and .overlapsim.part is one of them");
    // Nor is it read with what lies beside it.
    let merged = folder.run(&["merge", "reports"]);
    assert!(merged.stderr.is_empty(), "{}", text(&merged.stderr));
    let tested = folder.run(&["test", "reports"]);
    assert!(tested.stderr.is_empty(), "{}", text(&tested.stderr));
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/partial.jsonl.gz");
    fs::copy(recording, folder.0.join("reports/a.jsonl.gz")).unwrap();
    fs::write(folder.0.join("reports/.overlapsim-0123456789abcdef.part"), b"{\"ev\":").unwrap();
    ends(&folder.run(&["conform", "reports"]), 0);
}

#[test]
fn processes_with_the_same_id_in_containers_can_share_a_directory() {
    let folder = Folder::new("files-containers");
    let usable = Command::new("unshare").args(["--pid", "--fork", "true"]).stderr(Stdio::null()).status();
    if !usable.is_ok_and(|status| status.success()) {
        eprintln!("nothing tested: no process namespaces can be made here");
        return;
    }
    let inside = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", BINARY]).args(args).current_dir(&folder.0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let long = r#"(engine: (track_interval: 4, mamba_chunk: 4, kv_tokens: 1048576),
        requests: [(id: "a", prompt: Fresh(1), stop: Token(15000))])"#;
    fs::write(folder.0.join("long.ron"), long).unwrap();
    let running: Vec<_> = ["a.json", "b.json"].map(|name| inside(&["trace", "long.ron", "-o", name])).into();
    for child in running {
        ends(&child.wait_with_output().unwrap(), 0);
    }
    assert_eq!(folder.read("a.json").len(), folder.read("b.json").len());
    // One shard twice, and another shard: both write the same bytes.
    let shards = ["0/2", "0/2", "1/2"].map(|shard| inside(&[&FUZZ[..], &["--shard", shard]].concat()));
    for child in shards {
        let output = child.wait_with_output().unwrap();
        assert!(output.stderr.is_empty() && !output.stdout.is_empty(), "{}", text(&output.stderr));
    }
    assert!(folder.run(&["merge", "reports"]).stderr.is_empty());
    assert!(folder.names("reports").iter().all(|name| !name.ends_with(".part")));
}

#[test]
fn the_result_is_printed_where_files_cannot_be_written() {
    let folder = Folder::new("files-unwritten");
    // The limit on file sizes is 0; standard output is a pipe.
    let check = format!("check {SCENARIO} --rule mask-lookahead --out found");
    let commands =
        [(FUZZ.join(" "), "reports"), (format!("{} --format json", FUZZ.join(" ")), "reports"), (check, "found")];
    for (command, directory) in commands {
        let printed = text(
            &folder
                .run(&command.split(' ').filter(|word| *word != "--out" && *word != directory).collect::<Vec<_>>())
                .stdout,
        );
        let output = folder.shell(&format!("trap '' XFSZ; ulimit -f 0; exec \"$1\" {command}"));
        ends(&output, 2);
        let (told, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(told, printed, "{command}");
        assert!(error.contains(&format!("error: cannot write {directory}")), "{command}: {error}");
        assert_eq!(folder.names(directory), Vec::<String>::new(), "nothing half written stays");
    }
}

#[test]
fn the_report_of_another_search_is_not_lost() {
    let folder = Folder::new("files-reports");
    let shard = |args: &[&str]| folder.run(&[args, &["--shard", "0/2"]].concat());
    let first = shard(&FUZZ);
    let report = folder.read("reports/fuzz-0-of-2.json");
    // The same search again gives the same report.
    assert_eq!(shard(&FUZZ).stdout, first.stdout);
    assert_eq!(folder.read("reports/fuzz-0-of-2.json"), report);
    let refused = |args: &[&str], why: &str| {
        let output = shard(args);
        ends(&output, 2);
        let error = text(&output.stderr);
        let told = error.contains(why) && error.contains("help: give another directory");
        assert!(output.stdout.is_empty() && told, "{error}");
    };
    let other = ["fuzz", "--generate", "small", "--seeds", "0..41", "--out", "reports"];
    refused(&other, "its seeds differ");
    refused(
        &["fuzz", "--generate", "wide", "--seeds", "0..40", "--out", "reports"],
        "it ran another scenario or preset",
    );
    assert_eq!(folder.read("reports/fuzz-0-of-2.json"), report);
    fs::write(folder.0.join("reports/fuzz-0-of-2.json"), "notes").unwrap();
    refused(&FUZZ, "it is not a report of a search");
    assert_eq!(folder.read("reports/fuzz-0-of-2.json"), "notes");
    // A search as a whole is the newest; the one before is kept, once.
    fs::remove_file(folder.0.join("reports/fuzz-0-of-2.json")).unwrap();
    folder.run(&FUZZ);
    let whole = folder.read("reports/fuzz-0-of-1.json");
    folder.run(&other);
    folder.run(&other);
    assert_ne!(folder.read("reports/fuzz-0-of-1.json"), whole);
    assert_eq!(folder.read("reports/fuzz-0-of-1.json.1"), whole);
    assert!(!folder.names("reports").contains(&"fuzz-0-of-1.json.2".to_string()));
    assert!(folder.run(&["merge", "reports"]).stderr.is_empty(), "what is kept is not read");
}

#[test]
fn a_finding_of_the_same_name_is_kept() {
    let folder = Folder::new("files-findings");
    let args = ["check", SCENARIO, "--rule", "mask-lookahead", "--out", "found"];
    ends(&folder.run(&args), 1);
    let names = folder.names("found");
    let contents =
        || folder.names("found").iter().map(|name| folder.read(&format!("found/{name}"))).collect::<Vec<_>>();
    let before = contents();
    assert!(!names.is_empty());
    // The same finding is the same file.
    ends(&folder.run(&args), 1);
    assert_eq!((folder.names("found"), contents()), (names.clone(), before));
    let name = &names[0];
    fs::write(folder.0.join("found").join(name), "another finding").unwrap();
    let output = text(&folder.run(&args).stdout);
    assert_eq!(folder.read(&format!("found/{name}")), "another finding");
    let second = name.replace(".ron", ".2.ron");
    assert!(output.contains(&format!("found/{second}")), "{output}");
    let (title, rest) =
        folder.read(&format!("found/{second}")).split_once('\n').map(|(a, b)| (a.to_string(), b.to_string())).unwrap();
    assert!(title.starts_with("// ") && rest.starts_with(&format!("// overlapsim run {second}")), "{title}\n{rest}");
    ends(&folder.run(&["test", &Path::new("found").join(&second).to_string_lossy()]), 0);
}
