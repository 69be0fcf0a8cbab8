//! The command `kl`: its text, its JSON, its exit codes.

use std::path::PathBuf;
use std::process::{Command, Output};

use super::kl::{FLOOR, ROW_2};
use overlapsim::command::{Exit, FailOnVerdict, Format, KlArgs, OutsidePaths, kl_to_text};
use overlapsim::numeric::{BEFORE, LIMIT};
use overlapsim::runner;

fn args(file: &str, rule: Option<&str>, format: Format) -> KlArgs {
    KlArgs {
        outside: OutsidePaths::default(),
        file: PathBuf::from(file),
        rule: rule.map(str::to_owned),
        seed: None,
        state_seed: None,
        format,
        fail_on: FailOnVerdict::default(),
    }
}

fn overlapsim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_overlapsim"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the binary runs")
}

fn json(args: &KlArgs) -> serde_json::Value {
    serde_json::from_str(&kl_to_text(args).unwrap().0).expect("valid JSON")
}

#[test]
fn one_rule_is_an_object_and_several_are_an_array() {
    let one = json(&args(ROW_2, Some("token-len"), Format::Json));
    assert_eq!((&one["rule"], &one["strategy"]), (&"token-len".into(), &"extra_buffer_lazy".into()));
    assert_eq!((&one["hits"], &one["first_difference"]), (&1.into(), &1.into()));
    assert!(one["kl"]["avg"].as_f64().unwrap() > LIMIT && one["kl"]["max"].as_f64() >= one["kl"]["avg"].as_f64());
    assert_eq!((one["limit"].as_f64(), one["before"].as_f64()), (Some(LIMIT), Some(BEFORE)));
    assert_eq!(one["per_hit"][0]["request"], "b");

    let all = json(&args(ROW_2, None, Format::Json));
    let rules: Vec<&str> = all.as_array().unwrap().iter().map(|run| run["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, runner::rule_names());
    let clean = all.as_array().unwrap().iter().find(|run| run["rule"] == "completed-mask").unwrap();
    assert!(clean["kl"]["max"].as_f64().unwrap() < FLOOR && clean["first_difference"].is_null());
}

#[test]
fn without_a_hit_there_are_no_numbers() {
    let none = json(&args("scenarios/double-fire.ron", Some("token-len"), Format::Json));
    assert_eq!(none["hits"], 0);
    assert!(none["kl"]["avg"].is_null() && none["kl"]["max"].is_null() && none["first_difference"].is_null());
}

#[test]
fn the_state_is_that_of_the_scenario_and_a_default_is_said() {
    let own = kl_to_text(&args(ROW_2, None, Format::Text)).unwrap().0;
    assert!(own.contains("state Ssm(dim: 16, vocab: 64, seed: 1)\n"), "{own}");
    let default = kl_to_text(&args("scenarios/cache-hit-inherits.ron", None, Format::Text)).unwrap().0;
    assert!(default.contains("state Ssm(dim: 16, vocab: 64, seed: 0) (default: the scenario sets none)"), "{default}");
    let seeded = KlArgs { state_seed: Some(9), ..args(ROW_2, Some("token-len"), Format::Json) };
    assert_eq!(json(&seeded)["state"]["seed"], 9);
    assert_ne!(json(&seeded)["kl"], json(&args(ROW_2, Some("token-len"), Format::Json))["kl"]);
}

#[test]
fn exit_codes_are_those_of_run() {
    let exit = |rule| kl_to_text(&args(ROW_2, rule, Format::Text)).unwrap().1;
    assert_eq!(
        (exit(Some("completed-mask")), exit(Some("token-len")), exit(None)),
        (Exit::Good, Exit::Found, Exit::Found)
    );
    assert!(kl_to_text(&args(ROW_2, Some("no-such-rule"), Format::Text)).is_err());
    assert!(kl_to_text(&args("scenarios/no-such-file.ron", None, Format::Text)).is_err());
}

#[test]
fn two_processes_print_the_same_bytes_and_a_replay_line_that_runs() {
    let (first, second) = (overlapsim(&["kl", ROW_2]), overlapsim(&["kl", ROW_2]));
    assert_eq!(first.stdout, second.stdout);
    assert_eq!(first.status.code(), Some(1));
    let text = String::from_utf8(first.stdout).unwrap();
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("replay: overlapsim ")).collect();
    assert_eq!(lines.len(), 1, "{text}");
    let replayed = overlapsim(&lines[0].split(' ').collect::<Vec<_>>());
    assert!(String::from_utf8(replayed.stdout).unwrap().contains("mislabelled"));
}

#[test]
fn the_documented_bits_come_out_on_every_machine() {
    let one = json(&args(ROW_2, Some("token-len"), Format::Json));
    assert_eq!(one["kl"]["avg"].as_f64().unwrap().to_bits(), 4604603515162130983);
}
