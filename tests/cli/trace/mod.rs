//! The trace of a run follows the rules of its format and agrees with the judgement.

mod format;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use overlapsim::command::{Answers, Choices, OutsidePaths, TraceArgs, choices, trace_to_text};
use overlapsim::judge::Judgement;
use overlapsim::runner::{self, Keep};
use overlapsim::scenario;
use serde_json::Value;

use format::{exact_times, is_valid, number, word};

fn args(file: &Path, rule: &str) -> TraceArgs {
    let (file, output, rule) = (file.to_path_buf(), PathBuf::new(), Some(rule.to_owned()));
    TraceArgs {
        outside: OutsidePaths::default(),
        file,
        output,
        rule,
        seed: None,
        answers: Answers::default(),
        turns: None,
    }
}

fn events(of: &TraceArgs) -> Vec<Value> {
    let (text, said) = trace_to_text(of).unwrap_or_else(|failure| panic!("{of:?}: {failure}"));
    let trace: Value = serde_json::from_str(&exact_times(&text)).expect("JSON");
    assert!(trace.get("displayTimeUnit").is_none(), "viewers choose a unit that fits");
    assert_eq!(trace["otherData"]["rule"], of.rule.as_deref().unwrap());
    let events = trace["traceEvents"].as_array().expect("a list of events").clone();
    assert!(said.starts_with(&format!("{} events of ", events.len())), "{of:?}: {said}");
    events
}

/// The letter of an event.
fn is(of: &Value, ph: &str, cat: &str) -> bool {
    of["ph"] == ph && of["cat"] == cat
}

/// The events of a kind, as their `args`.
fn all<'a>(events: &'a [Value], ph: &str, cat: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| is(event, ph, cat)).map(|event| &event["args"]).collect()
}

fn says_what_the_judge_does(events: &[Value], judgement: &Judgement) {
    let steps = all(events, "X", "step");
    let with = |field: &str| steps.iter().filter(|step| !step[field].is_null()).count();
    assert_eq!(with("L") as u64, judgement.decode_results);
    for (&l, &count) in &judgement.lookahead {
        assert_eq!(steps.iter().filter(|step| step["L"] == l).count() as u64, count, "L={l}");
    }
    let fired: Vec<_> = judgement.boundaries.iter().filter(|of| of.fired).collect();
    assert_eq!(with("fired"), fired.len());
    for of in fired {
        let step = steps.iter().find(|step| {
            step["batch"] == of.batch.0 && !step["fired"].is_null() && {
                let (label, slot) = (&step["fired"]["label"], &step["fired"]["slot"]);
                *label == Value::from(of.label) && *slot == Value::from(of.slot.map(|slot| slot.0))
            }
        });
        assert!(step.is_some(), "{of:?}");
    }
    assert_eq!(with("class"), judgement.boundaries.len());
    assert_eq!(all(events, "i", "donation").len() as u64, judgement.checkpoints.donated);
    assert_eq!(all(events, "X", "forward").len(), all(events, "X", "copy").len());
    let found = all(events, "i", "finding");
    assert_eq!(found.len(), judgement.findings.len());
    for (mark, (index, finding)) in found.iter().zip(judgement.findings.iter().enumerate()) {
        assert_eq!(mark["number"], index + 1);
        assert_eq!((&mark["turn"], word(mark, "reason")), (&Value::from(finding.turn), &finding.reason[..]));
        assert!(word(mark, "replay").starts_with("overlapsim run "), "{mark}");
    }
    let arrows = |ph: &str| events.iter().filter(|event| is(event, ph, "batch")).count();
    assert_eq!(arrows("s"), arrows("f"));
    assert!(arrows("s") == all(events, "X", "forward").len(), "every batch that was launched has an arrow");
    let rows: u64 =
        events.iter().filter(|it| it["ph"] == "C" && it["name"] == "batch").map(|it| number(&it["args"], "rows")).sum();
    assert_eq!(rows, steps.len() as u64, "rows and steps");
    assert_eq!(events.iter().filter(|event| event["ph"] == "C").count() as u64, 4 * u64::from(judgement.turns));
}

fn scenarios() -> Vec<PathBuf> {
    let folders = ["scenarios", "scenarios/findings", "scenarios/check"];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|extension| extension == "ron")).collect();
    files.sort();
    files
}

#[test]
fn every_scenario_under_every_rule_is_a_valid_trace_of_what_the_judge_saw() {
    for file in scenarios() {
        for rule in runner::rule_names() {
            let args = args(&file, rule);
            let events = events(&args);
            is_valid(&events);
            let scenario = scenario::load(&file, &runner::rule_names()).expect("a valid scenario");
            let keep = Keep { boundaries: true, ..Keep::default() };
            let outcome = runner::run(&scenario.setup, runner::rule(rule).unwrap(), scenario.seed, keep, None);
            println!("{} under {rule}", file.display());
            says_what_the_judge_does(&events, &outcome.judgement);
            let turns: BTreeSet<u64> = all(&events, "X", "phase").iter().map(|span| number(span, "turn")).collect();
            let Some(&middle) = turns.iter().nth(turns.len() / 2) else { continue };
            let part = middle as u32..=middle as u32 + 1;
            a_part_is_valid_and_shows_what_the_whole_does(&events, &TraceArgs { turns: Some(part), ..args });
        }
    }
}

fn a_part_is_valid_and_shows_what_the_whole_does(whole: &[Value], args: &TraceArgs) {
    let part = events(args);
    is_valid(&part);
    let turns = args.turns.clone().unwrap();
    for cat in ["phase", "forward", "finding", "donation"] {
        let inside = |event: &&Value| {
            event["cat"] == cat && turns.contains(&(event["args"]["turn"].as_u64().unwrap_or(u64::MAX) as u32))
        };
        let numbered = |event: &Value| (event["name"].clone(), event["ts"].clone(), event["dur"].clone());
        let expected: Vec<_> = whole.iter().filter(inside).map(numbered).collect();
        let drawn: Vec<_> = part.iter().filter(|event| event["cat"] == cat).map(numbered).collect();
        assert_eq!(drawn, expected, "{cat} in {args:?}");
    }
}

#[test]
fn a_small_trace_matches_the_snapshot() {
    let args = TraceArgs { turns: Some(3..=4), ..args(Path::new("scenarios/double-fire.ron"), "mask-lookahead") };
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new("../../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    // The version changes with every release.
    let text = trace_to_text(&args).unwrap().0.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    settings.bind(|| insta::assert_snapshot!("trace.double-fire.mask-lookahead", text));
}

#[test]
fn a_trace_is_as_long_as_the_run() {
    let text = trace_to_text(&args(Path::new("scenarios/double-fire.ron"), "mask-lookahead")).unwrap().0;
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let ends = events.iter().filter_map(|event| Some(event["ts"].as_f64()? + event["dur"].as_f64().unwrap_or(0.0)));
    let end_us = ends.fold(0.0, f64::max);
    let scenario = scenario::load(Path::new("scenarios/double-fire.ron"), &runner::rule_names()).unwrap();
    let rule = runner::rule("mask-lookahead").unwrap();
    let outcome = runner::run(&scenario.setup, rule, scenario.seed, Keep::default(), None);
    assert_eq!((end_us * 1000.0).round() as u64, outcome.timing.makespan_ns, "the unit of the format is a microsecond");
    assert!(text.contains("\"ts\":12548.360,\"dur\":20.000,"), "{text}");
}

#[test]
fn only_findings_are_marked_in_the_trace() {
    let coloured = |rule| {
        let events = events(&args(Path::new("scenarios/double-fire.ron"), rule));
        let slots = events.iter().filter(|event| is(event, "X", "slot") && event["cname"] == "terrible");
        slots.map(|event| word(event, "name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(coloured("mask-lookahead"), ["WRONG: unwritten as 4"]);
    assert!(coloured("paired").is_empty());
}

#[test]
fn choices_lead_the_same_way_as_in_a_run() {
    let list = Choices(vec![1, 1, 1]);
    assert_eq!(choices("1.1.1"), Ok(list.clone()));
    let file = Path::new("scenarios/check/interleaved.ron");
    let way = |choices, seed| {
        let args = TraceArgs { answers: Answers { choices, vary: None }, seed, ..args(file, "mask-lookahead") };
        let text = trace_to_text(&args).unwrap().0;
        serde_json::from_str::<Value>(&text).unwrap()["otherData"].clone()
    };
    let chosen = way(Some(list), None);
    assert_eq!(chosen["way"], "choices 1.1.1, the shortest durations");
    assert!(word(&chosen, "replay").contains("--choices 1.1.1"), "{chosen}");
    assert_eq!(way(None, Some(7))["way"], "seed 7");
    let answers = Answers { choices: Some(Choices(vec![9])), vary: None };
    let wrong = TraceArgs { answers, ..args(file, "mask-lookahead") };
    assert!(trace_to_text(&wrong).unwrap_err().0.contains("choice 1 is 9"));
}

fn overlapsim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_overlapsim")).args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap()
}

/// A directory for one test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("overlapsim-trace-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_command_writes_the_same_bytes_every_time_and_ends_with_0() {
    let folder = folder("write");
    let written = ["one.json", "two.json"].map(|name| {
        let path = folder.join(name);
        let output = overlapsim(&["trace", "scenarios/double-fire.ron", "-o", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        let shown = format!("{}: ", path.display());
        assert!(said.starts_with(&shown) && said.ends_with("of 8 turns under mask-lookahead, corrupt\n"), "{said}");
        assert_eq!(said.lines().count(), 1);
        std::fs::read(path).unwrap()
    });
    assert_eq!(written[0], written[1]);
    let args = args(Path::new("scenarios/double-fire.ron"), "mask-lookahead");
    assert_eq!(written[0], trace_to_text(&args).unwrap().0.as_bytes());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "nothing else is left there");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn wrong_arguments_are_refused_and_nothing_is_written() {
    let folder = folder("mistakes");
    let out = folder.join("out.json");
    let (out, inside) = (out.to_str().unwrap(), folder.to_str().unwrap());
    let nowhere = format!("{inside}/none/out.json");
    let scenario = "scenarios/double-fire.ron";
    let own = format!("{inside}/own.ron");
    std::fs::copy(scenario, &own).unwrap();
    for (args, expected) in [
        (&[scenario][..], "--output"),
        (&[scenario, "-o", &nowhere], "error: cannot write "),
        (&[scenario, "-o", inside], "is a directory"),
        (&[scenario, "-o", "-"], "error: a trace is not written to standard output\nhelp: "),
        (&[&own, "-o", &own], "would be written over itself\nhelp: "),
        (&[scenario, "-o", out, "--rule", "all"], "error: a trace shows one run\nhelp: "),
        (&[scenario, "-o", out, "--rule", "none"], "error: there is no rule `none`\nhelp: "),
        (
            &[scenario, "-o", out, "--turns", "100..200"],
            "error: no turn from 100 to 200 was run\nhelp: the run has 8 turns",
        ),
        (&[scenario, "-o", out, "--turns", "4..3"], "the first turn comes after the last"),
        (&[scenario, "-o", out, "--choices", "1"], "error: choice 1 is 1"),
        (&["scenarios/none.ron", "-o", out], "none.ron"),
    ] {
        let output = overlapsim(&[&["trace"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr).to_string();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "{args:?}");
    }
    assert_eq!(std::fs::read(&own).unwrap(), std::fs::read(scenario).unwrap());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_trace_that_no_viewer_takes_is_refused_with_turns_that_fit() {
    let folder = folder("long");
    let long = |steps: u32| {
        let file = folder.join(format!("{steps}.ron"));
        let text = format!(
            "(engine: (kv_tokens: 500000), turns_max: 1000000,
              requests: [(id: \"a\", prompt: Fresh(1), stop: Length({steps}), max_new: {steps})])"
        );
        std::fs::write(&file, text).unwrap();
        args(&file, "paired")
    };
    let some = |whole: &TraceArgs, turns: &str| {
        let (from, to) = turns.split_once("..").expect("from and to");
        TraceArgs { turns: Some(from.parse().unwrap()..=to.trim().parse().unwrap()), ..whole.clone() }
    };
    let refused = |args: &TraceArgs, expected: &str| {
        let refused = trace_to_text(args).unwrap_err().0;
        assert!(refused.starts_with(&format!("error: the trace has {expected}")), "{refused}");
        assert!(refused.contains("more than the 2000000 that are written at once\nhelp: "), "{refused}");
        let fits = refused.split("--turns ").nth(1).expect("turns that fit");
        let (text, said) = trace_to_text(&some(args, fits)).expect("turns that fit");
        assert!(text.lines().count() > 300_000, "{fits}: {said}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| refused(&long(420_000), "at least "));
        scope.spawn(|| refused(&some(&long(200_000), "1000..200000"), ""));
    });
    std::fs::remove_dir_all(folder).unwrap();
}

type Break = Box<dyn Fn(&mut Vec<Value>)>;

/// The validator must refuse broken traces: else its acceptance proves nothing.
#[test]
fn the_validator_refuses_broken_traces() {
    let right = events(&args(Path::new("scenarios/double-fire.ron"), "mask-lookahead"));
    let at = |ph: &str, cat: &str| right.iter().position(|event| is(event, ph, cat)).expect("there is one");
    let (phase, step, start, end) = (at("X", "phase"), at("X", "step"), at("s", "batch"), at("f", "batch"));
    let put = |index: usize, field: &'static str, value: Value| {
        move |events: &mut Vec<Value>| events[index][field] = value.clone()
    };
    let without = |index: usize| move |events: &mut Vec<Value>| drop(events.remove(index));
    let broken: [(&str, Break); 10] = [
        ("a nameless thread", Box::new(put(phase, "tid", 7.into()))),
        ("a nameless process", Box::new(without(0))),
        ("slices that cross", Box::new(put(phase, "dur", 30_000.into()))),
        ("a fraction", Box::new(put(step, "ts", 0.5.into()))),
        ("no duration", Box::new(put(step, "dur", Value::Null))),
        ("an arrow without its end", Box::new(without(end))),
        ("an arrow without its beginning", Box::new(without(start))),
        ("an arrow in no slice of its batch", Box::new(put(start, "ts", 0.into()))),
        ("an arrow to the next slice", Box::new(put(end, "bp", Value::Null))),
        ("a mark of no scope", Box::new(put(at("i", "finding"), "s", "x".into()))),
    ];
    is_valid(&right);
    for (what, break_it) in broken {
        let mut events = right.clone();
        break_it(&mut events);
        let refused = std::panic::catch_unwind(|| is_valid(&events)).is_err();
        assert!(refused, "{what} is taken");
    }
}
