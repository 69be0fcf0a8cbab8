//! Recordings of the real scheduler beside the model: event for event, field by field.
//!
//! Data goes: a file is cut into recordings (`archive`); a first pass takes what a recording was made of (`inputs`) and
//! makes a setup of it; the machine runs that under a chooser that answers from the recording (`plan`); its facts become
//! events in the words of the recording (`encoder`), which are compared with the recording in step (`strict`, or `partial` for
//! one that leaves things out; `cursor` keeps what has come of it). The judge
//! runs beside, and its word on every donation is held against the recording's own content check (`verdicts`).

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
mod setup;
mod summary;
mod tainted_requests;
mod verdict_counts;
mod verdicts;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use crate::engine::Chooser;
use crate::judge::{Judge, Options as JudgeOptions};
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

/// Turns after which the recorded loop gives up, where the configuration does not say.
const TURNS_MAX: u32 = 4000;

/// How much of a recording the model takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Arrivals, the composition of batches and the slots given out.
    Recorded,
    /// Configuration and requests alone.
    Own,
}

/// How to compare.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// What the model takes over.
    pub plan: Plan,
    /// The rule by its name here, in place of the recording's.
    pub rule: Option<&'a str>,
    /// The release whose preset is used, in place of the recording's.
    pub release: Option<Release>,
    /// Finds a rule by name, or the one that a release shipped with by `release`.
    pub rules: &'a (dyn Fn(&str, Release) -> Option<&'static dyn Rule> + Sync),
    /// Changes the engine before it runs: to see what a recording says of a setting.
    pub adjust: Option<&'a (dyn Fn(&mut Engine) + Sync)>,
}

/// A recording made ready to run.
pub struct Prepared {
    /// What it was made of.
    pub inputs: Inputs,
    /// What to run.
    pub setup: Setup,
    /// Under which rule.
    pub rule: &'static dyn Rule,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// Reads what a recording was made of.
///
/// # Errors
/// It is damaged, or of something that is not modelled.
pub fn prepare(recording: &Recording, options: &Options<'_>) -> Result<Prepared, RecordingError> {
    let inputs = Inputs::read(recording)?;
    let mut notes = Vec::new();
    let version = inputs.meta.version.clone();
    let release = match (options.release, release_of(&version)) {
        (Some(release), own) => {
            if own != Some((release, true)) {
                notes.push(format!("version {version} is replayed under release {}, as asked", release.version()));
            }
            release
        }
        (None, Some((release, exact))) => {
            if !exact {
                notes.push(format!("version {version} is compared with the modelled release before it, {release:?}"));
            }
            release
        }
        (None, None) => {
            let message = format!("version {version:?} is older than the modelled releases, or none");
            return Err(RecordingError::at(inputs.line, message, "say which to compare it with: --release 0.5.16"));
        }
    };
    if inputs.meta.partial && !inputs.ended {
        notes.push("it has no end: its last turn was not compared".to_string());
    }
    for name in &inputs.unknown {
        notes.push(format!("`config.{name}` is not known here and changes nothing"));
    }
    for name in &recording.beyond {
        notes.push(format!("its scenario sets `x.{name}`, which is not modelled: it may differ by that"));
    }
    let policy = inputs.meta.policy.as_deref().or(inputs.meta.config.policy.as_deref()).unwrap_or("native");
    let name = options.rule.unwrap_or_else(|| rule_of(policy));
    let Some(rule) = (options.rules)(name, release) else {
        let message = format!("the recording ran {name:?}, which is no rule that is modelled");
        return Err(RecordingError::at(inputs.line, message, "say which to compare it with: --rule"));
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
/// It is damaged, or of something that is not modelled.
pub fn check(recording: &Recording, name: &str, options: &Options<'_>) -> Result<Compared, RecordingError> {
    let Prepared { mut inputs, setup, rule, mut notes } = prepare(recording, options)?;
    let recorded = recorded_verdict::verdict(recording, &inputs.meta)?;
    let mut cursor = RecordingCursor::new(recording.lines()?);
    let judge = match options.plan {
        Plan::Own => Some(run(&setup, rule, &inputs, &mut OwnPlanChooser::new(&inputs), &mut cursor, recording)),
        Plan::Recorded => {
            let mut chooser = RecordedPlanChooser::new(&mut inputs);
            let forced = AssertUnwindSafe(|| run(&setup, rule, &inputs, &mut chooser, &mut cursor, recording));
            // A recording that differs may force the machine into what it holds to be impossible. That is no fault of its
            // own once a difference has been found.
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
        divergence = verdicts::differ(&judge.finish(&setup.names), &setup.names, &cursor.donations);
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

/// Reads the verdict of a recording by its own contents.
///
/// # Errors
/// It is damaged.
pub fn recorded_verdict(recording: &Recording) -> Result<RecordedVerdict, RecordingError> {
    recorded_verdict::verdict(recording, &Inputs::read(recording)?.meta)
}

/// Runs a setup beside a recording; the judge with all that it has seen.
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
    let patience = inputs.meta.config.max_iter.unwrap_or(TURNS_MAX);
    let mut beside = Beside { setup, rule, stops: &stops, patience, never_arrived };
    if inputs.meta.partial {
        beside.patience = u32::MAX;
        let mut partial = PartialComparison::new(cursor, inputs);
        let judge = beside.run(chooser, &mut partial);
        partial.end();
        judge
    } else {
        let mut full = FullComparison::new(cursor, recording.requests.is_some() || !inputs.cut_short, &setup.names);
        let judge = beside.run(chooser, &mut full);
        full.end();
        judge
    }
}

/// A run beside a recording.
struct Beside<'a> {
    setup: &'a Setup,
    rule: &'a dyn Rule,
    stops: &'a [Option<Token>],
    patience: u32,
    never_arrived: u32,
}

impl Beside<'_> {
    /// Runs as long as the listener wants to hear more. Where requests wait for ever, the recorded loop turns on until it
    /// gives up, and so does this.
    fn run(&self, mut chooser: &mut dyn Chooser, listener: &mut dyn Listener) -> Judge {
        let setup = self.setup;
        let judge =
            Judge::new(JudgeOptions { page_size: setup.engine.page_size, keep_boundaries: false, keep_reasons: true });
        let mut audience = Tee(judge, EventEncoder::new(setup, self.stops, self.patience, listener));
        let mut world = Box::new(World::new(setup));
        let last = self.patience.min(setup.turns_max);
        let ended = loop {
            // The machine that everybody shares who is in no hurry, and anew for every turn: between two of them the listener is
            // asked.
            let mut sink: &mut dyn Sink = &mut audience;
            let machine = Machine::resume(setup, self.rule, &mut chooser, &mut sink, world);
            let mut machine = machine.with_probe(true);
            let ended = machine.turn();
            world = machine.into_world();
            if audience.1.is_over() {
                break None;
            }
            match ended {
                None | Some(Ended::Stalled) if world.turn() <= last => {}
                ended => break Some(ended.unwrap_or(Ended::TurnsMax)),
            }
        };
        let Tee(judge, encoder) = audience;
        if let Some(ended) = ended {
            encoder.end(ended, &world, self.never_arrived);
        }
        judge
    }
}

/// Compares the recordings of a file for which `wanted` holds by their place in it, and hands each outcome on.
///
/// # Errors
/// The file cannot be read, or holds something else.
pub fn check_file(
    path: &Path,
    options: &Options<'_>,
    wanted: &dyn Fn(usize) -> bool,
    mut hand_on: impl FnMut(usize, Result<Compared, RecordingError>),
) -> Result<(), RecordingError> {
    let shown = path.display().to_string();
    let mut archive = Archive::open(path)?;
    while let Some((index, recording)) = archive.next(wanted) {
        let name = format!("{shown}#{index}");
        hand_on(index, recording.and_then(|recording| check(&recording, &name, options)));
    }
    Ok(())
}
