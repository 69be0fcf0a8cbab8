//! `cost`: what a decode step costs at one batch size after another, under every rule.

use std::path::PathBuf;

use crate::model::{Cost, Costs, Engine};
use crate::report::{CostBatch, CostReport, CostRun, CpuLonger, cost_json, cost_saved, cost_text, plain};
use crate::runner::SteadyCost;
use crate::scenario::{CostPreset, CostSide, Scenario, cost_preset, cost_preset_names, instead_of};
use crate::workload::{NotSteady, shapes};

use super::mistake::hint;
use super::output::{Exit, Failure, print};
use super::progress::{RunsProgress, cores};
use super::run::{Format, load, rules};

/// The batch sizes up to which the CPU is looked for as the longer one, unless larger ones are asked for.
const SEARCHED: u32 = 4096;
/// The largest batch.
const BATCH_MAX: u32 = 65_536;
/// Most batch sizes.
const BATCHES_MAX: usize = 64;
/// The batch sizes that are run if nothing is said.
pub const BATCHES: &str = "1,10,100,1000";

/// What `cost` is asked to do.
#[derive(Clone, Debug)]
pub struct CostArgs {
    /// The scenario file.
    pub file: PathBuf,
    /// The batch sizes.
    pub batches: Batches,
    /// A rule's name, `all`, or `release`; all if not given.
    pub rule: Option<String>,
    /// A CPU preset in place of the CPU costs of the scenario.
    pub cpu: Option<String>,
    /// A GPU preset in place of the GPU costs of the scenario.
    pub gpu: Option<String>,
    /// So many outputs for every request, in place of the scenario's.
    pub outputs: Option<u32>,
    /// The seed of drawn durations; the scenario's own if not given.
    pub seed: Option<u64>,
    /// How to print.
    pub format: Format,
}

/// Batch sizes, ascending, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches(pub Vec<u32>);

/// Reads a list of batch sizes.
///
/// # Errors
/// What is wrong with it, in words for the command line.
pub fn batches(word: &str) -> Result<Batches, String> {
    let help = format!("give sizes from 1 to {BATCH_MAX} with commas between, as in {BATCHES}");
    let mut sizes = Vec::new();
    for part in word.split(',').map(str::trim) {
        match part.parse::<u32>() {
            Ok(size) if (1..=BATCH_MAX).contains(&size) => sizes.push(size),
            Ok(_) => return Err(hint(&format!("there is no batch of {part} requests"), &help)),
            Err(_) if !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()) => {
                return Err(hint(&format!("there is no batch of {part} requests"), &help));
            }
            Err(_) => return Err(hint(&format!("`{}` is no batch size", part.escape_debug()), &help)),
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() > BATCHES_MAX {
        return Err(hint(&format!("{} batch sizes are too many", sizes.len()), &format!("give at most {BATCHES_MAX}")));
    }
    Ok(Batches(sizes))
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

/// Measures steady decode; what `cost` prints, without styles, and how it ends.
///
/// # Errors
/// A scenario that cannot be read or has no steady decode, a preset or a rule that does not exist.
pub fn cost_to_text(args: &CostArgs) -> Result<(String, Exit), Failure> {
    let (text, exit) = cost_styled(args)?;
    Ok((plain(&text).into_owned(), exit))
}

fn cost_styled(args: &CostArgs) -> Result<(String, Exit), Failure> {
    let scenario = load(&args.file)?;
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
    // What the scenario names is still in force where the command line says nothing.
    let own = |of, name: Option<&str>| name.and_then(|name| cost_preset(of, name));
    let cpu = cpu.or_else(|| own(CostSide::Cpu, scenario.cost_names.cpu));
    let gpu = gpu.or_else(|| own(CostSide::Gpu, scenario.cost_names.gpu));
    let decode =
        gpu.as_ref().filter(|preset| preset.decodes_as(&setup.costs)).and_then(|preset| preset.decode.as_ref());
    let shapes = shapes(&setup, args.outputs);
    let cost = SteadyCost { setup: &setup, shapes: &shapes, decode, seed: args.seed.unwrap_or(scenario.seed) };
    let Batches(sizes) = &args.batches;
    let searched = sizes.last().map_or(SEARCHED, |&most| most.max(SEARCHED));
    let progress = RunsProgress::new((sizes.len() * rules.len()) as u64);
    let runs = cost.runs(sizes, &rules, cores(), &|| progress.runs(1)).map_err(refused)?;
    if let Some(size) = never_full(sizes, &runs) {
        return Err(no_steps(size, &setup.engine, shapes.iter().map(|shape| shape.outputs).min().unwrap_or(1)));
    }
    let batch = |(&batch, runs): (&u32, Vec<CostRun>)| CostBatch { batch, saved: cost_saved(&runs), runs };
    let batches: Vec<CostBatch> = sizes.iter().zip(runs).map(batch).collect();
    let wanted = searched;
    let mut searched = cost.largest(sizes.last().copied().unwrap_or(1), wanted, &rules);
    let ranges = loop {
        match cost.cpu_longer(searched, &rules, cores()) {
            Ok(ranges) => break ranges,
            Err(unknown) => searched = unknown - 1,
        }
    };
    let cpu_longer = rules.iter().zip(ranges).map(|(rule, batches)| CpuLonger { rule: rule.name(), batches }).collect();
    let range = |of: &dyn Fn(usize) -> u32| {
        let all = || (0..shapes.len()).map(of);
        [all().min().unwrap_or(0), all().max().unwrap_or(0)]
    };
    Ok(CostReport {
        scenario: args.file.to_string_lossy().into_owned(),
        cpu: cpu.map(|preset| of_preset(&preset, &setup.costs)),
        gpu: gpu.as_ref().map(|preset| of_preset(preset, &setup.costs)),
        seed: cost.seed,
        overlap: setup.engine.overlap,
        prompt: range(&|at| shapes[at].prompt),
        outputs: range(&|at| shapes[at].outputs),
        warnings: warnings(&setup.costs, gpu.as_ref(), &batches, (searched, wanted)),
        batches,
        cpu_longer,
        searched,
    })
}

/// The preset that the command line names.
fn named(of: CostSide, name: &Option<String>) -> Result<Option<CostPreset>, Failure> {
    let Some(name) = name else { return Ok(None) };
    cost_preset(of, name).map(Some).ok_or_else(|| {
        let help = instead_of(name, &cost_preset_names(of), &format!("the {of} presets are"));
        Failure(format!("error: there is no {of} preset `{}`\nhelp: {help}\n", name.escape_debug()))
    })
}

/// The name of a preset, and whether the scenario sets costs over it.
fn of_preset(preset: &CostPreset, costs: &Costs) -> String {
    let mut own = costs.clone();
    preset.apply(&mut own);
    if own == *costs { preset.name.to_owned() } else { format!("{} with changes", preset.name) }
}

/// The first batch size at which a run came to its end without a steady step.
fn never_full(sizes: &[u32], runs: &[Vec<CostRun>]) -> Option<u32> {
    let none = |runs: &Vec<CostRun>| runs.iter().any(|run| run.steps == 0 && run.stopped.is_none());
    sizes.iter().zip(runs).find(|(_, runs)| none(runs)).map(|(size, _)| *size)
}

/// Nobody has more outputs than needed for a step, or those that are prefilled first end before the last is.
fn no_steps(batch: u32, engine: &Engine, outputs: u32) -> Failure {
    let more = outputs.saturating_mul(4).max(64);
    let chunks = match engine.chunked_prefill_size {
        Some(_) if engine.mixed_chunk => ", or larger chunks by `chunked_prefill_size`",
        Some(_) | None => "",
    };
    Failure(format!(
        "error: there is no steady decode step in a batch of {batch}: its requests are not together for long enough\n\
         help: give every request more outputs with --outputs, such as --outputs {more}{chunks}\n"
    ))
}

fn refused(why: NotSteady) -> Failure {
    Failure(format!("error: {why}\nhelp: {}\n", why.remedy()))
}

fn warnings(
    costs: &Costs,
    gpu: Option<&CostPreset>,
    batches: &[CostBatch],
    (searched, wanted): (u32, u32),
) -> Vec<String> {
    let mut warnings = Vec::new();
    if searched < wanted {
        warnings.push(format!(
            "more than {searched} requests have no steady decode step here, or more tokens than are held: where the CPU is the \
             longer is not known beyond"
        ));
    }
    if let Some(preset) = gpu.filter(|preset| preset.decode.is_some() && !preset.decodes_as(costs)) {
        warnings.push(format!(
            "decode costs are set over {}: forwards take a straight line by batch size, not its table",
            preset.name
        ));
    }
    if costs.clone().each_mut().into_iter().any(|cost| matches!(*cost, Cost::Uniform(lo, hi) if lo < hi)) {
        warnings.push(
            "costs are drawn: means are of one draw, and where the CPU is the longer is as exact as they are"
                .to_owned(),
        );
    }
    for batch in batches {
        for run in &batch.runs {
            if let Some(why) = run.stopped {
                let what = if why == "bound" { "the bound on turns" } else { "an assertion of the modelled system" };
                warnings.push(format!("{what} ended the run of {} requests under {}", batch.batch, run.rule));
            }
        }
    }
    warnings
}
