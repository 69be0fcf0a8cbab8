//! The verdict on a recording by its own contents, which is independent of its agreement with the model.

use std::fs;

use super::{CASES, events, overlapsim, recordings, root, scratch, text, unpacked, written};
use serde_json::Value;

/// A release that caches wrong states can agree with the model of it. The report shows the agreement and the verdicts.
#[test]
fn verdicts_of_recordings_are_reported_beside_agreement() {
    let folder = root("tests/recordings/whole");
    let json = |more: &[&str]| {
        let args = [&["conform", folder.to_str().unwrap(), "--format", "json"], more].concat();
        let out = overlapsim(&args);
        (out.status.code(), serde_json::from_slice::<Value>(&out.stdout).unwrap())
    };
    let (code, summary) = json(&[]);
    assert_eq!((code, &summary["agree"]), (Some(0), &summary["recordings"]));
    let recorded = &summary["recorded"];
    let counts = ["clean", "lossy", "inconclusive", "corrupt", "broken", "without_contents"]
        .map(|verdict| recorded[verdict]["recordings"].as_u64().unwrap());
    assert_eq!(counts.iter().sum::<u64>(), summary["recordings"].as_u64().unwrap(), "{recorded}");
    assert_eq!(recorded["clean"]["first"], Value::Null);
    for (verdict, kinds) in [("corrupt", &["donate", "match"][..]), ("broken", &["assert"][..])] {
        let first = &recorded[verdict]["first"];
        let (file, _) = first["recording"].as_str().unwrap().rsplit_once('#').unwrap();
        let line = first["line"].as_u64().unwrap() as usize;
        let text_of = unpacked(file);
        let event: Value = serde_json::from_str(text_of.lines().nth(line - 1).unwrap()).unwrap();
        assert!(kinds.contains(&event["ev"].as_str().unwrap()), "{verdict}: {event}");
    }
    // Each of 42 assertions ends its recording.
    assert_eq!(counts[4], 42);
    // The verdicts do not depend on the rule of the model, nor on agreement.
    let (code, other) = json(&["--rule", "token-len"]);
    assert_eq!((code, &other["recorded"]), (Some(1), recorded));
    let said = text(&overlapsim(&["conform", folder.to_str().unwrap()]).stdout);
    let [clean, lossy, _, corrupt, broken, _] = counts;
    let line = format!("by their own contents: {clean} clean, {lossy} lossy, {corrupt} corrupt, {broken} broken\n");
    assert!(said.contains(&line), "{said}");
    for verdict in ["lossy", "corrupt", "broken"] {
        let first = &recorded[verdict]["first"];
        let (name, at, why) = (&first["recording"], &first["line"], &first["reason"]);
        let line = format!("  first {verdict}: {} at line {at}: {}", name.as_str().unwrap(), why.as_str().unwrap());
        assert!(said.contains(&line), "{line}\n{said}");
    }
}

/// A change of one event.
type Change = fn(&mut Value);

#[test]
fn each_kind_of_wrong_event_alone_makes_the_verdict() {
    let file = scratch("own-contents").join("one.jsonl");
    let all: Vec<String> = recordings("tests/recordings/whole/releases.jsonl.gz");
    let verdict_of = |body: &str| {
        fs::write(&file, body).unwrap();
        let out = overlapsim(&["conform", file.to_str().unwrap(), "--format", "json"]);
        let summary: Value = serde_json::from_slice(&out.stdout).unwrap();
        let recorded = summary["recorded"].as_object().unwrap();
        let (name, of) = recorded.iter().find(|(_, of)| of["recordings"] == 1).unwrap();
        (name.clone(), of["first"]["line"].as_u64())
    };
    let has = |text: &str, kind: &str| text.contains(&format!("\"ev\":\"{kind}\""));
    let clean =
        all.iter().find(|text| has(text, "donate") && has(text, "cow") && verdict_of(text).0 == "clean").unwrap();
    let changes: [(&str, &str, Change); 5] = [
        ("donate", "corrupt", |event| event["ok"] = false.into()),
        ("donate", "corrupt", |event| event["hash"] = "0".into()),
        ("match", "corrupt", |event| event["n"] = 1.into()),
        ("end", "broken", |event| event["leak"] = 1.into()),
        ("result", "broken", |event| {
            *event =
                serde_json::json!({ "i": event["i"], "ev": "assert", "message": "m", "where": "w", "kind": "raised" });
        }),
    ];
    for (kind, expected, change) in changes {
        let mut events = events(clean);
        let fits = |event: &Value| event["ev"] == kind && (kind != "match" || !event["slot"].is_null());
        let at = events.iter().position(fits).unwrap();
        change(&mut events[at]);
        assert_eq!(verdict_of(&written(&events)), (expected.to_string(), Some(at as u64 + 1)), "{kind}");
    }
}

#[test]
fn the_verdicts_of_recordings_change_the_exit_code_only_with_fail_on() {
    let file = scratch("fail-on").join("one.jsonl");
    let mut seen = std::collections::BTreeSet::new();
    for recording in recordings(CASES) {
        fs::write(&file, &recording).unwrap();
        let code = |more: &[&str]| {
            let args = [&["conform", file.to_str().unwrap(), "--format", "json"], more].concat();
            let out = overlapsim(&args);
            (out.status.code().unwrap(), out.stdout)
        };
        let (plain, summary) = code(&[]);
        let summary: Value = serde_json::from_slice(&summary).unwrap();
        let verdict = summary["recorded"].as_object().unwrap().iter().find(|(_, of)| of["recordings"] == 1).unwrap().0;
        if !seen.insert(verdict.clone()) {
            continue;
        }
        let codes = ["lossy", "corrupt", "never"].map(|word| code(&["--fail-on", word]).0);
        let expected = match verdict.as_str() {
            "clean" => [0, 0, 0],
            "lossy" => [1, 0, 0],
            "corrupt" | "broken" => [1, 1, 0],
            other => panic!("{other}"),
        };
        assert_eq!((plain, codes), (0, expected), "{verdict}");
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["broken", "clean", "corrupt", "lossy"]);
}
