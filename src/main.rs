//! The `overlapsim` binary: parse, dispatch, exit code.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use overlapsim::cli::Cli;

fn main() -> ExitCode {
    match Cli::parse().execute() {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(failure) => {
            let _ = write!(std::io::stderr(), "{failure}");
            ExitCode::from(2)
        }
    }
}
