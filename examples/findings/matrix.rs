//! The verdict matrix: rule by strategy, over families of scenarios.

use std::collections::BTreeMap;

use overlapsim::judge::{FindingKind, Verdict};
use overlapsim::report::name;
use overlapsim::runner;

use crate::cases::{Case, STRATEGIES};

/// The releases whose presets are tried.
pub const RELEASES: [&str; 2] = ["V0_5_17", "V0_5_23"];

/// Two prefills that come between the steps of `a`.
const PREFILLS: [(u32, u32); 2] = [(1, 1), (1, 1)];
/// One more request that decodes, so that one of the two can be retracted.
const DECODES: [(u32, u32); 1] = [(1, 2)];
/// Most unique states of one search.
pub const STATES_MAX: u64 = 4_000_000;

/// A column: what it is called, and the case that one prompt makes.
type Column = (&'static str, u32, fn(Case) -> Case);

const BASE: [Column; 3] = [("G = 2", 2, |case| case), ("G = 3", 3, |case| case), ("G = 4", 4, |case| case)];

const MORE: [Column; 6] = [
    ("aborts, G = 3", 3, |case| Case { open: ", aborts: true", ..case }),
    ("retraction, G = 3", 3, |case| Case { open: ", retract: true", others: DECODES.to_vec(), ..case }),
    ("chunk 1, G = 4", 4, |case| Case { chunk: 1, ..case }),
    ("prompts in chunks, G = 4", 4, |case| Case { more: ", chunked_prefill_size: 4", ..case }),
    ("mixed batches, G = 4", 4, |case| Case { more: ", chunked_prefill_size: 32, mixed_chunk: true", ..case }),
    ("speculative, G = 4", 4, |case| {
        let more = ", spec: Some((draft: 1, accept: Fixed([1])))";
        Case { more, open: ", accept: true", ..case }
    }),
];

/// The case of the first family.
pub fn base(release: &'static str, strategy: &'static str, grid: u32, prompt: u32) -> Case {
    Case { release, strategy, grid, chunk: grid, more: "", prompt, others: PREFILLS.to_vec(), open: "" }
}

/// What the searches of all prompts came to.
#[derive(Default)]
struct Cell {
    worst: Option<Verdict>,
    kinds: BTreeMap<FindingKind, ()>,
    incomplete: bool,
    unique: u64,
    searches: u64,
}

impl Cell {
    fn of(rule: &str, release: &'static str, strategy: &'static str, column: Column) -> Option<Cell> {
        let (title, grid, case) = column;
        // Speculative decoding needs overlap.
        if title.starts_with("speculative") && strategy.contains("off")
            || strategy == "no_buffer" && title.starts_with("spec")
        {
            return None;
        }
        let mut cell = Cell::default();
        for prompt in 1..=2 * grid {
            let checked = case(base(release, strategy, grid, prompt)).search(rule, STATES_MAX);
            cell.worst = cell.worst.max(Some(checked.verdict));
            cell.kinds.extend(checked.findings.iter().map(|found| (found.finding.kind, ())));
            cell.incomplete |= !checked.is_complete();
            cell.unique += checked.explored.unique;
            cell.searches += 1;
        }
        Some(cell)
    }

    fn words(&self) -> String {
        let verdict = self.worst.map_or("-", name::verdict);
        let kinds: Vec<&str> = self.kinds.keys().map(|kind| name::kind(*kind)).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
        let incomplete = if self.incomplete { " (not complete)" } else { "" };
        format!("{verdict}{kinds}{incomplete}")
    }
}

/// Prints both tables.
pub fn print() {
    table(&BASE);
    println!();
    table(&MORE);
}

fn table(columns: &[Column]) {
    let titles: Vec<&str> = columns.iter().map(|column| column.0).collect();
    println!("| rule | strategy | {} |", titles.join(" | "));
    println!("|{}", "---|".repeat(columns.len() + 2));
    let mut sums = vec![(0, 0); columns.len()];
    for rule in runner::rule_names() {
        for (strategy, _) in STRATEGIES {
            let cells: Vec<String> = columns
                .iter()
                .zip(&mut sums)
                .map(|(&column, sum)| {
                    let cells = RELEASES.map(|release| Cell::of(rule, release, strategy, column));
                    for cell in cells.iter().flatten() {
                        *sum = (sum.0 + cell.searches, sum.1 + cell.unique);
                    }
                    let [old, new] = cells.map(|cell| cell.map_or("-".to_string(), |cell| cell.words()));
                    if old == new { old } else { format!("{old}; 0.5.23 {new}") }
                })
                .collect();
            println!("| `{rule}` | {strategy} | {} |", cells.join(" | "));
        }
    }
    println!();
    for (title, (searches, unique)) in titles.iter().zip(&sums) {
        println!("{title}: {searches} searches, {unique} unique states");
    }
}
