//! What `run` prints for every scenario under every rule, and the timelines of a few, against `snapshots/`.

use std::path::{Path, PathBuf};

use overlapsim::command::{Answers, FailOnVerdict, Format, RunArgs, run_to_text};
use overlapsim::runner;

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

fn compare(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new("../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn run(file: &Path, rule: &str, timeline: bool, skew: bool) -> String {
    let (file, rule) = (file.to_path_buf(), Some(rule.into()));
    let args = RunArgs {
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

#[test]
fn run_of_every_scenario_under_every_rule() {
    for (name, file) in scenarios() {
        for rule in runner::rule_names() {
            compare(&format!("run.{name}.{rule}"), &run(&file, rule, false, false));
        }
    }
}

#[test]
fn timelines() {
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
fn skew() {
    let file = Path::new("scenarios/double-fire.ron");
    compare("skew.double-fire", &run(file, "all", false, true));
}
