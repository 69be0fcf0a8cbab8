//! `conform`, `import` and `scenario` as commands: what they find, what they refuse, and that both come back the same.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use overlapsim::{runner, scenario};
use serde_json::Value;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn overlapsim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_overlapsim")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A directory of its own for a test.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn unpacked(path: &str) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(fs::File::open(root(path)).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// The recordings of an archive, each with its heading if it has one.
fn recordings(path: &str) -> Vec<String> {
    let text = unpacked(path);
    let headed = text.starts_with("{\"scenario\"");
    let begins = |line: &str| if headed { line.starts_with("{\"scenario\"") } else { line.contains("\"ev\":\"meta\"") };
    let mut all: Vec<String> = Vec::new();
    for line in text.lines() {
        if begins(line) {
            all.push(String::new());
        }
        let last = all.last_mut().unwrap();
        last.push_str(line);
        last.push('\n');
    }
    all
}

const CASES: &str = "tests/recordings/whole/cases.jsonl.gz";

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

/// Every field of every kind of event, changed one at a time, is found at its line; but for those that are taken over
/// as what the recording was made of, and for the text of assertions.
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

/// An event with one of its values changed, by the path of the value; rows of a list count once.
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
                rows[0] = other(&rows[0]);
                vec![(String::new(), Value::Array(rows))]
            }
            value => vec![(String::new(), other(value))],
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

fn other(value: &Value) -> Value {
    match value {
        Value::Null => 3.into(),
        Value::Bool(yes) => (!yes).into(),
        Value::Number(number) => (number.as_i64().unwrap() + 1).into(),
        Value::String(text) => format!("{text}x").into(),
        Value::Array(_) | Value::Object(_) => Value::Null,
    }
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

#[test]
fn what_cannot_be_read_is_named_with_line_and_remedy_and_the_others_still_run() {
    let folder = scratch("unreadable");
    let whole = fs::read(root(CASES)).unwrap();
    let recording = &recordings(CASES)[0];
    let lines: Vec<&str> = recording.lines().collect();
    let mut wrong = lines.clone();
    wrong[4] = "{\"i\":3,\"ev\":";
    let cut = recording.len() - 20;
    let files: [(&str, Vec<u8>, &str); 9] = [
        ("cut.jsonl.gz", whole[..whole.len() / 2].to_vec(), "the compressed data ends too early"),
        ("damaged.jsonl.gz", [&whole[..5000], &[0u8; 4000], &whole[9000..]].concat(), "is damaged"),
        ("cut.jsonl", recording.as_bytes()[..cut].to_vec(), "ends in the middle of this line"),
        ("no-end.jsonl", (lines[..lines.len() - 1].join("\n") + "\n").into_bytes(), "stops without its `end`"),
        ("line.jsonl", (wrong.join("\n") + "\n").into_bytes(), "5: this line is not an event"),
        ("foreign.jsonl", b"{\"hello\":1}\n".to_vec(), "this is not a recording"),
        ("empty.jsonl", Vec::new(), "the file is empty"),
        ("bytes.jsonl", b"\xff\xfe\n".to_vec(), "this is not a recording"),
        ("old.jsonl", recording.replace("\"version\":\"0.5.", "\"version\":\"0.4.").into_bytes(), "--release"),
    ];
    for (name, bytes, expected) in &files {
        let file = folder.join(name);
        fs::write(&file, bytes).unwrap();
        let good = folder.join("good.jsonl");
        fs::write(&good, recording).unwrap();
        let out = overlapsim(&["conform", file.to_str().unwrap(), good.to_str().unwrap()]);
        let error = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{name}: {error}");
        assert!(error.contains(expected) && error.contains("help: "), "{name}: {error}");
        assert!(text(&out.stdout).contains(" agree, 0 differ"), "{name}: {}", text(&out.stdout));
        assert!(!text(&out.stdout).starts_with("0 recordings"), "{name}");
    }
    let gone = overlapsim(&["conform", folder.join("gone.jsonl").to_str().unwrap()]);
    assert_eq!(gone.status.code(), Some(2));
    let number = format!("{}#999", root(CASES).display());
    let none = overlapsim(&["conform", &number]);
    assert!(none.status.code() == Some(2) && text(&none.stderr).contains("no recording #999"));
}

/// The lines of a recording as JSON.
fn events(recording: &str) -> Vec<Value> {
    recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn written(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// Recordings of a release that caches wrong states agree with a model that says so: both are told, the one beside the other.
#[test]
fn what_the_recordings_themselves_show_is_told_beside_agreement() {
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
    // 42 assertions, each ends its recording.
    assert_eq!(counts[4], 42);
    // They are the same whatever they are compared with, and whether or not it agrees.
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

/// A recording by its own contents: each kind of event that says something is enough alone.
#[test]
fn each_wrong_thing_in_a_recording_makes_its_verdict() {
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
    type Change = fn(&mut Value);
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
fn fail_on_sees_the_verdicts_of_the_recordings_and_nothing_does_without_it() {
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

/// Nothing depends on `fired` and `next_mask`: what comes after a difference in them is compared all the same.
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
        // A donation after it that is wrong is found.
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

/// A release without a slot may name slot -1: the recording is read, and differs where the model has no such slot.
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

/// What a recording says of how it was made is told, and changes nothing.
#[test]
fn the_tree_core_and_what_a_scenario_sets_beyond_the_model_are_told() {
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
fn a_difference_is_shown_with_what_is_around_it_and_a_line_that_shows_it_again() {
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
        event[field] = other(&event[field]);
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
        // The first row is left out, so that what is left stands in another place than the model's.
        for (_, value) in event.as_object_mut().unwrap() {
            if let Some(values) = value.as_array_mut().filter(|values| values.len() == rows) {
                values.remove(0);
            }
        }
        event["rows_left_out"] = 1.into();
        let good = conform(at, &event);
        assert_eq!(good.status.code(), Some(0), "line {}: {}", at + 1, text(&good.stdout));
        if event.get("kv_allocated").is_some() {
            event["kv_allocated"][0] = other(&event["kv_allocated"][0]);
            let bad = conform(at, &event);
            assert_eq!(bad.status.code(), Some(1), "line {}: {}", at + 1, text(&bad.stdout));
        }
    }
    assert_eq!(speculative, 3);
}

#[test]
fn a_recording_that_forces_the_impossible_differs_and_the_others_still_run() {
    let folder = scratch("forced");
    let mut differ = 0;
    for (nth, recording) in recordings(CASES).iter().enumerate().take(60) {
        // Another prompt than the one that was run: nothing after it fits.
        let (before, after) = recording.split_once("\"prompt\":[").unwrap();
        let (token, rest) = after.split_once([',', ']']).unwrap();
        let other = (token.parse::<u32>().unwrap() + 1) % 1000;
        let separator = &after[token.len()..=token.len()];
        let changed = format!("{before}\"prompt\":[{other}{separator}{rest}");
        let (heading, body) = recording.split_once('\n').unwrap();
        let body_changed = changed.split_once('\n').unwrap().1;
        let _ = (heading, body);
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

#[test]
fn import_never_writes_over_what_it_reads_or_what_is_no_file() {
    let folder = scratch("import-over");
    let recording = folder.join("one.jsonl");
    let body = recordings(CASES)[0].split_once('\n').unwrap().1.to_string();
    fs::write(&recording, &body).unwrap();
    let over = overlapsim(&["import", recording.to_str().unwrap(), "-o", recording.to_str().unwrap()]);
    assert!(over.status.code() == Some(2) && text(&over.stderr).contains("over itself"));
    assert_eq!(fs::read_to_string(&recording).unwrap(), body);
    #[cfg(unix)]
    {
        let link = folder.join("link.ron");
        std::os::unix::fs::symlink(folder.join("target.ron"), &link).unwrap();
        let out = overlapsim(&["import", recording.to_str().unwrap(), "-o", link.to_str().unwrap()]);
        assert!(out.status.code() == Some(2) && text(&out.stderr).contains("no regular file"));
        assert!(link.is_symlink());
    }
}

#[test]
fn every_recording_of_the_sample_becomes_a_scenario_that_replays_it() {
    let folder = scratch("import");
    let alone = scratch("import-alone").join("one.jsonl");
    let mut count = 0;
    for path in [
        CASES,
        "tests/recordings/whole/releases.jsonl.gz",
        "tests/recordings/whole/scenarios.jsonl.gz",
        "tests/recordings/whole/crossings.jsonl.gz",
        "tests/recordings/partial.jsonl.gz",
    ] {
        let all = recordings(path);
        for (index, recording) in all.iter().enumerate() {
            let out_file = folder.join(format!("{count}.ron"));
            // Some by their place in the file; the others from files of their own, so that not each is looked for behind all before it.
            let by_place = index % 50 == 7 || index + 1 == all.len();
            let source = if by_place {
                format!("{}#{index}", root(path).display())
            } else {
                fs::write(&alone, recording).unwrap();
                alone.to_string_lossy().into_owned()
            };
            let out = overlapsim(&["import", &source, "-o", out_file.to_str().unwrap()]);
            let told = format!("{path}#{index}: {}{}", text(&out.stdout), text(&out.stderr));
            assert_eq!(out.status.code(), Some(0), "{told}");
            count += 1;
        }
    }
    assert_eq!(count, 172 + 55 + 157 + 4 + 21);
    let out = overlapsim(&["test", folder.to_str().unwrap()]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains(&format!("{count} passed, 0 failed")), "{said}");
}

#[test]
fn import_writes_all_or_nothing() {
    let folder = scratch("import-errors");
    let target = folder.join("case.ron");
    fs::write(&target, "kept").unwrap();
    let several = overlapsim(&["import", root(CASES).to_str().unwrap(), "-o", target.to_str().unwrap()]);
    assert!(several.status.code() == Some(2) && text(&several.stderr).contains("several recordings"));
    let foreign = folder.join("foreign.jsonl");
    fs::write(&foreign, "no\n").unwrap();
    let out = overlapsim(&["import", foreign.to_str().unwrap(), "-o", target.to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
    let source = format!("{}#0", root(CASES).display());
    let nowhere = folder.join("no/such/case.ron");
    let out = overlapsim(&["import", &source, "-o", nowhere.to_str().unwrap()]);
    assert!(out.status.code() == Some(2) && text(&out.stderr).contains("help: "));
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn every_scenario_written_out_anew_is_the_same() {
    let rules = runner::rule_names();
    let mut count = 0;
    for entry in fs::read_dir(root("scenarios")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(before) = scenario::load(&path, &rules) else { continue };
        let after = scenario::parse("again", &scenario::write(&before), "".as_ref(), &rules)
            .unwrap_or_else(|diagnostic| panic!("{}: {}", path.display(), diagnostic.render(false)));
        assert_eq!(before.setup, after.setup, "{}", path.display());
        assert_eq!((before.rule, before.seed, before.expect), (after.rule, after.seed, after.expect));
        let json: Value = serde_json::from_str(&scenario::json(&scenario::load(&path, &rules).unwrap(), "x")).unwrap();
        assert_eq!(json["requests"].as_array().unwrap().len(), after.setup.requests.len());
        count += 1;
    }
    assert!(count > 50, "{count}");
}

#[test]
fn a_release_in_place_of_the_recorded_one_is_told() {
    let folder = scratch("other-release");
    let out = folder.join("made.ron");
    let import = |release: &str| {
        let recording = "tests/recordings/whole/releases.jsonl.gz#5";
        let done = overlapsim(&["import", recording, "-o", out.to_str().unwrap(), "--release", release]);
        text(&done.stdout) + &text(&done.stderr) + &fs::read_to_string(&out).unwrap()
    };
    let note = "version 0.5.23 is replayed under release 0.5.18, as --release says";
    assert_eq!(import("0.5.18").matches(note).count(), 2, "on the terminal and in the first line of the file");
    assert!(!import("0.5.23").contains("is replayed under release"));
}
