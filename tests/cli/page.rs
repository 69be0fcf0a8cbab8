//! The command `report`: what it writes, prints and refuses. What the page looks like is tested in `tests/cli/browser.rs`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn overlapsim(args: &[&str]) -> Output {
    let root = env!("CARGO_MANIFEST_DIR");
    Command::new(env!("CARGO_BIN_EXE_overlapsim")).args(args).current_dir(root).output().expect("it starts")
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn two_processes_write_the_same_bytes_and_the_verdict_is_no_exit_code() {
    let pages = ["page-1.html", "page-2.html"].map(|name| {
        let path = file(name);
        let out = path.to_str().expect("a path");
        let output = overlapsim(&["report", "scenarios/double-fire.ron", "--rule", "all", "-o", out]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        let verdicts = "8 turns; committed-len corrupt, token-len clean, mask-lookahead corrupt, completed-mask clean, paired clean\n";
        assert!(said.starts_with(out) && said.ends_with(verdicts), "{said}");
        std::fs::read(path).expect("the page was written")
    });
    assert!(pages[0] == pages[1] && !pages[0].is_empty());
}

#[test]
fn a_page_can_show_the_choices_of_a_search() {
    let path = file("page-choices.html");
    let choices = "1.1.1.0x17.1.1";
    let args =
        ["report", "scenarios/check/interleaved.ron", "--choices", choices, "-o", path.to_str().expect("a path")];
    let output = overlapsim(&args);
    assert!(text(&output.stdout).ends_with("mask-lookahead corrupt\n"), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(path).expect("the page was written");
    assert!(page.contains(&format!(
        "overlapsim run scenarios/check/interleaved.ron --rule mask-lookahead --choices {choices}"
    )));
}

#[test]
fn a_run_of_too_many_turns_is_refused_and_a_part_of_it_is_shown() {
    let scenario = file("page-long.ron");
    let long = "Scenario(engine: (kv_tokens: 65536), requests: [(id: \"a\", prompt: Fresh(1), stop: Length(20100))])";
    std::fs::write(&scenario, long).expect("a scenario can be written");
    let (scenario, out) = (scenario.to_string_lossy(), file("page-long.html"));
    let _ = std::fs::remove_file(&out);
    let to = out.to_str().expect("a path");
    let output = overlapsim(&["report", &scenario, "-o", to]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.contains("more than the 20000 that a page shows\nhelp: show a part of it, as in --turns 0..4999"),
        "{said}"
    );
    assert!(!out.exists());
    let output = overlapsim(&["report", &scenario, "-o", to, "--turns", "20000..20100"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("101 turns; "), "{}", text(&output.stdout));
}
