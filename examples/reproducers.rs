//! Whether every file that `check --out` writes is about what was found, and shows it when it is run alone.
//!
//! ```text
//! cargo run --release --example reproducers -- scenarios /tmp/reproducers 20000
//! ```
//!
//! Every scenario of the directory, under each release, is searched with arrivals, ends and refused slots left open, under
//! every rule, up to the given number of unique states; small scenarios of every kind that is found are written, read back
//! and run. Ends with 1 if one of them is about another release, strategy, rule or kind, or does not show it.

#[path = "../tests/common/reproducers.rs"]
mod reproducers;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use reproducers::{Count, releases, version, written};

/// Scenarios with more requests than this are left out: the search goes through the orders of their arrivals.
const REQUESTS_MAX: usize = 8;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match (words.as_slice(), words.get(2).and_then(|word| word.parse().ok())) {
        ([scenarios, folder, _], Some(states_max)) => all(scenarios.as_ref(), folder.as_ref(), states_max),
        _ => {
            eprintln!("usage: reproducers SCENARIOS FOLDER STATES");
            ExitCode::from(2)
        }
    }
}

fn all(scenarios: &Path, folder: &Path, states_max: u64) -> ExitCode {
    std::fs::create_dir_all(folder).expect("the folder can be made");
    let mut files: Vec<PathBuf> = std::fs::read_dir(scenarios)
        .expect("the scenarios can be listed")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .collect();
    files.sort();
    let (mut sum, mut versions, mut good) = (Count::default(), 0, true);
    for file in &files {
        let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut here = Count::default();
        for release in releases() {
            let Some(setup) = version(file, &release).filter(|setup| setup.requests.len() <= REQUESTS_MAX) else {
                println!("{stem} {release}: left out");
                continue;
            };
            versions += 1;
            match written(folder, &format!("{stem}-{release}"), setup, states_max) {
                Ok(count) => {
                    here.findings += count.findings;
                    here.files += count.files;
                }
                Err(wrong) => {
                    println!("{wrong}");
                    good = false;
                }
            }
        }
        println!("{stem}: {} findings, {} files", here.findings, here.files);
        sum.findings += here.findings;
        sum.files += here.files;
    }
    println!(
        "{versions} versions under every rule: {} findings, {} files, all convict: {good}",
        sum.findings, sum.files
    );
    ExitCode::from(u8::from(!good))
}
