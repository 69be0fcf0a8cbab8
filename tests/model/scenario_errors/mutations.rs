//! No text makes the reader panic: truncated samples, any text. `tests/readers` mutates samples.

use super::read;
use proptest::prelude::*;

/// Scenarios that use every part of the format.
fn samples() -> Vec<String> {
    let whole = r##"// Why this file exists.
Scenario(
    engine: (release: V0_5_23, strategy: ExtraBufferLazy, track_interval: 4, mamba_chunk: 4, grid: Lcm, overlap: true,
        kv_tokens: 4_096, conservativeness: 0.7, result_queue: Alias, tombstone_lock: Skip),
    costs: (plan: Fixed(50_000), gpu_decode: Uniform(7, 9)), /* a comment /* in a comment */ */
    seed: 7, rule: r#"mask-lookahead"#, turns_max: 900,
    requests: [
        (id: "a", arrive: Turn(0), prompt: Fresh(1), stop: Token(4), max_new: Some(40)),
        (id: "b", arrive: Before("a", 5), prompt: Tokens([1, 2, 1005]), stop: Length(1)),
        (id: "c", prompt: Extend("a", 4), stop: Length(2)), // after a
        (id: "d\u{e9}", arrive: At("12.5ms"), prompt: Prefix("c", 1, 0), stop: Length(2)),
    ],
    events: [(turn: 7, do: FailAlloc("a"))],
    expect: [(rule: "mask-lookahead", verdict: Corrupt, findings: [(kind: "unwritten", request: "a", label: 4)])],
)
"##;
    let trace = r#"(trace: (format: MooncakeJsonl, path: "mooncake-synthetic.500.jsonl", limit: 9, time_scale: 0.5),
        engine: (kv_tokens: 1048576))"#;
    vec![whole.to_string(), trace.to_string()]
}

/// Reads any text. If it is refused, the diagnostic must have a place in the text and a report.
fn read_without_panic(text: &str) {
    match read(text) {
        Ok(scenario) => {
            assert!(!scenario.setup.requests.is_empty());
            assert_eq!(scenario.setup.requests.len(), scenario.setup.names.len());
        }
        Err(error) => {
            let report = error.render(false);
            assert!(!error.remedy().is_empty() && report.contains("help: "), "{report}");
            assert!(!report.contains('\u{1b}'), "{report}");
            if error.file() == "dir/case.ron" {
                let line = text.split('\n').nth(error.line() - 1).expect("the line is in the text");
                assert!(error.column() <= line.chars().count() + 1, "{report}");
            }
        }
    }
}

#[test]
fn the_samples_can_be_read() {
    for text in samples() {
        read(&text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    }
}

#[test]
fn no_truncation_makes_the_reader_panic() {
    for text in samples() {
        for (at, _) in text.char_indices() {
            read_without_panic(&text[..at]);
            read_without_panic(&text[at..]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,80}") {
        read_without_panic(&text);
    }
}
