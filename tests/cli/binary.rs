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
fn mistakes_are_refused_with_a_remedy() {
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

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    for args in [&["--help"][..], &["--version"], &["run", "--help"], &["run", "scenarios/double-fire.ron"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_overlapsim"));
        let output = command.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(err(&output).starts_with("error: cannot write to standard output: "), "{}", err(&output));
    }
}

#[test]
fn help_shows_examples() {
    for command in ["run", "diff", "kl", "graph", "jitter", "cost", "report", "trace", "explore", "test"] {
        let output = overlapsim(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0));
        assert!(out(&output).contains("overlapsim "), "{command} --help has an example");
    }
    for args in [&["--help"][..], &["help"], &["help", "run"]] {
        let output = overlapsim(args);
        assert_eq!(output.status.code(), Some(0));
        assert!(!out(&output).is_empty());
    }
}

#[test]
fn the_release_rule_follows_the_release() {
    let text = out(&overlapsim(&["run", "scenarios/double-fire.ron", "--rule", "release"]));
    assert!(text.contains("committed-len"), "{text}");
}

#[test]
fn a_default_rule_is_reported_beside_the_rule_of_the_release() {
    let warning = "no rule named: mask-lookahead ran. Release 0.5.23 shipped completed-mask: --rule release";
    let printed = |args: &[&str]| out(&overlapsim(args)).split_whitespace().collect::<Vec<_>>().join(" ");
    let folder = folder_with_a_scenario("unnamed-rule");
    let file = folder.join("one.ron");
    let text = std::fs::read_to_string(&file).unwrap().replace("V0_5_17", "V0_5_23");
    std::fs::write(&file, &text).unwrap();
    let path = file.to_str().unwrap();
    for command in [&["run", path][..], &["run", path, "--format", "json"], &["check", path]] {
        assert!(printed(command).contains(warning), "{command:?}");
        for rule in ["release", "all", "mask-lookahead"] {
            let named = [command, &["--rule", rule]].concat();
            assert!(!printed(&named).contains("no rule named"), "{named:?}");
        }
    }
    std::fs::write(&file, text.replacen("Scenario(", "Scenario(\n    rule: \"paired\",", 1)).unwrap();
    assert!(!printed(&["run", path]).contains("no rule named"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_readme_shows_what_its_first_command_prints() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let printed = out(&overlapsim(&["run", "scenarios/double-fire.ron"]));
    assert!(readme.contains(printed.trim_end()), "the README shows:\n{readme}\nthe command prints:\n{printed}");
}

/// A directory for one test, with one scenario in it.
fn folder_with_a_scenario(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("overlapsim-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/double-fire.ron"), folder.join("one.ron")).unwrap();
    folder
}

#[cfg(unix)]
#[test]
fn a_search_for_scenarios_ends_and_takes_each_once() {
    let folder = folder_with_a_scenario("search");
    std::fs::create_dir_all(folder.join(".hidden")).unwrap();
    std::fs::create_dir_all(folder.join("below")).unwrap();
    for copy in [".hidden/two.ron", ".three.ron", "below/four.RON", "five.ron.bak"] {
        std::fs::copy(folder.join("one.ron"), folder.join(copy)).unwrap();
    }
    for link in ["a", "b.ron"] {
        std::os::unix::fs::symlink(".", folder.join(link)).unwrap();
    }
    std::os::unix::fs::symlink("one.ron", folder.join("six.ron")).unwrap();
    let output = overlapsim(&["test", folder.to_str().unwrap()]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(text.matches("ok   ").count(), 3, "{text}");
    for name in ["/one.ron", "/below/four.RON", "/six.ron"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    // A file that is named itself is read, whatever its extension.
    let output =
        overlapsim(&["test", folder.join(".hidden").to_str().unwrap(), folder.join("five.ron.bak").to_str().unwrap()]);
    assert!(out(&output).ends_with("2 passed, 0 failed\n"), "{}", out(&output));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_path_that_is_missing_fails_and_the_others_still_run() {
    let output = overlapsim(&["test", "no-such-file.ron", "scenarios/double-fire.ron"]);
    assert_eq!(output.status.code(), Some(2));
    let text = out(&output);
    assert!(text.contains("FAIL no-such-file.ron  cannot be run\n"), "{text}");
    assert!(text.contains("there is no such file") && text.contains("ok   scenarios/double-fire.ron"), "{text}");
    assert!(text.ends_with("1 passed, 1 failed\n"), "{text}");
}

#[test]
fn a_scenario_that_expects_nothing_is_not_said_to_pass() {
    let folder = folder_with_a_scenario("quiet");
    let text = std::fs::read_to_string(folder.join("one.ron")).unwrap();
    let expect = text.find("    expect:").expect("it expects something");
    std::fs::write(folder.join("one.ron"), format!("{})\n", &text[..expect])).unwrap();
    let output = overlapsim(&["test", folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let text = out(&output);
    assert!(text.starts_with("--   ") && text.contains("one.ron  (nothing expected)\n"), "{text}");
    assert!(text.ends_with("0 passed, 0 failed, 1 with nothing expected\n"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_failure_shows_the_expected_and_the_found_findings() {
    let folder = folder_with_a_scenario("turned");
    let text = std::fs::read_to_string(folder.join("one.ron")).unwrap();
    let text = text.replacen("label: 4)", "label: 4, turn: 5, slot: 3, holds: 0)", 1);
    std::fs::write(folder.join("one.ron"), text).unwrap();
    let output = overlapsim(&["test", folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let text = out(&output);
    assert!(text.contains("missing unwritten, request a, label 4, holds 0, slot s3, turn 5\n"), "{text}");
    assert!(text.contains("unexpected unwritten, request a, label 4, holds nothing, slot s4, turn 4\n"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[cfg(unix)]
#[test]
fn replay_lines_of_awkward_names_replay() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = folder_with_a_scenario("names");
    for name in [&b"-x.ron"[..], b"it's $HOME.ron", b"a\nb\\1.ron", b"\xc3\xa9.ron", b"x\xff1.ron"] {
        let name = std::ffi::OsStr::from_bytes(name);
        // Some file systems refuse names that are not UTF-8.
        if std::fs::copy(folder.join("one.ron"), folder.join(name)).is_err() {
            continue;
        }
        let run = |command: &mut Command| command.current_dir(&folder).stdin(Stdio::null()).output().unwrap();
        let first = run(Command::new(env!("CARGO_BIN_EXE_overlapsim")).args(["run", "--"]).arg(name));
        let text = out(&first);
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix("replay: ")).expect("a replay line");
        let script = line.replace("overlapsim ", &format!("{} ", env!("CARGO_BIN_EXE_overlapsim")));
        let Ok(again) = Command::new("bash").args(["-c", &script]).current_dir(&folder).output() else { return };
        assert!(again.stderr.is_empty() && out(&again).contains("unwritten"), "{line}: {}", err(&again));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn reports_name_the_seed() {
    let file = "scenarios/natural-jitter.ron";
    assert!(out(&overlapsim(&["run", file, "--seed", "7"])).contains(" under mask-lookahead, seed 7\n"));
    assert!(out(&overlapsim(&["diff", file, "--seed", "7"])).contains(" under 5 rules, seed 7\n"));
    let json: serde_json::Value =
        serde_json::from_slice(&overlapsim(&["run", file, "--seed", "7", "--format", "json"]).stdout).unwrap();
    assert_eq!(json["seed"], 7);
}

#[test]
fn only_the_turns_asked_for_are_drawn() {
    let file = "scenarios/double-fire.ron";
    let text = out(&overlapsim(&["run", file, "--timeline", "--turns", "3..4"]));
    let turns: Vec<&str> = text.lines().filter(|line| line.starts_with("turn ")).map(|line| &line[..6]).collect();
    assert_eq!(turns, ["turn 3", "turn 4"]);
    for wrong in [&["--timeline", "--turns", "4..3"][..], &["--timeline", "--turns", "x"], &["--turns", "3"]] {
        let output = overlapsim(&[&["run", file], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", err(&output));
    }
}

/// Wrong command lines, with the error and the remedy.
const MISTAKES: &[(&[&str], &str, &str)] = &[
    (&["chekc", "one.ron"], "unrecognized subcommand 'chekc'", "tip: a similar subcommand exists: 'check'"),
    (&["run", "one.ron", "--sede", "3"], "unexpected argument '--sede'", "tip: a similar argument exists: '--seed'"),
    (&["run"], "required arguments were not provided", "Usage: overlapsim run <FILE>"),
    (&["run", "no.ron"], "cannot read no.ron: there is no such file", "help: give the path of a scenario file"),
    (&["run", "below"], "cannot read below: it is a directory", "help: give the path of a scenario file"),
    (&["run", "bytes.ron"], "this byte is not UTF-8", "help: save the file as UTF-8 text"),
    (&["run", "empty.ron"], "the file holds no scenario", "help: write `requests: "),
    (&["run", "one.ron", "--rule", "mask-lookahed"], "no rule `mask-lookahed`", "help: did you mean `mask-lookahead`?"),
    (&["run", "one.ron", "--rule", "x"], "error: there is no rule `x`", "`paired`, `all`, `release`"),
    (&["graph", "one.ron", "--rule", "all"], "error: a graph shows one run", "help: name one rule, not `all`"),
    (&["graph", "one.ron", "--around", "9"], "error: there is no finding 9", "help: the run has 1 finding: --around 1"),
    (&["graph", "one.ron", "--around", "-1"], "not the number of a finding", "help: give the number that `run` prints"),
    (
        &["report", "one.ron", "-o", "-"],
        "error: a page is not written to standard output",
        "help: give the path of a file",
    ),
    (&["report", "one.ron", "-o", "one.ron"], "would be written over itself", "help: give another path to -o"),
    (&["report", "one.ron", "-o", "p.html", "--turns", "70..80"], "no turn from 70 to 80", "help: the run has 8 turns"),
    (&["run", "one.ron", "--format", "jsno"], "invalid value 'jsno'", "tip: a similar value exists: 'json'"),
    (&["run", "one.ron", "--seed", "-1"], "not a whole number from 0", "help: give a number such as 7"),
    (&["run", "one.ron", "--timeline", "--turns", "4..3"], "comes after the last", "help: give one turn such as 3"),
    (&["run", "one.ron", "--timeline", "--turns", "x"], "`x` is not the number of a turn", "help: give one turn"),
    (&["run", "one.ron", "--choices", "1.x"], "choice 2 is `x`", "help: give numbers with dots between"),
    (&["run", "one.ron", "--choices", "1"], "the scenario leaves nothing open", "help: say what is open"),
    (&["cost", "one.ron", "--batch", "0"], "there is no batch of 0 requests", "help: give sizes from 1 to 65536"),
    (&["cost", "one.ron", "--batch", "1,x"], "`x` is not a batch size", "help: give sizes from 1 to 65536"),
    (&["cost", "one.ron", "--batch", "-3"], "`-3` is not a batch size", "help: give sizes from 1 to 65536"),
    (&["cost", "one.ron", "--batch", "65537"], "no batch of 65537 requests", "as in 1,10,100,1000"),
    (
        &["cost", "one.ron", "--outputs", "3"],
        "no steady decode step in a batch of 1",
        "help: give every request more outputs",
    ),
    (&["cost", "one.ron", "--cpu", "pyton-0.5.17"], "there is no CPU preset", "help: did you mean `python-0.5.17`?"),
    (&["cost", "one.ron", "--gpu", "x"], "there is no GPU preset `x`", "help: the GPU presets are: `h100x8-80b-a3b`"),
    (
        &["cost", "one.ron", "--batch", "60000", "--outputs", "9999"],
        "outputs, more than 4194304",
        "help: give smaller batches",
    ),
    (&["check", "one.ron", "--max-time", "5"], "`5` has no unit", "help: give a time such as 30s"),
    (&["check", "one.ron", "--out", "one.ron"], "a file has that name", "help: give a directory"),
    (&["fuzz", "one.ron", "--seeds", "5"], "this is a single number", "help: give the first seed and the end"),
    (&["fuzz", "one.ron", "--seeds", "5..5"], "the range is empty", "help: give the first seed and the end"),
    (
        &["fuzz", "one.ron", "--seeds", "0..9", "--shard", "2/2"],
        "there is no shard 2 of 2",
        "help: shards count from 0",
    ),
    (
        &["fuzz", "--generate", "smal", "--seeds", "0..1"],
        "invalid value 'smal'",
        "tip: a similar value exists: 'small'",
    ),
    (&["fuzz", "--generate", "small", "--seeds", "0..1", "--rule", "release"], "of many releases", "help: name a rule"),
    (&["merge", "no.json"], "error: cannot read no.json", "help: give a report"),
    (&["merge", "below"], "error: no report found", "help: name reports"),
    (&["merge", "bytes.ron"], "error: cannot read bytes.ron", "help: give a report"),
    (&["test", "no.ron"], "error: some scenarios could not be read", "help: the lines that say"),
    (&["test", "below"], "error: no scenario found", "help: name .ron files"),
    (&["conform", "no.jsonl"], "error: no.jsonl: cannot be read", "help: give the path of a recording"),
    (&["conform", "bytes.ron"], "error: bytes.ron", "help: "),
    (&["conform", "below"], "error: no recording found", "help: name .jsonl"),
    (&["conform", "one.ron", "--rule", "all"], "error: a recording is replayed under one rule", "help: name one rule"),
    (&["conform", "one.ron", "--rule", "toke-len"], "no rule `toke-len`", "help: did you mean `token-len`?"),
    (&["conform", "one.ron", "--release", "0.5.19"], "\"0.5.19\" is not modelled", "help: the releases are 0.5.16"),
    (
        &["import", "below", "-o", "x.ron"],
        "error: below: cannot be read: it is a directory",
        "help: give the path of a recording",
    ),
    (&["import", "one.ron", "-o", "x.ron"], "error: one.ron:1: this is not a recording", "help: "),
    (&["completions", "bsh"], "invalid value 'bsh'", "tip: a similar value exists: 'bash'"),
    (&["man", "one.ron"], "a file has that name", "help: give a directory"),
];

#[test]
fn every_mistake_says_what_is_wrong_and_what_to_do() {
    let folder = folder_with_a_scenario("mistakes");
    std::fs::create_dir_all(folder.join("below")).unwrap();
    std::fs::write(folder.join("bytes.ron"), b"a\xff\xfe").unwrap();
    std::fs::write(folder.join("empty.ron"), "").unwrap();
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/whole/cases.jsonl.gz#0");
    let one = [
        (&["import", recording, "-o", "no/x.ron"][..], "there is no directory no", "help: create it first"),
        (&["import", recording, "-o", "below"], "error: below is a directory", "help: give the path of a file"),
        (
            &["import", &recording[..recording.len() - 2], "-o", "x.ron"],
            "holds several recordings",
            "help: name one of them",
        ),
    ];
    for (args, wrong, help) in MISTAKES.iter().chain(&one) {
        let output = Command::new(env!("CARGO_BIN_EXE_overlapsim")).args(*args).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let text = err(&output);
        assert!(text.contains(wrong) && text.contains(help), "{args:?}: {text}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_range_beyond_the_last_turn_is_reported() {
    let text = out(&overlapsim(&["run", "scenarios/double-fire.ron", "--timeline", "--turns", "70..80"]));
    assert!(text.ends_with("\nturns 70 to 80 were not run: the last turn is 7\n"), "{text}");
}
