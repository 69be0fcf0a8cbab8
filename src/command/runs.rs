//! Runs of a scenario under several rules: running them with a progress bar, and what the renderers and the exit code
//! need of them.

use std::ops::RangeInclusive;

use crate::judge::Judgement;
use crate::model::Rule;
use crate::report::Run;
use crate::runner::{self, Keep, RunOutcome};
use crate::scenario::Scenario;

use super::fail_on::{FailOn, verdicts};
use super::line::replay_line_of;
use super::output::{Exit, Failure};
use super::progress::Progress;
use super::replay_spec::{ReplaySpec, does_not_fit};

/// Runs a scenario under each of `rules`, showing progress.
///
/// # Errors
/// Choices that do not fit.
pub(super) fn run_all(
    scenario: &Scenario,
    rules: &[&dyn Rule],
    spec: ReplaySpec<'_>,
    keep: Keep,
) -> Result<Vec<RunOutcome>, Failure> {
    let mut progress = Progress::on_terminal(&scenario.setup, rules.len());
    let open = spec.open(scenario);
    let mut run = |rule: &&dyn Rule| {
        let mut outputs = progress.as_mut().map(|progress| |more| progress.outputs(more));
        let watch = outputs.as_mut().map(|outputs| outputs as &mut dyn FnMut(u64));
        if spec.choices.is_none() {
            let seed = spec.seed.unwrap_or(scenario.seed);
            return Ok(runner::run(&scenario.setup, *rule, seed, keep, watch));
        }
        let mut chooser = spec.chooser(scenario, &open);
        let outcome = runner::run_with(&scenario.setup, *rule, &mut chooser, keep, watch);
        match chooser.misfit() {
            Some(misfit) => Err(does_not_fit(scenario, *rule, misfit)),
            None => Ok(outcome),
        }
    };
    rules.iter().map(&mut run).collect()
}

/// Runs a scenario under one rule, showing progress.
///
/// # Errors
/// Choices that do not fit.
pub(super) fn run_one(
    scenario: &Scenario,
    rule: &dyn Rule,
    spec: ReplaySpec<'_>,
    keep: Keep,
) -> Result<RunOutcome, Failure> {
    Ok(run_all(scenario, &[rule], spec, keep)?.swap_remove(0))
}

/// The input of the renderers, one for each rule and its outcome.
pub(super) fn reports<'a>(
    scenario: &'a Scenario,
    path: &'a str,
    rules: &[&'static dyn Rule],
    spec: ReplaySpec<'_>,
    outcomes: &'a [RunOutcome],
) -> Vec<Run<'a>> {
    rules
        .iter()
        .zip(outcomes)
        .map(|(rule, outcome)| Run {
            scenario: path,
            rule: rule.name(),
            seed: spec.seed.unwrap_or(scenario.seed),
            way: spec.words(scenario),
            replay: replay_line_of(scenario, rule.name(), spec),
            names: &scenario.setup.names,
            judgement: &outcome.judgement,
            timing: &outcome.timing,
            latched: outcome.counts.latched.as_ref(),
            skew: outcome.skew.as_ref(),
            bound: outcome.bound.as_deref(),
            warnings: Vec::new(),
        })
        .collect()
}

/// The exit of several runs: the worst of them.
pub(super) fn exit_of(outcomes: &[RunOutcome], fail_on: FailOn) -> Exit {
    fail_on.exit(outcomes.iter().flat_map(|outcome| verdicts(&outcome.judgement)))
}

/// The error where no turn of the given range was run.
pub(super) fn no_turns(turns: &RangeInclusive<u32>, judgement: &Judgement) -> Failure {
    Failure(format!(
        "error: no turn from {} to {} was run\nhelp: the run has {} turns; `run --timeline` shows their numbers\n",
        turns.start(),
        turns.end(),
        judgement.turns
    ))
}
