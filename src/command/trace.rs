//! `trace`: a run as a file for trace viewers, whole or some turns of it.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use crate::escape;
use crate::judge::Judgement;
use crate::report::{Trace, name};
use crate::runner::{self, Keep};

use super::file::write_named_file;
use super::input::{OutsidePaths, load, rules};
use super::memory::{Kept, RunLength, fits, turns_in};
use super::output::{Exit, Failure, is_no_other, print};
use super::replay_spec::ReplaySpec;
use super::runs::{no_turns, reports, run_one};
use super::values::{self, Answers};

/// The most events of a trace: viewers in a browser cannot show much more.
const EVENTS_MAX: usize = 2_000_000;

/// Write a run as a trace for Perfetto's viewer or chrome://tracing (exit code 0 even for a corrupt run)
#[derive(Clone, Debug, clap::Args)]
pub struct TraceArgs {
    /// The scenario file
    pub file: PathBuf,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// The trace to write
    #[arg(short, long, value_name = "FILE.json")]
    pub output: PathBuf,
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
    /// Write only this turn, or only the turns from A to B, with B
    #[arg(long, value_name = "A..B", value_parser = values::turns)]
    pub turns: Option<RangeInclusive<u32>>,
}

/// Runs a scenario, writes its trace and prints a line about it.
///
/// # Errors
/// As [`trace_to_text`], and a file that cannot be written.
pub fn trace(args: &TraceArgs) -> Result<Exit, Failure> {
    is_no_other("a trace", &args.file, &args.output)?;
    let (text, said) = trace_to_text(args)?;
    write_named_file(&args.output, &text)?;
    print(&format!("{}: {said}\n", escape::path(&args.output)))?;
    Ok(Exit::Good)
}

/// The trace, and the line that `trace` prints.
///
/// # Errors
/// A scenario that cannot be read, more or less than one rule, choices that do not fit, turns that were not run, or
/// more events than a viewer takes.
pub fn trace_to_text(args: &TraceArgs) -> Result<(String, String), Failure> {
    let scenario = load(&args.file, args.outside)?;
    let rules = rules(&scenario, args.rule.as_deref())?;
    let [rule] = rules[..] else {
        return Err(Failure("error: a trace shows one run\nhelp: name one rule, not `all`\n".to_owned()));
    };
    let spec = ReplaySpec::of_options(args.seed, &args.answers);
    let length = RunLength::of(&scenario.setup, spec.choices.is_some());
    let shown = args.turns.as_ref().map_or(length, |turns| length.shown(turns_in(turns)));
    fits(shown.bytes(Kept::TRACE), "the trace", "write some of its turns, as with --turns 0..999")?;
    let outcome = run_one(&scenario, rule, spec, Keep { boundaries: true, ..Keep::default() })?;
    let judgement = &outcome.judgement;
    // A trace has at least four counters a turn and a slice a row. A run that is too long by this count is refused
    // before it is drawn. With --turns the count is not known before: turn numbers can jump.
    let fewest = u64::from(judgement.turns) * 4 + judgement.decode_results;
    if args.turns.is_none() && fewest > EVENTS_MAX as u64 {
        return Err(too_many(fewest, true, None, judgement));
    }
    let open = spec.open(&scenario);
    let mut chooser = spec.chooser(&scenario, &open);
    let scene = runner::scene(&scenario.setup, rule, &mut chooser, args.turns.clone(), judgement);
    let path = args.file.to_string_lossy();
    let runs = reports(&scenario, &path, &[rule], spec, std::slice::from_ref(&outcome));
    let trace = Trace::new(&runs[0], &scene, args.turns.clone());
    if let (true, Some(turns)) = (trace.is_empty(), &args.turns) {
        return Err(no_turns(turns, judgement));
    }
    let events = trace.len();
    if events > EVENTS_MAX {
        return Err(too_many(events as u64, false, args.turns.as_ref(), judgement));
    }
    let verdict = name::verdict(judgement.verdict);
    let said = format!("{events} events of {} turns under {}, {verdict}", scene.turns.len(), rule.name());
    Ok((trace.json(env!("CARGO_PKG_VERSION")), said))
}

fn too_many(events: u64, at_least: bool, turns: Option<&RangeInclusive<u32>>, judgement: &Judgement) -> Failure {
    let turns = turns.cloned().unwrap_or(0..=u32::MAX);
    let count = judgement.turns.min(turns.end() - turns.start());
    // Half the turns that would fit if all had the same number of events, because some have more; an eighth if the
    // number is only a lower bound.
    let (least, part) = if at_least { ("at least ", 8) } else { ("", 2) };
    let fits = (u64::from(count) * EVENTS_MAX as u64 / events / part).clamp(1, 1 << 30) as u32;
    let found = judgement.findings.iter().map(|of| of.turn).find(|turn| turns.contains(turn));
    let first = found.map_or(0, |turn| turn.saturating_sub(fits / 2)).max(*turns.start());
    let last = first + (fits - 1);
    Failure(format!(
        "error: the trace has {least}{events} events, more than the {EVENTS_MAX} that are written at once\n\
         help: write some of its turns, as with --turns {first}..{last}\n"
    ))
}
