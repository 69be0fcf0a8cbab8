//! Fails if the simulator has become half again as slow as when its speed was last pinned.
//!
//! Every workload is measured twice over: in instructions, where valgrind is there, and in time beside a reference loop of the
//! same run. Neither a busy machine nor another one fails it: `pins` says what is compared with what. `--bless` pins today's speed.

mod count;
mod pins;
mod reference;
mod time;
mod work;

#[path = "../common/decode.rs"]
mod decode;

use std::path::PathBuf;
use std::process::ExitCode;

use pins::{Measured, Pins};

/// The root of the repository, where the measured program runs.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The program that is measured as a whole: the release build, which lies beside this one.
fn program() -> PathBuf {
    std::env::current_exe().expect("this program").with_file_name(format!("overlapsim{}", std::env::consts::EXE_SUFFIX))
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] | ["--bless"] if !program().exists() => {
            eprintln!("error: {} is missing\nhelp: cargo build --release", program().display());
            ExitCode::from(2)
        }
        [] => guard(),
        ["--bless"] => bless(),
        // How this program measures itself: a process that does nothing, and one that does some of one workload.
        ["--nothing"] => ExitCode::SUCCESS,
        ["--work", name, size] => {
            let work = work::ALL.iter().find(|work| work.name == name).expect("a workload of this name");
            (work.run)(size.parse().expect("a size"));
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!(
                "error: the guard takes no argument but --bless\nhelp: cargo run --release -p overlapsim-guard -- --bless"
            );
            ExitCode::from(2)
        }
    }
}

/// Measures everything; instructions only where they can be counted.
fn measure() -> Measured {
    let instructions = count::all();
    if instructions.is_empty() {
        println!("instructions are not counted: there is no valgrind on this machine");
    }
    Measured { instructions, ratios: time::all() }
}

fn bless() -> ExitCode {
    let pins = Pins::of(measure(), Pins::read());
    pins.write();
    println!("pinned: {}", Pins::PATH);
    ExitCode::SUCCESS
}

fn guard() -> ExitCode {
    let Some(pins) = Pins::read() else {
        eprintln!("error: {} cannot be read\nhelp: cargo run --release -p overlapsim-guard -- --bless", Pins::PATH);
        return ExitCode::from(2);
    };
    let slower = pins.compare(measure());
    if slower.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nslower than pinned: {}", slower.join(", "));
    println!("if that is meant: cargo run --release -p overlapsim-guard -- --bless");
    ExitCode::FAILURE
}
