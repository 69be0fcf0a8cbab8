//! `fuzz` and `merge`: the same for any number of threads and shards, and what is refused.

use std::path::{Path, PathBuf};

use overlapsim::command::{
    FailOnVerdict, Failure, Format, FuzzArgs, Generated, MergeArgs, OutsidePaths, Preset, Shard, StyleWord,
    fuzz_to_text, merge_to_text,
};
use serde_json::Value;

use super::tools::{Folder, INTERLEAVED, overlapsim, texts, words};

fn args(format: Format) -> FuzzArgs {
    FuzzArgs {
        outside: OutsidePaths::default(),
        file: None,
        preset: Some(Generated::Of(Preset::Small)),
        time_max_ns: None,
        second_judge: false,
        seeds: (5, 205),
        rule: None,
        jobs: Some(1),
        shard: Shard::WHOLE,
        strategy: StyleWord::Jitter,
        out: None,
        format,
        fail_on: FailOnVerdict::default(),
    }
}

fn of_reports(paths: &[PathBuf], format: Format) -> MergeArgs {
    MergeArgs { paths: paths.to_vec(), format, fail_on: FailOnVerdict::default() }
}

fn of_file(file: &Path, format: Format) -> FuzzArgs {
    FuzzArgs { file: Some(file.to_path_buf()), preset: None, rule: Some("all".into()), ..args(format) }
}

fn print(args: &FuzzArgs) -> String {
    fuzz_to_text(args).expect("it can be run").0
}

#[test]
fn the_same_is_printed_for_any_number_of_threads() {
    for format in [Format::Text, Format::Json] {
        let one = print(&args(format));
        for jobs in [2, 8] {
            assert_eq!(print(&FuzzArgs { jobs: Some(jobs), ..args(format) }), one);
        }
    }
}

/// Runs the shards of a search, each to a directory of its own.
fn shards(folder: &Folder, args: &FuzzArgs, of: u64) -> Vec<PathBuf> {
    let run = |nth: u64| {
        let out = folder.path().join(format!("node-{nth}"));
        print(&FuzzArgs { out: Some(out.clone()), shard: Shard { nth, of }, ..args.clone() });
        out
    };
    (0..of).map(run).collect()
}

/// A report without the files that were written: a shard writes its own.
fn without_files(text: &str) -> String {
    let keep = |line: &&str| !line.trim_start().starts_with("scenario: ");
    let bare = |line: &str| {
        let field =
            ["\"scenario\": ", "\"replay\": ", "replay: "].into_iter().find(|at| line.trim_start().starts_with(at));
        field.unwrap_or(line).to_string()
    };
    text.lines().filter(keep).map(bare).collect::<Vec<_>>().join("\n")
}

#[test]
fn shards_add_up_to_the_whole() {
    let folder = Folder::new("shards");
    let file = folder.write("x.ron", INTERLEAVED);
    let cases = [
        FuzzArgs { seeds: (3, 43), ..args(Format::Text) },
        FuzzArgs { seeds: (3, 43), ..of_file(&file, Format::Text) },
        // Fewer seeds than shards.
        FuzzArgs { seeds: (0, 2), ..args(Format::Text) },
    ];
    for (nth, case) in cases.iter().enumerate() {
        let folder = Folder::new(&format!("shards-{nth}"));
        let mut directories = shards(&folder, case, 3);
        directories.reverse();
        for format in [Format::Text, Format::Json] {
            let whole = fuzz_to_text(&FuzzArgs { format, ..case.clone() }).expect("it can be run");
            let sum = merge_to_text(&of_reports(&directories, format)).expect("they can be added up");
            assert_eq!(without_files(&sum.0), without_files(&whole.0));
            assert_eq!(sum.1, whole.1);
        }
    }
}

#[test]
fn the_second_judge_agrees_and_is_counted_in_every_shard() {
    let folder = Folder::new("second");
    let file = folder.write("x.ron", INTERLEAVED);
    let generated = FuzzArgs { preset: Some(Generated::All), rule: Some("paired".into()), ..args(Format::Json) };
    for (nth, case) in [generated, of_file(&file, Format::Json)].into_iter().enumerate() {
        let case = FuzzArgs { seeds: (0, 16), second_judge: true, ..case };
        let whole = print(&case);
        let json: Value = serde_json::from_str(&whole).expect("it is JSON");
        let mut without = json.clone();
        for rule in without["rules"].as_array_mut().expect("a list") {
            assert!(rule["second_judge"]["disagreement"].is_null(), "{rule}");
            assert!(rule["second_judge"]["agreements"]["right"].as_u64() > Some(0), "{rule}");
            rule.as_object_mut().expect("an object").remove("second_judge");
        }
        let plain = FuzzArgs { second_judge: false, ..case.clone() };
        let of_one: Value = serde_json::from_str(&print(&plain)).expect("it is JSON");
        assert_eq!(without, of_one, "the second judge changes nothing of the first");
        let (two, other) = (Folder::new(&format!("second-{nth}")), Folder::new(&format!("second-not-{nth}")));
        let reports = shards(&two, &case, 2);
        let sum = merge_to_text(&of_reports(&reports, Format::Json)).expect("they can be added up");
        assert_eq!(without_files(&sum.0), without_files(&whole));
        let mixed = [shards(&other, &plain, 2).remove(0), reports[1].clone()];
        assert!(refused(&mixed).contains("only one of them has the second judge"));
    }
}

#[test]
fn a_seed_of_all_presets_is_that_seed_of_its_own_preset() {
    let whole = FuzzArgs { preset: Some(Generated::All), seeds: (13, 14), ..args(Format::Json) };
    let own = FuzzArgs { preset: Some(Generated::Of(Preset::ALL[5])), ..whole.clone() };
    let parts = |args: &FuzzArgs| -> Value {
        serde_json::from_str::<Value>(&print(args)).expect("it is JSON")["rules"].clone()
    };
    assert_eq!(parts(&whole), parts(&own));
}

#[test]
fn a_time_limit_ends_behind_whole_seeds_that_the_report_names() {
    let folder = Folder::new("time");
    let run = |line: &str| texts(&overlapsim(folder.path(), &words(line))).0;
    let common = "overlapsim fuzz --generate small --rule paired --jobs 1 --format json";
    let ended: Value = serde_json::from_str(&run(&format!("{common} --seeds 3.. --max-time 1ns"))).expect("it is JSON");
    let end = ended["seeds"][1].as_u64().expect("a number");
    assert!(end > 3 && end < 100_000, "{end}");
    let again: Value = serde_json::from_str(&run(&format!("{common} --seeds 3..{end}"))).expect("it is JSON");
    assert_eq!(ended, again);
    let known: Value =
        serde_json::from_str(&run(&format!("{common} --seeds 3..9999999 --max-time 1ns"))).expect("it is JSON");
    assert_eq!((known["seeds"][1].as_u64(), known["seeds_end"].as_u64()), (Some(end), Some(9_999_999)));
    for (line, why) in [
        ("--seeds 3..", "would run for ever"),
        ("--seeds 0..9 --max-time 1s --shard 0/2", "cannot be used with"),
        ("--seeds 0..9 --max-time soon", "has no unit"),
    ] {
        let args = format!("fuzz --generate small {line}");
        let output = overlapsim(folder.path(), &args.split(' ').collect::<Vec<_>>());
        let (_, error) = texts(&output);
        assert!(output.status.code() == Some(2) && error.contains(why), "{line}: {error}");
    }
}

fn refused(paths: &[PathBuf]) -> String {
    let Err(Failure(why)) = merge_to_text(&of_reports(paths, Format::Text)) else { panic!("{paths:?} add up") };
    why
}

#[test]
fn shards_that_are_no_whole_are_refused() {
    let folder = Folder::new("refused");
    let case = FuzzArgs { seeds: (0, 9), ..args(Format::Text) };
    let whole = shards(&folder, &case, 3);
    assert!(merge_to_text(&of_reports(&whole, Format::Text)).is_ok());
    for missing in 0..3 {
        let mut paths = whole.clone();
        paths.remove(missing);
        let why = refused(&paths);
        assert!(why.contains(&format!("shard {missing} of 3 is missing")) && why.contains("help: "), "{why}");
    }
    let twice = folder.path().join("fuzz-again.json");
    std::fs::copy(whole[1].join("fuzz-1-of-3.json"), &twice).expect("a file can be copied");
    let why = refused(&[&whole[..], &[twice]].concat());
    assert!(why.contains("this shard is given twice"), "{why}");
    let strategy = StyleWord::Uniform;
    for (other, said) in [
        (FuzzArgs { seeds: (0, 10), ..case.clone() }, "its seeds differ"),
        (FuzzArgs { strategy, ..case.clone() }, "its strategy differs"),
        (FuzzArgs { preset: Some(Generated::Of(Preset::Wide)), ..case.clone() }, "it ran another scenario or preset"),
        (FuzzArgs { rule: Some("paired".into()), ..case.clone() }, "its rules differ"),
    ] {
        let elsewhere = Folder::new("refused-other");
        let foreign = shards(&elsewhere, &other, 3);
        let why = refused(&[whole[0].clone(), foreign[1].clone(), whole[2].clone()]);
        assert!(why.contains(said) && why.contains("help: "), "{why}");
    }
    let elsewhere = Folder::new("refused-number");
    let why = refused(&[whole[0].clone(), shards(&elsewhere, &case, 2)[1].clone()]);
    assert!(why.contains("its number of shards differs"), "{why}");
    assert!(refused(&[folder.path().join("node-0/none")]).contains("cannot read"));
    let args = ["merge", "node-0", "node-2"];
    let output = overlapsim(folder.path(), &args);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

#[test]
fn a_report_that_is_none_is_refused_with_its_place() {
    let folder = Folder::new("corrupt");
    let case = FuzzArgs { seeds: (0, 3), ..args(Format::Text) };
    let path = shards(&folder, &case, 1).remove(0).join("fuzz-0-of-1.json");
    let text = std::fs::read_to_string(&path).expect("a report");
    for (wrong, place) in [
        (text.replacen("\"version\": ", "\"version\": [", 1), ":4:"),
        (text.replacen("\"seeds\"", "\"seed\"", 1), ":6:"),
        (text[..text.len() / 2].to_string(), ":"),
        (String::new(), ":1:0"),
    ] {
        std::fs::write(&path, wrong).expect("a file can be written");
        let why = refused(std::slice::from_ref(&path));
        let place = format!("fuzz-0-of-1.json{place}");
        assert!(why.contains(&place) && why.contains("not a report of a search") && why.contains("help: "), "{why}");
    }
}

#[test]
fn every_replay_line_shows_its_kind() {
    let folder = Folder::new("lines");
    folder.write("x.ron", INTERLEAVED);
    let mut lines = 0;
    for source in [&["x.ron"][..], &["--generate", "small"]] {
        for strategy in ["uniform", "jitter", "pct"] {
            let args = [&["fuzz"], source, &["--seeds", "0..60", "--strategy", strategy, "--rule", "mask-lookahead"]];
            let output = overlapsim(folder.path(), &[&args.concat()[..], &["--format", "json"]].concat());
            let json: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
            let findings = json["rules"][0]["findings"].as_array().expect("a list");
            assert_eq!(json["rules"][0]["runs"], 60);
            for finding in findings {
                let (line, kind) = (finding["replay"].as_str().expect("a line"), finding["kind"].as_str());
                let (text, error) = texts(&overlapsim(folder.path(), &words(line)));
                assert!(
                    error.is_empty()
                        && [format!(". {}: ", kind.expect("a kind")), format!("\n  {} ", kind.expect("a kind"))]
                            .iter()
                            .any(|at| text.contains(at)),
                    "{line}: {error}{text}"
                );
                lines += 1;
            }
        }
    }
    assert!(lines >= 8, "{lines}");
    let output = overlapsim(folder.path(), &["test", "found"]);
    assert_eq!(output.status.code(), Some(0), "what replay lines wrote: {:?}", texts(&output));
}

#[test]
fn every_preset_runs_and_the_seeds_of_none_are_refused() {
    for preset in Preset::ALL {
        let args = FuzzArgs { preset: Some(Generated::Of(preset)), seeds: (0, 8), ..args(Format::Json) };
        let json: Value = serde_json::from_str(&print(&args)).expect("it is JSON");
        assert_eq!(json["source"], format!("generated {}", preset.name()));
        assert!(json["rules"].as_array().is_some_and(|rules| rules.iter().all(|rule| rule["runs"] == 8)));
    }
    let folder = Folder::new("seeds");
    for wrong in ["5..5", "6..5", "x", "1", "0..-1"] {
        let output = overlapsim(folder.path(), &["fuzz", "--generate", "small", "--seeds", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
    let output = overlapsim(folder.path(), &["fuzz", "--generate", "small", "--seeds", "0..9", "--shard", "3/3"]);
    assert_eq!(output.status.code(), Some(2));
}
