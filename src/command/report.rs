//! `report`: replay a scenario under one rule or all, and write a page that shows what happened.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::escape;
use crate::judge::Judgement;
use crate::model::Rule;
use crate::numeric::{Gauge, Severity};
use crate::reading::{self, SCENARIO_BYTES_MAX};
use crate::report::{Page, PageRun, name, page};
use crate::runner::{self, Keep};
use crate::scenario::Scenario;
use crate::scene::Scene;

use super::file::write_named_file;
use super::input::{OutsidePaths, load, rules, unnamed_rule};
use super::memory::{Kept, RunLength, fits, turns_in};
use super::output::{Exit, Failure, is_no_other, print};
use super::replay_spec::ReplaySpec;
use super::runs::{no_turns, reports, run_one};
use super::values::{self, Answers};

/// Most turns that a page shows.
const TURNS_MAX: usize = 20_000;

/// Write a run as one HTML page that shows what happened and why it went wrong (exit code 0 even for a corrupt run)
#[derive(Clone, Debug, clap::Args)]
pub struct ReportArgs {
    /// The scenario file
    pub file: PathBuf,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// The rules, by name with commas between; `all` for every rule, `release` for the rule that the scenario's release
    /// shipped with. The page has a switch between several rules [default: the scenario's own, or mask-lookahead]
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// The seed of drawn durations [default: the scenario's own, or 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number)]
    pub seed: Option<u64>,
    /// Answers to open questions
    #[command(flatten)]
    pub answers: Answers,
    /// Show only this turn, or only the turns from A to B, with B; a page shows at most 20,000
    #[arg(long, value_name = "A..B", value_parser = values::turns)]
    pub turns: Option<RangeInclusive<u32>>,
    /// The file to write
    #[arg(short, long, value_name = "OUT.html")]
    pub output: PathBuf,
}

/// Runs a scenario and writes the page.
///
/// # Errors
/// As [`report_to_html`], and a file that cannot be written.
pub fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    is_no_other("a page", &args.file, &args.output)?;
    let (html, said) = report_to_html(args)?;
    write_named_file(&args.output, &html)?;
    print(&format!("{}: {said}\n", escape::path(&args.output)))?;
    Ok(Exit::Good)
}

/// The page of a scenario, and the line that `report` prints.
///
/// # Errors
/// A scenario that cannot be read, a rule that does not exist, choices that do not fit, and more turns than a page
/// shows.
pub fn report_to_html(args: &ReportArgs) -> Result<(String, String), Failure> {
    let scenario = load(&args.file, args.outside)?;
    let source = source(&args.file)?;
    let rules = rules(&scenario, args.rule.as_deref())?;
    let spec = ReplaySpec::of_options(args.seed, &args.answers);
    let path = args.file.to_string_lossy();
    let turns_min = if spec.choices.is_none() { RunLength::turns_min(&scenario.setup) } else { 0 };
    if args.turns.is_none() && turns_min > TURNS_MAX as u64 {
        return Err(too_long("at least ", turns_min, 0));
    }
    fits(
        bytes(&scenario, (spec, args.turns.as_ref()), rules.len()),
        "the page",
        "show some of its turns, as with --turns 0..999",
    )?;
    let (mut outcomes, mut seen) = (Vec::new(), Vec::new());
    for &rule in &rules {
        let keep = Keep { boundaries: true, skew: true, ..Keep::default() };
        let outcome = run_one(&scenario, rule, spec, keep)?;
        seen.push(look(&scenario, rule, (spec, args.turns.clone()), &outcome.judgement)?);
        outcomes.push(outcome);
    }
    let first = first(&scenario, &rules);
    let runs = reports(&scenario, &path, &rules, spec, &outcomes);
    let verdicts = runs.iter().map(|run| format!("{} {}", run.rule, name::verdict(run.judgement.verdict)));
    let verdicts = verdicts.collect::<Vec<_>>().join(", ");
    let turns = seen.iter().map(|(scene, _)| scene.turns.len()).max().unwrap_or(0);
    let unnamed = unnamed_rule(&scenario, args.rule.as_deref());
    let runs = runs.into_iter().zip(&seen).map(|(mut run, seen)| {
        run.warnings.extend(unnamed.clone());
        if seen.0.end_ns == 0 {
            run.warnings
                .push("nothing takes time in this run, so there is no axis to draw it on; see `run --timeline`".into());
        }
        if args.turns.is_some() {
            run.warnings.push(
                "counts are those of the whole run; rows prepared before the first turn shown are not drawn".into(),
            );
        }
        (run, seen)
    });
    let html = page(&Page {
        about: &scenario.title,
        source: &source,
        runs: runs.map(|(run, (scene, severity))| PageRun { run, scene, severity: severity.as_ref() }).collect(),
        first,
        turns: args.turns.as_ref().map(|turns| (*turns.start(), *turns.end())),
    });
    let plural = if turns == 1 { "" } else { "s" };
    let said = format!("{} kB, {turns} turn{plural}; {verdicts}", html.len().div_ceil(1000));
    Ok((html, said))
}

/// The memory that a page takes, at most.
fn bytes(scenario: &Scenario, (spec, turns): (ReplaySpec<'_>, Option<&RangeInclusive<u32>>), rules: usize) -> u64 {
    let length = RunLength::of(&scenario.setup, spec.choices.is_some());
    // More turns are refused in any case.
    let shown = length.shown(turns.map_or(u64::MAX, turns_in).min(TURNS_MAX as u64));
    let numeric = if scenario.setup.state.is_some() { length.bytes(Kept::NUMERIC) } else { 0 };
    shown.bytes(Kept::PAGE).saturating_mul(rules as u64).saturating_add(numeric)
}

/// Runs the scenario again for the scene, and once more for the severity if the engine has a numeric state.
fn look(
    scenario: &Scenario,
    rule: &dyn Rule,
    (spec, turns): (ReplaySpec<'_>, Option<RangeInclusive<u32>>),
    judgement: &Judgement,
) -> Result<(Scene, Option<Severity>), Failure> {
    let shown = turns.as_ref().map_or(u64::from(judgement.turns), |turns| {
        u64::from(judgement.turns).min(u64::from(turns.end() - turns.start()) + 1)
    });
    if shown > TURNS_MAX as u64 {
        return Err(too_long("", shown, turns.as_ref().map_or(0, |turns| *turns.start())));
    }
    let open = spec.open(scenario);
    let asked = turns.clone();
    let scene = runner::scene(&scenario.setup, rule, &mut spec.chooser(scenario, &open), turns, judgement);
    if let Some(asked) = asked
        && scene.turns.is_empty()
    {
        return Err(no_turns(&asked, judgement));
    }
    let severity = scenario.setup.state.map(|ssm| {
        let mut gauge = Gauge::new(ssm, scenario.setup.engine.mamba_chunk);
        runner::replay(&scenario.setup, rule, &mut spec.chooser(scenario, &open), &mut gauge);
        gauge.finish()
    });
    Ok((scene, severity))
}

/// The rule that is shown first: the scenario's own, or the main subject.
fn first(scenario: &Scenario, rules: &[&dyn Rule]) -> usize {
    let name = scenario.rule.as_deref().unwrap_or(runner::DEFAULT_RULE);
    rules.iter().position(|rule| rule.name() == name).unwrap_or(0)
}

/// The text of a scenario file that was parsed before.
fn source(path: &Path) -> Result<String, Failure> {
    let bytes = reading::bytes(path, SCENARIO_BYTES_MAX).map_err(|trouble| {
        let help = trouble.remedy.unwrap_or("give the path of a scenario file");
        Failure(format!("error: cannot read {}: {}\nhelp: {help}\n", escape::path(path), trouble.why))
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn too_long(least: &str, turns: u64, from: u32) -> Failure {
    let to = u64::from(from) + 4999;
    Failure(format!(
        "error: the run has {least}{turns} turns, more than the {TURNS_MAX} that a page shows\nhelp: show a part of it, as in \
         --turns {from}..{to}; the findings that `run` prints name their turns\n"
    ))
}
