//! Signals while a file is written, streams that take nothing, and files that are replaced.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::folder::Folder;

const BINARY: &str = env!("CARGO_BIN_EXE_overlapsim");
const ONE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/double-fire.ron");
/// Most of the time of its trace goes into the writing of 40 MB.
const LONG: &str = r#"(engine: (track_interval: 4, mamba_chunk: 4, kv_tokens: 1048576),
    requests: [(id: "a", prompt: Fresh(1), stop: Token(15000))])"#;
/// A search that ends by a signal only.
const ENDLESS: [&str; 7] = ["fuzz", "--generate", "wide", "--seeds", "0..1000000000", "--jobs", "1"];
const PATIENCE: Duration = Duration::from_secs(120);

impl Folder {
    fn start(&self, program: &[&str], args: &[&str]) -> Child {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).args(args).current_dir(&self.0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn has_part(&self) -> bool {
        self.names("").iter().any(|name| name.ends_with(".part"))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn send(child: &Child, signal: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -s {signal} {}", child.id())]).status().unwrap();
    assert!(sent.success(), "{signal}");
}

/// Waits until the process handles signals.
fn wait_for_handlers(child: &Child) {
    let started = Instant::now();
    let handles = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim().to_owned();
        u64::from_str_radix(&mask, 16).unwrap() >> 14 & 1 == 1
    };
    while cfg!(target_os = "linux") && !handles() {
        assert!(started.elapsed() < PATIENCE, "it never handles signals");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(500));
}

/// The number of a signal by its name.
const SIGNALS: [(&str, i32); 3] = [("INT", 2), ("TERM", 15), ("HUP", 1)];

/// The signals that the tests were not started to ignore: a shell starts background jobs with SIGINT ignored, `nohup` with
/// SIGHUP, and what they start inherits that.
fn signals() -> Vec<(&'static str, i32)> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let watched: Vec<_> = SIGNALS.into_iter().filter(|(_, number)| ignored >> (number - 1) & 1 == 0).collect();
    assert!(!watched.is_empty(), "SIGTERM is ignored");
    watched
}

#[test]
fn a_signal_during_writing_leaves_no_file_and_says_what_was_not_written() {
    let folder = Folder::new("signals-writing");
    fs::write(folder.0.join("long.ron"), LONG).unwrap();
    for (name, number) in signals() {
        for before in [None, Some("the file before")] {
            let started = Instant::now();
            // The signal may come too late: then the file is whole, and the next try begins with another.
            loop {
                let _ = fs::remove_file(folder.0.join("out.json"));
                before.iter().for_each(|text| fs::write(folder.0.join("out.json"), text).unwrap());
                let mut child = folder.start(&[BINARY], &["trace", "long.ron", "-o", "out.json"]);
                // The check of the output makes no temporary file.
                while !folder.has_part() && child.try_wait().unwrap().is_none() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                send(&child, name);
                let output = child.wait_with_output().unwrap();
                assert!(!folder.has_part(), "{name}: {:?}", folder.names(""));
                if output.status.success() {
                    assert!(started.elapsed() < PATIENCE, "no signal came in time");
                    continue;
                }
                assert_eq!(output.status.signal(), Some(number), "{name}: {output:?}");
                let error = text(&output.stderr);
                let kept = if before.is_some() { "; the file of that name is as it was" } else { "" };
                assert_eq!(error, format!("interrupted by SIG{name}: out.json was not written{kept}\n"));
                assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
                assert_eq!(fs::read_to_string(folder.0.join("out.json")).ok().as_deref(), before);
                break;
            }
        }
    }
}

#[test]
fn a_signal_during_work_says_that_the_command_did_not_finish() {
    let folder = Folder::new("signals-work");
    for (name, number) in signals() {
        for out in [&[][..], &["--out", "found"]] {
            let child = folder.start(&[BINARY], &[&ENDLESS, out].concat());
            wait_for_handlers(&child);
            send(&child, name);
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.signal(), Some(number), "{name}: {output:?}");
            let error = text(&output.stderr);
            assert_eq!(
                error,
                format!("interrupted by SIG{name}: the command did not finish; files that it has written are whole\n")
            );
            assert!(!folder.0.join("found").join("fuzz-0-of-1.json").exists());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_nohup_started_outlives_a_hangup() {
    let folder = Folder::new("signals-nohup");
    let mut child = folder.start(&["nohup", BINARY], &ENDLESS);
    wait_for_handlers(&child);
    send(&child, "HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "a hangup ended it");
    send(&child, "TERM");
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = Folder::new("signals-full");
    let lines: [&[&str]; 9] = [
        &["--help"],
        &["--version"],
        &["help", "run"],
        &["run", "--help"],
        &["completions", "bash"],
        &["man", "pages"],
        &["run", ONE],
        &["scenario", ONE],
        &["explore", ONE, "--script", "q"],
    ];
    for args in lines {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(BINARY).args(args).current_dir(&folder.0).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let error = text(&output.stderr);
        assert!(error.starts_with("error: cannot write to standard output: ") && error.contains("\nhelp: "), "{error}");
        // Standard error that takes nothing changes no exit code.
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(BINARY).arg("--no-such").current_dir(&folder.0).stderr(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
    }
}

/// Command lines that write one file each, whose path is appended.
fn writers() -> Vec<Vec<String>> {
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/whole/cases.jsonl.gz#0");
    let lines: [&[&str]; 4] = [
        &["trace", ONE, "-o"],
        &["report", ONE, "-o"],
        &["jitter", ONE, "--pattern", "010", "-o"],
        &["import", recording, "-o"],
    ];
    lines.map(|line| line.iter().map(|&word| word.to_owned()).collect()).into()
}

fn written(folder: &Folder, writer: &[String], path: &str) -> Output {
    let args: Vec<&str> = writer.iter().map(String::as_str).chain([path]).collect();
    folder.run(&args)
}

fn mode(folder: &Folder, name: &str) -> u32 {
    fs::metadata(folder.0.join(name)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    let folder = Folder::new("signals-modes");
    for writer in writers() {
        fs::write(folder.0.join("usual"), "").unwrap();
        let usual = mode(&folder, "usual");
        let _ = fs::remove_file(folder.0.join("out"));
        assert!(written(&folder, &writer, "out").status.code().is_some_and(|code| code < 2), "{writer:?}");
        assert_eq!(mode(&folder, "out"), usual, "a new file has the usual permissions");
        let text = fs::read(folder.0.join("out")).unwrap();
        for wanted in [0o600, 0o640, 0o666, 0o700, 0o200] {
            fs::write(folder.0.join("out"), "before").unwrap();
            fs::set_permissions(folder.0.join("out"), fs::Permissions::from_mode(wanted)).unwrap();
            assert!(written(&folder, &writer, "out").status.code().is_some_and(|code| code < 2), "{writer:?}");
            assert_eq!(mode(&folder, "out"), wanted, "{writer:?}");
            fs::set_permissions(folder.0.join("out"), fs::Permissions::from_mode(0o600)).unwrap();
            assert_eq!(fs::read(folder.0.join("out")).unwrap().len(), text.len(), "{writer:?}");
        }
    }
}

#[test]
fn a_link_stays_and_its_target_is_replaced() {
    let folder = Folder::new("signals-links");
    fs::create_dir(folder.0.join("below")).unwrap();
    for writer in writers() {
        let target = folder.0.join("below/target");
        fs::write(&target, "before").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o604)).unwrap();
        for name in ["link", "second"] {
            let _ = fs::remove_file(folder.0.join(name));
        }
        symlink("below/target", folder.0.join("link")).unwrap();
        symlink("link", folder.0.join("second")).unwrap();
        assert!(written(&folder, &writer, "second").status.code().is_some_and(|code| code < 2), "{writer:?}");
        assert!(folder.0.join("second").is_symlink() && folder.0.join("link").is_symlink());
        assert_eq!(mode(&folder, "below/target"), 0o604);
        assert_ne!(fs::read_to_string(&target).unwrap(), "before");
        // A link that leads nowhere is refused, and so is the file that is read, by another name.
        fs::remove_file(&target).unwrap();
        let output = written(&folder, &writer, "link");
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains("link to a file that does not exist\nhelp: "),
            "{}",
            text(&output.stderr)
        );
        assert!(!target.exists());
    }
    fs::copy(ONE, folder.0.join("one.ron")).unwrap();
    symlink("one.ron", folder.0.join("same")).unwrap();
    assert_eq!(folder.run(&["trace", "one.ron", "-o", "same"]).status.code(), Some(2));
    // What a link of a directory of results leads to is not written.
    fs::create_dir(folder.0.join("found")).unwrap();
    symlink("../one.ron", folder.0.join("found/fuzz-0-of-1.json")).unwrap();
    let output = folder.run(&["fuzz", "--generate", "small", "--seeds", "0..3", "--out", "found"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read(folder.0.join("one.ron")).unwrap(), fs::read(ONE).unwrap());
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let folder = Folder::new("signals-read-only");
    fs::create_dir(folder.0.join("found")).unwrap();
    fs::create_dir(folder.0.join("pages")).unwrap();
    let fuzz = ["fuzz", "--generate", "small", "--seeds", "0..3", "--out"].map(str::to_owned).to_vec();
    let lines = writers().into_iter().map(|line| (line, "out", "out"));
    let others = [(fuzz, "found", "found/fuzz-0-of-1.json"), (vec!["man".to_owned()], "pages", "pages/overlapsim.1")];
    for (writer, path, name) in lines.chain(others) {
        let file = folder.0.join(name);
        fs::write(&file, "before").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        let inode = fs::metadata(&file).unwrap().ino();
        let output = written(&folder, &writer, path);
        assert_eq!(output.status.code(), Some(2), "{writer:?}");
        let error = text(&output.stderr);
        assert!(
            error.contains(&format!("error: {name} is read-only and is not replaced\nhelp: ")),
            "{writer:?}: {error}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), "before");
        assert_eq!(fs::metadata(&file).unwrap().ino(), inode);
        assert!(!folder.has_part());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        fs::remove_file(&file).unwrap();
    }
}
