//! Recordings of the real scheduler beside the model: every event, every field, under both plans; and the judge's word on
//! every donation beside the recording's own content check.
//!
//! A sample lives in `tests/recordings/`. The whole collection is not part of this repository: where it is not at hand,
//! the tests of it say so and pass.

use std::path::{Path, PathBuf};

use overlapsim::command::{ConformArgs, Format, PlanWord, conform_to_text};
use overlapsim::conform::ConformSummary;

fn folder(path: &str) -> Option<PathBuf> {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if !full.exists() {
        eprintln!("skipped: no recordings at hand ({path})");
        return None;
    }
    Some(full)
}

fn compare(folder: &Path, plan: PlanWord) -> ConformSummary {
    let args = ConformArgs {
        paths: vec![folder.to_path_buf()],
        rule: None,
        release: None,
        plan: plan.into(),
        jobs: None,
        format: Format::Text,
        fail_on: None,
    };
    let (text, summary) = conform_to_text(&args).expect("the recordings can be read");
    assert_eq!(summary.agree, summary.recordings, "{text}");
    summary
}

/// The folders of the collection whose recordings agree, all of them.
const WHOLE: [&str; 2] = ["../shared/conformance/traces", "../shared/conformance/cases"];

fn all_at_hand_agree(plan: PlanWord) {
    let mut recordings = 0;
    for path in WHOLE {
        let Some(folder) = folder(path) else { return };
        recordings += compare(&folder, plan).recordings;
    }
    assert!(recordings >= 5863, "{recordings} recordings");
}

#[test]
fn every_recording_at_hand_agrees_under_its_own_plan() {
    all_at_hand_agree(PlanWord::Own);
}

#[test]
fn every_recording_at_hand_agrees_under_the_recorded_plan() {
    all_at_hand_agree(PlanWord::Recorded);
}

#[test]
fn the_sample_agrees_under_both_plans() {
    // Those of a server leave things out: they are compared below.
    let sample = folder("tests/recordings/whole").expect("the sample is part of this repository");
    let own = compare(&sample, PlanWord::Own);
    let recorded = compare(&sample, PlanWord::Recorded);
    assert_eq!(own.compared, recorded.compared);
    let kinds = [
        "abort",
        "abort_output",
        "active_mismatch",
        "arrive",
        "assert",
        "clear",
        "copy",
        "cow",
        "donate",
        "end",
        "launch",
        "match",
        "meta",
        "mix",
        "no_insert",
        "prepare_decode",
        "prepare_extend",
        "result",
        "retract",
        "slot_alloc",
        "slot_free",
        "track_write",
        "tree_mismatch",
        "verify",
    ];
    for kind in kinds {
        assert!(own.compared.contains_key(kind), "the sample has no {kind}");
    }
}

#[test]
fn partial_recordings_agree_in_what_they_have_and_say_what_they_lack() {
    let partial = folder("tests/recordings/partial.jsonl.gz").expect("the sample is part of this repository");
    let summary = compare(&partial, PlanWord::Recorded);
    assert_eq!(summary.recordings, 21);
    for what in ["donate.hash", "prepare_decode", "result.reqs rows", "track_write"] {
        assert!(summary.unchecked.contains_key(what), "{:?}", summary.unchecked);
    }
    assert!(summary.compared["donate"] > 100 && summary.compared["steps"] > 50, "{:?}", summary.compared);
}
