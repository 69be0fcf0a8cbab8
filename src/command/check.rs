//! `check`: every timing that a scenario leaves open, under one rule or all.

use std::path::PathBuf;

use crate::judge::{Goals, finding_verdict};
use crate::model::{Arrive, Cost, Rule};
use crate::report::{CheckFinding, CheckReport, Reduction, check_json, check_summary, check_text, name};
use crate::runner::{self, Checked, Found};
use crate::scenario::Scenario;
use crate::search::{Order, SearchLimits};

use super::finding::{Finder, OutDir};
use super::format::Format;
use super::input::{OutsidePaths, load, rules, unnamed_rule};
use super::line::{choices_word, replay_line_of};
use super::output::{Exit, Failure, Printed};
use super::progress::{SearchProgress, TimeLimit};
use super::replay_spec::ReplaySpec;
use super::values::{self, FailOnVerdict};

/// Which state is expanded next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OrderWord {
    /// The oldest: the shortest histories are found first.
    Bfs,
    /// The newest: needs less memory.
    Dfs,
}

/// Search every timing that a scenario's `vary` leaves open
#[derive(Clone, Debug, clap::Args)]
pub struct CheckArgs {
    /// The scenario file
    pub file: PathBuf,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// The rules, by name with commas between; `all` for every rule, `release` for the rule that the scenario's release
    /// shipped with [default: the scenario's own, or mask-lookahead]
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// Which state is expanded next: the oldest finds the shortest histories, the newest needs less memory
    #[arg(long, value_enum, default_value_t = OrderWord::Bfs)]
    pub strategy: OrderWord,
    /// Stop after this many unique states. A state of the frontier takes about 10 kB, and dfs keeps fewer of them
    #[arg(long = "max-states", value_name = "N", default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub states_max: u64,
    /// Stop after this time for each rule, as in 30s or 500ms; the time for shrinking findings is included
    #[arg(long = "max-time", value_name = "TIME", value_parser = values::time)]
    pub time_max_ns: Option<u64>,
    /// Compare whole states, not only what can matter later: slower, and the verdict must be the same
    #[arg(long)]
    pub no_reduction: bool,
    /// Write a small scenario for every finding to this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Threads; the output is the same for any number [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = values::jobs())]
    pub jobs: Option<usize>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Which verdicts make the exit code 1
    #[command(flatten)]
    pub fail_on: FailOnVerdict,
}

/// Searches every timing of a scenario and prints the findings.
///
/// # Errors
/// A scenario that cannot be read, a rule that does not exist, or a directory that cannot be written.
pub fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    check_styled(args)?.print()
}

/// Searches every timing of a scenario. Returns the text that `check` prints, without styles, and the exit.
///
/// # Errors
/// As [`check`].
pub fn check_to_text(args: &CheckArgs) -> Result<(String, Exit), Failure> {
    check_styled(args)?.into_text()
}

fn check_styled(args: &CheckArgs) -> Result<Printed, Failure> {
    let scenario = searched(load(&args.file, args.outside)?);
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
    Ok(Printed { text, exit: args.fail_on.verdict.exit(verdicts), unwritten })
}

/// The scenario with all questions open that a search answers in every way.
pub(super) fn searched(scenario: Scenario) -> Scenario {
    Scenario { vary: scenario.vary.searched(&scenario.setup.engine), ..scenario }
}

/// The run of a search with these answers. The open questions are named where a file may leave out one of them.
pub(super) fn found_run<'a>(scenario: &Scenario, choices: &'a [u32]) -> ReplaySpec<'a> {
    let vary = scenario.setup.engine.draws_accepts().then_some(scenario.vary);
    ReplaySpec { choices: Some(choices), vary, ..ReplaySpec::default() }
}

fn search(args: &CheckArgs, scenario: &Scenario, rule: &dyn Rule, limit: TimeLimit) -> Checked {
    let open = scenario.vary.open();
    let progress = SearchProgress::new(limit);
    let check = runner::CheckSpec {
        setup: &scenario.setup,
        rule,
        open: &open,
        order: match args.strategy {
            OrderWord::Bfs => Order::Bfs,
            OrderWord::Dfs => Order::Dfs,
        },
        unreduced: args.no_reduction,
        jobs: args.jobs.unwrap_or_else(super::progress::cores),
    };
    runner::check(&check, SearchLimits { states_max: args.states_max, stop: &|unique| progress.states(unique) })
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
        let reported = finding(scenario, rule, found, out, limit, unwritten);
        if out.is_some() && reported.scenario.is_none() && unwritten.len() == failures && limit.is_over() {
            warnings.push(format!("no scenario was written for {}: --max-time was over", reported.kind));
        }
        findings.push(reported);
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

/// The names of the open questions of a scenario: the fields of its `vary`.
pub(super) fn open_names(scenario: &Scenario) -> Vec<&'static str> {
    let open = scenario.vary.fields().into_iter().filter(|(.., open)| *open);
    open.map(|(name, ..)| name).collect()
}

/// Warnings of a search that covers less than a reader may think.
pub(super) fn open_warnings(scenario: &Scenario) -> Vec<String> {
    let engine = &scenario.setup.engine;
    let mut warnings = Vec::new();
    if scenario.vary.is_nothing() {
        warnings.push(
            "nothing is open, so there is only one timing: open something, as in `vary: (arrivals: true)`".to_string(),
        );
    }
    let drawn = scenario.setup.costs.each().iter().any(|cost| matches!(cost, Cost::Uniform(..)));
    let timed = scenario.setup.requests.iter().any(|request| matches!(request.arrive, Arrive::At(_)));
    if drawn && timed && !scenario.vary.arrivals {
        warnings.push(
            "durations are drawn and requests arrive at times: a search takes the shortest durations only. Open the \
             arrivals, as in `vary: (arrivals: true)`, to see all turns of arrival"
                .to_string(),
        );
    }
    if scenario.vary.accept && engine.spec.is_none() {
        warnings.push("`accept` is open, but has no effect: without `spec` no tokens are accepted".to_string());
    }
    if scenario.vary.alloc_failure && !engine.track_policy().second_slot_on_demand {
        warnings.push(
            "`alloc_failure` is open, but has no effect: only ExtraBufferLazy takes a slot on demand".to_string(),
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
        replay: replay_line_of(scenario, rule.name(), found_run(scenario, choices)),
    }
}
