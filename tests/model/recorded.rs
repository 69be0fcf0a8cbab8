//! Two verdicts on a recording on which model and release agree: by its own contents, and by the judge on a replay. The two share no
//! code, and must be equal.

use std::path::{Path, PathBuf};

use crate::common::skip::skipped;
use overlapsim::conform::{self, Archive, Options, Plan};
use overlapsim::runner;

/// The archives in a folder of this repository or beside it, in order; none if there is no such folder.
fn archives(folder: &str) -> Vec<PathBuf> {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let Ok(entries) = std::fs::read_dir(&full) else {
        skipped(&format!("no recordings in {folder}"));
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The number of recordings, and those on which the two verdicts differ.
fn compare(folder: &str, every: usize) -> (usize, Vec<String>) {
    let options = Options { plan: Plan::Own, rule: None, release: None, rules: &runner::rule_or_release, adjust: None };
    let (mut count, mut differ) = (0, Vec::new());
    for path in archives(folder) {
        let mut archive = Archive::open(&path).unwrap();
        while let Some((index, segment)) = archive.next(|index| index % every == 0) {
            let segment = segment.unwrap();
            let recorded = conform::recorded_verdict(&segment).unwrap();
            let judged = conform::import(&segment, &options).unwrap().judgement;
            count += 1;
            if recorded.verdict != Some(judged.verdict) {
                let findings: Vec<&str> = judged.findings.iter().map(|finding| finding.reason.as_str()).collect();
                let shown = recorded.evidence.map(|shown| format!("{}: {}", shown.line, shown.reason));
                let (recorded, judged) = (recorded.verdict, judged.verdict);
                differ.push(format!(
                    "{}#{index}: recorded {recorded:?} {shown:?}, judged {judged:?} {findings:?}",
                    path.display()
                ));
            }
        }
    }
    (count, differ)
}

#[test]
fn a_recordings_own_verdict_is_that_of_the_judge() {
    let (count, differ) = compare("tests/recordings/whole", 1);
    assert!(differ.is_empty(), "{} of {count} differ\n{}", differ.len(), differ.join("\n"));
    assert!(count >= 388, "{count}");
    let (_, differ) = compare("../shared/conformance/traces", 5);
    assert!(differ.is_empty(), "{} differ\n{}", differ.len(), differ.join("\n"));
}
