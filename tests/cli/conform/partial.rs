//! Partial recordings, as of a server in production: events and rows are left out, the others are compared exactly.

use std::fs;
use std::io::Write as _;

use super::{changed_value, overlapsim, scratch, text, unpacked};
use serde_json::Value;

#[test]
fn parts_of_a_capture_are_one_recording_when_put_together() {
    let folder = scratch("parts");
    let text_of = unpacked("tests/recordings/partial.jsonl.gz");
    let mut lines: Vec<String> = Vec::new();
    for line in text_of.lines() {
        if line.contains("\"meta\"") && !lines.is_empty() {
            break;
        }
        lines.push(line.to_string());
    }
    let half = lines.len() / 2;
    let meta = lines[0].replace("\"continues\":false", "\"continues\":true").replace("\"part\":1", "\"part\":2");
    let end = r#"{"i":1,"ev":"end","rotated":true,"totals":{}}"#.to_string();
    let first = [&lines[..half], &[end]].concat().join("\n") + "\n";
    let second = [&[meta], &lines[half..]].concat().join("\n") + "\n";
    let (a, b, whole) = (folder.join("a.jsonl"), folder.join("b.jsonl"), folder.join("whole.jsonl"));
    fs::write(&a, &first).unwrap();
    fs::write(&b, &second).unwrap();
    fs::write(&whole, first + &second).unwrap();
    let good = overlapsim(&["conform", whole.to_str().unwrap()]);
    assert_eq!(good.status.code(), Some(0), "{}{}", text(&good.stdout), text(&good.stderr));
    let part = overlapsim(&["conform", b.to_str().unwrap()]);
    assert!(part.status.code() == Some(2) && text(&part.stderr).contains("put the parts together"));
}

#[test]
fn a_partial_recording_that_decides_otherwise_is_found() {
    let folder = scratch("partial");
    let file = folder.join("partial.jsonl");
    let lines: Vec<String> = unpacked("tests/recordings/partial.jsonl.gz").lines().map(str::to_string).collect();
    let mut planted = std::collections::BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        let mut event: Value = serde_json::from_str(line).unwrap();
        let kind = event["ev"].as_str().unwrap().to_string();
        let field = match kind.as_str() {
            "donate" => "label",
            "match" => "prefix_len",
            "slot_free" => "free",
            "steps" => "count",
            "prepare_extend" => "kv_committed",
            _ => continue,
        };
        if !planted.insert(kind) {
            continue;
        }
        event[field] = changed_value(&event[field]);
        let mut changed = lines.clone();
        changed[at] = event.to_string();
        let mut out = fs::File::create(&file).unwrap();
        for line in changed {
            writeln!(out, "{line}").unwrap();
        }
        let out = overlapsim(&["conform", file.to_str().unwrap(), "--format", "json"]);
        let summary: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(summary["divergences"][0]["line"].as_u64(), Some(at as u64 + 1), "{event} {summary}");
    }
    assert_eq!(planted.len(), 5);
}

#[test]
fn steps_that_a_partial_recording_leaves_out_are_counted_exactly() {
    let folder = scratch("steps");
    let file = folder.join("steps.jsonl");
    let lines: Vec<String> = unpacked("tests/recordings/partial.jsonl.gz").lines().map(str::to_string).collect();
    let steps = (0..lines.len()).filter(|&at| lines[at].contains("\"ev\":\"steps\""));
    for at in steps.step_by(9) {
        let mut fewer: Value = serde_json::from_str(&lines[at]).unwrap();
        fewer["count"] = (fewer["count"].as_u64().unwrap() - 1).into();
        let mut changed = lines.clone();
        changed[at] = fewer.to_string();
        let mut without = lines.clone();
        without.remove(at);
        for lines in [changed, without] {
            fs::write(&file, lines.join("\n") + "\n").unwrap();
            let out = overlapsim(&["conform", file.to_str().unwrap()]);
            assert_eq!(out.status.code(), Some(1), "line {at}: {}", text(&out.stdout));
        }
    }
}

#[test]
fn rows_that_a_decode_step_leaves_out_hide_no_field_of_the_others() {
    let file = scratch("rows").join("rows.jsonl");
    let lines: Vec<String> = unpacked("tests/recordings/partial.jsonl.gz").lines().map(str::to_string).collect();
    let conform = |at: usize, event: &Value| {
        let mut changed = lines.clone();
        changed[at] = event.to_string();
        fs::write(&file, changed.join("\n") + "\n").unwrap();
        overlapsim(&["conform", file.to_str().unwrap()])
    };
    let mut speculative = 0;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.contains("\"ev\":\"prepare_decode\"")) {
        let mut event: Value = serde_json::from_str(line).unwrap();
        let rows = event["rids"].as_array().unwrap().len();
        if rows < 2 || event.get("rows_left_out").is_some() || speculative == 3 {
            continue;
        }
        speculative += usize::from(event.get("kv_allocated").is_some());
        // The first row is left out, so that the other rows stand at other indices than in the model.
        for (_, value) in event.as_object_mut().unwrap() {
            if let Some(values) = value.as_array_mut().filter(|values| values.len() == rows) {
                values.remove(0);
            }
        }
        event["rows_left_out"] = 1.into();
        let good = conform(at, &event);
        assert_eq!(good.status.code(), Some(0), "line {}: {}", at + 1, text(&good.stdout));
        if event.get("kv_allocated").is_some() {
            event["kv_allocated"][0] = changed_value(&event["kv_allocated"][0]);
            let bad = conform(at, &event);
            assert_eq!(bad.status.code(), Some(1), "line {}: {}", at + 1, text(&bad.stdout));
        }
    }
    assert_eq!(speculative, 3);
}
