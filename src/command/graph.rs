//! `graph`: the happens-before graph of a run, whole or around a finding.

use std::path::PathBuf;

use crate::escape;
use crate::graph::{self, EventGraph, cut, dot, json};
use crate::report::name;
use crate::runner::{Keep, RunOutcome};

use super::input::{OutsidePaths, load, rules};
use super::line::replay_line_of;
use super::memory::{Kept, RunLength, fits};
use super::output::{Exit, Failure, print};
use super::replay_spec::ReplaySpec;
use super::runs::run_one;
use super::values::{self, Answers};

/// Most events that are drawn at once.
const EVENTS_MAX: usize = 5000;

/// How the graph is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum GraphFormat {
    /// For Graphviz.
    Dot,
    /// For programs.
    Json,
}

/// Print the happens-before graph of a run, and the edge that a finding lacks (exit code 0 even for a corrupt run)
#[derive(Clone, Debug, clap::Args)]
pub struct GraphArgs {
    /// The scenario file
    pub file: PathBuf,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// The rule, by name; `release` for the rule that the scenario's release shipped with [default: the scenario's own,
    /// or mask-lookahead]
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// The seed of drawn durations [default: the scenario's own, or 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number)]
    pub seed: Option<u64>,
    /// Answers to open questions
    #[command(flatten)]
    pub answers: Answers,
    /// Draw only what is nearest to this finding, by its number in `run` (at most 40 nodes)
    #[arg(long, value_name = "FINDING", allow_negative_numbers = true, value_parser = values::finding)]
    pub around: Option<usize>,
    /// How to print the graph
    #[arg(long, value_enum, default_value_t = GraphFormat::Dot)]
    pub format: GraphFormat,
}

/// Runs a scenario and prints its happens-before graph.
///
/// # Errors
/// As [`graph_to_text`].
pub fn graph(args: &GraphArgs) -> Result<Exit, Failure> {
    print(&graph_to_text(args)?)?;
    Ok(Exit::Good)
}

/// What `graph` prints.
///
/// # Errors
/// A scenario that cannot be read, more or less than one rule, a finding that does not exist, or a whole graph that is
/// too large to draw.
pub fn graph_to_text(args: &GraphArgs) -> Result<String, Failure> {
    let scenario = load(&args.file, args.outside)?;
    let rules = rules(&scenario, args.rule.as_deref())?;
    let [rule] = rules.as_slice() else {
        return Err(Failure("error: a graph shows one run\nhelp: name one rule, not `all`\n".to_owned()));
    };
    let spec = ReplaySpec::of_options(args.seed, &args.answers);
    let length = RunLength::of(&scenario.setup, spec.choices.is_some());
    fits(length.bytes(Kept::GRAPH), "the graph", "shorten the scenario: fewer outputs, `turns_max`, or `trace.limit`")?;
    let keep = Keep { record: true, ..Keep::default() };
    let RunOutcome { judgement, record, .. } = &run_one(&scenario, *rule, spec, keep)?;
    let record = record.as_ref().expect("the record was asked for");
    let names = &scenario.setup.names;
    let whole = EventGraph::new(record, judgement);
    let count = judgement.findings.len();
    let mut title = format!("{} under {}: {}", escape::path(&args.file), rule.name(), name::verdict(judgement.verdict));
    let events = match args.around {
        None if whole.graph.node_count() > EVENTS_MAX => return Err(too_large(whole.graph.node_count(), count)),
        None => whole,
        Some(number) => {
            let index = number.wrapping_sub(1);
            let finding = judgement.findings.get(index).ok_or_else(|| no_finding(number, count))?;
            title.push_str(&format!("\n{}", graph::title(&whole, index, &judgement.findings, names)));
            cut(&whole, index, finding).ok_or_else(|| no_finding(number, count))?
        }
    };
    title.push_str(&format!("\nreplay: {}", replay_line_of(&scenario, rule.name(), spec)));
    Ok(match args.format {
        GraphFormat::Dot => dot(&events, names, &title),
        GraphFormat::Json => json(&events, names),
    })
}

fn too_large(events: usize, findings: usize) -> Failure {
    let help = match findings {
        0 => "this run has no findings to look around; draw a shorter scenario".to_owned(),
        _ => format!("use --around N, the number of one of the {findings} findings as `run` prints them"),
    };
    Failure(format!(
        "error: the graph has {events} events, more than the {EVENTS_MAX} that are drawn at once\nhelp: {help}\n"
    ))
}

fn no_finding(number: usize, count: usize) -> Failure {
    let help = match count {
        0 => "the run has no findings; leave out --around to draw the whole run if it is short, else bound it by `turns_max` or `trace.limit`".to_owned(),
        1 => "the run has 1 finding: --around 1".to_owned(),
        _ => format!("the run has {count} findings, numbered from 1 as `run` prints them"),
    };
    Failure(format!("error: there is no finding {number}\nhelp: {help}\n"))
}
