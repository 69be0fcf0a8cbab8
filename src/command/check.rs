//! `check`: every timing that a scenario leaves open, under one rule or all.

use std::path::PathBuf;

use crate::judge::{Goals, finding_verdict};
use crate::model::{Rule, Strategy};
use crate::report::{CheckFinding, CheckReport, Reduction, check_json, check_summary, check_text, name};
use crate::runner::{self, Checked, Found};
use crate::scenario::Scenario;
use crate::search::{Limits, Order};

use super::fail_on::FailOn;
use super::finding::{Finder, OutDir};
use super::line::{choices_word, replay_line};
use super::output::{Exit, Failure, Printed};
use super::progress::{SearchProgress, TimeLimit};
use super::run::{Format, ReplaySpec, load, rules, unnamed_rule};

/// Which state is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OrderWord {
    /// The oldest: the shortest ways are found first.
    Bfs,
    /// The newest: less memory.
    Dfs,
}

/// What `check` is asked to do.
#[derive(Clone, Debug)]
pub struct CheckArgs {
    /// The scenario file.
    pub file: PathBuf,
    /// A rule's name, `all`, or `release`; the scenario's own rule if not given.
    pub rule: Option<String>,
    /// Which state is next.
    pub order: OrderWord,
    /// Most unique states.
    pub states_max: u64,
    /// Most time, in nanoseconds.
    pub time_max_ns: Option<u64>,
    /// Tell states apart by all that they are.
    pub no_reduction: bool,
    /// Where a small scenario is written for every finding.
    pub out: Option<PathBuf>,
    /// Threads.
    pub jobs: Option<usize>,
    /// How to print.
    pub format: Format,
    /// Which verdicts end it with exit code 1.
    pub fail_on: FailOn,
}

/// Searches every timing of a scenario and prints what was found.
///
/// # Errors
/// A scenario that cannot be read, a rule that does not exist, or a directory that cannot be written.
pub fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    check_styled(args)?.print()
}

/// Searches every timing of a scenario; what `check` prints, without styles, and how it ends.
///
/// # Errors
/// As [`check`].
pub fn check_to_text(args: &CheckArgs) -> Result<(String, Exit), Failure> {
    check_styled(args)?.into_text()
}

fn check_styled(args: &CheckArgs) -> Result<Printed, Failure> {
    let scenario = load(&args.file)?;
    let rules = rules(&scenario, args.rule.as_deref())?;
    let out = args.out.as_deref().map(OutDir::new).transpose()?;
    let mut reports = Vec::with_capacity(rules.len());
    let mut verdicts = Vec::new();
    let mut unwritten = Vec::new();
    for &rule in &rules {
        let limit = TimeLimit::new(args.time_max_ns);
        let checked = search(args, &scenario, rule, limit);
        verdicts.push(checked.verdict);
        verdicts.extend(checked.findings.iter().map(|found| finding_verdict(&found.finding)));
        let mut report = report(&scenario, rule, &checked, out.as_ref(), limit.with_grace(), &mut unwritten);
        report.warnings.extend(unnamed_rule(&scenario, args.rule.as_deref()));
        reports.push(report);
    }
    let text = match args.format {
        Format::Json => check_json(&reports),
        Format::Text => {
            let mut text = reports.iter().map(check_text).collect::<Vec<_>>().join("\n");
            if reports.len() > 1 {
                text.push('\n');
                text.push_str(&check_summary(&reports));
            }
            text
        }
    };
    Ok(Printed { text, exit: args.fail_on.exit(verdicts), unwritten })
}

fn search(args: &CheckArgs, scenario: &Scenario, rule: &dyn Rule, limit: TimeLimit) -> Checked {
    let open = scenario.vary.open();
    let progress = SearchProgress::new(limit);
    let check = runner::Check {
        setup: &scenario.setup,
        rule,
        open: &open,
        order: match args.order {
            OrderWord::Bfs => Order::Bfs,
            OrderWord::Dfs => Order::Dfs,
        },
        unreduced: args.no_reduction,
        jobs: args.jobs.unwrap_or_else(super::progress::cores),
    };
    runner::check(&check, Limits { states_max: args.states_max, stop: &|unique| progress.states(unique) })
}

fn report(
    scenario: &Scenario,
    rule: &'static dyn Rule,
    checked: &Checked,
    out: Option<&OutDir>,
    limit: TimeLimit,
    unwritten: &mut Vec<Failure>,
) -> CheckReport {
    let explored = &checked.explored;
    let mut warnings = open_warnings(scenario);
    let mut findings = Vec::with_capacity(checked.findings.len());
    for (left, found) in (1..=checked.findings.len()).rev().zip(&checked.findings) {
        let limit = limit.part(left);
        let failures = unwritten.len();
        let told = finding(scenario, rule, found, out, limit, unwritten);
        if out.is_some() && told.scenario.is_none() && unwritten.len() == failures && limit.is_over() {
            warnings.push(format!("no scenario was written for {}: the time was over (--max-time)", told.kind));
        }
        findings.push(told);
    }
    let (goals, goals_missed) = Goals::from_bits(explored.goals).names();
    CheckReport {
        rule: checked.rule,
        verdict: name::verdict(checked.verdict),
        complete: checked.is_complete(),
        states: explored.states,
        unique: explored.unique,
        transitions: explored.transitions,
        depth: explored.depth,
        findings,
        bound: checked.bound.clone(),
        reduction: Reduction {
            states_per_unique: explored.states as f64 / explored.unique as f64,
            symmetries: checked.symmetries,
        },
        vary: open_names(scenario),
        warnings,
        goals,
        goals_missed,
        scenario: scenario.path.to_string_lossy().into_owned(),
    }
}

/// What a scenario leaves open, by the names of its fields.
pub(super) fn open_names(scenario: &Scenario) -> Vec<&'static str> {
    let open = scenario.vary.fields().into_iter().filter(|(.., open)| *open);
    open.map(|(name, ..)| name).collect()
}

/// What a search of little says to whoever takes it for one of much.
pub(super) fn open_warnings(scenario: &Scenario) -> Vec<String> {
    let engine = &scenario.setup.engine;
    let mut warnings = Vec::new();
    if scenario.vary.is_nothing() {
        warnings.push(
            "nothing is open, so this is one timing and no more: say what is, as in `vary: (arrivals: true)`"
                .to_string(),
        );
    }
    if scenario.vary.accept && engine.spec.is_none() {
        warnings.push("`accept` is open, but without `spec` nothing is accepted: it is never asked".to_string());
    }
    if scenario.vary.alloc_failure && engine.strategy != Strategy::ExtraBufferLazy {
        warnings.push(
            "`alloc_failure` is open, but only ExtraBufferLazy takes a slot on demand: it is never asked".to_string(),
        );
    }
    warnings
}

fn finding(
    scenario: &Scenario,
    rule: &'static dyn Rule,
    found: &Found,
    out: Option<&OutDir>,
    limit: TimeLimit,
    unwritten: &mut Vec<Failure>,
) -> CheckFinding {
    let choices = &found.path.answers;
    let written = match out {
        Some(out) => {
            let open = scenario.vary.open();
            let finder = Finder {
                setup: &scenario.setup,
                rule,
                kind: found.finding.kind,
                by: "check",
                of: &scenario.name,
                stem: &scenario.name,
                stop: &|| limit.is_over(),
            };
            finder.write(out, None, || crate::search::Replay::new(&open, choices, None)).unwrap_or_else(|failure| {
                unwritten.push(failure);
                None
            })
        }
        None => None,
    };
    CheckFinding {
        kind: name::kind(found.finding.kind),
        label: found.finding.label,
        holds: found.finding.holds,
        choices: choices_word(choices),
        scenario: written,
        request: found.finding.req.map(|req| scenario.setup.name(req).to_string()),
        reason: found.finding.reason.clone(),
        turn: found.finding.turn,
        turns_run: found.path.steps,
        times: found.times,
        replay: replay_line(
            &scenario.path,
            rule.name(),
            ReplaySpec { choices: Some(choices), ..ReplaySpec::default() },
        ),
    }
}
