//! What `run` prints for every scenario under every rule, and the timelines of a few scenarios, against `snapshots/`.
//!
//! `snapshots/run.NAME.snap` compares the rules on one scenario. The file holds the whole text under the default rule. For each
//! other rule it holds the lines that differ from the most similar text before it, as a unified diff without context. `{rule}`
//! stands for the name of the rule that ran. The text of each rule can be rebuilt from the file, byte for byte.

use std::path::{Path, PathBuf};

use overlapsim::command::{Answers, FailOnVerdict, Format, OutsidePaths, RunArgs, run_to_text};
use overlapsim::runner;
use similar::{ChangeTag, TextDiff};

/// The names of the scenarios with their files.
fn scenarios() -> Vec<(String, PathBuf)> {
    let mut files: Vec<(String, PathBuf)> = std::fs::read_dir("scenarios")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().to_string(), path))
        .collect();
    files.sort();
    files
}

/// Compares a text with `snapshots/NAME.snap`.
fn compare(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new("../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// What `run` prints.
fn run(file: &Path, rule: &str, timeline: bool, skew: bool) -> String {
    let (file, rule) = (file.to_path_buf(), Some(rule.into()));
    let args = RunArgs {
        outside: OutsidePaths::default(),
        file,
        rule,
        seed: None,
        format: Format::Text,
        timeline,
        turns: None,
        skew,
        answers: Answers::default(),
        fail_on: FailOnVerdict::default(),
    };
    run_to_text(&args).expect("every scenario can be read").0
}

/// What `run` prints under a rule, with `{rule}` for its name.
fn run_of_rule(file: &Path, rule: &str) -> String {
    let text = run(file, rule, false, false);
    assert!(!text.contains("{rule}"), "the placeholder is not ambiguous");
    text.replace(&format!(" under {rule}, "), " under {rule}, ").replace(&format!("--rule {rule}"), "--rule {rule}")
}

/// The lines in which two texts differ, as a unified diff without context, and their number.
fn difference(from: &str, to: &str) -> (String, usize) {
    let diff = TextDiff::from_lines(from, to);
    let changed = diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Equal).count();
    (diff.unified_diff().context_radius(0).to_string(), changed)
}

/// The text under the default rule, and for each other rule its difference from the most similar text before it.
fn comparison(file: &Path) -> String {
    let reference = run_of_rule(file, runner::DEFAULT_RULE);
    let mut text = format!("== {}\n{reference}", runner::DEFAULT_RULE);
    let mut earlier = vec![(runner::DEFAULT_RULE, reference)];
    for rule in runner::rule_names().into_iter().filter(|rule| *rule != runner::DEFAULT_RULE) {
        let own = run_of_rule(file, rule);
        let differences = earlier.iter().map(|(name, before)| (name, difference(before, &own)));
        let (nearest, (diff, changed)) =
            differences.min_by_key(|(_, (_, changed))| *changed).expect("the default rule");
        text += &match changed {
            0 => format!("\n== {rule}: the same as {nearest}\n"),
            _ => format!("\n== {rule}, compared with {nearest}\n{diff}"),
        };
        earlier.push((rule, own));
    }
    text
}

#[test]
fn every_scenario_runs_under_every_rule_as_the_snapshots_say() {
    for (name, file) in scenarios() {
        compare(&format!("run.{name}"), &comparison(&file));
    }
}

#[test]
fn timelines_are_drawn_as_the_snapshots_say() {
    for (name, rule) in [
        ("double-fire", "mask-lookahead"),
        ("lost-checkpoint", "mask-lookahead"),
        ("lazy-next-in-flight", "committed-len"),
        ("cache-hit-inherits", "mask-lookahead"),
        ("overlap-off-double-fire", "mask-lookahead"),
    ] {
        let file = PathBuf::from(format!("scenarios/{name}.ron"));
        compare(&format!("timeline.{name}.{rule}"), &run(&file, rule, true, false));
    }
}

#[test]
fn skew_is_drawn_as_the_snapshot_says() {
    let file = Path::new("scenarios/double-fire.ron");
    compare("skew.double-fire", &run(file, "all", false, true));
}
