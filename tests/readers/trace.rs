//! Public traces, in both formats, as a scenario names them. What is accepted has requests in order of their arrival, and is the same
//! scenario when it is written with its tokens and read again.

use overlapsim::model::Arrive;
use overlapsim::runner;
use overlapsim::scenario;
use tempfile::TempDir;

use super::replay::is_small;
use super::scenario::{assert_explained, round_trip};
use super::soak::{Outcome, Reader, soak};

/// Reads a trace of one format.
fn read(folder: &TempDir, file: &str, format: &str, input: &[u8]) -> Outcome {
    let path = folder.path().join(file);
    std::fs::write(&path, input).expect("the file can be written");
    let text = format!("(engine: (kv_tokens: 131072), trace: (format: {format}, path: {file:?}, time_scale: 0.5))");
    let rules = runner::rule_names();
    let parse = || scenario::parse("case.ron", &text, folder.path(), &rules);
    let first = parse();
    assert_eq!(first, parse(), "the second reading differs");
    let scenario = match first {
        Ok(scenario) => scenario,
        Err(error) => {
            if error.file() != "case.ron" {
                assert_explained(&error);
            }
            return Outcome::refused(error.message());
        }
    };
    let times: Vec<u64> = scenario.setup.requests.iter().map(|request| at_ns(request.arrive)).collect();
    assert!(!times.is_empty() && times[0] == 0 && times.is_sorted(), "{times:?}");
    let rows = input.iter().filter(|byte| **byte == b'\n').count() + 1;
    assert!(times.len() <= rows, "{} requests of {rows} lines", times.len());
    if is_small(&scenario.setup) {
        round_trip(&scenario, folder.path())
    } else {
        Outcome { accepted: true, signs: Vec::new() }
    }
}

fn at_ns(arrive: Arrive) -> u64 {
    match arrive {
        Arrive::At(time) => time.ns(),
        Arrive::Turn(_) | Arrive::After(_) | Arrive::Before(..) => panic!("a request of a trace arrives at a time"),
    }
}

struct Azure(TempDir);

impl Reader for Azure {
    const NAME: &'static str = "trace-azure";
    const INPUTS: u64 = 1500;

    fn words(&self) -> Vec<String> {
        let words = "TIMESTAMP ContextTokens GeneratedTokens , , : - . T Z +00:00 2023-11-16 18:15:46.6805900 1970-01-01 9999-12-31 \
            2000-02-29 2024-02-30 00:00:00 23:59:59.999999999 24:00:00";
        words.split(' ').map(str::to_string).collect()
    }

    fn read(&mut self, input: &[u8]) -> Outcome {
        read(&self.0, "t.csv", "AzureCsv", input)
    }
}

struct Mooncake(TempDir);

impl Reader for Mooncake {
    const NAME: &'static str = "trace-mooncake";
    const INPUTS: u64 = 1500;

    fn words(&self) -> Vec<String> {
        let words = "\"timestamp\" \"input_length\" \"output_length\" \"hash_ids\" { } [ ] , : null true \"x\" [[]] {} 512 513 1024 \
            \"timestamp\":0, \"hash_ids\":[] \\u0074imestamp";
        words.split(' ').map(str::to_string).collect()
    }

    fn read(&mut self, input: &[u8]) -> Outcome {
        read(&self.0, "t.jsonl", "MooncakeJsonl", input)
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn traces_of_azure() {
    soak(Azure(folder()));
}

#[test]
fn traces_of_mooncake() {
    soak(Mooncake(folder()));
}
