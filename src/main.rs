//! The `overlapsim` binary: parse, dispatch, exit code.

use std::process::ExitCode;

use overlapsim::cli::Cli;

fn main() -> ExitCode {
    match Cli::of_process().execute() {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(failure) => {
            failure.print();
            ExitCode::from(2)
        }
    }
}
