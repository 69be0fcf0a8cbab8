//! `check`: counts, verdicts, kinds, and what it prints and writes.

use std::collections::BTreeSet;

use overlapsim::command::{CheckArgs, Exit, FailOnVerdict, Format, OrderWord, OutsidePaths, check_to_text};
use overlapsim::judge::{FindingKind, Verdict};
use overlapsim::runner::{self, CheckSpec, Checked};
use overlapsim::scenario::{self, Scenario};
use overlapsim::search::{Bound, Order, SearchLimits};
use serde_json::Value;

use super::tools::{Folder, INTERLEAVED, LAZY, overlapsim, texts, words};

fn read(text: &str) -> Scenario {
    scenario::parse("x.ron", text, ".".as_ref(), &runner::rule_names()).expect("a valid scenario")
}

fn search_in(scenario: &Scenario, rule: &str, order: Order, jobs: usize, states_max: u64) -> Checked {
    let rule = runner::rule(rule).expect("a rule");
    let check = CheckSpec { setup: &scenario.setup, rule, open: &scenario.vary.open(), order, unreduced: false, jobs };
    runner::check(&check, SearchLimits { states_max, stop: &|_| false })
}

fn search(text: &str, rule: &str) -> Checked {
    search_in(&read(text), rule, Order::Bfs, 1, u64::MAX)
}

fn kinds(checked: &Checked) -> BTreeSet<FindingKind> {
    checked.findings.iter().map(|found| found.finding.kind).collect()
}

/// A conversation: every request extends the one before, which may have stopped anywhere.
fn conversation(requests: u32, outputs: u32) -> String {
    let mut list = format!("(id: \"t0\", prompt: Fresh(1), stop: Length({outputs})),");
    for nth in 1..requests {
        let before = nth - 1;
        list.push_str(&format!(
            "(id: \"t{nth}\", arrive: After(\"t{before}\"), prompt: Extend(\"t{before}\", 1), stop: Length({outputs})),"
        ));
    }
    format!("(engine: (track_interval: 4, mamba_chunk: 4), requests: [{list}], vary: (stops: true))")
}

/// Slots go from one request to another while a step in flight writes them.
const SHORT_POOL: &str = include_str!("../../scenarios/check/short-pool.ron");

/// Requests that are over leave slots behind in many orders.
const ANY_STOPS: &str = r#"(
    engine: (track_interval: 4, mamba_chunk: 4),
    requests: [
        (id: "a", prompt: Fresh(1), stop: Length(9)),
        (id: "b", prompt: Fresh(3), stop: Length(9)),
        (id: "c", prompt: Fresh(5), stop: Length(9)),
    ],
    vary: (stops: true),
)"#;

#[test]
fn counts_are_pinned() {
    let counts = |text: &str| {
        let checked = search(text, "mask-lookahead");
        assert!(checked.is_complete());
        let explored = checked.explored;
        (explored.states, explored.unique, explored.transitions, explored.depth)
    };
    let pinned = [counts(&conversation(3, 9)), counts(INTERLEAVED), counts(LAZY)];
    assert_eq!(pinned, [(1732, 912, 1731, 30), (2434, 578, 2433, 16), (276, 103, 275, 11)]);
}

#[test]
fn one_request_and_three_prefills_under_every_rule() {
    let found = |rule| {
        let checked = search(INTERLEAVED, rule);
        assert!(checked.is_complete());
        (checked.verdict, kinds(&checked).into_iter().collect::<Vec<_>>())
    };
    let ahead = (Verdict::Corrupt, vec![FindingKind::Mislabelled, FindingKind::Unwritten, FindingKind::Lost]);
    assert_eq!(found("committed-len"), ahead);
    assert_eq!(found("token-len"), (Verdict::Clean, vec![]));
    assert_eq!(found("mask-lookahead"), ahead);
    assert_eq!(found("completed-mask"), (Verdict::Corrupt, vec![FindingKind::Aliased]));
    assert_eq!(found("paired"), (Verdict::Clean, vec![]));
}

/// The rows of the table of known facts in docs/rules.md, each as a case in which only the timing is left open, and what
/// the table says of `committed-len`, `token-len`, `mask-lookahead`, `completed-mask` and `paired`.
#[test]
fn known_facts_are_found() {
    use FindingKind::{Lost, Mislabelled, Unwritten};
    let engine =
        |strategy| format!("engine: (release: V0_5_17, strategy: {strategy}, track_interval: 4, mamba_chunk: 4)");
    let case = |strategy, prompt: u32, outputs: u32, other: bool| {
        let other = if other { "(id: \"b\", prompt: Fresh(1), stop: Length(1))," } else { "" };
        let engine = engine(strategy);
        format!(
            "({engine}, requests: [(id: \"a\", prompt: Fresh({prompt}), stop: Length({outputs})), {other}], \
             vary: (arrivals: true, stops: true))"
        )
    };
    let rows: [(u32, String, [&[FindingKind]; 5]); 7] = [
        (1, case("ExtraBuffer", 1, 8, false), [&[], &[], &[], &[], &[]]),
        (2, case("ExtraBufferLazy", 1, 8, false), [&[], &[Mislabelled], &[], &[], &[]]),
        (3, case("ExtraBuffer", 1, 4, true), [&[Unwritten], &[], &[Unwritten], &[], &[]]),
        (4, case("ExtraBuffer", 1, 4, true), [&[Lost], &[], &[Lost], &[], &[]]),
        (5, case("ExtraBufferLazy", 1, 8, true), [&[Mislabelled, Lost], &[], &[Mislabelled, Lost], &[], &[]]),
        (6, case("ExtraBuffer", 3, 2, false), [&[Lost], &[], &[Lost], &[], &[]]),
        (
            7,
            case("ExtraBufferLazy", 7, 2, false),
            [&[Mislabelled, Lost], &[Mislabelled, Unwritten], &[Mislabelled, Lost], &[], &[]],
        ),
    ];
    for (nth, text, rules) in rows {
        assert_eq!(rules.len(), runner::rule_names().len(), "row {nth} has a column for every rule");
        for (rule, expected) in runner::rule_names().into_iter().zip(rules) {
            let found = kinds(&search(&text, rule));
            assert!(expected.iter().all(|kind| found.contains(kind)), "row {nth} under {rule}: {found:?}");
        }
    }
}

#[test]
fn a_bound_is_named_and_earlier_findings_are_kept() {
    let scenario = read(INTERLEAVED);
    let whole = search_in(&scenario, "mask-lookahead", Order::Bfs, 1, u64::MAX);
    let first = whole.findings.iter().map(|found| found.path.steps).min().expect("it finds something");
    let checked = search_in(&scenario, "mask-lookahead", Order::Bfs, 1, 2);
    assert_eq!((checked.verdict, checked.explored.bound), (Verdict::Inconclusive, Some(Bound::States)));
    assert!(checked.explored.depth < first && !checked.is_complete());
    let most = search_in(&scenario, "mask-lookahead", Order::Bfs, 1, whole.explored.unique - 1);
    assert_eq!((most.verdict, most.explored.bound), (Verdict::Corrupt, Some(Bound::States)));
    let clean = search_in(&scenario, "token-len", Order::Bfs, 1, 100);
    assert_eq!(clean.verdict, Verdict::Inconclusive);
}

#[test]
fn both_orders_and_any_number_of_threads_find_the_same() {
    for text in [INTERLEAVED, LAZY, &conversation(3, 6), SHORT_POOL, ANY_STOPS] {
        let scenario = read(text);
        for rule in runner::rule_names() {
            let one = search_in(&scenario, rule, Order::Bfs, 1, u64::MAX);
            let deep = search_in(&scenario, rule, Order::Dfs, 1, u64::MAX);
            assert_eq!((one.verdict, kinds(&one)), (deep.verdict, kinds(&deep)), "{rule}");
            assert_eq!(one.explored.unique, deep.explored.unique, "{rule}");
            for jobs in [2, 5] {
                assert_eq!(search_in(&scenario, rule, Order::Bfs, jobs, u64::MAX).explored, one.explored);
                assert_eq!(search_in(&scenario, rule, Order::Dfs, jobs, u64::MAX).explored, deep.explored);
            }
        }
    }
}

fn args(file: &std::path::Path, rule: &str, format: Format) -> CheckArgs {
    CheckArgs {
        outside: OutsidePaths::default(),
        file: file.to_path_buf(),
        rule: Some(rule.to_string()),
        strategy: OrderWord::Bfs,
        states_max: 1_000_000,
        time_max_ns: None,
        no_reduction: false,
        out: None,
        jobs: Some(1),
        format,
        fail_on: FailOnVerdict::default(),
    }
}

#[test]
fn the_same_is_printed_for_any_number_of_threads() {
    let folder = Folder::new("jobs");
    let file = folder.write("x.ron", INTERLEAVED);
    for format in [Format::Text, Format::Json] {
        let print = |jobs| {
            let args = CheckArgs { jobs: Some(jobs), ..args(&file, "all", format) };
            let (text, exit) = check_to_text(&args).expect("it can be searched");
            assert_eq!(exit, Exit::Found);
            text
        };
        let one = print(1);
        assert_eq!(print(2), one);
        assert_eq!(print(5), one);
    }
}

#[test]
fn exit_codes_follow_the_verdict() {
    let folder = Folder::new("exits");
    folder.write("x.ron", INTERLEAVED);
    let code = |more: &[&str]| {
        let args = [&["check", "x.ron", "--rule"][..], more].concat();
        overlapsim(folder.path(), &args).status.code()
    };
    assert_eq!(code(&["token-len"]), Some(0));
    assert_eq!(code(&["mask-lookahead"]), Some(1));
    assert_eq!(code(&["token-len", "--max-states", "50"]), Some(3));
    assert_eq!(code(&["no-such-rule"]), Some(2));
    assert_eq!(code(&["token-len", "--max-states", "0"]), Some(2));
    assert_eq!(code(&["token-len", "--max-time", "x"]), Some(2));
}

#[test]
fn every_replay_line_shows_its_kind() {
    let folder = Folder::new("replay");
    for (name, text) in [("x.ron", INTERLEAVED), ("lazy.ron", LAZY)] {
        folder.write(name, text);
        let output = overlapsim(folder.path(), &["check", name, "--rule", "all", "--format", "json"]);
        let json: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        let mut lines = 0;
        for report in json.as_array().expect("one for each rule") {
            for finding in report["findings"].as_array().expect("a list") {
                let line = finding["replay"].as_str().expect("a line");
                let (choices, kind) = (finding["choices"].as_str().expect("a list"), finding["kind"].as_str());
                assert!(line.contains(&format!(" --choices {choices} ")), "{line}");
                assert!(!choices.ends_with(".0"), "an answer of the script at the end says nothing: {choices}");
                let (text, error) = texts(&overlapsim(folder.path(), &words(line)));
                assert!(
                    error.is_empty() && text.contains(&format!(". {}: ", kind.expect("a kind"))),
                    "{line}: {error}{text}"
                );
                lines += 1;
            }
        }
        assert!(lines >= 3, "{name}");
    }
}

/// The fields of the JSON, in order: other programs read them.
#[test]
fn json_is_an_object_for_one_rule_and_an_array_for_several() {
    let folder = Folder::new("json");
    let file = folder.write("x.ron", INTERLEAVED);
    let text = |rule| check_to_text(&args(&file, rule, Format::Json)).expect("it can be searched").0;
    let one = text("mask-lookahead");
    let in_order = |text: &str, fields: &[&str]| {
        let places: Vec<usize> =
            fields.iter().map(|field| text.find(&format!("\"{field}\":")).expect("the field is there")).collect();
        assert!(places.is_sorted(), "{fields:?}: {places:?}");
    };
    in_order(&one, &["rule", "verdict", "complete", "states", "unique", "transitions", "depth", "findings", "bound"]);
    let finding = &one[one.find("\"findings\":").expect("findings")..];
    in_order(finding, &["kind", "label", "holds", "choices", "scenario"]);
    let json: Value = serde_json::from_str(&one).expect("it is JSON");
    assert_eq!((&json["rule"], &json["complete"]), (&"mask-lookahead".into(), &true.into()));
    let all: Value = serde_json::from_str(&text("all")).expect("it is JSON");
    assert_eq!(all.as_array().map(Vec::len), Some(runner::rule_names().len()));
    assert_eq!(all[2], json);
}

#[test]
fn what_is_written_passes_its_own_test() {
    let folder = Folder::new("out");
    let file = folder.write("x.ron", INTERLEAVED);
    let out = folder.path().join("found");
    let (text, _) = check_to_text(&CheckArgs { out: Some(out.clone()), ..args(&file, "all", Format::Text) })
        .expect("it can be searched");
    let files: Vec<_> =
        std::fs::read_dir(&out).expect("a directory").map(|entry| entry.expect("a file").path()).collect();
    assert_eq!(files.len(), text.matches("  scenario: ").count());
    assert!(files.len() >= 3, "{files:?}");
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a file");
        let mut lines = text.lines();
        let (reason, replay) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
        assert!(reason.starts_with("// ") && reason.contains("Found by check of x "), "{reason}");
        let line = replay.strip_prefix("// ").expect("a comment with the command");
        let kind = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let (printed, error) = texts(&overlapsim(&out, &words(line)));
        let shown = ["lost", "unwritten", "mislabelled", "foreign", "aliased"]
            .iter()
            .any(|shown| kind.ends_with(shown) && printed.contains(&format!(". {shown}: ")));
        assert!(error.is_empty() && shown, "{kind}: {line}: {error}{printed}");
    }
    let output = overlapsim(folder.path(), &["test", "found"]);
    assert_eq!(output.status.code(), Some(0), "{:?}", texts(&output));
    assert!(texts(&output).0.ends_with(&format!("{} passed, 0 failed\n", files.len())));
}

#[test]
fn where_nothing_is_open_there_is_one_timing() {
    let text = INTERLEAVED.replace("vary: (arrivals: true, stops: true),", "");
    let checked = search(&text, "mask-lookahead");
    let explored = &checked.explored;
    assert_eq!((explored.transitions, explored.unique), (u64::from(explored.depth), u64::from(explored.depth)));
    assert!(checked.is_complete() && checked.findings.iter().all(|found| found.path.answers.is_empty()));
    let scenario = read(&text);
    let rule = runner::rule("mask-lookahead").expect("a rule");
    let run = runner::run(&scenario.setup, rule, 0, runner::Keep::default(), None).judgement;
    assert_eq!(run.verdict, checked.verdict);
}

/// What is drawn by seed in a plain run is as short as can be in a search, and in the replay of what it found.
#[test]
fn drawn_durations_are_the_shortest_in_a_search_and_in_its_replay() {
    let folder = Folder::new("drawn");
    let text = r#"(
        engine: (release: V0_5_17, track_interval: 4, mamba_chunk: 4, spec: (draft: 2, accept: Seeded(0.5))),
        seed: 3,
        requests: [
            (id: "a", prompt: Fresh(3), stop: Length(12)),
            (id: "b", prompt: Fresh(2), stop: Length(3)),
        ],
        vary: (arrivals: true, stops: true),
    )"#;
    folder.write("x.ron", text);
    let output = overlapsim(folder.path(), &["check", "x.ron", "--rule", "all", "--format", "json"]);
    let (printed, error) = texts(&output);
    assert!(error.is_empty(), "{error}");
    let json: Value = serde_json::from_str(&printed).expect("it is JSON");
    let mut lines = 0;
    for finding in json.as_array().expect("a list").iter().flat_map(|report| report["findings"].as_array().unwrap()) {
        let line = finding["replay"].as_str().expect("a line");
        let (text, error) = texts(&overlapsim(folder.path(), &words(line)));
        assert!(
            error.is_empty() && text.contains(&format!(". {}: ", finding["kind"].as_str().expect("a kind"))),
            "{line}: {error}{text}"
        );
        lines += 1;
    }
    assert!(lines > 0, "{printed}");
}

/// The turn that is printed is that of the finding in a run of its choices, in text and JSON.
#[test]
fn the_turn_of_a_finding_is_the_one_that_its_replay_shows() {
    let folder = Folder::new("turns");
    folder.write("x.ron", INTERLEAVED);
    let file = folder.path().join("x.ron");
    let print = |format| check_to_text(&args(&file, "mask-lookahead", format)).expect("it can be searched").0;
    let (text, json) = (print(Format::Text), print(Format::Json));
    let report: Value = serde_json::from_str(&json).expect("it is JSON");
    let findings = report["findings"].as_array().expect("a list");
    assert_eq!(findings.len(), 3, "{json}");
    for finding in findings {
        let choices = finding["choices"].as_str().unwrap();
        let line = ["run", "x.ron", "--rule", "mask-lookahead", "--choices", choices, "--format", "json"];
        let (run, error) = texts(&overlapsim(folder.path(), &line));
        let run: Value = serde_json::from_str(&run).unwrap_or_else(|_| panic!("{error}"));
        let all = run["findings"].as_array().unwrap();
        let shown = all.iter().find(|of| of["kind"] == finding["kind"]).expect("the replay shows it");
        assert_eq!((&finding["turn"], &finding["reason"]), (&shown["turn"], &shown["reason"]));
        let (seen, turn) = (if finding["kind"] == "lost" { "due" } else { "seen" }, finding["turn"].as_u64().unwrap());
        let reach = format!("  first {seen} in turn {turn}; {} transitions reach it\n", finding["times"]);
        assert!(text.contains(&reach), "{reach}{text}");
        assert!(finding["turns_run"].as_u64().unwrap() > turn, "turns count from 0");
        assert!(finding.get("turns").is_none(), "a name that says neither number nor count");
    }
}

/// A search has no seed. With accepted tokens drawn it once took the shortest draw for all, in which every draft token is
/// accepted, and called itself complete.
#[test]
fn accepted_tokens_that_are_drawn_are_searched() {
    let scenario = |accept: &str, vary: &str| {
        format!(
            r#"(
                engine: (
                    release: V0_5_17, strategy: ExtraBufferLazy, track_interval: 8, mamba_chunk: 8,
                    spec: (draft: 3, accept: {accept}),
                ),
                requests: [(id: "a", prompt: Fresh(3), stop: Length(16)), (id: "p", prompt: Fresh(1), stop: Length(1))],
                vary: ({vary}),
            )"#
        )
    };
    let folder = Folder::new("drawn-accepts");
    let found = |text: &str| {
        let file = folder.write("x.ron", text);
        let text = check_to_text(&args(&file, "mask-lookahead", Format::Json)).expect("it can be searched").0;
        serde_json::from_str::<Value>(&text).expect("it is JSON")
    };
    let open = found(&scenario("Fixed([2])", "stops: true, accept: true"));
    let drawn = found(&scenario("Seeded(0.7)", "stops: true"));
    for field in ["verdict", "complete", "unique", "transitions"] {
        assert_eq!(drawn[field], open[field], "{field}");
    }
    assert_eq!(drawn["verdict"], "lossy");
    // A share of 0 or 1 leaves nothing to a draw: each verify accepts 1 token, or all.
    for (share, each) in [("0.0", 1), ("1.0", 4)] {
        let fixed = found(&scenario(&format!("Fixed([{each}])"), "stops: true"));
        let drawn = found(&scenario(&format!("Seeded({share})"), "stops: true"));
        for field in ["verdict", "complete", "unique", "transitions"] {
            assert_eq!(drawn[field], fixed[field], "{share}: {field}");
        }
    }
    // The replay line names what was open.
    let replay = drawn["findings"][0]["replay"].as_str().expect("a command line");
    assert!(replay.contains("--vary stops,accept"), "{replay}");
    let line: Vec<&str> = words(replay);
    let (text, errors) = texts(&overlapsim(folder.path(), &line));
    assert!(text.contains("lost"), "{replay}\n{text}{errors}");
}
