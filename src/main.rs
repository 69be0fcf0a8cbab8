//! The `overlapsim` binary: parse, dispatch, exit code.

use std::process::ExitCode;

use overlapsim::cli::Cli;

fn main() -> ExitCode {
    let cli = match Cli::of_process() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match cli.execute() {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(failure) => {
            failure.print();
            ExitCode::from(2)
        }
    }
}
