//! `expect_every`: what `test` proves about every timing that `vary` leaves open.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const SHORT_POOL: &str = "scenarios/check/short-pool.ron";

fn test(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlapsim"));
    command.arg("test").args(args).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    command.output().expect("the binary runs")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

/// A scenario of `scenarios/check` with some of its text replaced, in a directory of its own.
fn changed(name: &str, changes: &[(&str, &str)]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("overlapsim-every-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("one.ron");
    let mut text = std::fs::read_to_string(SHORT_POOL).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    std::fs::write(&file, text).unwrap();
    file
}

/// Tests a changed scenario, and what comes of it.
fn tested(name: &str, changes: &[(&str, &str)], options: &[&str]) -> (i32, String) {
    let file = changed(name, changes);
    let output = test(&[&[file.to_str().unwrap()], options].concat());
    std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
    (output.status.code().expect("an exit code"), out(&output))
}

#[test]
fn every_scenario_for_searches_says_what_every_timing_shows_under_every_rule() {
    let rules = overlapsim::runner::rule_names();
    for entry in std::fs::read_dir("scenarios/check").unwrap() {
        let path = entry.unwrap().path();
        let scenario =
            overlapsim::scenario::load(&path, &rules).unwrap_or_else(|error| panic!("{}", error.render(false)));
        let named: Vec<&str> = scenario.expect_every.iter().map(|expect| expect.rule.as_str()).collect();
        assert_eq!(named, rules, "{}", path.display());
        let written = overlapsim::scenario::write(&scenario);
        let again = overlapsim::scenario::parse("again.ron", &written, "".as_ref(), &rules).expect("it is read again");
        assert_eq!((again.expect, again.expect_every), (scenario.expect, scenario.expect_every), "{written}");
    }
    let output = test(&["scenarios/check"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(text.matches("  (5 rules, 5 under every timing)\n").count(), 6, "{text}");
}

#[test]
fn a_script_that_is_as_expected_says_nothing_about_every_timing() {
    let file = changed("script", &[]);
    let text = std::fs::read_to_string(&file).unwrap();
    let every = text.find("    expect_every:").unwrap();
    std::fs::write(&file, format!("{})\n", &text[..every])).unwrap();
    let output = test(&[file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(out(&output).contains("one.ron  (5 rules, script only)\n"), "{}", out(&output));
    std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
}

#[test]
fn a_kind_that_some_timing_shows_and_none_should_fails_with_its_replay() {
    let change = [(r#"verdict: Corrupt, kinds: ["unwritten", "lost"]"#, r#"verdict: Lossy, kinds: ["lost"]"#)];
    let (code, text) = tested("unexpected", &change, &[]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("  committed-len, every timing: expected lossy, got corrupt; mask-lookahead, every"),
        "{text}"
    );
    let line = "committed-len, every timing: unexpected unwritten, request ";
    assert!(text.contains(line) && text.contains("one.ron --rule committed-len --choices "), "{text}");
}

#[test]
fn an_expected_kind_that_no_timing_shows_fails() {
    let change = [(
        r#""completed-mask", verdict: Corrupt, kinds: ["aliased"]"#,
        r#""completed-mask", verdict: Corrupt, kinds: ["aliased", "torn"]"#,
    )];
    let (code, text) = tested("missing", &change, &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("  completed-mask, every timing: corrupt as expected, with other findings\n"), "{text}");
    assert!(text.contains("       completed-mask, every timing: missing torn\n"), "{text}");
    assert!(text.contains("       replay: overlapsim check "), "{text}");
}

#[test]
fn a_search_that_a_bound_ended_fails_and_says_which_and_what_to_do() {
    let (code, text) = tested("states", &[], &["--max-states", "50"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("paired, every timing: expected clean, got inconclusive"), "{text}");
    let bound = "paired, every timing: not every timing was seen: after ";
    assert!(
        text.contains(bound) && text.contains(" unique states the search met the most states (--max-states)\n"),
        "{text}"
    );
    assert!(
        text.contains("       help: open less, or allow more unique states than 50 with `test --max-states N`\n"),
        "{text}"
    );
    let (code, text) = tested("turns", &[("    vary:", "    turns_max: 12,\n    vary:")], &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the search met a bound within ") && text.contains(": request "), "{text}");
    assert!(text.contains("turns_max (12) ended the run before. Use turns_max: "), "{text}");
    assert!(text.contains("       help: follow the advice above, or open less\n"), "{text}");
}

#[test]
fn fail_on_looks_at_every_timing_too() {
    let (code, text) = tested("fail-on", &[], &["--fail-on", "corrupt"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("  committed-len, every timing: corrupt as expected, but --fail-on corrupt;"), "{text}");
    assert!(!text.contains("token-len"), "{text}");
}
