//! How often faults are hit when the lookahead jitters as on a server: what `fuzz --strategy jitter` counts.

use std::path::PathBuf;

use overlapsim::command::{FailOnVerdict, Format, FuzzArgs, OutsidePaths, Shard, StyleWord, fuzz_to_text};
use overlapsim::report::{FuzzReport, FuzzRule, Verdicts};

/// The scenarios: what they are called, and their files.
const SCENARIOS: [(&str, &str); 4] = [
    ("G = 4, extra_buffer", "jitter-short-extra-buffer"),
    ("G = 4, extra_buffer_lazy", "jitter-short-extra-buffer-lazy"),
    ("G = 64, extra_buffer", "jitter-long-extra-buffer"),
    ("G = 64, extra_buffer_lazy", "jitter-long-extra-buffer-lazy"),
];

/// Prints the table. A run is one long request.
pub fn print(seeds: u64) {
    println!("| scenario | rule | L = 1 | clean | lossy | corrupt | lost of due | lost per 1000 decode results |");
    println!("|---|---|---|---|---|---|---|---|");
    for (title, file) in SCENARIOS {
        let args = FuzzArgs {
            outside: OutsidePaths::default(),
            file: Some(PathBuf::from(format!("scenarios/findings/{file}.ron"))),
            preset: None,
            time_max_ns: None,
            second_judge: false,
            seeds: (0, seeds),
            rule: Some("all".to_string()),
            jobs: Some(1),
            shard: Shard::WHOLE,
            strategy: StyleWord::Jitter,
            out: None,
            format: Format::Json,
            fail_on: FailOnVerdict::default(),
        };
        let (text, _) = fuzz_to_text(&args).unwrap_or_else(|failure| panic!("{}", failure.0));
        let report: FuzzReport = serde_json::from_str(&text).expect("what was written can be read");
        for rule in &report.rules {
            println!("| {title} | `{}` | {} |", rule.rule, figures(rule).join(" | "));
        }
    }
}

fn figures(rule: &FuzzRule) -> [String; 6] {
    let Verdicts { clean, lossy, inconclusive, corrupt, broken } = rule.verdicts;
    assert_eq!((inconclusive, broken), (0, 0), "a long request in an ample pool comes to its end");
    let share = |runs: u64| format!("{:.2} %", 100.0 * runs as f64 / rule.runs as f64);
    let results: u64 = rule.lookahead.iter().sum();
    [
        format!("{:.1} %", 100.0 * rule.lookahead[1] as f64 / results as f64),
        share(clean),
        share(lossy),
        share(corrupt),
        format!("{} of {}, {:.1} %", rule.lost, rule.due, 100.0 * rule.lost as f64 / rule.due as f64),
        format!("{:.2}", 1000.0 * rule.lost as f64 / results as f64),
    ]
}
