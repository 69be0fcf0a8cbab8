//! The command line: the list of commands and the options of the whole program. The options of a command stand beside what it does, in
//! `command`.

mod examples;
mod pages;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum as _};
use clap_complete::Shell;

use crate::command::{
    self, CheckArgs, Color, ConformArgs, CostArgs, DiffArgs, Exit, ExploreArgs, Failure, FuzzArgs, GraphArgs,
    ImportArgs, JitterArgs, KlArgs, MergeArgs, ReportArgs, RunArgs, ScenarioArgs, TestArgs, TraceArgs,
};

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
    #[command(after_help = examples::RUN)]
    Run(RunArgs),
    #[command(after_help = examples::EXPLORE)]
    Explore(ExploreArgs),
    #[command(after_help = examples::REPORT)]
    Report(ReportArgs),
    #[command(after_help = examples::DIFF)]
    Diff(DiffArgs),
    #[command(after_help = examples::KL)]
    Kl(KlArgs),
    #[command(after_help = examples::GRAPH)]
    Graph(GraphArgs),
    #[command(after_help = examples::JITTER)]
    Jitter(JitterArgs),
    #[command(after_help = examples::TRACE)]
    Trace(TraceArgs),
    #[command(after_help = examples::COST)]
    Cost(CostArgs),
    #[command(after_help = examples::CONFORM)]
    Conform(ConformArgs),
    #[command(after_help = examples::IMPORT)]
    Import(ImportArgs),
    #[command(after_help = examples::SCENARIO)]
    Scenario(ScenarioArgs),
    #[command(after_help = examples::CHECK)]
    Check(CheckArgs),
    #[command(after_help = examples::FUZZ)]
    Fuzz(FuzzArgs),
    #[command(after_help = examples::MERGE)]
    Merge(MergeArgs),
    #[command(after_help = examples::TEST)]
    Test(TestArgs),
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
            Command::Run(args) => command::run(&args),
            Command::Explore(args) => command::explore(&args),
            Command::Report(args) => command::report(&args),
            Command::Diff(args) => command::diff(&args),
            Command::Kl(args) => command::kl(&args),
            Command::Graph(args) => command::graph(&args),
            Command::Jitter(args) => command::jitter(&args),
            Command::Trace(args) => command::trace(&args),
            Command::Cost(args) => command::cost(&args),
            Command::Conform(args) => command::conform(&args),
            Command::Import(args) => command::import(&args),
            Command::Scenario(args) => command::scenario(&args),
            Command::Check(args) => command::check(&args),
            Command::Fuzz(args) => command::fuzz(&args),
            Command::Merge(args) => command::merge(&args),
            Command::Test(args) => command::test(&args),
            Command::Completions { shell } => command::completions(&pages::completions(shell)),
            Command::Man { directory } => command::man(&directory, &pages::man()),
        }
    }
}
