//! The binary as a user meets it: exit codes, messages, replay lines, determinism across processes.

use std::process::{Command, Output, Stdio};

fn overlapsim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_overlapsim"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("errors are UTF-8")
}

fn code(args: &[&str]) -> i32 {
    overlapsim(args).status.code().expect("an exit code")
}

fn scenarios() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().to_string())
        .filter(|name| name.ends_with(".ron"))
        .map(|name| format!("scenarios/{name}"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_determinism_check_comes_first_every_scenario_twice_in_separate_processes() {
    for file in scenarios() {
        for form in [&["--timeline"][..], &["--format", "json"][..]] {
            let args: Vec<&str> = ["run", &file, "--rule", "all"].iter().chain(form).copied().collect();
            let (first, second) = (overlapsim(&args), overlapsim(&args));
            assert_eq!(first.stdout, second.stdout, "{file} {form:?}");
            assert!(first.stderr.is_empty(), "{file}: {}", err(&first));
        }
    }
}

#[test]
fn exit_codes_follow_the_verdict() {
    assert_eq!(code(&["run", "scenarios/double-fire.ron"]), 1);
    assert_eq!(code(&["run", "scenarios/double-fire.ron", "--rule", "token-len"]), 0);
    assert_eq!(code(&["run", "scenarios/lost-checkpoint.ron"]), 0, "lossy is not corrupt");
    assert_eq!(code(&["run", "scenarios/lost-checkpoint.ron", "--rule", "all"]), 0);
    assert_eq!(code(&["diff", "scenarios/double-fire.ron"]), 1);
    assert_eq!(code(&["test", "scenarios"]), 0);
    assert_eq!(code(&["run", "scenarios/no-such-file.ron"]), 2);
    assert_eq!(code(&["run", "scenarios/double-fire.ron", "--rule", "no-such-rule"]), 2);
    assert_eq!(code(&["run"]), 2);
    assert_eq!(code(&["run", "--no-such-flag"]), 2);
    assert_eq!(code(&["no-such-command"]), 2);
    assert_eq!(code(&["test", "src"]), 2, "a folder without scenarios");
}

#[test]
fn mistakes_are_explained_with_a_remedy() {
    let output = overlapsim(&["run", "scenarios/double-fire.ron", "--rule", "no-such-rule"]);
    assert!(err(&output).contains("mask-lookahead") && err(&output).contains("help:"), "{}", err(&output));
    let output = overlapsim(&["run", "scenarios/double-fire.ron", "--format", "json", "--timeline"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("help:") && output.stdout.is_empty());
}

#[test]
fn a_broken_file_names_the_place_and_prints_nothing_else() {
    let folder = std::env::temp_dir().join(format!("overlapsim-broken-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("broken.ron");
    std::fs::write(&file, "(\n    requests: [\n        (id: \"a\", prompt: Fresh(0), stop: Token(2)),\n    ],\n)\n")
        .unwrap();
    let output = overlapsim(&["run", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let text = err(&output);
    assert!(text.contains("broken.ron:3:") && text.contains("Fresh(0)") && text.contains("help:"), "{text}");
    let output = overlapsim(&["test", file.to_str().unwrap(), "scenarios/double-fire.ron"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        out(&output).contains("ok") && out(&output).contains("double-fire"),
        "the others still run: {}",
        out(&output)
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_finding_prints_the_line_that_replays_it() {
    for file in scenarios() {
        let text = out(&overlapsim(&["run", &file, "--rule", "all"]));
        for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("replay: overlapsim ")) {
            let args: Vec<&str> = line.split(' ').collect();
            let replayed = overlapsim(&args);
            assert!(replayed.stderr.is_empty(), "{line}: {}", err(&replayed));
            assert!(out(&replayed).contains("replay: overlapsim "), "{line} shows the finding again");
        }
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_overlapsim"))
        .args(["run", "scenarios/double-fire.ron", "--rule", "token-len", "--timeline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(output.stderr.is_empty(), "{}", err(&output));
}

#[test]
fn help_shows_examples() {
    for args in [&["--help"][..], &["run", "--help"][..], &["diff", "--help"][..], &["test", "--help"][..]] {
        let output = overlapsim(args);
        assert_eq!(output.status.code(), Some(0));
        assert!(!out(&output).is_empty());
    }
    for command in ["run", "diff", "test"] {
        assert!(out(&overlapsim(&[command, "--help"])).contains("overlapsim "), "{command} --help has an example");
    }
}

#[test]
fn the_release_rule_follows_the_release() {
    let text = out(&overlapsim(&["run", "scenarios/double-fire.ron", "--rule", "release"]));
    assert!(text.contains("committed-len"), "{text}");
}

#[test]
fn the_readme_shows_what_its_first_command_prints() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let printed = out(&overlapsim(&["run", "scenarios/double-fire.ron"]));
    assert!(readme.contains(printed.trim_end()), "the README shows:\n{readme}\nthe command prints:\n{printed}");
}
