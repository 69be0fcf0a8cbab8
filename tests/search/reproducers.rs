//! A file that a search writes is about the same release, strategy, overlap, rule and kind as the finding, and shows it
//! when it is run alone.

use std::path::PathBuf;

use super::tools::Folder;
use crate::common::reproducers::{Count, releases, version, written};

/// Scenarios of every strategy, with chunks, mixed batches, pages, speculative decoding, and settings of their own.
const SCENARIOS: [&str; 8] = [
    "double-fire",
    "first-decode-is-boundary",
    "lazy-next-in-flight",
    "lazy-refused-before-hand-over",
    "mixed-tracking-dropped",
    "alias-first-decode",
    "spec-consecutive-crossings",
    "overlap-off-double-fire",
];

const STATES_MAX: u64 = 2_000;

#[test]
fn every_file_of_check_convicts_the_same_rule_and_release_of_the_same_kind() {
    let folder = Folder::new("reproducers");
    let (mut sum, mut wrong) = (Count::default(), Vec::new());
    for scenario in SCENARIOS {
        for release in releases() {
            let file = PathBuf::from(format!("scenarios/{scenario}.ron"));
            let setup = version(&file, &release).unwrap_or_else(|| panic!("{scenario} cannot be of {release}"));
            match written(folder.path(), &format!("{scenario}-{release}"), setup, STATES_MAX) {
                Ok(count) => {
                    sum.findings += count.findings;
                    sum.files += count.files;
                }
                Err(why) => wrong.push(why),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(sum.files > 100 && sum.files == sum.findings, "{sum:?}");
}
