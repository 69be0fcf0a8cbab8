//! The references are complete: every key of the JSON that a command prints and every field that a scenario may have is in their tables,
//! and nothing else is.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The path of a key through objects; lists do not count.
type Keys = Vec<String>;

/// A scenario with every form of `arrive`, `prompt` and `accept` that JSON spells, and one that a bound ends.
const FILES: [(&str, &str); 3] = [
    (
        "forms.ron",
        r#"(engine: (strategy: ExtraBufferLazy, track_interval: 4, mamba_chunk: 4, spec: (draft: 2, accept: Fixed([1, 3])),
            state: Ssm(dim: 8, vocab: 32, seed: 1)),
        requests: [(id: "a", prompt: Fresh(6), stop: Token(8), accepts: [2]), (id: "b", arrive: At("12ms"), prompt: Fresh(1), stop: Length(1)),
            (id: "c", arrive: Before("a", 9), prompt: Fresh(1), stop: Length(1)), (id: "d", prompt: Extend("a", 1), stop: Length(2))],
        events: [(turn: 3, do: FailAlloc("a"))], vary: (order: true))"#,
    ),
    (
        "seeded.ron",
        r#"(engine: (spec: (draft: 2, accept: Seeded(0.5))), requests: [(id: "a", prompt: Fresh(6), stop: Length(8))])"#,
    ),
    ("bound.ron", r#"(requests: [(id: "a", prompt: Fresh(6), stop: Length(8))], turns_max: 3)"#),
];

/// Sections of docs/output.md, each with commands that together print every key; `FOLDER` holds the files above. JSON is on standard output,
/// or in the file behind `-o`.
const PRINTED: [(&str, &[&str]); 10] = [
    (
        "JSON",
        &[
            "run scenarios/double-fire.ron --skew --format json",
            "run scenarios/admission-latched.ron --format json",
            "run scenarios/findings/completed-mask-0.5.18-extra-buffer-aliased.ron --rule completed-mask --format json",
        ],
    ),
    ("JSON of jitter", &["jitter scenarios/double-fire.ron --format json"]),
    ("JSON of cost", &["cost scenarios/steady-decode.ron --batch 1,4 --format json"]),
    ("JSON of check", &["check scenarios/check/interleaved.ron --rule mask-lookahead --format json"]),
    (
        "JSON of fuzz",
        &[
            "fuzz scenarios/check/interleaved.ron --seeds 0..60 --rule mask-lookahead --format json",
            "fuzz FOLDER/bound.ron --seeds 0..2 --rule paired --format json",
            "fuzz FOLDER/bound.ron --seeds 0..400 --rule paired --second-judge --max-time 1ns --jobs 1 --format json",
        ],
    ),
    ("JSON of kl", &["kl scenarios/kl-row2.ron --format json"]),
    ("JSON of graph", &["graph scenarios/torn-hit-copy.ron --format json"]),
    (
        "JSON of trace",
        &[
            "trace scenarios/double-fire.ron -o FOLDER/fire.json",
            "trace scenarios/lost-checkpoint.ron --rule mask-lookahead --turns 0..9 -o FOLDER/lost.json",
            "trace scenarios/kl-row2.ron --rule token-len -o FOLDER/holds.json",
            "trace FOLDER/bound.ron -o FOLDER/bound.json",
        ],
    ),
    (
        "JSON of conform",
        &["conform tests/recordings/whole/crossings.jsonl.gz FOLDER/none.jsonl --rule paired --format json"],
    ),
    ("JSON of scenario", &["scenario FOLDER/forms.ron --format json", "scenario FOLDER/seeded.ron --format json"]),
];

/// Headings of docs/scenario-format.md, each with a scenario that has the unknown field `zzz` there: the error lists the fields.
const ACCEPTED: [(&str, &str); 10] = [
    ("The file", "(zzz: 1)"),
    ("costs", "(costs: (zzz: 1))"),
    ("requests", "(requests: [(zzz: 1)])"),
    ("events", "(events: [(zzz: 1)])"),
    ("vary", "(vary: (zzz: 1))"),
    ("trace", "(trace: (zzz: 1))"),
    ("expect", "(expect: [(zzz: 1)])"),
    ("Finding", "(expect: [(rule: \"paired\", verdict: Lossy, findings: [(zzz: 1)])])"),
    ("Requests of an expectation", "(expect: [(rule: \"paired\", verdict: Clean, requests: [(zzz: 1)])])"),
    ("expect_every", "(expect_every: [(zzz: 1)])"),
];

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)).expect("the page")
}

/// Words in backticks.
fn words(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The words in the first column of the first table under a heading.
fn documented(page: &str, heading: &str) -> BTreeSet<String> {
    let is_heading = |line: &&str| line.starts_with('#') && line.trim_start_matches('#').trim() == heading;
    let below = page.lines().skip_while(|line| !is_heading(line)).skip(1).skip_while(|line| !line.starts_with('|'));
    let rows = below.take_while(|line| line.starts_with('|'));
    rows.flat_map(|row| words(row.split('|').nth(1).expect("a cell"))).collect()
}

/// `a.{b,c}` as `a.b` and `a.c`.
fn expanded(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let (inside, after) = rest.split_once('}').expect("a closing brace");
    inside.split(',').flat_map(|name| expanded(&format!("{before}{name}{after}"))).collect()
}

/// Every key below a value.
fn printed(value: &Value, above: &[String], all: &mut BTreeSet<Keys>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| printed(value, above, all)),
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = [above, std::slice::from_ref(key)].concat();
                printed(value, &path, all);
                all.insert(path);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn json(command: &str) -> Value {
    let args: Vec<&str> = command.split_whitespace().collect();
    let output = Command::new(env!("CARGO_BIN_EXE_overlapsim"))
        .args(&args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the binary runs");
    let file = args.iter().position(|arg| *arg == "-o").map(|at| std::fs::read(args[at + 1]).expect("a file"));
    serde_json::from_slice(&file.unwrap_or(output.stdout)).unwrap_or_else(|error| panic!("{command}: {error}"))
}

#[test]
fn every_key_that_is_printed_is_on_the_page_on_output() {
    let page = page("output.md");
    let folder = std::env::temp_dir().join(format!("overlapsim-reference-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in FILES {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    for (heading, commands) in PRINTED {
        let mut keys = BTreeSet::new();
        for command in commands {
            let command = command.replace("FOLDER", folder.to_str().expect("a path"));
            printed(&json(&command), &[], &mut keys);
        }
        let paths = documented(&page, heading).iter().flat_map(|path| expanded(path)).collect::<BTreeSet<String>>();
        let paths: Vec<Vec<&str>> = paths.iter().map(|path| path.split('.').collect()).collect();
        // An object or list needs no row beside those of its fields.
        let begins = |path: &[&str], keys: &Keys| {
            path.len() >= keys.len() && path.iter().zip(keys).all(|(name, key)| *name == "*" || name == key)
        };
        let missing: Vec<&Keys> = keys.iter().filter(|keys| !paths.iter().any(|path| begins(path, keys))).collect();
        assert!(missing.is_empty(), "{heading} lacks {missing:?}");
        let named = paths.iter().filter(|path| !path.contains(&"*"));
        let printed = |path: &[&str]| keys.iter().any(|keys| keys.len() == path.len() && begins(path, keys));
        let extra: Vec<_> = named.filter(|path| !printed(path)).collect();
        assert!(extra.is_empty(), "{heading} names what is not printed: {extra:?}");
    }
    std::fs::remove_dir_all(folder).expect("it was there");
}

#[test]
fn every_field_of_a_scenario_is_on_the_page_on_its_format() {
    let (page, rules) = (page("scenario-format.md"), overlapsim::runner::rule_names());
    for (heading, text) in ACCEPTED {
        let error = overlapsim::scenario::parse("probe.ron", text, Path::new("."), &rules).expect_err(heading);
        assert_eq!(documented(&page, heading), words(error.remedy()), "{heading}: {}", error.message());
    }
    // The error does not list all fields of `engine`; the JSON of a scenario does.
    let scenario = json("scenario scenarios/double-fire.ron --format json");
    let engine = scenario["engine"].as_object().expect("an object").keys().cloned().collect();
    assert_eq!(documented(&page, "engine"), engine);
}
