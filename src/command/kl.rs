//! `kl`: replay a scenario under several rules and measure what its cache hits cost in outputs.

use std::path::PathBuf;

use crate::model::Rule;
use crate::numeric::{Gauge, Severity, Ssm};
use crate::report::{KlRun, KlState, kl_json, kl_text, plain};
use crate::runner::{self, Keep, Outcome};
use crate::scenario::Scenario;

use super::fail_on::FailOn;
use super::output::{Exit, Failure, print};
use super::run::{Format, ReplaySpec, exit_of, load, reports, rules, run_one};

/// What `kl` is asked to do.
#[derive(Clone, Debug)]
pub struct KlArgs {
    /// The scenario file.
    pub file: PathBuf,
    /// A rule's name, `all`, or `release`; all if not given.
    pub rule: Option<String>,
    /// The seed of drawn durations; the scenario's own if not given.
    pub seed: Option<u64>,
    /// The seed of the numeric state; that of the scenario's state, or 0, if not given.
    pub state_seed: Option<u64>,
    /// How to print.
    pub format: Format,
    /// Which verdicts end it with exit code 1.
    pub fail_on: FailOn,
}

/// Measures a scenario and prints the numbers.
///
/// # Errors
/// A scenario that cannot be read, or a rule that does not exist.
pub fn kl(args: &KlArgs) -> Result<Exit, Failure> {
    let (text, exit) = kl_styled(args)?;
    print(&text)?;
    Ok(exit)
}

/// Measures a scenario; what `kl` prints, without styles, and how it ends: as `run` does.
///
/// # Errors
/// As [`kl`].
pub fn kl_to_text(args: &KlArgs) -> Result<(String, Exit), Failure> {
    let (text, exit) = kl_styled(args)?;
    Ok((plain(&text).into_owned(), exit))
}

fn kl_styled(args: &KlArgs) -> Result<(String, Exit), Failure> {
    let scenario = load(&args.file)?;
    let rules = rules(&scenario, Some(args.rule.as_deref().unwrap_or("all")))?;
    let engine = &scenario.setup.engine;
    let mut state = KlState { ssm: engine.state.unwrap_or_default(), default: engine.state.is_none() };
    state.ssm.seed = args.state_seed.unwrap_or(state.ssm.seed);
    let spec = ReplaySpec { seed: args.seed, ..ReplaySpec::default() };
    let (outcomes, severities): (Vec<Outcome>, Vec<Severity>) = rules
        .iter()
        .map(|rule| measure(&scenario, *rule, spec, state.ssm))
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .unzip();
    let path = args.file.to_string_lossy();
    let runs = reports(&scenario, &path, &rules, spec, &outcomes);
    let strategy = engine.strategy.name();
    let runs: Vec<KlRun> =
        runs.into_iter().zip(&severities).map(|(run, severity)| KlRun { run, strategy, severity }).collect();
    let text = match args.format {
        Format::Text => kl_text(state, &runs),
        Format::Json => kl_json(state, &runs),
    };
    Ok((text, exit_of(&outcomes, args.fail_on)))
}

/// Runs a scenario under one rule, and again for the gauge to see what happens.
fn measure(
    scenario: &Scenario,
    rule: &dyn Rule,
    spec: ReplaySpec<'_>,
    ssm: Ssm,
) -> Result<(Outcome, Severity), Failure> {
    let outcome = run_one(scenario, rule, spec, Keep::default())?;
    let mut gauge = Gauge::new(ssm, scenario.setup.engine.mamba_chunk);
    let open = spec.open(scenario);
    runner::replay(&scenario.setup, rule, &mut spec.chooser(scenario, &open), &mut gauge);
    Ok((outcome, gauge.finish()))
}
