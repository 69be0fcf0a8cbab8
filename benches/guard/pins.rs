//! What was pinned, where, and how far what is measured may be from it.
//!
//! Instructions depend on the compiler and the kind of processor, ratios by time on the processor. What was pinned under
//! the same gets a narrow margin; under another compiler or processor a wider one, or none where nothing can be said.

use std::collections::BTreeMap;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::time;

/// Instructions under the compiler that was pinned, and under another.
const INSTRUCTIONS_MAX: [f64; 2] = [1.25, 1.4];
/// Time on the processor that was pinned where nothing counts instructions; and elsewhere, where a busy machine must not fail what
/// instructions acquit, or another processor has another ratio.
const RATIO_MAX: [f64; 2] = [1.4, 2.0];
/// How often a ratio that is too high is measured again: what disturbed it goes away, a slow-down stays.
const AGAIN_MAX: usize = 3;

/// What a run of the guard measured.
pub struct Measured {
    /// By workload; empty if nothing can count them.
    pub instructions: BTreeMap<String, u64>,
    /// Time over that of the reference, by workload.
    pub ratios: BTreeMap<String, f64>,
}

/// The file of pins.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    compiler: String,
    processor: String,
    instructions: BTreeMap<String, u64>,
    ratios: BTreeMap<String, f64>,
}

impl Pins {
    pub const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/pins.json");

    pub fn read() -> Option<Pins> {
        serde_json::from_str(&std::fs::read_to_string(Self::PATH).ok()?).ok()
    }

    pub fn write(&self) {
        let text = serde_json::to_string_pretty(self).expect("pins can be written") + "\n";
        std::fs::write(Self::PATH, text).expect("the file of pins can be written");
    }

    /// Pins of what was measured here. Instructions that nobody counted stay as they were.
    pub fn of(measured: Measured, before: Option<Pins>) -> Pins {
        let rounded = |ratio: f64| (ratio * 1000.0).round() / 1000.0;
        let ratios = measured.ratios.into_iter().map(|(name, ratio)| (name, rounded(ratio))).collect();
        let (compiler, instructions) = match before {
            Some(before) if measured.instructions.is_empty() => (before.compiler, before.instructions),
            Some(_) | None => (compiler(), measured.instructions),
        };
        Pins { compiler, processor: processor(), instructions, ratios }
    }

    /// Prints every workload beside its pin; gives those that are too slow.
    pub fn compare(&self, measured: Measured) -> Vec<String> {
        let mut slower = Vec::new();
        let kind = |processor: &str| processor.split(' ').next().unwrap_or_default().to_string();
        let (here, compiler) = (processor(), compiler());
        let counted = kind(&here) == kind(&self.processor);
        if !counted {
            println!("instructions are not compared: they were pinned on another kind of processor");
        }
        let instructions_max = INSTRUCTIONS_MAX[usize::from(compiler != self.compiler)];
        let ratio_max = RATIO_MAX[usize::from(here != self.processor || !measured.instructions.is_empty())];
        println!("margins: instructions {instructions_max} (pinned with {}),", self.compiler);
        println!("         time {ratio_max} (pinned on {})", self.processor);
        println!("{:<18} {:>13} {:>8}   {:>8} {:>8}", "", "instructions", "/ pinned", "time", "/ pinned");
        for (name, &pinned) in &self.ratios {
            let count = measured.instructions.get(name).copied();
            let part = count.zip(self.instructions.get(name)).map(|(now, pinned)| now as f64 / (*pinned).max(1) as f64);
            let (ratio, over) = settled(name, measured.ratios.get(name).copied(), pinned, ratio_max);
            let shown = |value: Option<String>| value.unwrap_or_else(|| "-".to_string());
            let (count, shown_part) = (shown(count.map(|n| n.to_string())), shown(part.map(|n| format!("{n:.3}"))));
            println!("{name:<18} {count:>13} {shown_part:>8}   {ratio:>8.3} {over:>8.3}");
            if counted && part.is_some_and(|part| part > instructions_max) {
                slower.push(format!("{name} (instructions)"));
            }
            if over > ratio_max {
                slower.push(format!("{name} (time)"));
            }
        }
        let unknown = measured.ratios.keys().filter(|name| !self.ratios.contains_key(*name));
        slower.extend(unknown.map(|name| format!("{name} (not pinned)")));
        slower
    }
}

/// A ratio, and what it is of the pinned one; measured again if it is too high, the best counts.
fn settled(name: &str, measured: Option<f64>, pinned: f64, most: f64) -> (f64, f64) {
    let mut best = measured.unwrap_or(f64::INFINITY);
    for _ in 0..AGAIN_MAX {
        if best / pinned <= most {
            break;
        }
        best = best.min(time::again(name));
    }
    (best, best / pinned)
}

fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(rustc).arg("--version").output();
    said.map_or_else(|_| "unknown".to_string(), |output| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// The kind of processor and, where the system tells, its model.
fn processor() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(": ").nth(1));
    format!("{} {}", std::env::consts::ARCH, model.unwrap_or("unknown"))
}
