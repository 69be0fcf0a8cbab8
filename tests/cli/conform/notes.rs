//! What the report says beside counts: how a recording was made, and how to see a difference again.

use std::fs;

use super::{CASES, overlapsim, recordings, root, scratch, text};
use serde_json::Value;

/// How a recording was made is reported, and does not change the comparison.
#[test]
fn the_report_names_the_tree_core_and_settings_beyond_the_model() {
    let folder = scratch("told");
    let recording = recordings(CASES).into_iter().find(|text| text.starts_with("{\"scenario\"")).unwrap();
    let file = folder.join("one.jsonl");
    let conform = |body: &str, format: &str| {
        fs::write(&file, body).unwrap();
        let out = overlapsim(&["conform", file.to_str().unwrap(), "--format", format]);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stdout));
        text(&out.stdout)
    };
    assert!(!conform(&recording, "text").contains("tree core"));
    let rust = recording.replacen("\"ev\":\"meta\",", "\"ev\":\"meta\",\"tree_core\":\"rust\",", 1);
    assert!(conform(&rust, "text").contains("tree core:   rust 1\n"));
    let json: Value = serde_json::from_str(&conform(&format!("{rust}{recording}"), "json")).unwrap();
    assert_eq!(json["tree_cores"], serde_json::json!({ "rust": 1 }));
    assert!(conform(&format!("{rust}{recording}"), "text").contains("tree core:   rust 1, not recorded 1\n"));
    let x = "{\"scenario\": {\"x\": {\"states_cap\": 1, \"priority\": false}, ";
    let beyond = recording.replacen("{\"scenario\": {", x, 1);
    assert_ne!(beyond, recording);
    let told = conform(&beyond, "text");
    assert!(told.contains("`x.states_cap`") && !told.contains("x.priority"), "{told}");
}

#[test]
fn a_difference_is_shown_with_its_context_and_a_command_that_replays_it() {
    let archive = root(CASES);
    let out = overlapsim(&["conform", archive.to_str().unwrap(), "--rule", "token-len"]);
    let shown = text(&out.stdout);
    let line = shown.lines().find_map(|line| line.trim().strip_prefix("replay: overlapsim ")).unwrap();
    let words: Vec<&str> = line.split(' ').map(|word| word.trim_matches('\'')).collect();
    let again = overlapsim(&words);
    assert_eq!(again.status.code(), Some(1), "{line}");
    let first = shown.split("\n\n").next().unwrap();
    assert!(text(&again.stdout).starts_with(first), "{first}\n{}", text(&again.stdout));
    for word in ["differs at line", "turn ", "phase ", "event ", "field ", "recorded ", "model says", "replay: "] {
        assert!(first.contains(word), "{word}: {first}");
    }
}
