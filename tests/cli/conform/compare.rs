//! Whole recordings compared with the model: every changed field and line is found at its place.

use std::fs;

use super::{CASES, changed_value, events, overlapsim, recordings, root, scratch, text, written};
use serde_json::Value;

#[test]
fn the_output_is_the_same_for_any_number_of_jobs() {
    let folder = root("tests/recordings");
    let run = |jobs: &str| {
        let out = overlapsim(&[
            "conform",
            folder.to_str().unwrap(),
            "--rule",
            "token-len",
            "--format",
            "json",
            "--jobs",
            jobs,
        ]);
        assert_eq!(out.status.code(), Some(1), "another rule differs");
        out.stdout
    };
    let one = run("1");
    assert_eq!(one, run("2"));
    assert_eq!(one, run("7"));
    let summary: Value = serde_json::from_slice(&one).unwrap();
    let first = &summary["divergences"][0];
    for field in ["recording", "line", "turn", "event", "request", "field", "recorded", "modelled"] {
        assert!(first.get(field).is_some(), "{first}");
    }
    assert_eq!(
        summary["recordings"].as_u64().unwrap(),
        summary["agree"].as_u64().unwrap() + summary["divergences"].as_array().unwrap().len() as u64
    );
}

/// Every field of every kind of event is changed, one at a time, and the difference is found at its line. Left out are the fields
/// that the model takes over from the recording as inputs, and the text of assertions.
#[test]
fn every_field_of_every_kind_is_compared() {
    let folder = scratch("planted");
    let file = folder.join("planted.jsonl");
    let taken_over = ["meta", "arrive"];
    let mut seen = std::collections::BTreeSet::new();
    let mut planted = 0;
    for recording in recordings(CASES) {
        let lines: Vec<&str> = recording.lines().collect();
        for (at, line) in lines.iter().enumerate().skip(1) {
            let event: Value = serde_json::from_str(line).unwrap();
            let kind = event["ev"].as_str().unwrap().to_string();
            if taken_over.contains(&kind.as_str()) {
                continue;
            }
            for (path, changed) in changes(&event) {
                // An abort, an accepted length or an arrival in another turn is another input.
                let is_input = kind == "abort" || kind == "verify" && path == "accept" || path == "i" || path == "ev";
                if is_input || kind == "assert" || !seen.insert((kind.clone(), path.clone())) {
                    continue;
                }
                let mut text = lines[..at].join("\n");
                text.push_str(&format!("\n{changed}\n"));
                text.push_str(&lines[at + 1..].join("\n"));
                text.push('\n');
                fs::write(&file, text).unwrap();
                let out = overlapsim(&["conform", file.to_str().unwrap(), "--plan", "own", "--format", "json"]);
                let summary: Value = serde_json::from_slice(&out.stdout).unwrap();
                let found = summary["divergences"][0]["line"].as_u64().or(summary["errors"][0]["line"].as_u64());
                assert_eq!(found, Some(at as u64 + 1), "{kind}.{path}: {changed}\n{summary}");
                assert_ne!(out.status.code(), Some(0));
                planted += 1;
            }
        }
    }
    assert!(planted > 120, "{planted} changes");
}

/// Copies of an event, each with one changed value and the path of that value. Only the first row of a list is changed.
fn changes(event: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (name, value) in event.as_object().unwrap() {
        let inner: Vec<(String, Value)> = match value {
            Value::Object(_) => changes(value),
            Value::Array(rows) if rows.first().is_some_and(Value::is_object) => {
                let with = |changed: Value| {
                    let mut rows = rows.clone();
                    rows[0] = changed;
                    Value::Array(rows)
                };
                changes(&rows[0]).into_iter().map(|(path, changed)| (path, with(changed))).collect()
            }
            Value::Array(rows) if !rows.is_empty() => {
                let mut rows = rows.clone();
                rows[0] = changed_value(&rows[0]);
                vec![(String::new(), Value::Array(rows))]
            }
            value => vec![(String::new(), changed_value(value))],
        };
        for (path, changed) in inner {
            let mut event = event.clone();
            event[name] = changed;
            let path = if path.is_empty() { name.clone() } else { format!("{name}.{path}") };
            all.push((path, event));
        }
    }
    all
}

#[test]
fn a_line_too_many_or_too_few_is_found() {
    let folder = scratch("lines");
    let recording = &recordings(CASES)[0];
    let lines: Vec<&str> = recording.lines().collect();
    let conform = |name: &str, lines: &[&str]| {
        let file = folder.join(name);
        fs::write(&file, lines.join("\n") + "\n").unwrap();
        overlapsim(&["conform", file.to_str().unwrap(), "--plan", "own"])
    };
    let launch = lines.iter().position(|line| line.contains("\"launch\"")).unwrap();
    let mut fewer = lines.clone();
    fewer.remove(launch);
    assert_eq!(conform("fewer.jsonl", &fewer).status.code(), Some(1));
    let mut more = lines.clone();
    more.insert(launch, lines[launch]);
    assert_eq!(conform("more.jsonl", &more).status.code(), Some(1));
    let mut longer = lines.clone();
    longer.push(lines[launch]);
    let out = conform("longer.jsonl", &longer);
    assert_eq!(out.status.code(), Some(1), "what comes after the end counts");
    assert!(text(&out.stdout).contains("recorded \"launch\", modelled nothing"), "{}", text(&out.stdout));
}

/// No later event depends on `fired` and `next_mask`: the comparison goes on after a difference in them.
#[test]
fn a_difference_in_a_field_on_which_nothing_depends_does_not_end_the_comparison() {
    let file = scratch("observed").join("one.jsonl");
    let run = |events: &[Value]| {
        fs::write(&file, written(events)).unwrap();
        let out = overlapsim(&["conform", file.to_str().unwrap(), "--plan", "own", "--format", "json"]);
        (out.status.code(), serde_json::from_slice::<Value>(&out.stdout).unwrap())
    };
    let fires = |event: &Value| event["ev"] == "result" && event["reqs"][0]["fired"] == true;
    let looks = |event: &Value| event["ev"] == "prepare_decode" && event["next_mask"][0].is_boolean();
    let mut recordings = recordings(CASES).into_iter().map(|text| events(&text));
    let plain = recordings
        .find(|events| {
            let at = events.iter().position(fires).filter(|_| events.iter().any(looks));
            at.is_some_and(|at| events[at..].iter().any(|event| event["ev"] == "donate"))
        })
        .unwrap();
    let whole = run(&plain).1;
    for (name, at) in [
        ("result.reqs.fired", plain.iter().position(fires)),
        ("prepare_decode.next_mask", plain.iter().position(looks)),
    ] {
        let at = at.unwrap();
        let mut changed = plain.clone();
        let value = if name == "result.reqs.fired" {
            &mut changed[at]["reqs"][0]["fired"]
        } else {
            &mut changed[at]["next_mask"][0]
        };
        *value = (!value.as_bool().unwrap()).into();
        let (code, summary) = run(&changed);
        assert_eq!(code, Some(1), "{summary}");
        assert_eq!(summary["observed"], serde_json::json!({ name: 1 }));
        let first = &summary["divergences"][0];
        assert_eq!((first["line"].as_u64(), &first["agrees_otherwise"]), (Some(at as u64 + 1), &Value::Bool(true)));
        assert_eq!(summary["compared"], whole["compared"], "everything else was compared");
        let text_of = text(&overlapsim(&["conform", file.to_str().unwrap(), "--plan", "own"]).stdout);
        assert!(text_of.contains(&format!("observed:    {name} 1; ")), "{text_of}");
        // A wrong donation later on is found.
        let after = at + changed[at..].iter().position(|event| event["ev"] == "donate").unwrap();
        changed[after]["label"] = 1.into();
        let (_, summary) = run(&changed);
        let found = &summary["divergences"][0];
        assert_eq!((found["line"].as_u64(), &found["field"]), (Some(after as u64 + 1), &Value::from("label")));
        assert_eq!(
            (&found["agrees_otherwise"], &summary["observed"]),
            (&Value::Bool(false), &serde_json::json!({ name: 1 }))
        );
    }
}

/// Some releases write slot -1 for a missing slot. Such a recording is read, and it differs where the model has no such slot.
#[test]
fn a_slot_below_zero_is_read_and_differs() {
    let folder = scratch("no-slot");
    let recording = &recordings(CASES)[0];
    for (kind, list) in [("slot_free", true), ("slot_alloc", true), ("donate", false), ("track_write", false)] {
        let mut changed = None;
        let lines = recording.lines().enumerate().map(|(at, line)| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            let slots = &event["slots"];
            let fits = event["ev"] == kind && (!list || slots.as_array().is_some_and(|slots| !slots.is_empty()));
            if !fits || changed.is_some() {
                return line.to_string();
            }
            changed = Some(at as u64 + 1);
            if list {
                event["slots"][0] = (-1).into();
            } else {
                event["slot"] = (-1).into();
            }
            event.to_string()
        });
        let text_of: Vec<String> = lines.collect();
        let file = folder.join(format!("{kind}.jsonl"));
        fs::write(&file, text_of.join("\n") + "\n").unwrap();
        for plan in ["own", "recorded"] {
            let out = overlapsim(&["conform", file.to_str().unwrap(), "--plan", plan, "--format", "json"]);
            assert_eq!(out.status.code(), Some(1), "{kind}: {}", text(&out.stderr));
            let summary: Value = serde_json::from_slice(&out.stdout).unwrap();
            assert_eq!(summary["divergences"][0]["line"].as_u64(), changed, "{kind} {plan}: {summary}");
        }
    }
}

#[test]
fn a_recording_that_forces_the_impossible_differs_and_the_others_still_run() {
    let folder = scratch("forced");
    let mut differ = 0;
    for (nth, recording) in recordings(CASES).iter().enumerate().take(60) {
        // The first token of a prompt is changed: the events after it do not fit.
        let (before, after) = recording.split_once("\"prompt\":[").unwrap();
        let (token, rest) = after.split_once([',', ']']).unwrap();
        let other = (token.parse::<u32>().unwrap() + 1) % 1000;
        let separator = &after[token.len()..=token.len()];
        let changed = format!("{before}\"prompt\":[{other}{separator}{rest}");
        let body_changed = changed.split_once('\n').unwrap().1;
        fs::write(folder.join(format!("{nth:03}.jsonl")), body_changed).unwrap();
    }
    for plan in ["own", "recorded"] {
        let out = overlapsim(&["conform", folder.to_str().unwrap(), "--plan", plan, "--format", "json"]);
        assert_eq!(out.status.code(), Some(1), "{plan}: {}", text(&out.stderr));
        assert_eq!(text(&out.stderr), "", "{plan}");
        let summary: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(summary["recordings"].as_u64(), Some(60));
        differ += summary["divergences"].as_array().unwrap().len();
    }
    assert!(differ > 60, "{differ}");
}
