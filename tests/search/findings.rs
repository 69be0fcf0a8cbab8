//! What `docs/findings.md` says is so: files exist, cells of its matrix are what a search gives, and `paired` is clean.

use std::collections::BTreeSet;

use crate::common::cases::{Case, STRATEGIES};
use overlapsim::judge::{FindingKind, Verdict};
use overlapsim::report::name;
use overlapsim::runner;

const STATES_MAX: u64 = 1_000_000;

fn page() -> String {
    std::fs::read_to_string("docs/findings.md").unwrap()
}

#[test]
fn the_page_names_the_files_that_there_are() {
    let page = page();
    let named: BTreeSet<String> = page
        .split("scenarios/findings/")
        .skip(1)
        .filter_map(|rest| rest.split_once(".ron"))
        .map(|(name, _)| format!("{name}.ron"))
        .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)))
        .collect();
    let there: BTreeSet<String> = std::fs::read_dir("scenarios/findings")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(named, there);
}

/// The column of the smallest grid, anew.
#[test]
fn the_matrix_is_what_searches_give() {
    let page = page();
    for rule in runner::rule_names() {
        for (strategy, _) in STRATEGIES {
            let cells = ["V0_5_17", "V0_5_23"].map(|release| {
                let (mut worst, mut kinds): (Option<Verdict>, BTreeSet<FindingKind>) = (None, BTreeSet::new());
                for prompt in 1..=4 {
                    let (others, more, open) = (vec![(1, 1); 2], "", "");
                    let case = Case { release, strategy, grid: 2, chunk: 2, more, prompt, others, open };
                    let checked = case.search(rule, STATES_MAX);
                    assert!(checked.is_complete(), "{case:?}");
                    worst = worst.max(Some(checked.verdict));
                    kinds.extend(checked.findings.iter().map(|found| found.finding.kind));
                }
                let kinds: Vec<&str> = kinds.into_iter().map(name::kind).collect();
                let verdict = name::verdict(worst.unwrap());
                if kinds.is_empty() { verdict.to_string() } else { format!("{verdict}: {}", kinds.join(", ")) }
            });
            let [old, new] = cells;
            let cell = if old == new { old } else { format!("{old}; 0.5.23 {new}") };
            let row = format!("| `{rule}` | {strategy} | {cell} |");
            assert!(page.contains(&row), "the page lacks {row}");
        }
    }
}

/// A small part of what `examples/paired_proof.rs` goes through.
#[test]
fn paired_is_clean_in_every_timing() {
    for (release, grid, others) in [("V0_5_17", 2, 2), ("V0_5_23", 2, 1), ("V0_5_17", 3, 2), ("V0_5_23", 3, 1)] {
        for prompt in 1..=2 * grid {
            for strategy in ["extra_buffer", "extra_buffer_lazy"] {
                let (others, more, open) = (vec![(1, 1); others], "", ", aborts: true, retract: true");
                let case = Case { release, strategy, grid, chunk: grid, more, prompt, others, open };
                let checked = case.search("paired", STATES_MAX);
                assert!(checked.verdict == Verdict::Clean && checked.is_complete(), "{}\n{checked:?}", case.text());
            }
        }
    }
}

/// What the search must not pass over: a rule of which it is known that it fails, in the very same scenarios.
#[test]
fn the_same_scenarios_convict_the_others() {
    let (others, more, open) = (vec![(1, 1); 2], "", ", aborts: true, retract: true");
    for (rule, strategy, prompt) in [
        ("mask-lookahead", "extra_buffer", 1),
        ("token-len", "extra_buffer_lazy", 1),
        ("completed-mask", "extra_buffer", 1),
    ] {
        let others = others.clone();
        let case = Case { release: "V0_5_17", strategy, grid: 2, chunk: 2, more, prompt, others, open };
        assert_eq!(case.search(rule, STATES_MAX).verdict, Verdict::Corrupt, "{rule}");
    }
}
