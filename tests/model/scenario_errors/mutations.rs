//! No text makes the reader panic: truncated samples, mutated samples, any text.

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

/// Texts that mutations insert: tokens of the format, extreme numbers, and characters that are easily mishandled.
const PIECES: [&str; 40] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"",
    "'",
    "//",
    "/*",
    "*/",
    "#",
    "r#\"",
    "b\"",
    "\\",
    "\n",
    "\r",
    "\0",
    "\t",
    "\u{1b}[31m",
    "\u{feff}",
    "é",
    "\u{10ffff}",
    "0",
    "-1",
    "4294967295",
    "18446744073709551616",
    "1e999",
    "NaN",
    "None",
    "Some(",
    "\"a\"",
    "\"c\"",
    "Extend(\"c\", 1)",
    "After(\"b\")",
    "id:",
    "vary:",
    "#![enable(unwrap_newtypes)]",
];

#[derive(Clone, Debug)]
enum Mutation {
    Cut(usize, usize),
    Insert(usize, usize),
    Move(usize, usize, usize),
    Number(usize, usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = 0..4096_usize;
    prop_oneof![
        (at.clone(), 1..40_usize).prop_map(|(at, len)| Mutation::Cut(at, len)),
        (at.clone(), 0..PIECES.len()).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        (at.clone(), 1..60_usize, at.clone()).prop_map(|(from, len, to)| Mutation::Move(from, len, to)),
        (at, 25..30_usize).prop_map(|(at, piece)| Mutation::Number(at, piece)),
    ]
}

fn mutate(text: &str, mutation: &Mutation) -> String {
    let chars: Vec<char> = text.chars().collect();
    let count = chars.len().max(1);
    let slice = |from: usize, to: usize| {
        chars[from.min(chars.len())..to.min(chars.len()).max(from.min(chars.len()))].iter().collect::<String>()
    };
    match mutation {
        Mutation::Cut(at, len) => slice(0, at % count) + &slice(at % count + len, usize::MAX),
        Mutation::Insert(at, piece) => slice(0, at % count) + PIECES[*piece] + &slice(at % count, usize::MAX),
        Mutation::Move(from, len, to) => {
            slice(0, to % count) + &slice(from % count, from % count + len) + &slice(to % count, usize::MAX)
        }
        Mutation::Number(at, piece) => {
            let from = (at % count..chars.len()).find(|at| chars[*at].is_ascii_digit()).unwrap_or(chars.len());
            let to = (from..chars.len()).find(|at| !chars[*at].is_ascii_digit()).unwrap_or(chars.len());
            slice(0, from) + PIECES[*piece] + &slice(to, usize::MAX)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_mutation_makes_the_reader_panic(sample in 0..2_usize, mutations in prop::collection::vec(mutation(), 1..6)) {
        let text = mutations.iter().fold(samples()[sample].clone(), |text, mutation| mutate(&text, mutation));
        read_without_panic(&text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,80}") {
        read_without_panic(&text);
    }
}
