//! For every engine field in which releases differ: which recordings tell the difference.
//!
//! Sets a field of a release to the value of another one and compares the release's recordings under their own plan. A
//! recording that then differs proves the value; the smallest one is named. Run it when there are new recordings:
//!
//! ```text
//! cargo run --release --example release_proofs -- RECORDING..
//! ```
//!
//! Output: field, release, the release whose value was tried, how many of the release's recordings differ, the smallest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use overlapsim::conform::{self, Archive, Options, Plan};
use overlapsim::model::{Engine, Release};
use overlapsim::runner;

#[derive(Default)]
struct Proof {
    differ: u64,
    of: u64,
    /// Bytes, name, and where it differs.
    smallest: Option<(u64, String, String)>,
}

type Proofs = BTreeMap<(&'static str, Release, Release), Proof>;

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        eprintln!("error: no recordings given");
        return ExitCode::from(2);
    }
    let mut proofs = Proofs::new();
    for path in &paths {
        if let Err(trouble) = look(path, &mut proofs) {
            eprintln!("error: {}:{}: {}", path.display(), trouble.line, trouble.message);
        }
    }
    for ((field, release, value_of), proof) in &proofs {
        let smallest = proof.smallest.as_ref();
        let shown = smallest.map_or("-".to_string(), |(bytes, name, at)| format!("{name} ({bytes} bytes, {at})"));
        println!("{field}\t{release:?}\tas {value_of:?}\t{} of {}\t{shown}", proof.differ, proof.of);
    }
    ExitCode::SUCCESS
}

fn look(path: &Path, proofs: &mut Proofs) -> Result<(), conform::RecordingError> {
    let base = Options { plan: Plan::Own, rule: None, release: None, rules: &runner::rule_or_release, adjust: None };
    let mut archive = Archive::open(path)?;
    while let Some((index, recording)) = archive.next(|_| true) {
        let recording = recording?;
        let name = format!("{}#{index}", path.display());
        let release = conform::prepare(&recording, &base)?.setup.engine.release;
        if conform::check(&recording, &name, &base)?.divergence.is_some() {
            eprintln!("{name} does not agree as it is: passed over");
            continue;
        }
        for difference in conform::differences(release) {
            let adjust = |engine: &mut Engine| difference.apply(engine);
            let changed = conform::check(&recording, &name, &Options { adjust: Some(&adjust), ..base })?;
            let proof = proofs.entry((difference.field, release, difference.value_of)).or_default();
            proof.of += 1;
            if let Some(divergence) = changed.divergence {
                proof.differ += 1;
                let bytes = recording.bytes();
                if proof.smallest.as_ref().is_none_or(|(least, ..)| bytes < *least) {
                    proof.smallest = Some((bytes, name.clone(), format!("{}.{}", divergence.event, divergence.field)));
                }
            }
        }
    }
    Ok(())
}
