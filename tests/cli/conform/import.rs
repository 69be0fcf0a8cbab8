//! `import`: a recording becomes a scenario that replays it, and files are written as a whole or not at all.

use std::fs;

use super::{CASES, overlapsim, recordings, root, scratch, text};
use overlapsim::{runner, scenario};
use serde_json::Value;

#[test]
fn import_never_overwrites_its_input_or_a_link() {
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
        assert!(out.status.code() == Some(2) && text(&out.stderr).contains("link to a file that does not exist"));
        assert!(link.is_symlink() && !folder.join("target.ron").exists());
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
            // Some recordings are named by their place in the archive. The others get files of their own: a place is found only by
            // reading all recordings before it.
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
fn import_writes_a_whole_file_or_none() {
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
fn every_scenario_read_and_written_is_the_same() {
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
fn import_reports_a_release_other_than_the_recorded_one() {
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
