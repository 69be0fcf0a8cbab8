//! The command line: clap structs; each command is one call into the library.

mod examples;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};

use crate::command::{
    self, CheckArgs, Choices, ConformArgs, Exit, Failure, Format, FuzzArgs, GraphArgs, GraphFormat, ImportArgs, KlArgs,
    OrderWord, PlanWord, Preset, RunArgs, ScenarioFormat, Shard, StyleWord, TraceArgs,
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

#[derive(Debug, Subcommand)]
enum Command {
    /// Replay a scenario under one rule or all, and judge it
    #[command(after_help = examples::RUN)]
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
        /// for none): where the list ends, the script goes on. Durations are the shortest, as in `check`, unless --seed is
        /// given
        #[arg(long, value_name = "LIST", value_parser = command::choices, allow_hyphen_values = true)]
        choices: Option<Choices>,
    },
    /// Run every rule and show the boundary decisions on which they differ (for one rule, or JSON: `run`)
    #[command(after_help = examples::DIFF)]
    Diff {
        /// The scenario file
        file: PathBuf,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        seed: Option<u64>,
    },
    /// Measure what cache hits cost: the KL divergence from a cold prefill, under every rule
    #[command(after_help = examples::KL)]
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
    #[command(after_help = examples::GRAPH)]
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
    /// Write a run as a trace for Perfetto's viewer or chrome://tracing; ends with 0 whatever the verdict
    #[command(after_help = examples::TRACE)]
    Trace {
        /// The scenario file
        file: PathBuf,
        /// The trace to write
        #[arg(short, long, value_name = "FILE.json")]
        output: PathBuf,
        /// A rule by name, or `release` for the one that the scenario's release shipped with [default: the scenario's
        /// own, or mask-lookahead]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        seed: Option<u64>,
        /// Answers to the questions that the scenario's `vary` opens, as in `run`
        #[arg(long, value_name = "LIST", value_parser = command::choices, allow_hyphen_values = true)]
        choices: Option<Choices>,
        /// Write this turn, or these from first to last, only
        #[arg(long, value_name = "A..B", value_parser = turns)]
        turns: Option<RangeInclusive<u32>>,
    },
    /// Compare recordings of the real scheduler with the model, event for event
    #[command(after_help = examples::CONFORM)]
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
    #[command(after_help = examples::IMPORT)]
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
    #[command(after_help = examples::SCENARIO)]
    Scenario {
        /// The scenario file
        file: PathBuf,
        /// How to write it
        #[arg(long, value_enum, default_value_t = ScenarioFormat::Ron)]
        format: ScenarioFormat,
    },
    /// Search every timing that a scenario's `vary` leaves open
    #[command(after_help = examples::CHECK)]
    Check {
        /// The scenario file
        file: PathBuf,
        /// A rule by name, `all`, or `release` for the one that the scenario's release shipped with [default: the
        /// scenario's own, or mask-lookahead]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// Which state is next: the oldest finds the shortest histories, the newest needs less memory
        #[arg(long, value_enum, default_value_t = OrderWord::Bfs)]
        strategy: OrderWord,
        /// Give up after so many unique states; those still to be looked at take 10 to 20 kB each, fewer with dfs
        #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1..))]
        max_states: u64,
        /// Give up after this time, as in 30s or 500ms
        #[arg(long, value_name = "TIME", value_parser = time)]
        max_time: Option<u64>,
        /// Tell states apart by all that they are, not by what can matter later: slower, and the verdict must be the same
        #[arg(long)]
        no_reduction: bool,
        /// Write a small scenario for every finding to this directory
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Threads; the output is the same for any number [default: as many as there are cores]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
        jobs: Option<u16>,
        /// How to print the result
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Run random timings of a scenario, or of generated ones
    #[command(after_help = examples::FUZZ)]
    Fuzz {
        /// The scenario file; what its `vary` leaves open is drawn
        #[arg(required_unless_present = "generate")]
        file: Option<PathBuf>,
        /// Draw the scenarios too
        #[arg(long, value_name = "PRESET", value_parser = preset(), conflicts_with = "file")]
        generate: Option<Preset>,
        /// The seeds, one run each: from A up to B, without B
        #[arg(long, value_name = "A..B", value_parser = seeds)]
        seeds: (u64, u64),
        /// A rule by name, or `all` [default: the scenario's own, or mask-lookahead; all with --generate]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// Threads; the output is the same for any number [default: as many as there are cores]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
        jobs: Option<u16>,
        /// Only every n-th seed, beginning with the i-th, from 0; JOB_COMPLETION_INDEX/n and SLURM_ARRAY_TASK_ID/n take i
        /// from the cluster
        #[arg(long, value_name = "I/N", value_parser = command::shard)]
        shard: Option<Shard>,
        /// How answers are drawn
        #[arg(long, value_enum, default_value_t = StyleWord::Jitter)]
        strategy: StyleWord,
        /// Write the report, and a small scenario for every finding, to this directory
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// How to print the result
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Add up the reports that the shards of a `fuzz` wrote
    #[command(after_help = examples::MERGE)]
    Merge {
        /// Reports, or directories of them
        #[arg(required = true, value_name = "DIR")]
        paths: Vec<PathBuf>,
        /// How to print the result
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Check what scenarios expect: one line each, the form that CI uses
    #[command(after_help = examples::TEST)]
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

/// `A..B`, B not included.
fn seeds(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is not a seed"));
    let (from, to) = text.split_once("..").ok_or("give the first seed and the end, as in 0..1000")?;
    let (from, to) = (number(from)?, number(to)?);
    if from < to { Ok((from, to)) } else { Err("there is no seed in it: the end is not included".to_owned()) }
}

/// A time in nanoseconds.
fn time(text: &str) -> Result<u64, String> {
    command::time_ns(text).map_err(|why| format!("`{text}` {why}: give a time such as 30s or 500ms"))
}

/// The presets, with what each draws.
fn preset() -> impl TypedValueParser<Value = Preset> {
    let values = Preset::ALL.map(|preset| PossibleValue::new(preset.name()).help(preset.summary()));
    PossibleValuesParser::new(values).map(|name| Preset::from_name(&name).expect("only known names are accepted"))
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
            Command::Trace { file, output, rule, seed, choices, turns } => {
                command::trace(&TraceArgs { file, out: output, rule, seed, choices, turns })
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
            Command::Check { file, rule, strategy, max_states, max_time, no_reduction, out, jobs, format } => {
                command::check(&CheckArgs {
                    file,
                    rule,
                    order: strategy,
                    states_max: max_states,
                    time_max_ns: max_time,
                    no_reduction,
                    out,
                    jobs: jobs.map(usize::from),
                    format,
                })
            }
            Command::Fuzz { file, generate, seeds, rule, jobs, shard, strategy, out, format } => {
                command::fuzz(&FuzzArgs {
                    file,
                    preset: generate,
                    seeds,
                    rule,
                    jobs: jobs.map(usize::from),
                    shard: shard.unwrap_or(Shard::WHOLE),
                    strategy,
                    out,
                    format,
                })
            }
            Command::Merge { paths, format } => command::merge(&paths, format),
            Command::Test { paths } => command::test(&paths),
        }
    }
}
