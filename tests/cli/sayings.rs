//! Words of the timeline and of findings are true: they say what happened to the row.

use overlapsim::record::{Fact, Record, RequestFact, SkipReason};
use overlapsim::runner::{self, Keep};
use overlapsim::scenario;
use std::path::Path;
use std::process::Command;

fn out(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_overlapsim"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the program runs");
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

fn record(file: &str) -> Record {
    let scenario = scenario::load(Path::new(file), &runner::rule_names()).expect("a valid scenario");
    let rule = runner::rule("paired").unwrap();
    let keep = Keep { record: true, ..Keep::default() };
    runner::run(&scenario.setup, rule, scenario.seed, keep, None).record.unwrap()
}

#[test]
fn a_row_that_is_passed_over_says_whether_its_request_ended_or_was_retracted() {
    for file in ["scenarios/retraction.ron", "scenarios/forced-retraction.ron", "scenarios/abort-everywhere.ron"] {
        let (mut ended, mut retracted) = (0, 0);
        let mut gone = Vec::new();
        for fact in record(file).facts() {
            if let Fact::Request(RequestFact::Retract { req, .. }) = fact {
                gone.push(req);
            } else if let Fact::Request(RequestFact::Admit { req }) = fact {
                gone.retain(|&other| other != req);
            } else if let Fact::Request(RequestFact::Skip { req, why, .. }) = fact {
                match why {
                    SkipReason::Ended => ended += 1,
                    SkipReason::Retracted => retracted += 1,
                }
                assert_eq!(gone.contains(&req), why == SkipReason::Retracted, "{file}: {fact:?}");
            }
        }
        let drawn = out(&["run", file, "--rule", "paired", "--timeline"]);
        assert_eq!(drawn.matches("skipped: the request had ended").count(), ended, "{file}: {drawn}");
        assert_eq!(drawn.matches("skipped: the request was retracted").count(), retracted, "{file}: {drawn}");
        assert_eq!(retracted > 0, !file.contains("abort"), "{file}");
    }
}

/// A finding of a run under a rule, as JSON.
fn findings(file: &str, rule: &str) -> Vec<serde_json::Value> {
    let report: serde_json::Value =
        serde_json::from_str(&out(&["run", file, "--rule", rule, "--format", "json"])).expect("JSON");
    report["findings"].as_array().expect("a list").clone()
}

#[test]
fn a_finding_of_an_overwritten_state_names_the_step_that_overwrote_it() {
    let file = "scenarios/newer-rule-writes-kept-slot.ron";
    let finding = &findings(file, "completed-mask")[0];
    let cause = &finding["overwritten"];
    assert_eq!((&finding["kind"], &finding["label"], &cause["step"]), (&"aliased".into(), &4.into(), &8.into()));
    let at = |field: &str| cause[field].as_u64().unwrap_or_else(|| panic!("{field}: {finding}"));
    let (decided, batch, turn) = (at("decided_turn"), at("batch"), at("turn"));
    assert!(decided < turn, "{finding}");
    let sentence = format!(
        "the decision in turn {decided} was right, but step 8 (b{batch}, launched in turn {turn}) overwrites the slot"
    );
    let reason = finding["reason"].as_str().unwrap();
    assert!(reason.ends_with(&sentence), "{reason}");
    let folded = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = folded(out(&["run", file, "--rule", "completed-mask"]));
    assert!(text.contains(&sentence) && text.contains("0 repeat, 0 missed, 0 wrong-label, 0 wrong-slot"), "{text}");
    // The decision and the launch are where it says.
    let drawn = |turn: u64| out(&["run", file, "--rule", "completed-mask", "--timeline", "--turns", &turn.to_string()]);
    assert!(drawn(decided).contains("agree"), "{}", drawn(decided));
    assert!(drawn(turn).contains(&format!("launch b{batch}")), "{}", drawn(turn));
    // Explorer and page say it too.
    let screen = out(&["explore", file, "--rule", "completed-mask", "--script", "f", "--size", "300x60", "--ascii"]);
    assert!(screen.contains("overwrites the slot"), "{screen}");
    let page = std::env::temp_dir().join(format!("overlapsim-sayings-{}.html", std::process::id()));
    out(&["report", file, "--rule", "completed-mask", "-o", page.to_str().unwrap()]);
    let html = std::fs::read_to_string(&page).unwrap();
    let _ = std::fs::remove_file(&page);
    assert!(html.contains(&sentence));
}

#[test]
fn a_finding_of_a_wrong_or_missing_decision_names_no_overwriting_step() {
    // A repeat and an unwritten slot; a state that a prefill left; a key that is shorter than its label.
    for (file, rule) in [
        ("scenarios/double-fire.ron", "mask-lookahead"),
        ("scenarios/mixed-serial.ron", "completed-mask"),
        ("scenarios/spec-key-shorter-than-label.ron", "completed-mask"),
    ] {
        let found = findings(file, rule);
        assert!(!found.is_empty(), "{file}");
        for finding in found {
            assert!(finding["overwritten"].is_null(), "{file}: {finding}");
            assert!(!finding["reason"].as_str().unwrap().contains("was right"), "{file}: {finding}");
        }
    }
}
