//! Reports of shards that `merge` adds up. What is merged is a report that `merge` reads again, with the same result.

use std::path::PathBuf;

use overlapsim::command::{Failure, fuzz_to_text, merge_to_text};
use tempfile::TempDir;

use super::line::parsed;
use super::soak::{Outcome, Reader, soak};

/// The report of a shard.
fn report(shard: &str) -> Vec<u8> {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/check/interleaved.ron");
    let rules = "token-len,mask-lookahead";
    let words = [scenario, "--seeds", "0..12", "--rule", rules, "--jobs", "1", "--shard", shard, "--format", "json"];
    fuzz_to_text(&parsed(&words)).expect("the search runs").0.into_bytes()
}

/// What `merge` prints.
fn merged(paths: &[&PathBuf], format: &str) -> Result<String, Failure> {
    let words = paths.iter().map(|path| path.to_str().expect("a path of this test")).chain(["--format", format]);
    merge_to_text(&parsed(&words.collect::<Vec<_>>())).map(|(text, _)| text)
}

struct Shards {
    folder: TempDir,
    /// The report of the other shard.
    other: PathBuf,
}

impl Shards {
    fn new() -> Shards {
        let folder = tempfile::tempdir().expect("a directory");
        let other = folder.path().join("fuzz-1-of-2.json");
        std::fs::write(&other, report("1/2")).expect("a report");
        Shards { folder, other }
    }
}

impl Reader for Shards {
    const NAME: &'static str = "shard";
    const INPUTS: u64 = 2500;

    fn words(&self) -> Vec<String> {
        let words = "{ } [ ] , : null true \"source\" \"digest\" \"version\" \"strategy\" \"seeds\" \"shard\" \"rules\" \"rule\" \
            \"verdict\" \"verdicts\" \"clean\" \"lossy\" \"inconclusive\" \"corrupt\" \"broken\" \"findings\" \"kind\" \"mislabelled\" \
            \"unwritten\" \"choices\" \"0x5.1\" \"token-len\"";
        words.split_whitespace().map(str::to_string).collect()
    }

    fn samples(&self) -> Vec<Vec<u8>> {
        ["0/1", "0/2", "1/2"].map(report).to_vec()
    }

    fn read(&mut self, input: &[u8]) -> Outcome {
        let path = self.folder.path().join("fuzz-0-of-2.json");
        std::fs::write(&path, input).expect("the file can be written");
        let alone = merged(&[&path], "json");
        let paths = if alone.is_ok() { vec![&path] } else { vec![&path, &self.other] };
        let first = merged(&paths, "json");
        match first {
            Ok(text) => {
                assert!(!merged(&paths, "text").expect("it was merged before").is_empty());
                let sum = self.folder.path().join("sum.json");
                std::fs::write(&sum, &text).expect("the file can be written");
                let again = merged(&[&sum], "json").unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(again, text, "the sum is read otherwise");
                Outcome { accepted: true, signs: vec![format!("merged {}", paths.len())] }
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with("error: ") && text.contains("\nhelp: ") && text.ends_with('\n'), "{text}");
                Outcome::refused(&text.replace(&self.folder.path().display().to_string(), ""))
            }
        }
    }
}

#[test]
fn reports_of_shards() {
    soak(Shards::new());
}
