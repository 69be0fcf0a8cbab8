//! What goes wrong under which rule and strategy: the tables and files of `docs/findings.md`.
//!
//! ```text
//! cargo run --release --example findings -- matrix
//! cargo run --release --example findings -- files scenarios/findings
//! cargo run --release --example findings -- jitter 20000
//! ```
//!
//! `matrix` searches every timing of families of small scenarios. `files` writes the smallest scenario for every kind of
//! fault that the search of the first family finds. `jitter` counts how often faults are hit when arrivals are drawn as on
//! a server. Refuses nothing: a search that is not complete is shown as such.

#[path = "../tests/common/cases.rs"]
mod cases;

#[path = "findings/files.rs"]
mod files;
#[path = "findings/jitter.rs"]
mod jitter;
#[path = "findings/matrix.rs"]
mod matrix;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match (words.as_slice(), words.get(1).and_then(|word| word.parse().ok())) {
        (["matrix"], _) => matrix::print(),
        (["files", folder], _) => files::write(folder.as_ref()),
        (["jitter", _], Some(seeds)) => jitter::print(seeds),
        _ => {
            eprintln!("usage: findings matrix | files FOLDER | jitter SEEDS");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
