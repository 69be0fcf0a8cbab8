//! `run`: replay a scenario under one rule or all, judge it, print text or JSON.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::engine::Open;
use crate::judge::Judgement;
use crate::model::{Rule, Vary};
use crate::report::question::question;
use crate::report::{Run, Timeline, plain, run_text, runs_json};
use crate::runner::{self, Keep, Outcome};
use crate::scenario::{self, Scenario};
use crate::search::{Misfit, Replay};

use super::fail_on::{FailOn, verdicts};
use super::line::{choices_word, replay_line};
use super::mistake::no_rule;
use super::output::{Exit, Failure, Printer};
use super::progress::Progress;
use super::values::{self, Answers, FailOnVerdict};

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Replay a scenario under one rule or all, and judge it
#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// The scenario file
    pub file: PathBuf,
    /// A rule by name, several with commas between, `all`, or `release` for the one that the scenario's release
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
    /// With --timeline: draw this turn, or these from first to last, only
    #[arg(long, value_name = "A..B", requires = "timeline", value_parser = values::turns)]
    pub turns: Option<RangeInclusive<u32>>,
    /// Count, for every field that batches share through their requests, how often a result reads a newer value than
    /// its prepare saw, and how often that changed what the rule did
    #[arg(long)]
    pub skew: bool,
    /// Answers to open questions
    #[command(flatten)]
    pub answers: Answers,
    /// Which verdicts make the exit code 1
    #[command(flatten)]
    pub fail_on: FailOnVerdict,
}

/// What a run leaves to nobody: the seed of its durations, and answers to open questions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReplaySpec<'a> {
    /// The seed, if it is not the scenario's own.
    pub seed: Option<u64>,
    /// The answers, if any question is open.
    pub choices: Option<&'a [u32]>,
    /// What is open then, if it is not what the scenario says.
    pub vary: Option<Vary>,
}

impl<'a> ReplaySpec<'a> {
    /// The run that a command line names.
    pub fn of_options(seed: Option<u64>, answers: &'a Answers) -> ReplaySpec<'a> {
        ReplaySpec { seed, choices: answers.choices.as_ref().map(|choices| &choices.0[..]), vary: answers.vary }
    }
}

impl ReplaySpec<'_> {
    /// In words.
    pub fn words(&self, scenario: &Scenario) -> String {
        match (self.choices, self.seed) {
            (Some(choices), None) => format!("choices {}, the shortest durations", choices_word(choices)),
            (Some(choices), Some(seed)) => format!("choices {}, durations by seed {seed}", choices_word(choices)),
            (None, seed) => format!("seed {}", seed.unwrap_or(scenario.seed)),
        }
    }

    /// The questions that are open.
    pub fn open(&self, scenario: &Scenario) -> Open {
        if self.choices.is_some() { self.vary.unwrap_or(scenario.vary).open() } else { Open::default() }
    }

    /// The chooser that goes this spec. Choices without a seed are those of an exhaustive search, whose durations are the
    /// shortest.
    pub fn chooser<'a>(&'a self, scenario: &Scenario, open: &'a Open) -> Replay<'a> {
        let seed = match self.choices {
            Some(_) => self.seed,
            None => Some(self.seed.unwrap_or(scenario.seed)),
        };
        Replay::new(open, self.choices.unwrap_or_default(), seed)
    }
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

/// Runs a scenario; what `run` prints, without styles, and how it ends.
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

/// Runs a scenario and hands out what `run` prints, part by part, as long as somebody wants more.
fn run_into(args: &RunArgs, out: &mut dyn FnMut(&str) -> bool) -> Result<Exit, Failure> {
    if args.timeline && args.format == Format::Json {
        return Err(Failure("error: --timeline is text\nhelp: leave --format json out, or --timeline\n".to_string()));
    }
    let scenario = load(&args.file)?;
    let rules = rules(&scenario, args.rule.as_deref())?;
    let unnamed = unnamed_rule(&scenario, args.rule.as_deref());
    let spec = ReplaySpec::of_options(args.seed, &args.answers);
    let path = args.file.to_string_lossy();
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
    outcome: &Outcome,
    out: &mut dyn FnMut(&str) -> bool,
) {
    let open = spec.open(scenario);
    let mut timeline = Timeline::new(&scenario.setup.names, &outcome.judgement, turns, out);
    runner::replay(&scenario.setup, rule, &mut spec.chooser(scenario, &open), &mut timeline);
    timeline.end();
}

/// Reads a scenario file.
pub(super) fn load(path: &Path) -> Result<Scenario, Failure> {
    scenario::load(path, &runner::rule_names()).map_err(|diagnostic| Failure(diagnostic.render(true)))
}

/// The rules that a run is asked for.
pub(super) fn rules(scenario: &Scenario, asked: Option<&str>) -> Result<Vec<&'static dyn Rule>, Failure> {
    let names = asked.or(scenario.rule.as_deref()).unwrap_or(runner::DEFAULT_RULE);
    let release = scenario.setup.engine.release;
    listed(names, |name| runner::rule_or_release(name, release).ok_or_else(|| no_rule(name, &["all", "release"])))
}

/// Where neither the command line nor the file names a rule: which one runs, and which one the scenario's release shipped.
pub(super) fn unnamed_rule(scenario: &Scenario, asked: Option<&str>) -> Option<String> {
    if asked.is_some() || scenario.rule.is_some() {
        return None;
    }
    let release = scenario.setup.engine.release;
    let shipped = runner::release_rule(release).name();
    let default = runner::DEFAULT_RULE;
    (shipped != default).then(|| {
        let version = release.version();
        format!("no rule named: {default} ran. Release {version} shipped {shipped}: --rule release")
    })
}

/// The rules of a list of names with commas between, in the order of [`all_rules`], each once; `all` is every one.
///
/// # Errors
/// What `rule` says of a name that is none.
pub(super) fn listed(
    names: &str,
    rule: impl Fn(&str) -> Result<&'static dyn Rule, Failure>,
) -> Result<Vec<&'static dyn Rule>, Failure> {
    let mut wanted = Vec::new();
    for name in names.split(',').map(str::trim) {
        match name {
            "all" => wanted.extend(runner::rule_names()),
            name => wanted.push(rule(name)?.name()),
        }
    }
    Ok(all_rules().into_iter().filter(|rule| wanted.contains(&rule.name())).collect())
}

/// Every rule.
pub(super) fn all_rules() -> Vec<&'static dyn Rule> {
    runner::rule_names().into_iter().filter_map(runner::rule).collect()
}

/// Runs a scenario under each of `rules`, showing progress.
///
/// # Errors
/// Choices that do not fit.
pub(super) fn run_all(
    scenario: &Scenario,
    rules: &[&dyn Rule],
    spec: ReplaySpec<'_>,
    keep: Keep,
) -> Result<Vec<Outcome>, Failure> {
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

/// Where and why a list of choices does not fit a scenario.
pub(super) fn does_not_fit(scenario: &Scenario, rule: &dyn Rule, misfit: Misfit) -> Failure {
    let Misfit { nth, answer, asked, turn } = misfit;
    let rule = rule.name();
    let (why, help) = match asked {
        Some(choice) => {
            let most = choice.options - 1;
            let what = question(&scenario.setup.names, choice);
            (
                format!("in turn {turn} it is asked {what}, and the answers are 0 to {most}"),
                "give one of these".to_string(),
            )
        }
        None if scenario.vary.is_nothing() => (
            "the scenario leaves nothing open".to_string(),
            "say what is open in the scenario, as in `vary: (arrivals: true)`, or leave --choices out".to_string(),
        ),
        None => (
            format!("the run is over after {} choices, in turn {turn}", nth - 1),
            "shorten the list, or look whether the scenario or the rule has changed".to_string(),
        ),
    };
    Failure(format!("error: choice {nth} is {answer}, which does not fit under {rule}: {why}\nhelp: {help}\n"))
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
) -> Result<Outcome, Failure> {
    Ok(run_all(scenario, &[rule], spec, keep)?.swap_remove(0))
}

/// What the renderers need of each run.
pub(super) fn reports<'a>(
    scenario: &'a Scenario,
    path: &'a str,
    rules: &[&'static dyn Rule],
    spec: ReplaySpec<'_>,
    outcomes: &'a [Outcome],
) -> Vec<Run<'a>> {
    rules
        .iter()
        .zip(outcomes)
        .map(|(rule, outcome)| Run {
            scenario: path,
            rule: rule.name(),
            seed: spec.seed.unwrap_or(scenario.seed),
            way: spec.words(scenario),
            replay: replay_line(&scenario.path, rule.name(), spec),
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
pub(super) fn exit_of(outcomes: &[Outcome], fail_on: FailOn) -> Exit {
    fail_on.exit(outcomes.iter().flat_map(|outcome| verdicts(&outcome.judgement)))
}

/// None of the turns asked for came about.
pub(super) fn no_turns(turns: &RangeInclusive<u32>, judgement: &Judgement) -> Failure {
    Failure(format!(
        "error: no turn from {} to {} was run\nhelp: the run has {} turns; `run --timeline` shows their numbers\n",
        turns.start(),
        turns.end(),
        judgement.turns
    ))
}
