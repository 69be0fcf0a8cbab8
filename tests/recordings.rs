//! Donations, slots and lookahead of the model beside recordings of the real system, where those are at hand.
//!
//! The recordings are not part of this repository: every test here says so and passes without them.

mod common;

use std::path::Path;

use common::recording::{self, Recording};

fn shared(path: &str) -> Option<std::path::PathBuf> {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance").join(path);
    if !full.exists() {
        eprintln!("skipped: no recordings at hand ({path})");
        return None;
    }
    Some(full)
}

/// Compares every recording of the given files; returns (compared, first differences).
fn compare(recordings: &[Recording]) -> (usize, Vec<String>) {
    let (mut compared, mut wrong) = (0, Vec::new());
    for recording in recordings {
        match recording::compare(recording) {
            recording::Outcome::Agrees => compared += 1,
            recording::Outcome::Differs(what) => {
                compared += 1;
                wrong.push(what);
            }
        }
    }
    (compared, wrong)
}

#[test]
fn the_rows_of_the_known_histories_donate_as_recorded() {
    let Some(dir) = shared("cases/design7") else { return };
    let mut names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.to_string_lossy().ends_with(".trace.jsonl"));
    names.sort();
    let recordings: Vec<_> = names.iter().map(|path| recording::read_case(path)).collect();
    let (compared, wrong) = compare(&recordings);
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(compared, 60);
}

#[test]
fn random_histories_donate_as_recorded() {
    let Some(dir) = shared("traces") else { return };
    let mut names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let mut differing = Vec::new();
    for path in names {
        let name = path.file_name().unwrap().to_string_lossy().to_string();
        let recordings = recording::read_archive(&path);
        let (compared, wrong) = compare(&recordings);
        eprintln!("{name}: {compared} compared, {} differ", wrong.len());
        if let Some(first) = wrong.first() {
            differing.push(format!("{name}: {} of {compared}, first: {first}", wrong.len()));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
