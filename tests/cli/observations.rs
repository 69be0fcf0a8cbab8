//! Observations of `run`: they are reported, are no findings, and change no verdict.

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlapsim"));
    command.arg("run").args(args).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    command.output().expect("the binary runs")
}

#[test]
fn a_request_that_only_the_admission_latch_keeps_waiting_is_an_observation() {
    let file = "scenarios/admission-latched.ron";
    let output = run(&[file, "--rule", "paired"]);
    assert_eq!(output.status.code(), Some(0), "it changes no verdict");
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = "observation: admission-latched: b waited in 16 turns (first in turn 10) although rows, slots and KV\n  were free: \
                the running batch was still marked full\n";
    assert!(text.contains(expected), "{text}");
    let json: Value = serde_json::from_slice(&run(&[file, "--rule", "paired", "--format", "json"]).stdout).unwrap();
    let observation = json!({ "name": "admission-latched", "turns": 16, "first_turn": 10, "requests": ["b"] });
    assert_eq!(json["observations"], json!([observation]));
    assert_eq!(json["verdict"], "clean");
}

#[test]
fn a_run_without_an_observation_prints_none() {
    for format in ["text", "json"] {
        let output = run(&["scenarios/double-fire.ron", "--format", format]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("observation"), "{text}");
    }
}
