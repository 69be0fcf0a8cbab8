//! `cost`: the cost of a decode step at several batch sizes, under every rule.

mod sizes;
mod warnings;

use std::path::PathBuf;

use crate::escape;
use crate::metrics::cost_saved;
use crate::model::{Costs, Rule};
use crate::report::{CostBatch, CostReport, CpuLonger, cost_json, cost_text, plain};
use crate::runner::{CpuAhead, SteadyCost};
use crate::scenario::{CostPreset, CostSide, Scenario, cost_preset, cost_preset_names, instead_of};
use crate::workload::{NotSteady, RequestShape, shapes};

use super::format::Format;
use super::input::{OutsidePaths, load, rules};
use super::output::{Exit, Failure, print};
use super::progress::{RunsProgress, cores};
use super::values::{self, CostPresetName};
use warnings::Measurement;

use sizes::BATCHES;
pub use sizes::{Batches, batches};

/// The largest batch size of the search for sizes at which the CPU is the longer, unless --batch has a larger one.
const SEARCHED: u32 = 4096;

/// Measure a decode step at several batch sizes: CPU time, GPU time, the time that overlap hides, and where the CPU
/// takes longer than the GPU
#[derive(Clone, Debug, clap::Args)]
pub struct CostArgs {
    /// The scenario file: its engine, its costs, and the lengths of its requests
    pub file: PathBuf,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// Batch sizes: the number of requests that decode together. The requests of the file are repeated to fill a batch
    #[arg(long = "batch", value_name = "N,N..", default_value = BATCHES, value_parser = batches, allow_hyphen_values = true)]
    pub batches: Batches,
    /// The rules, by name with commas between; `all` for every rule, `release` for the rule that the scenario's release
    /// shipped with [default: all]
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// A preset of CPU costs [default: the scenario's costs]
    #[arg(long, alias = "costs", value_name = "PRESET", value_parser = CostPresetName(CostSide::Cpu))]
    pub cpu: Option<String>,
    /// A preset of GPU costs [default: the scenario's costs]
    #[arg(long, value_name = "PRESET", value_parser = CostPresetName(CostSide::Gpu))]
    pub gpu: Option<String>,
    /// The number of outputs of every request [default: those of the scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    pub outputs: Option<u32>,
    /// The seed of drawn durations [default: the scenario's own, or 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number)]
    pub seed: Option<u64>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Measures steady decode and prints the numbers.
///
/// # Errors
/// As [`cost_to_text`].
pub fn cost(args: &CostArgs) -> Result<Exit, Failure> {
    let (text, exit) = cost_styled(args)?;
    print(&text)?;
    Ok(exit)
}

/// Measures steady decode. Returns the text that `cost` prints, without styles, and the exit.
///
/// # Errors
/// A scenario that cannot be read or has no steady decode at any of the sizes, a preset or a rule that does not exist.
pub fn cost_to_text(args: &CostArgs) -> Result<(String, Exit), Failure> {
    let (text, exit) = cost_styled(args)?;
    Ok((plain(&text).into_owned(), exit))
}

fn cost_styled(args: &CostArgs) -> Result<(String, Exit), Failure> {
    let scenario = load(&args.file, args.outside)?;
    let report = report(args, &scenario)?;
    let stopped = report.batches.iter().flat_map(|batch| &batch.runs).filter_map(|run| run.stopped);
    let exit = stopped.map(|why| if why == "bound" { Exit::Inconclusive } else { Exit::Found }).max();
    let text = match args.format {
        Format::Text => cost_text(&report),
        Format::Json => cost_json(&report),
    };
    Ok((text, exit.unwrap_or(Exit::Good)))
}

fn report(args: &CostArgs, scenario: &Scenario) -> Result<CostReport, Failure> {
    let rules = rules(scenario, Some(args.rule.as_deref().unwrap_or("all")))?;
    let mut setup = scenario.setup.clone();
    let (cpu, gpu) = (named(CostSide::Cpu, &args.cpu)?, named(CostSide::Gpu, &args.gpu)?);
    for preset in [&cpu, &gpu].into_iter().flatten() {
        preset.apply(&mut setup.costs);
    }
    // The presets of the scenario apply unless the command line names others.
    let own = |of, name: Option<&str>| name.and_then(|name| cost_preset(of, name));
    let cpu = cpu.or_else(|| own(CostSide::Cpu, scenario.cost_names.cpu));
    let gpu = gpu.or_else(|| own(CostSide::Gpu, scenario.cost_names.gpu));
    let decode =
        gpu.as_ref().filter(|preset| preset.decodes_as(&setup.costs)).and_then(|preset| preset.decode.as_ref());
    let shapes = shapes(&setup, args.outputs);
    let cost = SteadyCost { setup: &setup, shapes: &shapes, decode, seed: args.seed.unwrap_or(scenario.seed) };
    let Batches(sizes) = &args.batches;
    let progress = RunsProgress::new((sizes.len() * rules.len()) as u64);
    let runs = cost.runs(sizes, &rules, cores(), &|| progress.runs(1));
    let (mut batches, mut refused) = (Vec::new(), Vec::new());
    for (&size, runs) in sizes.iter().zip(runs) {
        let why = runs.as_ref().err().copied();
        refused.extend(why.map(|why| (size, why)));
        let runs = runs.unwrap_or_default();
        let (prompt, outputs) = lengths(&shapes, size);
        let saved = cost_saved(&runs);
        batches.push(CostBatch { batch: size, prompt, outputs, refused: why.map(|why| why.to_string()), runs, saved });
    }
    let Some(most) = batches.iter().filter(|batch| batch.refused.is_none()).map(|batch| batch.batch).max() else {
        let (size, why) = refused[0];
        return Err(none_measured(size, why, &why.remedy(&setup.engine, &shapes, size)));
    };
    let wanted = most.max(SEARCHED);
    let (searched, cpu_longer) = cpu_longer(&cost, (most, wanted), &rules, known(&batches, rules.len()));
    let asked = Measurement {
        setup: &setup,
        shapes: &shapes,
        gpu: gpu.as_ref(),
        searched: (searched, wanted),
        refused: &refused,
    };
    Ok(CostReport {
        scenario: args.file.to_string_lossy().into_owned(),
        cpu: cpu.map(|preset| of_preset(&preset, &setup.costs)),
        gpu: gpu.as_ref().map(|preset| of_preset(preset, &setup.costs)),
        seed: cost.seed,
        overlap: setup.engine.overlap,
        requests: shapes.len() as u32,
        warnings: asked.warnings(&batches),
        batches,
        cpu_longer,
        searched,
    })
}

/// Least and most tokens of the prompts of a batch, and least and most outputs: a small one has the first requests
/// alone.
fn lengths(shapes: &[RequestShape], batch: u32) -> ([u32; 2], [u32; 2]) {
    let range = |of: &dyn Fn(&RequestShape) -> u32| {
        let all = || shapes.iter().take(batch as usize).map(of);
        [all().min().unwrap_or(0), all().max().unwrap_or(0)]
    };
    (range(&|shape| shape.prompt), range(&|shape| shape.outputs))
}

/// By rule and batch size, how far the CPU step is ahead in the runs that were measured.
fn known(batches: &[CostBatch], rules: usize) -> CpuAhead {
    let of = |rule: usize| {
        let one = |batch: &CostBatch| batch.runs.get(rule).map(|run| (batch.batch, run.cpu_ahead_ps));
        batches.iter().filter_map(one).collect()
    };
    (0..rules).map(of).collect()
}

/// The batch sizes at which the CPU is the longer under each rule, and the largest size up to which this is known: at
/// least `most`, which has steady steps, and at most `wanted`.
fn cpu_longer(
    cost: &SteadyCost<'_>,
    (most, wanted): (u32, u32),
    rules: &[&'static dyn Rule],
    mut known: CpuAhead,
) -> (u32, Vec<CpuLonger>) {
    let mut searched = cost.largest(most, wanted, rules, &mut known);
    let ranges = loop {
        match cost.cpu_longer(searched, rules, &mut known, cores()) {
            Ok(ranges) => break ranges,
            Err(unknown) => searched = unknown - 1,
        }
    };
    let one = |(rule, batches): (&&'static dyn Rule, Vec<[u32; 2]>)| CpuLonger { rule: rule.name(), batches };
    (searched, rules.iter().zip(ranges).map(one).collect())
}

/// The preset that the command line names.
fn named(of: CostSide, name: &Option<String>) -> Result<Option<CostPreset>, Failure> {
    let Some(name) = name else { return Ok(None) };
    cost_preset(of, name).map(Some).ok_or_else(|| {
        let help = instead_of(name, &cost_preset_names(of), &format!("the {of} presets are"));
        Failure(format!("error: there is no {of} preset `{}`\nhelp: {help}\n", escape::line(name)))
    })
}

/// The name of a preset, marked if the scenario overrides costs of it.
fn of_preset(preset: &CostPreset, costs: &Costs) -> String {
    let mut own = costs.clone();
    preset.apply(&mut own);
    if own == *costs { preset.name.to_owned() } else { format!("{} with changes", preset.name) }
}

/// The error where no batch size could be measured, with the reason of the smallest.
fn none_measured(batch: u32, why: NotSteady, remedy: &str) -> Failure {
    let what = match why {
        NotSteady::Speculative => why.to_string(),
        NotSteady::TooLarge { .. } | NotSteady::TooLong { .. } | NotSteady::Apart => {
            format!("there is no steady decode step in a batch of {batch}: {why}")
        }
    };
    Failure(format!("error: {what}\nhelp: {remedy}\n"))
}
