//! `--fail-on`: which verdicts end a command with exit code 1, in every command whose exit code follows verdicts.

use std::process::{Command, Output, Stdio};

/// A scenario that loses a checkpoint under its own rule, and is clean under `token-len`.
const LOSSY: &str = "scenarios/lost-checkpoint.ron";
/// A scenario that caches an unwritten state.
const CORRUPT: &str = "scenarios/double-fire.ron";

/// Command lines, and their exit codes without `--fail-on` and with `lossy`, `corrupt` and `never`.
const CODES: &[(&[&str], [i32; 4])] = &[
    (&["run", LOSSY], [0, 1, 0, 0]),
    (&["run", LOSSY, "--format", "json"], [0, 1, 0, 0]),
    (&["run", LOSSY, "--rule", "token-len"], [0, 0, 0, 0]),
    (&["run", CORRUPT], [1, 1, 1, 0]),
    (&["run", "BOUND"], [3, 1, 3, 0]),
    (&["run", "BOUND", "--rule", "token-len"], [3, 3, 3, 0]),
    // What a running request has not recorded when the bound comes it could still record.
    (&["run", "RUNNING"], [3, 3, 3, 0]),
    (&["check", "RUNNING"], [3, 3, 3, 0]),
    (&["run", "no-such-file.ron"], [2, 2, 2, 2]),
    (&["diff", LOSSY], [0, 1, 0, 0]),
    (&["diff", CORRUPT], [1, 1, 1, 0]),
    (&["kl", LOSSY], [0, 1, 0, 0]),
    (&["jitter", CORRUPT, "--pattern", "101", "--rule", "mask-lookahead"], [0, 1, 0, 0]),
    (&["jitter", CORRUPT], [1, 1, 1, 0]),
    (&["check", LOSSY], [0, 1, 0, 0]),
    (&["check", CORRUPT], [1, 1, 1, 0]),
    (&["check", "BOUND"], [3, 1, 3, 0]),
    (&["fuzz", LOSSY, "--seeds", "0..2"], [0, 1, 0, 0]),
    (&["fuzz", "BOUND", "--seeds", "0..2"], [3, 1, 3, 0]),
    (&["merge", "REPORT"], [3, 1, 3, 0]),
    // The recording agrees with the model, and shows a wrong donation.
    (&["conform", "tests/recordings/whole/cases.jsonl.gz#0"], [0, 1, 1, 0]),
    (&["conform", "tests/recordings/whole/crossings.jsonl.gz#0"], [0, 0, 0, 0]),
    (&["conform", "tests/recordings/whole/cases.jsonl.gz#0", "--rule", "token-len"], [1, 1, 1, 0]),
    (&["conform", "no-such-recording.jsonl"], [2, 2, 2, 2]),
    (&["test", LOSSY], [0, 1, 0, 0]),
    (&["test", CORRUPT], [0, 1, 1, 0]),
    (&["test", "scenarios/no-interleaving.ron"], [0, 0, 0, 0]),
    (&["test", "UNMET"], [1, 1, 1, 0]),
    (&["test", "no-such-file.ron"], [2, 2, 2, 2]),
];

fn overlapsim(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlapsim"));
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null()).output().expect("the binary runs")
}

/// The files that a placeholder of [`CODES`] stands for, in a directory of their own.
struct Files(std::path::PathBuf);

impl Files {
    fn new() -> Files {
        let folder = std::env::temp_dir().join(format!("overlapsim-fail-on-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let files = Files(folder);
        let lossy = std::fs::read_to_string(LOSSY).unwrap();
        let cut = |turns: &str| lossy.replacen("Scenario(\n", &format!("Scenario(\n    turns_max: {turns},\n"), 1);
        // The loss is found with the result in turn 5 or before; the bound comes after it.
        std::fs::write(files.path("BOUND"), cut("7")).unwrap();
        std::fs::write(files.path("RUNNING"), cut("7").replacen("stop: Token(4)", "stop: Length(12)", 1)).unwrap();
        std::fs::write(files.path("UNMET"), lossy.replacen("verdict: Lossy", "verdict: Corrupt", 1)).unwrap();
        let (bound, out) = (files.path("BOUND"), files.0.to_string_lossy().into_owned());
        overlapsim(&["fuzz", &bound, "--seeds", "0..2", "--out", &out]);
        std::fs::rename(files.0.join("fuzz-0-of-1.json"), files.path("REPORT")).unwrap();
        files
    }

    fn path(&self, name: &str) -> String {
        self.0.join(format!("{}.ron", name.to_lowercase())).to_string_lossy().into_owned()
    }
}

#[test]
fn exit_codes_follow_the_verdicts_that_are_to_fail() {
    let files = Files::new();
    for (args, codes) in CODES {
        let placeholder = |arg: &str| arg.chars().all(|letter| letter.is_ascii_uppercase());
        let args: Vec<String> =
            args.iter().map(|arg| if placeholder(arg) { files.path(arg) } else { (*arg).to_string() }).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let got = [None, Some("lossy"), Some("corrupt"), Some("never")].map(|fail_on| {
            let fail_on: Vec<&str> = fail_on.into_iter().flat_map(|word| ["--fail-on", word]).collect();
            overlapsim(&[&args[..], &fail_on].concat()).status.code().expect("an exit code")
        });
        assert_eq!(got, *codes, "{args:?}");
    }
    std::fs::remove_dir_all(files.0).unwrap();
}

#[test]
fn test_says_which_expected_verdict_is_refused() {
    let output = overlapsim(&["test", LOSSY, CORRUPT, "--fail-on", "corrupt"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!("ok   {LOSSY}")), "{text}");
    let refused = format!("FAIL {CORRUPT}  committed-len: corrupt as expected, but --fail-on corrupt; mask-lookahead:");
    assert!(text.contains(&refused), "{text}");
    assert!(text.ends_with("1 passed, 1 failed\n"), "{text}");
}
