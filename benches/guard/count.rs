//! Instructions of each workload, as valgrind counts them: the same on a busy machine as on a quiet one.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::Command;

use crate::time::PROGRAM;
use crate::work::ALL;
use crate::{ROOT, program};

/// The instructions of each workload by name; empty without valgrind.
pub fn all() -> BTreeMap<String, u64> {
    if !Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return BTreeMap::new();
    }
    let this = std::env::current_exe().expect("this program");
    let mut counted = BTreeMap::new();
    for work in ALL {
        let of = |size: u32| instructions(this.as_ref(), &["--work", work.name, &size.to_string()]);
        let (small, large) = work.counted;
        counted.insert(work.name.to_string(), of(large).saturating_sub(of(small)));
    }
    counted.insert(PROGRAM.to_string(), instructions(program().as_ref(), &["run", "scenarios/double-fire.ron"]));
    counted
}

/// # Panics
/// If valgrind says nothing of instructions.
fn instructions(program: &OsStr, args: &[&str]) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(args)
        .current_dir(ROOT)
        .output()
        .expect("valgrind runs");
    let said = String::from_utf8_lossy(&output.stderr);
    // `==PID== I refs: 1,234`, with blanks that differ between versions.
    let line = said.lines().find(|line| line.contains("refs:")).unwrap_or_else(|| panic!("valgrind said:\n{said}"));
    let number = line.rsplit(':').next().expect("a number follows");
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("a number of instructions")
}
