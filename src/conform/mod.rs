//! Compares recordings of the real scheduler with the model: every event, every field.
//!
//! 1. `archive` splits a file into recordings.
//! 2. `inputs` reads in a first pass what a recording was made of, and `setup` makes a setup of it.
//! 3. The machine runs the setup. Its chooser answers from the recording (`plan`).
//! 4. `encoder` makes events in the vocabulary of recordings of the machine's facts (`event`).
//! 5. `full`, or `partial` for a partial recording, compares them with the recording's events, which `cursor` reads.
//! 6. The judge sees the same facts. `verdicts` compares its findings with the recording's own content checks of donations.
//! 7. `recorded_verdict` derives a verdict from the recording alone.
//! 8. `summary` adds up the results of many recordings.

mod archive;
mod assertions;
mod config;
mod cursor;
mod differences;
mod divergence;
mod encoder;
mod event;
mod full;
mod import;
mod inputs;
mod lines;
mod observed;
mod partial;
mod plan;
mod recorded_verdict;
mod recorder;
mod setup;
mod summary;
mod tainted_requests;
mod verdict_counts;
mod verdicts;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use crate::engine::Chooser;
use crate::judge::{Judge, JudgeOptions};
use crate::model::{Ended, Engine, Machine, Release, Rule, Setup, World};
use crate::record::{Sink, Tee, Token};

pub use archive::{Archive, Recording};
pub use differences::{Difference, differences, explain};
pub use divergence::{Compared, Divergence, without_indices};

pub use import::{Imported, import};
pub use inputs::Inputs;
pub use lines::RecordingError;
pub use recorded_verdict::{Evidence, RecordedVerdict};
pub use setup::release_of;
pub use summary::{ConformSummary, Differing, RecordingKey};
pub use verdict_counts::{FirstRecording, VerdictCounts};

use cursor::RecordingCursor;
use encoder::EventEncoder;
use event::Listener;
use full::FullComparison;
use partial::PartialComparison;
use plan::{OwnPlanChooser, RecordedPlanChooser};
use setup::rule_of;

/// Turns after which the recorded loop gives up, if its configuration has no `max_iter`.
const TURNS_MAX: u32 = 4000;

/// What the model takes over from a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Configuration, requests, the composition of batches and the slots given out.
    Recorded,
    /// Configuration and requests only.
    Own,
}

/// How to compare.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// What the model takes over.
    pub plan: Plan,
    /// The name of the rule to run instead of the recording's.
    pub rule: Option<&'a str>,
    /// The release whose preset is used instead of the recording's.
    pub release: Option<Release>,
    /// Finds a rule by its name. The name `release` stands for the rule that the release shipped with.
    pub rules: &'a (dyn Fn(&str, Release) -> Option<&'static dyn Rule> + Sync),
    /// Changes the engine before the run, to test a setting against the recording.
    pub adjust: Option<&'a (dyn Fn(&mut Engine) + Sync)>,
}

/// A recording with the setup that replays it.
pub struct Prepared {
    /// What the recording was made of.
    pub inputs: Inputs,
    /// The setup to run.
    pub setup: Setup,
    /// The rule to run it under.
    pub rule: &'static dyn Rule,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Reads what a recording was made of, and makes a setup of it.
///
/// # Errors
/// The recording is damaged, or its configuration is not modelled.
pub fn prepare(recording: &Recording, options: &Options<'_>) -> Result<Prepared, RecordingError> {
    let inputs = Inputs::read(recording)?;
    let mut notes = Vec::new();
    let version = inputs.meta.version.clone();
    let release = match (options.release, release_of(&version)) {
        (Some(release), own) => {
            if own != Some((release, true)) {
                notes.push(format!(
                    "version {version} is replayed under release {}, as --release says",
                    release.version()
                ));
            }
            release
        }
        (None, Some((release, exact))) => {
            if !exact {
                notes.push(format!(
                    "version {version} is not modelled: it is compared with the modelled release before it, {release:?}"
                ));
            }
            release
        }
        (None, None) => {
            let message = format!("version {version:?} is older than every modelled release, or not a version");
            return Err(RecordingError::at(
                inputs.line,
                message,
                "give the release to compare with, as in --release 0.5.16",
            ));
        }
    };
    if inputs.meta.partial && !inputs.ended {
        notes.push("the recording has no `end`: its last turn was not compared".to_string());
    }
    for name in &inputs.unknown {
        notes.push(format!("`config.{name}` is unknown and has no effect"));
    }
    for name in &recording.beyond {
        notes.push(format!(
            "its scenario sets `x.{name}`, which is not modelled: the recording may differ because of it"
        ));
    }
    let policy = inputs.meta.policy.as_deref().or(inputs.meta.config.policy.as_deref()).unwrap_or("native");
    let name = options.rule.unwrap_or_else(|| rule_of(policy));
    let Some(rule) = (options.rules)(name, release) else {
        let message = format!("the recording ran rule {name:?}, which is not modelled");
        return Err(RecordingError::at(inputs.line, message, "give the rule to compare with: --rule"));
    };
    let mut setup = setup::setup(&inputs, release)?;
    if let Some(adjust) = options.adjust {
        adjust(&mut setup.engine);
    }
    Ok(Prepared { inputs, setup, rule, notes })
}

/// Compares one recording with the model.
///
/// # Errors
/// The recording is damaged, or its configuration is not modelled.
pub fn check(recording: &Recording, name: &str, options: &Options<'_>) -> Result<Compared, RecordingError> {
    let Prepared { mut inputs, setup, rule, mut notes } = prepare(recording, options)?;
    let recorded = recorded_verdict::verdict(recording, &inputs.meta)?;
    let mut cursor = RecordingCursor::new(recording.lines()?);
    let judge = match options.plan {
        Plan::Own => Some(run(&setup, rule, &inputs, &mut OwnPlanChooser::new(&inputs), &mut cursor, recording)),
        Plan::Recorded => {
            let mut chooser = RecordedPlanChooser::new(&mut inputs);
            let forced = AssertUnwindSafe(|| run(&setup, rule, &inputs, &mut chooser, &mut cursor, recording));
            // The plan of a recording that differs may violate an assertion of the machine. After a difference was found,
            // that is not an error.
            match catch_unwind(forced) {
                Ok(judge) => Some(judge),
                Err(_) if cursor.is_over() => None,
                Err(panic) => resume_unwind(panic),
            }
        }
    };
    if let Some(error) = cursor.error {
        return Err(error);
    }
    notes.append(&mut cursor.take_notes());
    let mut divergence = cursor.divergence;
    if let Some(judge) = judge.filter(|_| divergence.is_none() && !inputs.meta.partial) {
        divergence = verdicts::first_divergence(&judge.finish(&setup.names), &setup.names, &cursor.donations);
    }
    let agrees_otherwise = divergence.is_none() && cursor.first_observed.is_some();
    Ok(Compared {
        recording: name.to_string(),
        rule: rule.name().to_string(),
        tree_core: inputs.meta.tree_core,
        compared: cursor.compared,
        unchecked: cursor.unchecked,
        cut: cursor.cut,
        notes,
        recorded,
        divergence: divergence.or(cursor.first_observed),
        observed: cursor.observed,
        agrees_otherwise,
    })
}

/// The verdict of a recording by its own contents.
///
/// # Errors
/// The recording is damaged.
pub fn recorded_verdict(recording: &Recording) -> Result<RecordedVerdict, RecordingError> {
    recorded_verdict::verdict(recording, &Inputs::read(recording)?.meta)
}

/// Runs a setup and compares it with a recording. Returns the judge of the run.
fn run(
    setup: &Setup,
    rule: &dyn Rule,
    inputs: &Inputs,
    chooser: &mut dyn Chooser,
    cursor: &mut RecordingCursor<'_>,
    recording: &Recording,
) -> Judge {
    let never_arrived = recording.requests.map_or(0, |all| all.saturating_sub(setup.requests.len())) as u32;
    let stops: Vec<Option<Token>> = inputs.arrivals.iter().map(|arrival| arrival.stop_token).collect();
    let turns_max = inputs.meta.config.max_iter.unwrap_or(TURNS_MAX);
    let mut compared = ComparedRun { setup, rule, stops: &stops, turns_max, never_arrived };
    if inputs.meta.partial {
        compared.turns_max = u32::MAX;
        let mut partial = PartialComparison::new(cursor, inputs);
        let judge = compared.run(chooser, &mut partial);
        partial.end();
        judge
    } else {
        let mut full = FullComparison::new(cursor, recording.requests.is_some() || !inputs.cut_short, &setup.names);
        let judge = compared.run(chooser, &mut full);
        full.end();
        judge
    }
}

/// A run that is compared with a recording.
struct ComparedRun<'a> {
    setup: &'a Setup,
    rule: &'a dyn Rule,
    /// The stop tokens of the requests.
    stops: &'a [Option<Token>],
    /// The turn at which the recorded loop gives up.
    turns_max: u32,
    /// Requests of the recording's scenario that had not arrived when the recording ended.
    never_arrived: u32,
}

impl ComparedRun<'_> {
    /// Runs until the listener needs no more events. If requests wait forever, the recorded loop idles until it gives up, and so
    /// does this one.
    fn run(&self, mut chooser: &mut dyn Chooser, listener: &mut dyn Listener) -> Judge {
        let setup = self.setup;
        let judge =
            Judge::new(JudgeOptions { page_size: setup.engine.page_size, keep_boundaries: false, keep_reasons: true });
        let mut sinks = Tee(judge, EventEncoder::new(setup, self.stops, self.turns_max, listener));
        let mut world = Box::new(World::new(setup));
        let last = self.turns_max.min(setup.turns_max);
        let ended = loop {
            // The machine takes its chooser and sink as trait objects and is made anew for every turn, so that the listener can
            // end the run between two turns.
            let mut sink: &mut dyn Sink = &mut sinks;
            let machine = Machine::resume(setup, self.rule, &mut chooser, &mut sink, world);
            let mut machine = machine.with_probe(true);
            let ended = machine.turn();
            world = machine.into_world();
            if sinks.1.is_over() {
                break None;
            }
            match ended {
                None | Some(Ended::Stalled) if world.turn() <= last => {}
                ended => break Some(ended.unwrap_or(Ended::TurnsMax)),
            }
        };
        let Tee(judge, encoder) = sinks;
        if let Some(ended) = ended {
            encoder.end(ended, &world, self.never_arrived);
        }
        judge
    }
}

/// Compares the recordings of a file whose indices are `wanted`, and calls `hand_on` with the index and the result of each.
///
/// # Errors
/// The file cannot be read, or is not a recording.
pub fn check_file(
    path: &Path,
    options: &Options<'_>,
    wanted: &dyn Fn(usize) -> bool,
    mut hand_on: impl FnMut(usize, Result<Compared, RecordingError>),
) -> Result<(), RecordingError> {
    let file = path.to_string_lossy().into_owned();
    let mut archive = Archive::open(path)?;
    while let Some((index, recording)) = archive.next(wanted) {
        let name = format!("{file}#{index}");
        hand_on(index, recording.and_then(|recording| check(&recording, &name, options)));
    }
    Ok(())
}
