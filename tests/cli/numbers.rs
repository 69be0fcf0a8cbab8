//! Numbers of a run with speculative decoding: every output that a request delivers counts, and no other.

use std::path::PathBuf;
use std::process::Command;

use overlapsim::command::{Answers, OutsidePaths, TraceArgs, trace_to_text};
use serde_json::Value;

/// A scenario of one request with verifies of two tokens, in a file of its own that goes away with its owner.
struct File(PathBuf);

impl File {
    fn new(name: &str, stop: &str) -> File {
        let path = std::env::temp_dir().join(format!("overlapsim-numbers-{name}-{}.ron", std::process::id()));
        let text = format!(
            "Scenario(engine: (spec: (draft: 1, accept: Fixed([2]))),
              requests: [(id: \"a\", prompt: Fresh(6), stop: {stop})])"
        );
        std::fs::write(&path, text).unwrap();
        File(path)
    }

    fn run(&self, option: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_overlapsim")).arg("run").arg(&self.0).args(option).output();
        String::from_utf8(output.expect("the program runs").stdout).expect("output is UTF-8")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.run(&["--format", "json"])).unwrap()
    }

    /// The number of outputs after each step of the request, as its trace has them.
    fn outputs_of_steps(&self) -> Vec<u64> {
        let (rule, seed, turns, answers) = (None, None, None, Answers::default());
        let args = TraceArgs {
            outside: OutsidePaths::default(),
            file: self.0.clone(),
            output: PathBuf::new(),
            rule,
            seed,
            answers,
            turns,
        };
        let trace: Value = serde_json::from_str(&trace_to_text(&args).unwrap().0).unwrap();
        trace["traceEvents"].as_array().unwrap().iter().filter_map(|event| event["args"]["outputs"].as_u64()).collect()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn outputs_of_a_verify_count_one_by_one() {
    let file = File::new("length", "Length(5)");
    let report = file.json();
    assert_eq!((&report["time"]["output_tokens"], &report["requests"][0]["outputs"]), (&5.into(), &5.into()));
    assert_eq!(report["time"]["output_tokens_per_s"], 173.6);
    // Two verifies bring four outputs after the first.
    let (tpot, makespan) = (&report["time"]["tpot_ns"]["p50"], &report["time"]["makespan_ns"]);
    assert_eq!((tpot, makespan), (&4_015_000.into(), &28_803_300.into()));
    let text = file.run(&[]);
    assert!(text.contains("5 output tokens, 173.6 per second"), "{text}");
    assert_eq!(file.outputs_of_steps(), [1, 3, 5]);
}

#[test]
fn outputs_that_are_not_delivered_do_not_count() {
    // The verify appends outputs 2 and 3, and 2 is a stop token.
    let cut = File::new("token", "Token(2), max_new: 5");
    let report = cut.json();
    assert_eq!((&report["time"]["output_tokens"], &report["requests"][0]["outputs"]), (&2.into(), &2.into()));
    assert_eq!(report["time"]["tpot_ns"]["p50"], 8_030_000, "one output after the first");
    assert_eq!(cut.outputs_of_steps(), [1, 2]);
    let drawn = cut.run(&["--timeline"]);
    assert!(drawn.contains("out 2  ends: token") && !drawn.contains("out 3"), "{drawn}");
    // The last verify appends outputs 4 and 5 of a request that ends at 4.
    let short = File::new("short", "Length(4)");
    let report = short.json();
    assert_eq!((&report["time"]["output_tokens"], &report["requests"][0]["outputs"]), (&4.into(), &4.into()));
    assert_eq!(report["time"]["tpot_ns"]["p50"], 5_353_333, "two verifies bring three outputs");
    assert_eq!(short.outputs_of_steps(), [1, 3, 4]);
}
