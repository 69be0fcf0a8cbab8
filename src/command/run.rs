//! `run`: replay a scenario under one rule or all, judge it, print text or JSON.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::model::Rule;
use crate::report::{Run, Timeline, run_text, runs_json};
use crate::runner::{self, Keep, Outcome};
use crate::scenario::{self, Scenario};

use super::output::{Exit, Failure, Printer, replay_line};
use super::progress::Progress;

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// What `run` is asked to do.
#[derive(Clone, Debug)]
pub struct RunArgs {
    /// The scenario file.
    pub file: PathBuf,
    /// A rule's name, `all`, or `release`; the scenario's own rule if not given.
    pub rule: Option<String>,
    /// The seed of drawn durations; the scenario's own if not given.
    pub seed: Option<u64>,
    /// How to print.
    pub format: Format,
    /// Draw the two lanes turn by turn.
    pub timeline: bool,
    /// Draw these turns only.
    pub turns: Option<RangeInclusive<u32>>,
    /// Compare what results read with what their prepare saw.
    pub skew: bool,
}

/// Runs a scenario and prints what came of it.
///
/// # Errors
/// A scenario that cannot be read, or a rule that does not exist.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let mut printer = Printer::new();
    let exit = run_into(args, &mut |part| printer.print(part))?;
    printer.end()?;
    Ok(exit)
}

/// Runs a scenario; what `run` prints, and how it ends.
///
/// # Errors
/// As [`run`].
pub fn run_to_text(args: &RunArgs) -> Result<(String, Exit), Failure> {
    let mut text = String::new();
    let exit = run_into(args, &mut |part| {
        text.push_str(part);
        true
    })?;
    Ok((text, exit))
}

/// Runs a scenario and hands out what `run` prints, part by part, as long as somebody wants more.
fn run_into(args: &RunArgs, out: &mut dyn FnMut(&str) -> bool) -> Result<Exit, Failure> {
    let scenario = load(&args.file)?;
    let rules = rules(&scenario, args.rule.as_deref())?;
    let path = args.file.to_string_lossy();
    match args.format {
        Format::Json => {
            let outcomes = run_all(&scenario, &rules, args.seed, Keep { skew: args.skew, ..Keep::default() });
            out(&runs_json(&reports(&scenario, &path, &rules, args.seed, &outcomes)));
            Ok(worst(&outcomes))
        }
        Format::Text => {
            let mut exit = Exit::Good;
            for (index, &rule) in rules.iter().enumerate() {
                let keep = Keep { boundaries: args.timeline, skew: args.skew, ..Keep::default() };
                let outcome = run_one(&scenario, rule, args.seed, keep);
                let outcomes = std::slice::from_ref(&outcome);
                exit = exit.max(worst(outcomes));
                let runs = reports(&scenario, &path, &[rule], args.seed, outcomes);
                let blank = if index > 0 { "\n" } else { "" };
                let wanted = runs.iter().all(|run| out(&format!("{blank}{}", run_text(run))));
                if args.timeline && wanted && out("\n") {
                    draw(&scenario, rule, args, &outcome, out);
                }
            }
            Ok(exit)
        }
    }
}

/// Draws the timeline of a run that has been judged: it is run again, turn by turn.
fn draw(scenario: &Scenario, rule: &dyn Rule, args: &RunArgs, outcome: &Outcome, out: &mut dyn FnMut(&str) -> bool) {
    let seed = args.seed.unwrap_or(scenario.seed);
    let mut timeline = Timeline::new(&scenario.setup.names, &outcome.judgement, args.turns.clone(), out);
    runner::replay(&scenario.setup, rule, seed, &mut timeline);
    timeline.end();
}

/// Reads a scenario file.
pub(super) fn load(path: &Path) -> Result<Scenario, Failure> {
    scenario::load(path, &runner::rule_names()).map_err(|diagnostic| Failure(diagnostic.render(false)))
}

/// The rules that a run is asked for.
pub(super) fn rules(scenario: &Scenario, asked: Option<&str>) -> Result<Vec<&'static dyn Rule>, Failure> {
    let name = asked.or(scenario.rule.as_deref()).unwrap_or(runner::DEFAULT_RULE);
    match name {
        "all" => Ok(all_rules()),
        name => match runner::rule_or_release(name, scenario.setup.engine.release) {
            Some(rule) => Ok(vec![rule]),
            None => {
                let known = runner::rule_names().join(", ");
                Err(Failure(format!(
                    "error: there is no rule `{name}`\nhelp: the rules are {known}; or all, release\n"
                )))
            }
        },
    }
}

/// Every rule.
pub(super) fn all_rules() -> Vec<&'static dyn Rule> {
    runner::rule_names().into_iter().filter_map(runner::rule).collect()
}

/// Runs a scenario under each of `rules`, showing progress.
pub(super) fn run_all(scenario: &Scenario, rules: &[&dyn Rule], seed: Option<u64>, keep: Keep) -> Vec<Outcome> {
    let mut progress = Progress::new(&scenario.setup, rules.len());
    let seed = seed.unwrap_or(scenario.seed);
    rules.iter().map(|rule| runner::run(&scenario.setup, *rule, seed, keep, Some(&mut || progress.output()))).collect()
}

/// Runs a scenario under one rule, showing progress.
pub(super) fn run_one(scenario: &Scenario, rule: &dyn Rule, seed: Option<u64>, keep: Keep) -> Outcome {
    run_all(scenario, &[rule], seed, keep).swap_remove(0)
}

/// What the renderers need of each run.
pub(super) fn reports<'a>(
    scenario: &'a Scenario,
    path: &'a str,
    rules: &[&'static dyn Rule],
    seed: Option<u64>,
    outcomes: &'a [Outcome],
) -> Vec<Run<'a>> {
    rules
        .iter()
        .zip(outcomes)
        .map(|(rule, outcome)| Run {
            scenario: path,
            rule: rule.name(),
            seed: seed.unwrap_or(scenario.seed),
            replay: replay_line(&scenario.path, rule.name(), seed),
            names: &scenario.setup.names,
            judgement: &outcome.judgement,
            timing: &outcome.timing,
            skew: outcome.skew.as_ref(),
            warnings: Vec::new(),
        })
        .collect()
}

/// The exit of several runs: the worst of them.
pub(super) fn worst(outcomes: &[Outcome]) -> Exit {
    outcomes.iter().map(|outcome| Exit::from(outcome.judgement.verdict)).max().unwrap_or(Exit::Good)
}
