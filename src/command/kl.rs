//! `kl`: replay a scenario under several rules and measure the effect of its cache hits on outputs.

use std::path::PathBuf;

use crate::model::Rule;
use crate::numeric::{Gauge, Severity, Ssm};
use crate::report::{KlRun, KlState, kl_json, kl_text, plain};
use crate::runner::{self, Keep, RunOutcome};
use crate::scenario::Scenario;

use super::format::Format;
use super::input::{OutsidePaths, load, rules};
use super::memory::{Kept, RunLength, fits};
use super::output::{Exit, Failure, print};
use super::replay_spec::ReplaySpec;
use super::runs::{exit_of, reports, run_one};
use super::values::{self, FailOnVerdict};

/// Measure what cache hits cost: the KL divergence from a cold prefill, under every rule
#[derive(Clone, Debug, clap::Args)]
pub struct KlArgs {
    /// The scenario file
    pub file: PathBuf,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// The rules, by name with commas between; `all` for every rule, `release` for the rule that the scenario's release
    /// shipped with [default: all]
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// The seed of drawn durations [default: the scenario's own, or 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number)]
    pub seed: Option<u64>,
    /// The seed of the numeric state [default: that of the scenario's state, or 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number)]
    pub state_seed: Option<u64>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Which verdicts make the exit code 1
    #[command(flatten)]
    pub fail_on: FailOnVerdict,
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

/// Measures a scenario. Returns the text that `kl` prints, without styles, and the exit, which is that of `run`.
///
/// # Errors
/// As [`kl`].
pub fn kl_to_text(args: &KlArgs) -> Result<(String, Exit), Failure> {
    let (text, exit) = kl_styled(args)?;
    Ok((plain(&text).into_owned(), exit))
}

fn kl_styled(args: &KlArgs) -> Result<(String, Exit), Failure> {
    let scenario = load(&args.file, args.outside)?;
    let rules = rules(&scenario, Some(args.rule.as_deref().unwrap_or("all")))?;
    let engine = &scenario.setup.engine;
    let given = scenario.setup.state;
    let mut state = KlState { ssm: given.unwrap_or_default(), default: given.is_none() };
    state.ssm.seed = args.state_seed.unwrap_or(state.ssm.seed);
    let spec = ReplaySpec { seed: args.seed, ..ReplaySpec::default() };
    let bytes = RunLength::of(&scenario.setup, false).bytes(Kept::NUMERIC);
    fits(bytes, "the numeric state", "give the requests fewer tokens, or the trace a `limit`")?;
    let (outcomes, severities): (Vec<RunOutcome>, Vec<Severity>) = rules
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
    Ok((text, exit_of(&outcomes, args.fail_on.verdict)))
}

/// Runs a scenario under one rule, and again with the gauge as its sink.
fn measure(
    scenario: &Scenario,
    rule: &dyn Rule,
    spec: ReplaySpec<'_>,
    ssm: Ssm,
) -> Result<(RunOutcome, Severity), Failure> {
    let outcome = run_one(scenario, rule, spec, Keep::default())?;
    let mut gauge = Gauge::new(ssm, scenario.setup.engine.mamba_chunk);
    let open = spec.open(scenario);
    runner::replay(&scenario.setup, rule, &mut spec.chooser(scenario, &open), &mut gauge);
    Ok((outcome, gauge.finish()))
}
