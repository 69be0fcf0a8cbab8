//! The command line: clap structs; each command is one call into the library.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::command::{
    self, Choices, ConformArgs, Exit, Failure, Format, GraphArgs, GraphFormat, ImportArgs, KlArgs, PlanWord, RunArgs,
    ScenarioFormat,
};

/// Replays any timing of an LLM server's overlap scheduler, and judges which recurrent state it caches under which
/// prefix length.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, after_help = EXITS)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXITS: &str = "Exit codes: 0 clean or lossy; 1 corrupt or broken, or an expectation failed; \
2 a mistake in the command line or a file; 3 a bound ended the run (inconclusive).";

const RUN_EXAMPLES: &str = "Examples:
  overlapsim run scenarios/double-fire.ron
  overlapsim run scenarios/double-fire.ron --rule all
  overlapsim run scenarios/double-fire.ron --rule completed-mask --timeline
  overlapsim run scenarios/double-fire.ron --timeline --turns 3..4
  overlapsim run scenarios/natural-jitter.ron --seed 7 --format json
  overlapsim run scenarios/double-fire.ron --skew";

const DIFF_EXAMPLES: &str = "Examples:
  overlapsim diff scenarios/double-fire.ron";

const KL_EXAMPLES: &str = "Examples:
  overlapsim kl scenarios/kl-row2.ron
  overlapsim kl scenarios/kl-row2.ron --rule token-len --state-seed 7 --format json";

const TEST_EXAMPLES: &str = "Examples:
  overlapsim test scenarios/
  overlapsim test scenarios/double-fire.ron my-incident.ron";

const CONFORM_EXAMPLES: &str = "Examples:
  overlapsim conform tests/recordings/
  overlapsim conform run.jsonl.gz --plan own --format json
  overlapsim conform archive.jsonl.gz#17 --rule mask-lookahead

Exit code 1 if any recording differs, 2 if one cannot be read (the others are still compared).";

const IMPORT_EXAMPLES: &str = "Examples:
  overlapsim import incident.jsonl -o incident.ron
  overlapsim import archive.jsonl.gz#17 -o case-17.ron

Exit code 1 if the replay leaves the recording; the file is written all the same, and the line is named.";

const SCENARIO_EXAMPLES: &str = "Examples:
  overlapsim scenario scenarios/double-fire.ron
  overlapsim scenario scenarios/double-fire.ron --format json";

const GRAPH_EXAMPLES: &str = "Examples:
  overlapsim graph scenarios/torn-chunk-snapshot.ron
  overlapsim graph scenarios/torn-chunk-snapshot.ron --around 1
  overlapsim graph scenarios/double-fire.ron --rule completed-mask --format json";

#[derive(Debug, Subcommand)]
enum Command {
    /// Replay a scenario under one rule or all, and judge it
    #[command(after_help = RUN_EXAMPLES)]
    Run {
        /// The scenario file
        file: PathBuf,
        /// A rule by name, `all`, or `release` for the one that the scenario's release shipped with [default: the
        /// scenario's own, or mask-lookahead]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        seed: Option<u64>,
        /// How to print the result
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// Draw the CPU phases and the GPU stream turn by turn (text only)
        #[arg(long)]
        timeline: bool,
        /// With --timeline: draw this turn, or these from first to last, only
        #[arg(long, value_name = "A..B", requires = "timeline", value_parser = turns)]
        turns: Option<RangeInclusive<u32>>,
        /// Count, for every field that batches share through their requests, how often a result reads a newer value than
        /// its prepare saw, and how often that changed what the rule did
        #[arg(long)]
        skew: bool,
        /// Answers to the questions that the scenario's `vary` opens, in the order in which they are asked, as in 0.2.1 (`-`
        /// for none): where the list ends, the script goes on
        #[arg(long, value_name = "LIST", value_parser = command::choices, allow_hyphen_values = true)]
        choices: Option<Choices>,
    },
    /// Run every rule and show the boundary decisions on which they differ (for one rule, or JSON: `run`)
    #[command(after_help = DIFF_EXAMPLES)]
    Diff {
        /// The scenario file
        file: PathBuf,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        seed: Option<u64>,
    },
    /// Measure what cache hits cost: the KL divergence from a cold prefill, under every rule
    #[command(after_help = KL_EXAMPLES)]
    Kl {
        /// The scenario file
        file: PathBuf,
        /// A rule by name, `all`, or `release` for the one that the scenario's release shipped with [default: all]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        seed: Option<u64>,
        /// The seed of the numeric state [default: that of the scenario's state, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        state_seed: Option<u64>,
        /// How to print the result
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Draw what ran after what, and which edge a finding misses; ends with 0 whatever the verdict
    #[command(after_help = GRAPH_EXAMPLES)]
    Graph {
        /// The scenario file
        file: PathBuf,
        /// A rule by name, or `release` for the one that the scenario's release shipped with [default: the scenario's
        /// own, or mask-lookahead]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        seed: Option<u64>,
        /// Draw only what is nearest to this finding, by its number in `run` (at most 40 events)
        #[arg(long, value_name = "FINDING", allow_negative_numbers = true)]
        around: Option<usize>,
        /// How to print the graph
        #[arg(long, value_enum, default_value_t = GraphFormat::Dot)]
        format: GraphFormat,
    },
    /// Compare recordings of the real scheduler with the model, event for event
    #[command(after_help = CONFORM_EXAMPLES)]
    Conform {
        /// Recordings: .jsonl or .jsonl.gz files, FILE#N for one of several in a file, or directories
        #[arg(required = true, value_name = "RECORDING")]
        paths: Vec<PathBuf>,
        /// A rule by name, or `release`, in place of the one that was recorded
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// The release to compare with, in place of the one that was recorded, as in 0.5.23
        #[arg(long, value_name = "VERSION")]
        release: Option<String>,
        /// What the model takes over from a recording: arrivals, batches and slots, or configuration and requests alone
        #[arg(long, value_enum, default_value_t = PlanWord::Recorded)]
        plan: PlanWord,
        /// Threads; the output is the same for any number [default: as many as there are cores]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
        jobs: Option<u16>,
        /// How to print the result
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Make a scenario of a recording, which replays it
    #[command(after_help = IMPORT_EXAMPLES)]
    Import {
        /// The recording: a .jsonl or .jsonl.gz file, or FILE#N for one of several in a file
        #[arg(value_name = "RECORDING")]
        recording: PathBuf,
        /// The scenario file to write
        #[arg(short, long, value_name = "FILE.ron")]
        output: PathBuf,
        /// A rule by name, or `release`, in place of the one that was recorded
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// The release to replay with, in place of the one that was recorded, as in 0.5.23
        #[arg(long, value_name = "VERSION")]
        release: Option<String>,
    },
    /// Write a scenario out anew: as a file, or as JSON with every default filled in
    #[command(after_help = SCENARIO_EXAMPLES)]
    Scenario {
        /// The scenario file
        file: PathBuf,
        /// How to write it
        #[arg(long, value_enum, default_value_t = ScenarioFormat::Ron)]
        format: ScenarioFormat,
    },
    /// Check what scenarios expect: one line each, the form that CI uses
    #[command(after_help = TEST_EXAMPLES)]
    Test {
        /// Scenario files, or directories to search for .ron files
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
}

/// `A..B`, both included, or a single turn.
fn turns(text: &str) -> Result<RangeInclusive<u32>, String> {
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is not the number of a turn"));
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let (from, to) = (number(from)?, number(to.strip_prefix('=').unwrap_or(to))?);
    if from <= to { Ok(from..=to) } else { Err("the first turn comes after the last".to_owned()) }
}

impl Cli {
    /// Does what the command line asks for.
    ///
    /// # Errors
    /// A mistake in the command line or in a file, in words for standard error.
    pub fn execute(self) -> Result<Exit, Failure> {
        match self.command {
            Command::Run { format: Format::Json, timeline: true, .. } => {
                Err(Failure("error: --timeline is text\nhelp: leave --format json out, or --timeline\n".to_string()))
            }
            Command::Run { file, rule, seed, format, timeline, turns, skew, choices } => {
                command::run(&RunArgs { file, rule, seed, format, timeline, turns, skew, choices })
            }
            Command::Diff { file, seed } => command::diff(&file, seed),
            Command::Kl { file, rule, seed, state_seed, format } => {
                command::kl(&KlArgs { file, rule, seed, state_seed, format })
            }
            Command::Graph { file, rule, seed, around, format } => {
                command::graph(&GraphArgs { file, rule, seed, around, format })
            }
            Command::Conform { paths, rule, release, plan, jobs, format } => command::conform(&ConformArgs {
                paths,
                rule,
                release,
                plan: plan.into(),
                jobs: jobs.map(usize::from),
                format,
            }),
            Command::Import { recording, output, rule, release } => {
                command::import(&ImportArgs { recording, out: output, rule, release })
            }
            Command::Scenario { file, format } => command::write_scenario(&file, format),
            Command::Test { paths } => command::test(&paths),
        }
    }
}
