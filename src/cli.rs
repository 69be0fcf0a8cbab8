//! The command line: clap structs; each command is one call into the library.

mod examples;
mod pages;
mod values;

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum as _};
use clap_complete::Shell;

use crate::command::{
    self, Batches, CheckArgs, Choices, Color, ConformArgs, CostArgs, CostSide, Exit, ExploreArgs, FailOn, Failure,
    Format, FuzzArgs, GraphArgs, GraphFormat, ImportArgs, JitterArgs, KeyScript, KlArgs, OrderWord, PlanWord, Preset,
    ReportArgs, RunArgs, ScenarioFormat, Shard, StyleWord, TestArgs, TraceArgs, Vary,
};

use values::{Answers, CostPresetName, FailOnVerdict, finding, number, preset, seeds, size, time, turns};

/// Replays any timing of an LLM server's overlap scheduler, and judges which recurrent state it caches under which
/// prefix length.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, after_help = examples::PROGRAM)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Whether text is coloured
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Replay a scenario under one rule or all, and judge it
    #[command(after_help = examples::RUN)]
    Run {
        /// The scenario file
        file: PathBuf,
        /// A rule by name, several with commas between, `all`, or `release` for the one that the scenario's release
        /// shipped with [default: the scenario's own, or mask-lookahead]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
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
        #[command(flatten)]
        answers: Answers,
        #[command(flatten)]
        fail: FailOnVerdict,
    },
    /// Step through a run in the terminal, take other choices, and see what comes of them
    #[command(after_help = examples::EXPLORE)]
    Explore {
        /// The scenario file
        file: PathBuf,
        /// The rule to begin with, or `release` for the one that the scenario's release shipped with [default: the scenario's
        /// own, or mask-lookahead]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        seed: Option<u64>,
        /// The answers to begin with, as reports of findings give them
        #[arg(long, value_name = "LIST", value_parser = command::choices, allow_hyphen_values = true)]
        choices: Option<Choices>,
        /// What is open: names with commas, as in arrivals,stops, or all [default: what the scenario's `vary` says, or
        /// everything if that is nothing]
        #[arg(long, value_name = "NAMES", value_parser = command::vary)]
        vary: Option<Vary>,
        /// Press these keys, print the screen as text, and end: characters, and names in angle brackets such as `<right>` and `<enter>`
        #[arg(long, value_name = "KEYS", value_parser = command::key_script)]
        script: Option<KeyScript>,
        /// With --script: columns and rows of the screen
        #[arg(long, value_name = "WxH", requires = "script", default_value = "80x24", value_parser = size)]
        size: (u16, u16),
        /// Draw with ASCII characters alone
        #[arg(long)]
        ascii: bool,
        /// Where histories are written to
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
    },
    /// Write a page that shows what happened and why it went wrong: one HTML file; ends with 0 whatever the verdict
    #[command(after_help = examples::REPORT)]
    Report {
        /// The scenario file
        file: PathBuf,
        /// A rule by name, several with commas between or `all` with a switch between them, or `release` for the one
        /// that the scenario's release shipped with [default: the scenario's own, or mask-lookahead]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        seed: Option<u64>,
        #[command(flatten)]
        answers: Answers,
        /// Show this turn, or these from first to last, only; a page shows at most 20,000
        #[arg(long, value_name = "A..B", value_parser = turns)]
        turns: Option<RangeInclusive<u32>>,
        /// The file to write
        #[arg(short, long, value_name = "OUT.html")]
        output: PathBuf,
    },
    /// Run every rule and show the boundary decisions on which they differ (for one rule, or JSON: `run`)
    #[command(after_help = examples::DIFF)]
    Diff {
        /// The scenario file
        file: PathBuf,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
        seed: Option<u64>,
        #[command(flatten)]
        fail: FailOnVerdict,
    },
    /// Measure what cache hits cost: the KL divergence from a cold prefill, under every rule
    #[command(after_help = examples::KL)]
    Kl {
        /// The scenario file
        file: PathBuf,
        /// A rule by name, several with commas between, `all`, or `release` for the one that the scenario's release
        /// shipped with [default: all]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
        seed: Option<u64>,
        /// The seed of the numeric state [default: that of the scenario's state, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
        state_seed: Option<u64>,
        /// How to print the result
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        #[command(flatten)]
        fail: FailOnVerdict,
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
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
        seed: Option<u64>,
        #[command(flatten)]
        answers: Answers,
        /// Draw only what is nearest to this finding, by its number in `run` (at most 40 nodes)
        #[arg(long, value_name = "FINDING", allow_negative_numbers = true, value_parser = finding)]
        around: Option<usize>,
        /// How to print the graph
        #[arg(long, value_enum, default_value_t = GraphFormat::Dot)]
        format: GraphFormat,
    },
    /// Set the lookahead of one request to one pattern after another, and show which breaks which rule
    #[command(after_help = examples::JITTER)]
    Jitter {
        /// The scenario file
        file: PathBuf,
        /// One pattern: a 1 for each decode result before which the next step was prepared, a 0 where a prefill took that
        /// turn
        #[arg(long, value_name = "1101..", conflicts_with = "all")]
        pattern: Option<String>,
        /// Every pattern of N results, up to 12 [default: 4, or as many as the request has]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=12))]
        all: Option<u32>,
        /// The request by its id [default: the first]
        #[arg(long, value_name = "ID", allow_hyphen_values = true)]
        request: Option<String>,
        /// The decode step whose result the first place of a pattern is about, by the length that it reaches [default: two
        /// before the first boundary, as far as there are steps]
        #[arg(long, value_name = "K")]
        from: Option<u32>,
        /// A rule by name, several with commas between, `all`, or `release` for the one that the scenario's release
        /// shipped with [default: all]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// Write the scenario of the one pattern, with what each rule comes to
        #[arg(short, long, value_name = "OUT.ron")]
        output: Option<PathBuf>,
        /// How to print the result
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        #[command(flatten)]
        fail: FailOnVerdict,
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
        #[command(flatten)]
        answers: Answers,
        /// Write this turn, or these from first to last, only
        #[arg(long, value_name = "A..B", value_parser = turns)]
        turns: Option<RangeInclusive<u32>>,
    },
    /// Measure a decode step at one batch size after another: CPU and GPU, what overlap hides, and where the CPU is the longer
    #[command(after_help = examples::COST)]
    Cost {
        /// The scenario file: its engine, its costs, and the lengths of its requests
        file: PathBuf,
        /// Batch sizes: so many requests, those of the file over and over, decode together
        #[arg(long, value_name = "N,N..", default_value = command::BATCHES, value_parser = command::batches, allow_hyphen_values = true)]
        batch: Batches,
        /// A rule by name, several with commas between, `all`, or `release` for the one that the scenario's release
        /// shipped with [default: all]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// A preset of CPU costs [default: the scenario's costs]
        #[arg(long, alias = "costs", value_name = "PRESET", value_parser = CostPresetName(CostSide::Cpu))]
        cpu: Option<String>,
        /// A preset of GPU costs [default: the scenario's costs]
        #[arg(long, value_name = "PRESET", value_parser = CostPresetName(CostSide::Gpu))]
        gpu: Option<String>,
        /// So many outputs for every request [default: those of the scenario]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
        outputs: Option<u32>,
        /// The seed of drawn durations [default: the scenario's own, or 0]
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
        seed: Option<u64>,
        /// How to print the result
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
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
        /// Exit code 1 also if a recording itself shows this or worse, whether it agrees or not; `never`: 0 even if one differs
        /// [default: 1 only if one differs]
        #[arg(long, value_name = "VERDICT", value_enum)]
        fail_on: Option<FailOn>,
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
        /// A rule by name, several with commas between, `all`, or `release` for the one that the scenario's release
        /// shipped with [default: the scenario's own, or mask-lookahead]
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// Which state is next: the oldest finds the shortest histories, the newest needs less memory
        #[arg(long, value_enum, default_value_t = OrderWord::Bfs)]
        strategy: OrderWord,
        /// Give up after so many unique states; those of the frontier take some 10 kB each, and dfs keeps fewer of them
        #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1..))]
        max_states: u64,
        /// Give up after this time for each rule, as in 30s or 500ms; findings are made small within it too
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
        #[command(flatten)]
        fail: FailOnVerdict,
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
        /// A rule by name, several with commas between, or `all` [default: the scenario's own, or mask-lookahead; all
        /// with --generate]
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
        #[command(flatten)]
        fail: FailOnVerdict,
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
        #[command(flatten)]
        fail: FailOnVerdict,
    },
    /// Check what scenarios expect: one line each, the form that CI uses
    #[command(after_help = examples::TEST)]
    Test {
        /// Scenario files, or directories to search for .ron files
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// A scenario with this verdict or a worse one fails (exit code 1), even if it is expected, and so does an inconclusive one;
        /// `never`: the exit code is 0 even where an expectation failed [default: a scenario fails where it is not as expected]
        #[arg(long, value_name = "VERDICT", value_enum)]
        fail_on: Option<FailOn>,
        /// For `expect_every`: most unique states of the search under one rule; a search that ends there fails
        #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..))]
        max_states: u64,
    },
    /// Print the script with which a shell completes command lines
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write man pages: one for overlapsim, one for each of its commands
    #[command(after_help = examples::MAN)]
    Man {
        /// The directory to write to; it is made if it is not there
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

/// The colour that a command line asks for, which may be wrong elsewhere: the first `--color` counts.
fn asked_color(args: &[OsString]) -> Option<Color> {
    let mut args = args.iter().map(|arg| arg.to_string_lossy()).take_while(|arg| arg != "--");
    let word = loop {
        let arg = args.next()?;
        match arg.strip_prefix("--color") {
            Some("") => break args.next()?.into_owned(),
            Some(rest) if rest.starts_with('=') => break rest[1..].to_owned(),
            Some(_) | None => {}
        }
    };
    Color::from_str(&word, false).ok()
}

impl Cli {
    /// The command line of this process. Help, and what is wrong with the command line, ends the process; both are
    /// coloured as it asks, so that is read before anything else.
    pub fn of_process() -> Cli {
        let args: Vec<OsString> = std::env::args_os().collect();
        asked_color(&args).unwrap_or_default().apply();
        Cli::parse_from(args)
    }

    /// Does what the command line asks for.
    ///
    /// # Errors
    /// A mistake in the command line or in a file, in words for standard error.
    pub fn execute(self) -> Result<Exit, Failure> {
        match self.command {
            Command::Run { format: Format::Json, timeline: true, .. } => {
                Err(Failure("error: --timeline is text\nhelp: leave --format json out, or --timeline\n".to_string()))
            }
            Command::Run {
                file,
                rule,
                seed,
                format,
                timeline,
                turns,
                skew,
                answers: Answers { choices, vary },
                fail: FailOnVerdict { fail_on },
            } => command::run(&RunArgs { file, rule, seed, format, timeline, turns, skew, choices, vary, fail_on }),
            Command::Explore { file, rule, seed, choices, vary, script, size, ascii, out } => {
                command::explore(&ExploreArgs { file, rule, seed, choices, vary, script, size, ascii, out })
            }
            Command::Report { file, rule, seed, answers: Answers { choices, vary }, turns, output } => {
                command::report(&ReportArgs { file, rule, seed, choices, vary, turns, out: output })
            }
            Command::Diff { file, seed, fail: FailOnVerdict { fail_on } } => command::diff(&file, seed, fail_on),
            Command::Kl { file, rule, seed, state_seed, format, fail: FailOnVerdict { fail_on } } => {
                command::kl(&KlArgs { file, rule, seed, state_seed, format, fail_on })
            }
            Command::Graph { file, rule, seed, answers: Answers { choices, vary }, around, format } => {
                command::graph(&GraphArgs { file, rule, seed, choices, vary, around, format })
            }
            Command::Jitter {
                file,
                pattern,
                all,
                request,
                from,
                rule,
                output,
                format,
                fail: FailOnVerdict { fail_on },
            } => command::jitter(&JitterArgs { file, pattern, all, request, from, rule, output, format, fail_on }),
            Command::Cost { file, batch: batches, rule, cpu, gpu, outputs, seed, format } => {
                command::cost(&CostArgs { file, batches, rule, cpu, gpu, outputs, seed, format })
            }
            Command::Trace { file, output, rule, seed, answers: Answers { choices, vary }, turns } => {
                command::trace(&TraceArgs { file, out: output, rule, seed, choices, vary, turns })
            }
            Command::Conform { paths, rule, release, plan, jobs, format, fail_on } => command::conform(&ConformArgs {
                paths,
                rule,
                release,
                plan: plan.into(),
                jobs: jobs.map(usize::from),
                format,
                fail_on,
            }),
            Command::Import { recording, output, rule, release } => {
                command::import(&ImportArgs { recording, out: output, rule, release })
            }
            Command::Scenario { file, format } => command::write_scenario(&file, format),
            Command::Check {
                file,
                rule,
                strategy,
                max_states,
                max_time,
                no_reduction,
                out,
                jobs,
                format,
                fail: FailOnVerdict { fail_on },
            } => command::check(&CheckArgs {
                file,
                rule,
                order: strategy,
                states_max: max_states,
                time_max_ns: max_time,
                no_reduction,
                out,
                jobs: jobs.map(usize::from),
                format,
                fail_on,
            }),
            Command::Fuzz {
                file,
                generate,
                seeds,
                rule,
                jobs,
                shard,
                strategy,
                out,
                format,
                fail: FailOnVerdict { fail_on },
            } => command::fuzz(&FuzzArgs {
                file,
                preset: generate,
                seeds,
                rule,
                jobs: jobs.map(usize::from),
                shard: shard.unwrap_or(Shard::WHOLE),
                strategy,
                out,
                format,
                fail_on,
            }),
            Command::Merge { paths, format, fail: FailOnVerdict { fail_on } } => {
                command::merge(&paths, format, fail_on)
            }
            Command::Test { paths, fail_on, max_states } => {
                command::test(&TestArgs { paths, fail_on, states_max: max_states })
            }
            Command::Completions { shell } => command::completions(&pages::completions(shell)),
            Command::Man { directory } => command::man(&directory, &pages::man()),
        }
    }
}
