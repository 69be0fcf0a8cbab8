//! Lookahead patterns of one request: the patterns that were reached, their verdicts, and their scenarios.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use overlapsim::command::{Exit, FailOnVerdict, Format, JitterArgs, OutsidePaths, jitter_to_text};
use overlapsim::metrics::JitterOutcome;
use overlapsim::record::NoDonation;
use overlapsim::runner::{self, Keep};
use overlapsim::scenario;
use serde_json::Value;

use crate::common::folder::Folder;

/// A scenario of one request on a grid of 4, with more of an engine and more requests.
fn one_request(engine: &str, request: &str, more: &str) -> String {
    format!(
        "Scenario(engine: (release: V0_5_17, track_interval: 4, mamba_chunk: 4{engine}),
            requests: [(id: \"a\", arrive: Turn(0), {request}), {more}])"
    )
}

fn args(file: &Path) -> JitterArgs {
    JitterArgs {
        outside: OutsidePaths::default(),
        file: file.to_path_buf(),
        pattern: None,
        all: None,
        request: None,
        from: None,
        rule: None,
        output: None,
        format: Format::Json,
        fail_on: FailOnVerdict::default(),
    }
}

fn json(args: &JitterArgs) -> Value {
    let (text, _) = jitter_to_text(args).unwrap_or_else(|failure| panic!("{}", failure.0));
    serde_json::from_str(&text).expect("JSON")
}

fn text(args: &JitterArgs) -> (String, Exit) {
    let args = JitterArgs { format: Format::Text, ..args.clone() };
    jitter_to_text(&args).unwrap_or_else(|failure| panic!("{}", failure.0))
}

fn failure(args: &JitterArgs) -> String {
    let failure = jitter_to_text(args).expect_err("a mistake").0;
    assert!(failure.starts_with("error: ") && failure.contains("\nhelp: "), "{failure}");
    failure
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn word(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Every pattern with its run under a rule.
fn runs<'a>(report: &'a Value, rule: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    list(&report["patterns"]).iter().map(move |of| {
        let run = list(&of["runs"]).iter().find(|run| run["rule"] == rule).expect("every rule is run");
        (word(&of["pattern"]), run)
    })
}

fn binary(folder: &Path, line: &str) -> Output {
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(words[0], "overlapsim", "{line}");
    Command::new(env!("CARGO_BIN_EXE_overlapsim")).args(&words[1..]).current_dir(folder).output().unwrap()
}

/// Firings around a boundary b number [L(b-1) = 1] + [L(b) = 0]: one for (1,1) and (0,0), none for (0,1), two for (1,0).
#[test]
fn firings_around_a_boundary_follow_the_two_lookaheads_at_it() {
    let folder = Folder::new("jitter-law");
    for strategy in ["ExtraBuffer", "ExtraBufferLazy"] {
        let engine = format!(", strategy: {strategy}");
        let file = folder.write("law.ron", &one_request(&engine, "prompt: Fresh(1), stop: Length(9)", ""));
        let report = json(&JitterArgs { all: Some(8), from: Some(2), ..args(&file) });
        assert_eq!(report["boundaries"], serde_json::json!([4, 8]));
        assert_eq!(list(&report["patterns"]).len(), 256);
        for rule in ["committed-len", "mask-lookahead"] {
            for (pattern, run) in runs(&report, rule) {
                assert_eq!(run["came_out"], pattern, "{strategy}");
                let ahead = |k: u64| pattern.as_bytes()[(k - 2) as usize] == b'1';
                for b in [4, 8] {
                    let fired = list(&run["fired"]).iter().filter(|it| [b - 1, b].contains(&it["k"].as_u64().unwrap()));
                    let expected = usize::from(ahead(b - 1)) + usize::from(!ahead(b));
                    assert_eq!(fired.count(), expected, "{strategy} {rule} {pattern} at {b}");
                }
                for it in list(&run["fired"]) {
                    assert!([3, 4, 7, 8].contains(&it["k"].as_u64().unwrap()), "{strategy} {rule} {pattern}");
                }
            }
        }
        for rule in ["completed-mask", "paired"] {
            for (pattern, run) in runs(&report, rule) {
                assert_eq!((&run["verdict"], &run["label"], &run["holds"]), (&"clean".into(), &8.into(), &8.into()));
                assert_eq!(list(&run["fired"]).len(), 2, "{rule} {pattern}");
            }
        }
        let counts = list(&report["rules"]).iter().find(|of| of["rule"] == "paired").unwrap();
        assert_eq!((&counts["clean"], &counts["did_not_come_about"]), (&256.into(), &0.into()));
    }
}

#[test]
fn the_text_shows_which_pattern_breaks_which_rule() {
    let (text, exit) = text(&args(Path::new("scenarios/double-fire.ron")));
    assert_eq!(exit, Exit::Found);
    assert!(text.lines().all(|line| line.starts_with("  overlapsim") || line.len() <= 100), "{text}");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new("../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("jitter.double-fire", text));
}

/// A pattern agrees with the run of the scenario that it is written as, under every rule; so does the scenario itself with
/// the pattern that it has as it stands.
#[test]
fn a_pattern_is_written_as_a_scenario_that_does_the_same() {
    let folder = Folder::new("jitter-written");
    for file in ["double-fire", "cache-hit-inherits", "natural-jitter", "lazy-finish-before-boundary"] {
        let file = PathBuf::from(format!("scenarios/{file}.ron"));
        let report = json(&args(&file));
        let own = report["as_it_stands"].as_str();
        for of in list(&report["patterns"]) {
            let out = folder.0.join("out.ron");
            let pattern = word(&of["pattern"]).to_string();
            let from = report["first_step"].as_u64().map(|k| k as u32);
            let asked = JitterArgs { pattern: Some(pattern.clone()), from, output: Some(out.clone()), ..args(&file) };
            let one = json(&asked);
            let names = |of: &Value| list(&of["runs"]).iter().map(|run| run["verdict"].clone()).collect::<Vec<_>>();
            assert_eq!(names(&list(&one["patterns"])[0]), names(of), "{pattern}");
            for (at, scenario) in [(0, &out), (1, &file)] {
                if at == 1 && own != Some(&pattern) {
                    continue;
                }
                let line = ["run", scenario.to_str().unwrap(), "--rule", "all", "--format", "json"];
                let run = Command::new(env!("CARGO_BIN_EXE_overlapsim")).args(line).output().unwrap();
                let run: Value = serde_json::from_slice(&run.stdout).unwrap();
                for (run, short) in list(&run).iter().zip(list(&of["runs"])) {
                    assert_eq!(run["verdict"], short["verdict"], "{file:?} {pattern} {at}");
                    let kinds = |of: &Value| -> Vec<(Value, Value, Value)> {
                        let of = list(&of["findings"]).iter();
                        of.map(|it| (it["kind"].clone(), it["label"].clone(), it["holds"].clone())).collect()
                    };
                    assert_eq!(kinds(run), kinds(short), "{file:?} {pattern} {at}");
                }
            }
        }
        let tested = Command::new(env!("CARGO_BIN_EXE_overlapsim")).arg("test").arg(&folder.0).output().unwrap();
        assert_eq!(tested.status.code(), Some(0), "{}", String::from_utf8_lossy(&tested.stdout));
    }
}

#[test]
fn the_last_lines_of_the_text_lead_to_the_worst_of_it() {
    let folder = Folder::new("jitter-footer");
    folder.write("it.ron", &one_request("", "prompt: Fresh(1), stop: Token(4)", ""));
    let first = binary(&folder.0, "overlapsim jitter it.ron --rule mask-lookahead");
    assert_eq!(first.status.code(), Some(1));
    let first = String::from_utf8(first.stdout).unwrap();
    let lines: Vec<&str> = first.lines().filter_map(|line| line.strip_prefix("  overlapsim ")).collect();
    let [write, run] = lines.as_slice() else { panic!("{first}") };
    let written = binary(&folder.0, &format!("overlapsim {write}"));
    assert_eq!(written.status.code(), Some(1), "{}", String::from_utf8_lossy(&written.stderr));
    assert!(String::from_utf8_lossy(&written.stdout).contains("written to jitter-010.ron\nreplay: overlapsim run"));
    let run = binary(&folder.0, &format!("overlapsim {run}"));
    let run = String::from_utf8(run.stdout).unwrap();
    assert!(run.starts_with("corrupt   jitter-010.ron under mask-lookahead") && run.contains("turn 0"), "{run}");
}

#[test]
fn a_pattern_that_was_not_reached_is_not_shown_as_reached() {
    let folder = Folder::new("jitter-others");
    let file = folder.write("off.ron", &one_request(", overlap: false", "prompt: Fresh(1), stop: Token(4)", ""));
    let report = json(&args(&file));
    for (pattern, run) in runs(&report, "mask-lookahead") {
        assert_eq!((&run["came_out"], &run["came_about"]), (&"000".into(), &(pattern == "000").into()));
    }
    assert!(word(&list(&report["warnings"])[0]).contains("overlap is off"));
    let (shown, exit) = text(&args(&file));
    assert_eq!(exit, Exit::Good);
    assert!(shown.contains("7 of 8 patterns not reached") && !shown.contains("\n111 "), "{shown}");

    // `b` comes when it likes and takes a turn.
    let other = "(id: \"b\", arrive: Turn(3), prompt: Fresh(1), stop: Length(1))";
    let file = folder.write("other.ron", &one_request("", "prompt: Fresh(1), stop: Token(4)", other));
    let report = json(&JitterArgs { pattern: Some("111".to_string()), ..args(&file) });
    for run in list(&list(&report["patterns"])[0]["runs"]) {
        assert_eq!((&run["came_out"], &run["came_about"]), (&"101".into(), &false.into()));
    }
    // No room for a filler: it comes after the end.
    let file = folder.write("full.ron", &one_request(", max_running: 1", "prompt: Fresh(1), stop: Token(4)", ""));
    let report = json(&JitterArgs { pattern: Some("110".to_string()), ..args(&file) });
    assert_eq!(list(&list(&report["patterns"])[0]["runs"])[0]["came_out"], "111");
    assert_eq!(list(&report["rules"])[0]["did_not_come_about"], 1);
}

#[test]
fn a_run_that_ends_before_the_first_step_shows_no_pattern() {
    let (text, exit) = text(&args(Path::new("scenarios/exhaustion-assert.ron")));
    assert_eq!(exit, Exit::Found);
    assert!(text.contains("16 of 16 patterns not reached") && text.contains("xxxx     ----"), "{text}");
}

#[test]
fn a_run_that_a_bound_ended_shows_only_the_part_of_the_pattern_that_ran() {
    let names = runner::rule_names();
    let scenario = scenario::load(Path::new("scenarios/exhaustion-assert.ron"), &names).unwrap();
    let rule = runner::rule(runner::DEFAULT_RULE).unwrap();
    let judgement = runner::run(&scenario.setup, rule, 0, Keep::default(), None).judgement;
    let came_about = |came_out: &[Option<i64>], end, pattern| {
        JitterOutcome { judgement: judgement.clone(), came_out: came_out.to_vec(), end }.came_about(pattern)
    };
    assert!(came_about(&[Some(1), None], None, "10") && came_about(&[Some(1), None], None, "11"));
    assert!(!came_about(&[Some(1), None], None, "01") && !came_about(&[None, Some(1)], None, "11"));
    assert!(!came_about(&[None, None], None, "11"), "nothing of it was seen");
    assert!(!came_about(&[Some(1), None], Some(Err(NoDonation::NoCheckpoint)), "11"), "the request ended before");
    assert!(!came_about(&[Some(1), Some(2)], None, "11"));
}

#[test]
fn known_patterns_of_lazy_and_longer_prompts_are_found() {
    let folder = Folder::new("jitter-lazy");
    // The known history: L(7) = 0 and the stop at the result of step 8 leave label 4 in a slot that holds 8.
    let engine = ", strategy: ExtraBufferLazy";
    let file = folder.write("lazy.ron", &one_request(engine, "prompt: Fresh(1), stop: Token(8)", ""));
    let report = json(&JitterArgs { pattern: Some("01".to_string()), from: Some(7), ..args(&file) });
    for rule in ["committed-len", "mask-lookahead"] {
        let (_, run) = runs(&report, rule).next().unwrap();
        assert_eq!((&run["label"], &run["holds"], &run["verdict"]), (&4.into(), &8.into(), &"corrupt".into()));
    }
    // The first decode is the boundary: no result comes before it.
    let file = folder.write("first.ron", &one_request("", "prompt: Fresh(3), stop: Token(2)", ""));
    let report = json(&args(&file));
    assert_eq!((&report["first_step"], &report["last_step"], &report["prompt"]), (&4.into(), &4.into(), &3.into()));
    let verdicts: Vec<&str> = runs(&report, "committed-len").map(|(_, run)| word(&run["verdict"])).collect();
    assert_eq!(verdicts, ["clean", "lossy"]);
    // A prompt of 100 on a grid of 64: the first boundary is 128.
    let long = one_request("", "prompt: Fresh(100), stop: Length(60)", "").replace("_interval: 4", "_interval: 64");
    let report = json(&args(&folder.write("long.ron", &long)));
    assert_eq!((&report["first_step"], &report["boundaries"]), (&126.into(), &serde_json::json!([128])));
    assert!(list(&report["patterns"]).iter().all(|of| list(&of["runs"]).iter().all(|run| run["came_about"] == true)));
}

#[test]
fn other_requests_and_traces_are_kept() {
    let folder = Folder::new("jitter-stay");
    let more = "(id: \"c\", prompt: Extend(\"a\", 2), stop: Length(3)), (id: \"d\", arrive: Before(\"a\", 5), \
                prompt: Fresh(1), stop: Length(1)), (id: \"e\", arrive: After(\"d\"), prompt: Fresh(1), stop: Length(2))";
    let file = folder.write("refer.ron", &one_request("", "prompt: Fresh(1), stop: Token(4)", more));
    let report = json(&args(&file));
    assert_eq!(report["stand_ins"], serde_json::json!([]), "e refers to d, so d stays");
    for (pattern, run) in runs(&report, "completed-mask") {
        assert_eq!(run["came_about"], pattern.ends_with('0'), "{pattern}");
    }
    let hit = json(&JitterArgs { request: Some("c".to_string()), ..args(&file) });
    assert_eq!((&hit["request"], &hit["prompt"], &hit["first_step"]), (&"c".into(), &7.into(), &8.into()));

    let trace = std::fs::canonicalize("tests/data/azure-llm-2023-code.500.csv").unwrap();
    let engine = "engine: (release: V0_5_17, track_interval: 64, mamba_chunk: 64)";
    let text = format!("Scenario({engine}, trace: (format: AzureCsv, path: {:?}, limit: 5))", trace.to_str().unwrap());
    let file = folder.write("trace.ron", &text);
    let outside = OutsidePaths { allow_outside: true };
    let report = json(&JitterArgs { all: Some(2), outside, ..args(&file) });
    assert_eq!(report["request"], "t0");
    let out = folder.0.join("trace-01.ron");
    let one = JitterArgs { pattern: Some("01".to_string()), output: Some(out.clone()), outside, ..args(&file) };
    let one = json(&one);
    let again = json(&JitterArgs {
        pattern: Some("01".to_string()),
        from: one["first_step"].as_u64().map(|k| k as u32),
        ..args(&out)
    });
    assert_eq!(list(&again["patterns"])[0]["runs"][0]["came_out"], list(&one["patterns"])[0]["runs"][0]["came_out"]);
    assert_eq!(list(&again["patterns"])[0]["runs"][0]["verdict"], list(&one["patterns"])[0]["runs"][0]["verdict"]);
}

#[test]
fn wrong_arguments_are_refused_with_a_remedy() {
    let folder = Folder::new("jitter-mistakes");
    let good = args(Path::new("scenarios/double-fire.ron"));
    let with = |change: &dyn Fn(&mut JitterArgs)| {
        let mut args = good.clone();
        change(&mut args);
        failure(&args)
    };
    let pattern = |text: &str| {
        let text = text.to_string();
        with(&move |args| args.pattern = Some(text.clone()))
    };
    assert!(pattern("10x").contains("`10x` has `x` at place 3"));
    assert!(pattern("").contains("is empty"));
    assert!(
        pattern("1111")
            .contains("of 4 from step 2 reaches past the last decode result of a: it has the results of steps 2 to 4")
    );
    assert!(with(&|args| args.all = Some(4)).contains("give at most 3 places"));
    assert!(with(&|args| args.all = Some(13)).contains("--all 13 is too many"));
    assert!(with(&|args| args.from = Some(1)).contains("no decode result of step 1, only of steps 2 to 4"));
    assert!(with(&|args| args.from = Some(5)).contains("give a length from 2 to 4"));
    assert!(
        with(&|args| (args.all, args.from) = (Some(2), Some(4))).contains("give --from 3 or less, or at most 1 places")
    );
    assert!(
        with(&|args| args.request = Some("z".into())).contains("there is no request `z`\nhelp: the requests are a, b")
    );
    assert!(with(&|args| args.request = Some("b".into())).contains("b has no decode step"));
    assert!(with(&|args| args.rule = Some("z".into())).contains("there is no rule `z`"));
    assert!(with(&|args| args.output = Some(folder.0.join("x.ron"))).contains("8 patterns are not one scenario"));
    assert!(failure(&args(Path::new("scenarios/spec-crossings.ron"))).contains("speculative"));
    let file = folder.write("own.ron", &one_request("", "prompt: Fresh(1), stop: Token(4)", ""));
    let over = JitterArgs { pattern: Some("1".into()), output: Some(file.clone()), ..args(&file) };
    assert!(failure(&over).contains("written over itself"));
    for line in ["--all 0", "--all 13", "--all 2 --pattern 11", "--from x"] {
        let output = binary(Path::new("."), &format!("overlapsim jitter scenarios/double-fire.ron {line}"));
        assert_eq!(output.status.code(), Some(2), "{line}");
    }
}
