//! `--color`: what is coloured, when, and that colour changes nothing else.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const ESCAPE: char = '\x1b';

fn run(args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlapsim"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.args(args).envs(variables.iter().copied()).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.stdin(Stdio::null()).output().expect("the binary runs")
}

/// Standard output, followed by standard error.
fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap() + &String::from_utf8(output.stderr.clone()).unwrap()
}

/// A text without styles: numbers and an `m`.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |out, part| {
        let (numbers, rest) = part.split_once('m').expect("a style");
        assert!(numbers.chars().all(|c| c.is_ascii_digit() || c == ';'), "{numbers:?}");
        out + rest
    })
}

/// A directory for one test, with a scenario whose expectation fails.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("overlapsim-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/double-fire.ron")).unwrap();
    std::fs::write(folder.join("wrong.ron"), text.replacen("label: 4)", "label: 4, turn: 5)", 1)).unwrap();
    folder
}

/// Command lines with colour, and a coloured word of each.
fn coloured(wrong: &str) -> Vec<(Vec<&str>, &'static str)> {
    let line = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    vec![
        (line("run scenarios/double-fire.ron --rule all --timeline"), "corrupt"),
        (line("run scenarios/lost-checkpoint.ron"), "lost"),
        (line("diff scenarios/double-fire.ron"), "repeat"),
        (line("diff scenarios/torn-chunk-snapshot.ron"), "torn"),
        (line("check scenarios/check/interleaved.ron --rule all"), "unwritten"),
        (line("fuzz scenarios/check/interleaved.ron --seeds 0..50"), "corrupt"),
        (line("kl scenarios/kl-row2.ron"), "> 0.002"),
        (line("kl scenarios/kl-row2.ron --rule token-len"), "wrong"),
        (line("conform tests/recordings/whole --rule token-len"), "differs"),
        (vec!["test", "scenarios/double-fire.ron", wrong, "no-such-file.ron"], "FAIL"),
        (vec!["run", "no-such-file.ron"], "x"),
        (line("run scenarios/double-fire.ron --rule no-such-rule"), "error:"),
        (line("run scenarios/double-fire.ron --no-such-option"), "error:"),
        (line("fuzz --help"), "Usage:"),
    ]
}

#[test]
fn colour_changes_nothing_but_colour() {
    let folder = folder("colour");
    let wrong = folder.join("wrong.ron");
    for (args, word) in coloured(wrong.to_str().unwrap()) {
        let never = run(&[&args, &["--color", "never"][..]].concat(), &[("CLICOLOR_FORCE", "1")]);
        let always = run(&[&["--color=always"][..], &args].concat(), &[("NO_COLOR", "1")]);
        assert_eq!(never.status, always.status, "{args:?}");
        let (never, always) = (text(&never), text(&always));
        assert!(!never.contains(ESCAPE), "{args:?}: {never}");
        assert_eq!(plain(&always), never, "{args:?}");
        assert!(always.contains(&format!("m{word}{ESCAPE}[0m")), "{args:?}: {word} is not coloured: {always:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_pipe_gets_colour_only_if_it_is_forced() {
    let lines = [
        &["run", "scenarios/double-fire.ron"][..],
        &["run", "no-such-file.ron"],
        &["run", "scenarios/double-fire.ron", "--rule", "no-such-rule"],
        &["run", "--no-such-option"],
        &["--help"],
    ];
    for args in lines {
        let has = |variables: &[(&str, &str)]| text(&run(args, variables)).contains(ESCAPE);
        assert!(!has(&[]), "{args:?}");
        assert!(has(&[("CLICOLOR_FORCE", "1")]), "{args:?}");
        assert!(!has(&[("CLICOLOR_FORCE", "")]), "{args:?}");
        assert!(!has(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "{args:?}");
    }
}

#[test]
fn formats_for_programs_and_files_have_no_colour() {
    let folder = folder("no-colour");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let (found, scenario, pages) = (path("found"), path("case.ron"), path("man1"));
    let recording = "tests/recordings/whole";
    let recording = std::fs::read_dir(recording).unwrap().map(|entry| entry.unwrap().path()).min().unwrap();
    let recording = format!("{}#0", recording.display());
    let lines: Vec<Vec<&str>> = vec![
        vec!["run", "scenarios/double-fire.ron", "--format", "json", "--rule", "all"],
        vec!["kl", "scenarios/kl-row2.ron", "--format", "json"],
        vec!["check", "scenarios/check/interleaved.ron", "--format", "json", "--out", &found],
        vec!["fuzz", "scenarios/check/interleaved.ron", "--seeds", "0..20", "--format", "json", "--out", &found],
        vec!["merge", &found, "--format", "json"],
        vec!["graph", "scenarios/torn-chunk-snapshot.ron", "--around", "1"],
        vec!["scenario", "scenarios/double-fire.ron"],
        vec!["completions", "zsh"],
        vec!["man", &pages],
    ];
    for args in lines {
        let output = run(&[&args, &["--color", "always"][..]].concat(), &[]);
        assert!(output.status.code().is_some_and(|code| code < 2), "{args:?}: {}", text(&output));
        assert!(!text(&output).contains(ESCAPE), "{args:?}");
    }
    let output = run(&["import", &recording, "-o", &scenario, "--color", "always"], &[]);
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", text(&output));
    let mut files = 0;
    for directory in [&found, &pages, &path("")] {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                files += 1;
                assert!(!std::fs::read_to_string(&path).unwrap().contains(ESCAPE), "{}", path.display());
            }
        }
    }
    assert!(files > 15, "{files} files");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_wrong_word_for_color_is_refused() {
    let output = run(&["run", "scenarios/double-fire.ron", "--color", "sometimes"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("auto, always, never"), "{}", text(&output));
}
