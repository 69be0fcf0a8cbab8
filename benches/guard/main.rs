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

use std::process::ExitCode;

use pins::{Measured, Pins};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).filter(|arg| *arg != "--bench").collect();
    match args[..] {
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
            eprintln!("error: the guard takes no argument but --bless\nhelp: cargo bench --bench guard -- --bless");
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
        eprintln!("error: {} cannot be read\nhelp: cargo bench --bench guard -- --bless", Pins::PATH);
        return ExitCode::from(2);
    };
    let slower = pins.compare(measure());
    if slower.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nslower than pinned: {}", slower.join(", "));
    println!("if that is meant: cargo bench --bench guard -- --bless");
    ExitCode::FAILURE
}
