//! Words that a reader must be able to believe: what is printed of a row is what happened to it.

use overlapsim::record::{Fact, Passed, Record};
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
            if let Fact::Retract { req, .. } = fact {
                gone.push(req);
            } else if let Fact::Admit { req } = fact {
                gone.retain(|&other| other != req);
            } else if let Fact::Skip { req, why, .. } = fact {
                match why {
                    Passed::Ended => ended += 1,
                    Passed::Retracted => retracted += 1,
                }
                assert_eq!(gone.contains(&req), why == Passed::Retracted, "{file}: {fact:?}");
            }
        }
        let drawn = out(&["run", file, "--rule", "paired", "--timeline"]);
        assert_eq!(drawn.matches("passed over: it had ended").count(), ended, "{file}: {drawn}");
        assert_eq!(drawn.matches("passed over: it was retracted").count(), retracted, "{file}: {drawn}");
        assert_eq!(retracted > 0, !file.contains("abort"), "{file}");
    }
}
