//! Scenario files: one timing of one engine, written in RON, with what is expected of each rule
//! (`docs/scenario-format.md`). Owns the spelling, its validation and its diagnostics; gives a [`Setup`] that holds
//! what the machine may rely on. Every mistake in a file is a [`Diagnostic`] with its place and a remedy; none is a
//! panic.

mod arrivals;
mod costs;
mod diagnostic;
mod duration;
mod ends;
mod engine;
mod events;
mod expect;
mod expect_every;
mod fields;
mod json;
mod limits;
mod locate;
mod presets;
mod prompts;
mod raw;
mod read;
mod references;
mod requests;
mod scan;
mod source;
#[cfg(test)]
mod tests;
mod trace;
mod words;
mod write;

use std::path::{Path, PathBuf};

use crate::model::{Setup, Vary};
use crate::reading::{self, SCENARIO_BYTES_MAX};

pub use crate::model::turns_max;
pub use costs::CostNames;
pub use diagnostic::Diagnostic;
pub use expect::{Expect, ExpectEnd, ExpectFinding, ExpectRequest, ExpectVerdict, FINDING_KINDS, kind_verdict};
pub use expect_every::ExpectEvery;
pub use json::json;
pub use presets::{CostPreset, CostSide, cost_preset, cost_preset_names, cost_preset_summaries};
pub use words::instead_of;
pub use write::write;

use locate::PathStep;
use requests::RequestList;
use source::SourceText;
use words::quote;

/// A validated scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The stem of the file's name.
    pub name: String,
    /// The path of the file, or the name given in place of one.
    pub path: PathBuf,
    /// Whether paths in the file may leave its directory.
    pub outside: Outside,
    /// Why the file exists: its first `//` comment, if that comes before the scenario.
    pub title: String,
    /// The rule to run when the caller names none.
    pub rule: Option<String>,
    /// The seed of the chooser when the caller gives none.
    pub seed: u64,
    /// What to run.
    pub setup: Setup,
    /// The cost presets that the file names. The setup has the costs themselves.
    pub cost_names: CostNames,
    /// The questions that a search may answer otherwise than the script. A plain run does not use them.
    pub vary: Vary,
    /// The expected result of the script, for the rules listed.
    pub expect: Vec<Expect>,
    /// The expected result over all timings that `vary` leaves open, for the rules listed.
    pub expect_every: Vec<ExpectEvery>,
}

impl Scenario {
    /// A scenario that is a setup and no more: without a file, a name, or anything expected or open.
    pub fn of(setup: Setup) -> Scenario {
        Scenario {
            name: String::new(),
            path: PathBuf::new(),
            outside: Outside::Refused,
            title: String::new(),
            rule: None,
            seed: 0,
            setup,
            cost_names: CostNames::default(),
            vary: Vary::default(),
            expect: Vec::new(),
            expect_every: Vec::new(),
        }
    }
}

/// The setup that comes back when `setup` is written to a file and read again, with the default bound on turns. `None`
/// if no file can hold it.
pub fn as_read(setup: &Setup) -> Option<Setup> {
    let turns_max = turns_max(&setup.requests, &setup.events);
    let text = write(&Scenario::of(Setup { turns_max, ..setup.clone() }));
    parse("setup.ron", &text, Path::new(""), &[]).ok().map(|scenario| scenario.setup)
}

/// Whether a path in a scenario file may leave the directory of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outside {
    /// No, also not by a symbolic link: a scenario of unknown origin reads no other files.
    #[default]
    Refused,
    /// Yes.
    Allowed,
}

/// The directory of a scenario, to which its paths are relative.
#[derive(Clone, Copy)]
struct Folder<'a> {
    path: &'a Path,
    outside: Outside,
}

/// Reads a scenario file; a `trace` path is relative to its directory, and may not leave it. `rules` are the names that
/// `rule` and `expect` may use.
///
/// # Errors
/// The first mistake found, in the scenario or in its trace.
pub fn load(path: &Path, rules: &[&str]) -> Result<Scenario, Diagnostic> {
    load_with(path, rules, Outside::Refused)
}

/// As [`load`]; `outside` says whether paths in the file may leave its directory.
///
/// # Errors
/// As [`load`].
pub fn load_with(path: &Path, rules: &[&str], outside: Outside) -> Result<Scenario, Diagnostic> {
    let name = path.to_string_lossy().into_owned();
    let bytes = reading::bytes(path, SCENARIO_BYTES_MAX).map_err(|trouble| {
        let remedy = trouble.remedy.unwrap_or("give the path of a scenario file");
        Diagnostic::of_file(&name, format!("cannot read {name}: {}", trouble.why), remedy)
    })?;
    let text = utf8(&name, &bytes)?;
    let folder = Folder { path: path.parent().unwrap_or(Path::new("")), outside };
    let scenario = parse_in(&name, text, folder, rules)?;
    // `name` is lossy where the path is not UTF-8.
    Ok(Scenario { path: path.to_path_buf(), ..scenario })
}

/// Reads a scenario from its text. `name` is the file name shown in diagnostics, `base` the directory to which a
/// `trace` path is relative, and which it may not leave.
///
/// # Errors
/// The first mistake found, in the scenario or in its trace.
pub fn parse(name: &str, text: &str, base: &Path, rules: &[&str]) -> Result<Scenario, Diagnostic> {
    parse_in(name, text, Folder { path: base, outside: Outside::Refused }, rules)
}

fn parse_in(name: &str, text: &str, folder: Folder<'_>, rules: &[&str]) -> Result<Scenario, Diagnostic> {
    let source = SourceText { name, text: text.strip_prefix('\u{feff}').unwrap_or(text) };
    let file = read::read(&source)?;
    let raw_engine = file.engine.unwrap_or_default();
    let engine = engine::validate(&source, &raw_engine)?;
    let state = engine::validate_state(&source, raw_engine.state)?;
    let (costs, cost_names) = costs::validate(&source, &file.costs.unwrap_or_default())?;
    let RequestList { specs, names } = match (&file.requests, &file.trace) {
        (Some(requests), None) => requests::validate(&source, &engine, requests)?,
        (None, Some(trace)) => trace::validate(&source, &engine, trace, folder)?,
        (Some(_), Some(_)) => {
            let message = "`requests` and `trace` are both given";
            return Err(source.at_key(&[], ("trace", 0), message, "a run takes its requests from one of them"));
        }
        (None, None) => {
            let remedy = "add `requests: [(id: \"a\", prompt: Fresh(1), stop: Length(4))]`, or a `trace`";
            return Err(source.at(&[], "the scenario has no requests", remedy));
        }
    };
    let events = events::validate(&source, &engine, &names, file.events.as_deref().unwrap_or_default())?;
    let expect = expect::validate(&source, &names, rules, file.expect.as_deref().unwrap_or_default())?;
    let vary = file.vary.unwrap_or_default();
    let every = file.expect_every.as_deref().unwrap_or_default();
    let expect_every = expect_every::validate(&source, rules, vary, every)?;
    if let Some(rule) = file.rule.as_deref().filter(|rule| !rules.contains(rule)) {
        let message = format!("there is no rule {}", quote(rule));
        return Err(source.at(&[PathStep::Field("rule")], message, instead_of(rule, rules, "the rules are")));
    }
    let turns_max = match file.turns_max {
        Some(0) => {
            return Err(source.at(
                &[PathStep::Field("turns_max")],
                "`turns_max` is 0",
                "give at least 1, or leave it out",
            ));
        }
        Some(turns) => turns,
        None => turns_max(&specs, &events),
    };
    Ok(Scenario {
        name: stem(name),
        path: name.into(),
        outside: folder.outside,
        title: title(source.text),
        rule: file.rule,
        seed: file.seed.unwrap_or(0),
        setup: Setup { engine, state, costs, requests: specs, names, events, turns_max },
        cost_names,
        vary,
        expect,
        expect_every,
    })
}

fn stem(name: &str) -> String {
    Path::new(name).file_stem().map_or_else(|| name.to_string(), |stem| stem.to_string_lossy().into_owned())
}

fn title(text: &str) -> String {
    let mut scanner = scan::Scanner::new(text);
    scanner.skip_attributes();
    scanner.comment().unwrap_or_default().to_string()
}

/// A duration such as `"12.5ms"`, in nanoseconds.
///
/// # Errors
/// What is wrong with the text, as the end of a sentence.
pub fn time_ns(text: &str) -> Result<u64, &'static str> {
    duration::parse_ns(text)
}

/// The text of a file, or an error at the first byte that is not UTF-8.
fn utf8<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, Diagnostic> {
    std::str::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let lossy = format!("{good}\u{fffd}");
        let at = good.len();
        Diagnostic::at(name, &lossy, at..at + 1, "this byte is not UTF-8", "save the file as UTF-8 text")
    })
}
