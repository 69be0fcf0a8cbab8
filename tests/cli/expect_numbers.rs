//! What `expect` says of requests, evictions and leaks, and what `test` says where that is wrong.

use std::process::{Command, Stdio};

/// A prompt of 4 tokens that ends by a stop token, and one that extends it once it is over.
const FILE: &str = r#"Scenario(
    engine: (release: V0_5_17, track_interval: 4, mamba_chunk: 4),
    requests: [
        (id: "a", prompt: Fresh(4), stop: Token(5)),
        (id: "b", arrive: After("a"), prompt: Extend("a", 2), stop: Length(2)),
        (id: "c", arrive: Turn(2), prompt: Fresh(2), stop: Length(9)),
    ],
    events: [(turn: 4, do: Abort("c"))],
    EXPECT
)"#;

/// Tests the file with these fields of an expectation; the exit code and what is printed.
fn test(name: &str, fields: &str) -> (i32, String) {
    let file = std::env::temp_dir().join(format!("overlapsim-numbers-{name}-{}.ron", std::process::id()));
    let expect = format!("expect: [(rule: \"paired\", verdict: Clean, {fields})],");
    std::fs::write(&file, FILE.replace("EXPECT", &expect)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlapsim"));
    let output = command.arg("test").arg(&file).stdin(Stdio::null()).output().expect("the binary runs");
    std::fs::remove_file(&file).unwrap();
    (output.status.code().expect("an exit code"), String::from_utf8(output.stdout).expect("output is UTF-8"))
}

#[test]
fn requests_evictions_and_leaks_are_compared() {
    let right = r#"evictions: 0, leaks: 0, requests: [
        (id: "a", outputs: 5, prefix_hit: 0, admitted: 0, ended: Token),
        (id: "b", outputs: 2, prefix_hit: 8, ended: Length),
        (id: "c", admitted: 2, ended: Abort),
    ]"#;
    let (code, text) = test("right", right);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn each_number_that_differs_has_a_line() {
    let wrong = r#"evictions: 7, requests: [
        (id: "a", outputs: 4, prefix_hit: 3, admitted: 1, ended: Length),
        (id: "c", ended: Unfinished),
    ]"#;
    let (code, text) = test("wrong", wrong);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("  paired: clean as expected, with other numbers\n"), "{text}");
    let lines = [
        "request a, outputs: expected 4, got 5",
        "request a, prefix_hit: expected 3, got 0",
        "request a, admitted: expected 1, got 0",
        "request a, ended: expected Length, got Token",
        "request c, ended: expected Unfinished, got Abort",
        "evictions: expected 7, got 0",
    ];
    for line in lines {
        assert!(text.contains(&format!("       paired: {line}\n")), "{line}: {text}");
    }
    assert_eq!(text.matches(": expected ").count(), lines.len(), "{text}");
}
