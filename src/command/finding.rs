//! A finding of a search becomes a small scenario in a file.

use std::path::{Path, PathBuf};

use crate::engine::Chooser;
use crate::escape;
use crate::history;
use crate::judge::FindingKind;
use crate::model::{Rule, Setup};
use crate::report::name;
use crate::runner::{self, Keep, first_of};
use crate::scenario::{self, Scenario};
use crate::shrink::{self, shrink_while};

use super::expectation::expectation;
use super::file::{is_writable, write_file, write_file_and_keep, write_new_file};
use super::line::replay_line;
use super::output::Failure;
use super::replay_spec::ReplaySpec;

/// The most candidates that are tried in shrinking a finding.
const TRIES_MAX: usize = 20_000;
/// The most files that share one name, told apart by a number.
const SAME_NAME_MAX: u32 = 1000;

/// The directory of `--out`; created if it does not exist.
#[derive(Clone, Debug)]
pub(super) struct OutDir(PathBuf);

impl OutDir {
    pub(super) fn new(path: &Path) -> Result<OutDir, Failure> {
        let cannot = |error: std::io::Error| {
            let help = "help: give a directory that exists or can be created, and is writable";
            let why = if path.is_file() { "a file has that name".to_string() } else { error.to_string() };
            Failure(format!("error: cannot write to the directory {}: {why}\n{help}\n", escape::path(path)))
        };
        std::fs::create_dir_all(path).map_err(cannot)?;
        // Checked now, not after a long search.
        is_writable(path).map_err(cannot)?;
        Ok(OutDir(path.to_path_buf()))
    }

    /// The path of a file of this name.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file of this name atomically. An existing file is replaced.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        write_file(&self.path(name), text)
    }

    /// As [`OutDir::write`], but an existing file with another text is kept under another name.
    pub(super) fn write_and_keep(&self, name: &str, text: &str) -> Result<(), Failure> {
        write_file_and_keep(&self.path(name), text)
    }

    /// Writes a file under the first of `names` that is free; `text` gets the name. Returns the path.
    fn write_new(
        &self,
        names: impl Iterator<Item = String>,
        text: impl Fn(&str) -> String,
    ) -> Result<PathBuf, Failure> {
        let mut last = self.0.clone();
        for name in names {
            last = self.path(&name);
            if write_new_file(&last, &text(&name))? {
                return Ok(last);
            }
        }
        let (shown, help) = (escape::path(&last), "remove files that are no longer needed, or give another directory");
        Err(Failure(format!("error: cannot write {shown}: this name and all before it are taken\nhelp: {help}\n")))
    }
}

/// A finding to be written.
pub(super) struct Finder<'a> {
    /// The setup that was run.
    pub setup: &'a Setup,
    /// The rule.
    pub rule: &'static dyn Rule,
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The name of the search.
    pub by: &'a str,
    /// The name of the searched scenario or preset.
    pub of: &'a str,
    /// The first part of the name of the file.
    pub stem: &'a str,
    /// Whether the time for shrinking is over.
    pub stop: &'a dyn Fn() -> bool,
}

impl Finder<'_> {
    /// Writes a small scenario that shows the same kind of finding, and returns its path. `chooser` repeats the history
    /// of the finding. Returns `None` if the history cannot be written as a script, or not before `stop`.
    pub(super) fn write<C: Chooser>(
        &self,
        out: &OutDir,
        seed: Option<u64>,
        chooser: impl Fn() -> C,
    ) -> Result<Option<String>, Failure> {
        let Finder { setup, rule, kind, by, of, stem, stop } = *self;
        let script = history::concrete_while(setup, rule, &mut chooser(), scenario::turns_max, stop);
        let Some(script) = script.and_then(|script| scenario::as_read(&script)) else { return Ok(None) };
        let least = shrink_while(script, rule, kind, &scenario::as_read, TRIES_MAX, stop);
        let small = if stop() { "and made smaller until its time was over" } else { "and made small" };
        let judgement = runner::run(&least, rule, 0, Keep::default(), None).judgement;
        let Some(finding) = first_of(&judgement, kind) else { return Ok(None) };
        let seed = seed.map_or(String::new(), |seed| format!("-{seed}"));
        let file = format!("{}-{}-{}{seed}", file_word(stem), rule.name(), name::kind(kind));
        let request = finding.req.map_or(String::new(), |req| format!("{}: ", least.name(req)));
        let reason = format!(
            "{}, {request}{}. Found by {by} of {of} under {} in release {}, {small}.",
            name::kind(kind),
            finding.reason,
            rule.name(),
            setup.engine.release.version()
        );
        let expect = vec![expectation(rule, &judgement, &least.names)];
        let small = Scenario { title: reason, rule: Some(rule.name().to_string()), expect, ..Scenario::of(least) };
        let text = scenario::write(&small);
        let (title, rest) = text.split_once('\n').expect("a scenario has lines");
        // An existing finding of this name is kept.
        let names = (1..=SAME_NAME_MAX).map(|nth| match nth {
            1 => format!("{file}.ron"),
            nth => format!("{file}.{nth}.ron"),
        });
        let path = out.write_new(names, |file| {
            let text =
                format!("{title}\n// {}\n{rest}", replay_line(Path::new(file), rule.name(), ReplaySpec::default()));
            self.assert_shown(file, &text);
            text
        })?;
        Ok(Some(path.to_string_lossy().into_owned()))
    }

    /// Reads the text of the file back and runs it.
    ///
    /// # Panics
    /// If the file does not show the same kind of finding under the same rule, release, strategy and overlap, or does
    /// not meet its own expectation. Neither can happen: the shrunk setup does both.
    fn assert_shown(&self, file: &str, text: &str) {
        let Finder { setup, rule, kind, by: _, of: _, stem: _, stop: _ } = *self;
        let read = scenario::parse(file, text, Path::new(""), &runner::rule_names());
        let read = read.unwrap_or_else(|wrong| panic!("a file that is written can be read\n{}", wrong.render(false)));
        assert_eq!(read.rule.as_deref(), Some(rule.name()), "the file names the rule of the finding\n{text}");
        assert_eq!(shrink::subject(&read.setup), shrink::subject(setup), "the file is about the finding\n{text}");
        let judgement = runner::run(&read.setup, rule, read.seed, Keep::default(), None).judgement;
        assert!(first_of(&judgement, kind).is_some(), "the file shows the kind of the finding\n{text}");
        let shown = expectation(rule, &judgement, &read.setup.names);
        assert_eq!(read.expect, [shown], "the file shows what it expects\n{text}");
    }
}

/// A name with the characters that a file name should not have replaced.
pub(super) fn file_word(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() && escape::is_printable(c) || "._-".contains(c);
    let word: String = name.chars().map(|c| if plain(c) { c } else { '-' }).take(80).collect();
    if word.is_empty() { "scenario".to_string() } else { word }
}
