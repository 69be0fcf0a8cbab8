//! The explorer: its screens, its keys, what it writes, and what it says where there is no terminal.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn overlapsim(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlapsim"));
    command.args(args).current_dir(folder).stdin(Stdio::null()).output().expect("the program runs")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// The screen after these keys.
fn screen(file: &str, script: &str, more: &[&str]) -> String {
    let args = [&["explore", file, "--script", script], more].concat();
    let output = overlapsim(Path::new(ROOT), &args);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && error.is_empty(), "{script}: {error}");
    out(&output)
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("overlapsim-explore-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    for entry in std::fs::read_dir(Path::new(ROOT).join("scenarios")).expect("scenarios") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            std::fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("a copy");
        }
    }
    folder
}

#[test]
fn screens_match_the_snapshots() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new(ROOT).join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        let fire = "scenarios/double-fire.ron";
        insta::assert_snapshot!("explore_start", screen(fire, "", &[]));
        insta::assert_snapshot!("explore_finding", screen(fire, "f", &[]));
        insta::assert_snapshot!("explore_compare", screen(fire, "fmr=", &[]));
        insta::assert_snapshot!("explore_choose", screen(fire, "jjjc<right>", &[]));
        insta::assert_snapshot!("explore_chosen", screen(fire, "jjjc<right><enter>", &[]));
        insta::assert_snapshot!("explore_help", screen(fire, "?", &[]));
        insta::assert_snapshot!("explore_zoom_ascii", screen(fire, "fz", &["--ascii"]));
        insta::assert_snapshot!("explore_wide", screen("scenarios/retraction.ron", "fjj", &["--size", "140x50"]));
        let long = "scenarios/findings/committed-len-0.5.17-extra-buffer-lazy-aliased.ron";
        insta::assert_snapshot!("explore_long_name", screen(long, "f", &[]));
        insta::assert_snapshot!("explore_tiny", screen(fire, "f", &["--size", "40x10"]));
    });
}

#[test]
fn a_screen_has_the_size_that_is_asked_for_and_ascii_is_ascii() {
    for size in ["80x24", "60x16", "200x70", "20x5", "1x1"] {
        for keys in ["", "f", "?", "jjjc", "fm=", "z", "p"] {
            let text = screen("scenarios/double-fire.ron", keys, &["--ascii", "--size", size]);
            let (width, height) = size.split_once('x').expect("a size");
            let (width, height): (usize, usize) = (width.parse().expect("columns"), height.parse().expect("rows"));
            assert_eq!(text.lines().count(), height, "{size} {keys}");
            assert!(text.lines().all(|line| line.len() <= width && line.is_ascii()), "{size} {keys}:\n{text}");
        }
    }
}

#[test]
fn a_screen_that_is_too_small_takes_no_keys() {
    let folder = folder("small");
    let args = |size| ["explore", "double-fire.ron", "--script", "w", "--size", size].map(str::to_owned);
    let run = |size| {
        let args = args(size);
        out(&overlapsim(&folder, &args.each_ref().map(String::as_str)))
    };
    for (size, message) in [
        ("71x24", "71x24 is too small: needs 72x20; q quits"),
        ("30x19", "needs 72x20; q quits"),
        ("14x5", "72x20; q quits"),
        ("7x5", "q quits"),
    ] {
        assert_eq!(run(size).trim_end(), message);
    }
    assert!(!folder.join("double-fire-explored-1.ron").exists(), "a key was taken");
    run("72x20");
    assert!(folder.join("double-fire-explored-1.ron").exists());
    std::fs::remove_dir_all(folder).expect("it was there");
}

/// Whatever is pressed in whatever order, there is a screen, and undoing everything leads back to the history of the start.
#[test]
fn any_keys_lead_to_a_screen_and_undo_leads_back() {
    let keys = [
        'l', 'h', 'j', 'k', ']', '[', 'b', 'B', 'd', 'D', 'f', 'F', 'o', 'O', 'g', 'G', 'c', 'u', 'U', 'r', 'R', 'm',
        '=', 'z', '?', 'p', '1', ' ',
    ];
    let named = ["<tab>", "<enter>", "<pgup>", "<pgdn>", "<up>", "<right>"];
    let files = [
        "scenarios/double-fire.ron",
        "scenarios/retraction.ron",
        "scenarios/spec-crossings-lazy.ron",
        "scenarios/check/disturbed.ron",
        "scenarios/exhaustion-assert.ron",
        "scenarios/no-buffer.ron",
        "scenarios/mixed-serial.ron",
    ];
    let mut state = 1_u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for file in files {
        for _ in 0..6 {
            let script: String = (0..60)
                .map(|_| {
                    let at = draw(keys.len() + named.len());
                    keys.get(at).map_or_else(|| named[at - keys.len()].to_owned(), char::to_string)
                })
                .collect();
            let text = screen(file, &script, &[]);
            assert_eq!(text.lines().count(), 24, "{file} {script}");
            // Out of whatever is open, back to the first history, and to its start.
            let undone = format!("<enter><enter>{script}<esc>{}g", "u".repeat(80));
            if !script.contains('q') {
                let first = |text: &str| text.lines().next().expect("a line").to_owned();
                let before = first(&screen(file, "", &[]));
                assert!(first(&screen(file, &undone, &[])).starts_with(&before[..before.len() - 4]), "{file} {undone}");
            }
        }
    }
}

/// The line that `p` shows, in one piece.
fn replay(file: &str, script: &str, folder: &Path) -> String {
    let args = ["explore", file, "--script", script, "--size", "1000x40"];
    let text = out(&overlapsim(folder, &args));
    let line = text.lines().find_map(|line| line.split_once("overlapsim run ")).expect("a command").1;
    line.trim_end_matches(['┃', '│', ' ']).to_owned()
}

#[test]
fn the_command_that_it_shows_runs_the_same_history() {
    let folder = folder("replay");
    let scripts = [("double-fire.ron", "p"), ("double-fire.ron", "rp"), ("double-fire.ron", "jjjc<right><enter>p")];
    for (file, script) in scripts {
        let line = replay(file, script, &folder);
        let args: Vec<&str> = std::iter::once("run").chain(line.split(' ')).collect();
        let run = overlapsim(&folder, &args);
        let text = out(&run);
        let verdict = text.split_whitespace().next().expect("a verdict").to_owned();
        let shown = out(&overlapsim(&folder, &["explore", file, "--script", script.trim_end_matches('p')]));
        assert!(shown.lines().next().expect("a header").contains(&verdict), "{line}:\n{shown}\n{text}");
    }
    let line = replay("double-fire.ron", "jjjc<right><enter>p", &folder);
    assert!(line.contains("--vary all --choices ") && line.contains("--seed 0"), "{line}");
    std::fs::remove_dir_all(folder).expect("it was there");
}

#[test]
fn a_history_is_written_as_a_scenario_that_passes() {
    let folder = folder("write");
    let text = out(&overlapsim(&folder, &["explore", "double-fire.ron", "--script", "jjjjjjc<right><enter>w"]));
    assert!(text.contains("double-fire-explored-1.ron"), "{text}");
    let test = overlapsim(&folder, &["test", "double-fire-explored-1.ron"]);
    assert!(test.status.success(), "{}", out(&test));
    assert!(out(&test).contains("1 passed"), "{}", out(&test));
    // The next one takes another name.
    overlapsim(&folder, &["explore", "double-fire.ron", "--script", "w"]);
    assert!(folder.join("double-fire-explored-2.ron").exists());
    let nowhere = out(&overlapsim(&folder, &["explore", "double-fire.ron", "--script", "w", "--out", "missing/below"]));
    assert!(nowhere.contains("not written") && nowhere.contains("help:"), "{nowhere}");
    std::fs::remove_dir_all(folder).expect("it was there");
}

#[test]
fn without_a_terminal_explore_is_refused() {
    let output = overlapsim(Path::new(ROOT), &["explore", "scenarios/double-fire.ron"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && error.contains("error: ") && error.contains("--script"), "{error}");
}

#[test]
fn wrong_arguments_are_refused() {
    let cases: [(&[&str], &str); 7] = [
        (&["--choices", "9.9.9"], "choice 1 is 9, which does not fit"),
        (&["--script", "<nowhere>"], "there is no key <nowhere>"),
        (&["--script", "", "--size", "80"], "is not a size"),
        (&["--size", "80x24"], "--script"),
        (&["--rule", "all"], "one rule at a time"),
        (&["--vary", "arrival"], "no question is called `arrival`"),
        (&["--rule", "mask"], "there is no rule `mask`"),
    ];
    for (more, said) in cases {
        let mut args = vec!["explore", "scenarios/double-fire.ron"];
        args.extend(more);
        if !more.contains(&"--script") && !more.contains(&"--size") {
            args.extend(["--script", ""]);
        }
        let output = overlapsim(Path::new(ROOT), &args);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(error.contains(said), "{args:?}: {error}");
    }
}

/// In a real terminal the keys arrive, and Ctrl-C restores the settings of the terminal.
#[cfg(target_os = "linux")]
#[test]
fn the_terminal_is_as_it_was_after_ctrl_c() {
    use std::io::{Read as _, Write as _};
    if Command::new("script").arg("--version").output().is_err() {
        crate::common::skip::skipped("`script`, which makes a terminal, is not installed");
        return;
    }
    let line = format!(
        "stty cols 80 rows 24; {} explore scenarios/double-fire.ron; echo code $?; stty -a",
        env!("CARGO_BIN_EXE_overlapsim")
    );
    let mut command = Command::new("script");
    let command = command.args(["-qec", &line, "/dev/null"]).current_dir(ROOT).env("TERM", "xterm");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("script runs");
    let mut keys = child.stdin.take().expect("a pipe");
    let mut shown = child.stdout.take().expect("a pipe");
    let mut text = Vec::new();
    let mut until = |word: &str, text: &mut Vec<u8>| {
        let mut buffer = [0; 4096];
        while !String::from_utf8_lossy(text).contains(word) {
            let read = shown.read(&mut buffer).expect("the terminal can be read");
            assert!(read > 0, "{word} is not shown: {}", String::from_utf8_lossy(text));
            text.extend_from_slice(&buffer[..read]);
        }
    };
    until("quit", &mut text);
    keys.write_all(b"f").expect("a key");
    // The mark of a finding.
    until("!!", &mut text);
    keys.write_all(b"\x03").expect("a key");
    until("iexten", &mut text);
    drop(keys);
    // The rest of what `stty` says may come in another piece.
    shown.read_to_end(&mut text).expect("the terminal can be read");
    child.wait().expect("it ends");
    let text = String::from_utf8_lossy(&text);
    let (before, after) = text.split_once("\x1b[?1049l").expect("the other screen is left");
    assert!(before.contains("\x1b[?1049h"), "{before}");
    assert!(after.contains("code 0") && after.contains(" icanon") && after.contains(" echo "), "{after}");
}
