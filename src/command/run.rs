//! `run`: replay a scenario under one rule or all, judge it, print text or JSON.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use crate::model::Rule;
use crate::report::{Timeline, plain, run_text, runs_json};
use crate::runner::{self, Keep, RunOutcome};
use crate::scenario::Scenario;

use super::format::Format;
use super::input::{OutsidePaths, load, rules, unnamed_rule};
use super::memory::{Kept, RunLength, fits};
use super::output::{Exit, Failure, Printer};
use super::replay_spec::ReplaySpec;
use super::runs::{exit_of, reports, run_all, run_one};
use super::values::{self, Answers, FailOnVerdict};

/// Replay a scenario under one rule or all, and judge it
#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// The scenario file
    pub file: PathBuf,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// The rules, by name with commas between; `all` for every rule, `release` for the rule that the scenario's release
    /// shipped with [default: the scenario's own, or mask-lookahead]
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// The seed of drawn durations [default: the scenario's own, or 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number)]
    pub seed: Option<u64>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Draw the CPU phases and the GPU stream turn by turn (text only)
    #[arg(long)]
    pub timeline: bool,
    /// With --timeline: draw only this turn, or only the turns from A to B, with B
    #[arg(long, value_name = "A..B", requires = "timeline", value_parser = values::turns)]
    pub turns: Option<RangeInclusive<u32>>,
    /// Count, for every field that batches share through their requests, how often a result reads a newer value than
    /// its prepare saw, and how often that changed the decision of the rule
    #[arg(long)]
    pub skew: bool,
    /// Answers to open questions
    #[command(flatten)]
    pub answers: Answers,
    /// Which verdicts make the exit code 1
    #[command(flatten)]
    pub fail_on: FailOnVerdict,
}

/// Runs a scenario and prints the judgement.
///
/// # Errors
/// A scenario that cannot be read, or a rule that does not exist.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let mut printer = Printer::new();
    let exit = run_into(args, &mut |part| printer.print(part))?;
    printer.end()?;
    Ok(exit)
}

/// Runs a scenario. Returns the text that `run` prints, without styles, and the exit.
///
/// # Errors
/// As [`run`].
pub fn run_to_text(args: &RunArgs) -> Result<(String, Exit), Failure> {
    let mut text = String::new();
    let exit = run_into(args, &mut |part| {
        text.push_str(&plain(part));
        true
    })?;
    Ok((text, exit))
}

/// Runs a scenario and gives `out` the text that `run` prints, part by part, until `out` returns false.
fn run_into(args: &RunArgs, out: &mut dyn FnMut(&str) -> bool) -> Result<Exit, Failure> {
    if args.timeline && args.format == Format::Json {
        return Err(Failure(
            "error: --timeline is text only\nhelp: leave out --format json or --timeline\n".to_string(),
        ));
    }
    let scenario = load(&args.file, args.outside)?;
    let rules = rules(&scenario, args.rule.as_deref())?;
    let unnamed = unnamed_rule(&scenario, args.rule.as_deref());
    let spec = ReplaySpec::of_options(args.seed, &args.answers);
    let path = args.file.to_string_lossy();
    if args.timeline {
        let length = RunLength::of(&scenario.setup, spec.choices.is_some());
        fits(length.bytes(Kept::TIMELINE), "the timeline", "shorten the scenario, or leave out --timeline")?;
    }
    match args.format {
        Format::Json => {
            let outcomes = run_all(&scenario, &rules, spec, Keep { skew: args.skew, ..Keep::default() })?;
            let mut runs = reports(&scenario, &path, &rules, spec, &outcomes);
            runs.iter_mut().for_each(|run| run.warnings.extend(unnamed.clone()));
            out(&runs_json(&runs));
            Ok(exit_of(&outcomes, args.fail_on.verdict))
        }
        Format::Text => {
            let mut exit = Exit::Good;
            for (index, &rule) in rules.iter().enumerate() {
                let keep = Keep { boundaries: args.timeline, skew: args.skew, ..Keep::default() };
                let outcome = run_one(&scenario, rule, spec, keep)?;
                let outcomes = std::slice::from_ref(&outcome);
                exit = exit.max(exit_of(outcomes, args.fail_on.verdict));
                let mut runs = reports(&scenario, &path, &[rule], spec, outcomes);
                runs.iter_mut().for_each(|run| run.warnings.extend(unnamed.clone()));
                let blank = if index > 0 { "\n" } else { "" };
                let wanted = runs.iter().all(|run| out(&format!("{blank}{}", run_text(run))));
                if args.timeline && wanted && out("\n") {
                    draw(&scenario, rule, (spec, args.turns.clone()), &outcome, out);
                }
            }
            Ok(exit)
        }
    }
}

/// Draws the timeline of a run that has been judged: it is run again, turn by turn.
fn draw(
    scenario: &Scenario,
    rule: &dyn Rule,
    (spec, turns): (ReplaySpec<'_>, Option<RangeInclusive<u32>>),
    outcome: &RunOutcome,
    out: &mut dyn FnMut(&str) -> bool,
) {
    let open = spec.open(scenario);
    let mut timeline = Timeline::new(&scenario.setup.names, &outcome.judgement, turns, out);
    runner::replay(&scenario.setup, rule, &mut spec.chooser(scenario, &open), &mut timeline);
    timeline.end();
}
