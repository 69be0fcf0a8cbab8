//! The proof for `paired`, by exhaustion: every timing of one long request among others comes out clean, nothing lost.
//!
//! ```text
//! cargo run --release --example paired_proof -- FAMILY GRIDS PROMPTS OTHERS
//! cargo run --release --example paired_proof -- prefills 2..6 all 2
//! cargo run --release --example paired_proof -- decodes 4 1..3 1
//! ```
//!
//! `FAMILY` is what the other requests are: `prefills` (one token of prompt, one output each), `decodes` (one or two of
//! them decode as well, so that rows can be retracted), `chunk` (as `prefills`, and a prefill keeps its state at any
//! length). `GRIDS` and `PROMPTS` are a number or `a..b`, both ends included; `all` is 1 to twice the grid. Everything is
//! open: arrivals, stops, aborts, retraction, refused slots. Refuses to go on after a case that is not clean or not
//! complete: it is shown as a scenario, and the exit code is 1.

#[path = "../tests/common/cases.rs"]
mod cases;

use std::io::Write as _;
use std::process::ExitCode;

use cases::Case;
use overlapsim::judge::Verdict;
use overlapsim::report::name;

const RELEASES: [&str; 2] = ["V0_5_17", "V0_5_23"];
const OPEN: &str = ", aborts: true, retract: true";
const STATES_MAX: u64 = 40_000_000;

/// Prompt and outputs of those others that decode.
const DECODING: [&[(u32, u32)]; 6] = [&[(1, 2)], &[(2, 3)], &[(3, 4)], &[(1, 4)], &[(1, 2), (2, 3)], &[(3, 4), (1, 3)]];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(asked) = Asked::read(&args) else {
        eprintln!("usage: paired_proof prefills|decodes|chunk GRIDS PROMPTS|all OTHERS");
        return ExitCode::from(2);
    };
    let mut sum = (0_u64, 0_u64);
    println!("| release | strategy | G | prompt | others | unique states | verdict | complete |");
    println!("|---|---|---|---|---|---|---|---|");
    for case in asked.cases() {
        let checked = case.search("paired", STATES_MAX);
        let unique = checked.explored.unique;
        sum = (sum.0 + 1, sum.1 + unique);
        let (verdict, complete) = (name::verdict(checked.verdict), checked.is_complete());
        let Case { release, strategy, grid, prompt, others, .. } = &case;
        let others: Vec<String> = others.iter().map(|(prompt, outputs)| format!("{prompt}+{outputs}")).collect();
        let others = others.join(" ");
        let complete_word = if complete { "yes" } else { "no" };
        println!("| {release} | {strategy} | {grid} | {prompt} | {others} | {unique} | {verdict} | {complete_word} |");
        // A log is read while it grows.
        let _ = std::io::stdout().flush();
        if checked.verdict != Verdict::Clean || !complete {
            println!("\n{}", case.text());
            for found in &checked.findings {
                println!("{:?} {}: choices {:?}", found.finding.kind, found.finding.reason, found.path.answers);
            }
            return ExitCode::FAILURE;
        }
    }
    println!("\n{} cases, {} unique states: all clean, nothing lost, all complete", sum.0, sum.1);
    ExitCode::SUCCESS
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Prefills,
    Decodes,
    Chunk,
}

/// What was asked for on the command line.
struct Asked {
    family: Family,
    grids: (u32, u32),
    prompts: Option<(u32, u32)>,
    others: usize,
}

impl Asked {
    fn read(args: &[String]) -> Option<Asked> {
        let [family, grids, prompts, others] = args else { return None };
        let family = match family.as_str() {
            "prefills" => Family::Prefills,
            "decodes" => Family::Decodes,
            "chunk" => Family::Chunk,
            _ => return None,
        };
        let prompts = if prompts == "all" { None } else { Some(range(prompts)?) };
        Some(Asked { family, grids: range(grids)?, prompts, others: others.parse().ok()? })
    }

    /// Prompt and outputs of the other requests, case by case.
    fn others(&self) -> Vec<Vec<(u32, u32)>> {
        match self.family {
            Family::Prefills | Family::Chunk => vec![vec![(1, 1); self.others]],
            Family::Decodes => DECODING
                .iter()
                .filter(|those| those.len() <= self.others)
                .map(|those| those.iter().copied().chain(vec![(1, 1); self.others - those.len()]).collect())
                .collect(),
        }
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for grid in self.grids.0..=self.grids.1 {
            let (first, last) = self.prompts.unwrap_or((1, 2 * grid));
            let chunk = if self.family == Family::Chunk { 1 } else { grid };
            for prompt in first..=last {
                for (release, strategy) in
                    RELEASES.iter().flat_map(|r| ["extra_buffer", "extra_buffer_lazy"].map(|s| (*r, s)))
                {
                    let case = |others| Case { release, strategy, grid, chunk, more: "", prompt, others, open: OPEN };
                    cases.extend(self.others().into_iter().map(case));
                }
            }
        }
        cases
    }
}

fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once("..") {
        Some((from, to)) => Some((from.parse().ok()?, to.parse().ok()?)),
        None => text.parse().ok().map(|one| (one, one)),
    }
}
