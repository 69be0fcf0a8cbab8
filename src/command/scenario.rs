//! `scenario`: a scenario written out anew.

use std::path::PathBuf;

use crate::runner;
use crate::scenario;

use super::input::{OutsidePaths, load};
use super::output::{Exit, Failure, print};

/// How a scenario is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ScenarioFormat {
    /// As a scenario file, defaults left out.
    Ron,
    /// For programs, everything resolved.
    Json,
}

/// Print a scenario: as a scenario file, or as JSON with every default filled in
#[derive(Clone, Debug, clap::Args)]
pub struct ScenarioArgs {
    /// The scenario file
    pub file: PathBuf,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// How to write it
    #[arg(long, value_enum, default_value_t = ScenarioFormat::Ron)]
    pub format: ScenarioFormat,
}

/// Prints a scenario: as a scenario file without the comments, or as JSON with every default filled in.
///
/// # Errors
/// A scenario that cannot be read.
pub fn scenario(args: &ScenarioArgs) -> Result<Exit, Failure> {
    let scenario = load(&args.file, args.outside)?;
    print(&match args.format {
        ScenarioFormat::Ron => scenario::write(&scenario),
        ScenarioFormat::Json => scenario::json(&scenario, runner::DEFAULT_RULE),
    })?;
    Ok(Exit::Good)
}
