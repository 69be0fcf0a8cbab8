//! Time of each workload over that of the reference, in turns within one run.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::work::ALL;
use crate::{ROOT, program, reference, work};

/// The program as a whole: it starts, reads, runs, prints; beside a process that does nothing.
pub const PROGRAM: &str = "run, a process";
/// Many and short: some of them are disturbed by nothing.
const ROUNDS: usize = 80;
const PROCESSES: usize = 2;

/// The ratio of each workload by name.
pub fn all() -> BTreeMap<String, f64> {
    let within = ALL.iter().map(|work| work.name);
    within.chain([PROGRAM]).map(|name| (name.to_string(), again(name))).collect()
}

/// Measures one workload.
pub fn again(name: &str) -> f64 {
    match ALL.iter().find(|work| work.name == name) {
        Some(work) => ratio(&|| within(work), &reference::run),
        None => ratio(&|| processes(&program(), &["run", "scenarios/double-fire.ron"]), &|| {
            processes(&std::env::current_exe().expect("this program"), &["--nothing"]);
        }),
    }
}

fn within(work: &work::Work) {
    (work.run)(work.timed);
}

/// The best time of one over the best of the other: what disturbs a round makes it longer, never shorter.
fn ratio(work: &dyn Fn(), reference: &dyn Fn()) -> f64 {
    let (mut best_work, mut best_reference) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        best_reference = best_reference.min(seconds(reference));
        best_work = best_work.min(seconds(work));
    }
    best_work / best_reference
}

fn seconds(what: &dyn Fn()) -> f64 {
    let start = Instant::now();
    what();
    start.elapsed().as_secs_f64()
}

/// Some processes, one after the other.
fn processes(program: &Path, args: &[&str]) {
    for _ in 0..PROCESSES {
        let status = Command::new(program).args(args).current_dir(ROOT).stdout(Stdio::null()).status();
        assert!(status.is_ok_and(|status| status.code().is_some()), "{} runs", program.display());
    }
}
