//! The command line: the list of commands and the options of the whole program. The options of a command are in its
//! file in `command`.

mod examples;
mod pages;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum as _};
use clap_complete::Shell;

use crate::command::{
    self, CheckArgs, Color, ConformArgs, CostArgs, DiffArgs, Exit, ExploreArgs, Failure, FuzzArgs, GraphArgs,
    ImportArgs, JitterArgs, KlArgs, MergeArgs, ReportArgs, RunArgs, ScenarioArgs, TestArgs, TraceArgs, print,
    print_to_stderr,
};
use crate::escape;
use crate::report::style::from_sgr;

/// Replays any timing of an LLM server's overlap scheduler, and judges which recurrent state it caches under which
/// prefix length.
#[derive(Debug, Parser)]
#[command(version, bin_name = "overlapsim", arg_required_else_help = true, after_help = examples::PROGRAM)]
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
    /// Print the script that completes command lines in a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write man pages: one for overlapsim, one for each of its commands
    #[command(after_help = examples::MAN)]
    Man {
        /// The directory to write to; it is created if it does not exist
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

/// The value of the first `--color`, also of a command line with errors elsewhere.
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

/// An error in the command line, about arguments that can be printed. An error quotes arguments, so one about others is
/// made anew with those escaped.
fn about_printable(end: clap::Error, args: &[OsString]) -> clap::Error {
    let escaped = args.iter().map(|arg| escape::line(&arg.to_string_lossy()).into_owned());
    let escaped: Vec<OsString> = escaped.map(OsString::from).collect();
    if !end.use_stderr() || escaped.iter().zip(args).all(|(escaped, arg)| *escaped == *arg.to_string_lossy()) {
        return end;
    }
    let no_error = |_| {
        let message = "an argument holds a character that cannot be printed, which is not allowed there";
        Cli::command().error(ErrorKind::ValueValidation, message)
    };
    Cli::try_parse_from(escaped).map_or_else(|end| end, no_error)
}

/// Prints help, the version or an error in the command line, and returns the exit code. Help that cannot be written is
/// an error, except where its reader has closed the pipe.
fn print_end(end: &clap::Error) -> ExitCode {
    let text = from_sgr(&end.render().ansi().to_string());
    if end.use_stderr() {
        print_to_stderr(&text);
        return ExitCode::from(2);
    }
    match print(&text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(2)
        }
    }
}

impl Cli {
    /// The command line of this process. Help, the version and an error in the command line are coloured as `--color`
    /// says, so that option is read before all others.
    ///
    /// # Errors
    /// The command line asks for help or the version, or has an error. That has been printed; the process ends with the
    /// exit code.
    pub fn of_process() -> Result<Cli, ExitCode> {
        command::exit_on_failed_allocation();
        let args: Vec<OsString> = std::env::args_os().collect();
        asked_color(&args).unwrap_or_default().apply();
        command::escape_panics();
        Cli::try_parse_from(&args).map_err(|end| print_end(&about_printable(end, &args)))
    }

    /// Runs the command.
    ///
    /// # Errors
    /// An error in the command line or in a file, as text for standard error.
    pub fn execute(self) -> Result<Exit, Failure> {
        // The explorer waits for signals itself: it has a terminal to restore.
        if !matches!(&self.command, Command::Explore(args) if args.script.is_none()) {
            command::watch_signals();
        }
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
