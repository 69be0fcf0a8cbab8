//! Exit codes, and where bytes go: standard output without minding a closed pipe, files whole or not at all. Owns whether
//! text is coloured.

use std::fmt;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, StdoutLock, Write as _};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};

use crate::report::plain;
use crate::report::style::message;

/// Whether what is printed is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, and as `NO_COLOR` and `CLICOLOR_FORCE` say.
    #[default]
    Auto,
    /// Whatever reads it.
    Always,
    /// Plain text.
    Never,
}

impl Color {
    /// Makes it the choice of this process, help and the errors of its options included.
    pub fn apply(self) {
        let choice = match self {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// How a command ended, from best to worst. Which verdicts end it how is said in `fail_on.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Nothing that the command fails for; every expectation met. Exit code 0.
    Good,
    /// A bound ended a run. Exit code 3.
    Inconclusive,
    /// A verdict that the command fails for; an expectation failed. Exit code 1.
    Found,
}

impl Exit {
    /// The process exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::Inconclusive => 3,
            Exit::Found => 1,
        }
    }
}

/// A mistake in what the user gave, in words ready for standard error. Exit code 2.
#[derive(Debug, thiserror::Error)]
pub struct Failure(pub String);

/// Without styles, which the source line of a diagnostic may have.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(&self.0))
    }
}

impl Failure {
    /// Prints it to standard error. Where that is closed, nobody reads it.
    pub fn print(&self) {
        let stderr = std::io::stderr().lock();
        let color = AutoStream::choice(&stderr) != ColorChoice::Never;
        let _ = stream(stderr, color).write_all(styled(&message(&self.0), color).as_bytes());
    }
}

/// Whether standard output shows colours.
pub(super) fn is_coloured() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// A text as it is printed: with its styles or without.
fn styled(text: &str, color: bool) -> std::borrow::Cow<'_, str> {
    if color { text.into() } else { plain(text) }
}

/// A stream that shows styles, if there are any, in the way of the terminal, and changes nothing else.
fn stream<S: anstream::stream::RawStream>(raw: S, color: bool) -> AutoStream<S> {
    if color { AutoStream::always(raw) } else { AutoStream::always_ansi(raw) }
}

/// How much is written at once.
const BUFFER_BYTES: usize = 1 << 16;

/// Standard output, written part by part. A reader that went away is not an error, but nobody needs to write on.
pub(super) struct Printer {
    out: BufWriter<AutoStream<StdoutLock<'static>>>,
    color: bool,
    trouble: Option<std::io::Error>,
}

impl Printer {
    pub(super) fn new() -> Printer {
        let stdout = std::io::stdout().lock();
        let color = AutoStream::choice(&stdout) != ColorChoice::Never;
        Printer { out: BufWriter::with_capacity(BUFFER_BYTES, stream(stdout, color)), color, trouble: None }
    }

    /// Writes a part. Says whether there is any use in more.
    pub(super) fn print(&mut self, text: &str) -> bool {
        if self.trouble.is_none() {
            self.trouble = self.out.write_all(styled(text, self.color).as_bytes()).err();
        }
        self.trouble.is_none()
    }

    /// What went wrong, if a reader was there for it.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        match self.trouble.take().or_else(|| self.out.flush().err()) {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure(format!(
                "error: cannot write to standard output: {error}\nhelp: look what it goes to, and whether there is room\n"
            ))),
            Some(_) | None => Ok(()),
        }
    }
}

/// Writes a whole text to standard output.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut printer = Printer::new();
    printer.print(text);
    printer.end()
}

/// Writes a file whole or not at all: under another name first, which then becomes the right one.
pub(super) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let cannot = |error: &std::io::Error| {
        Failure(format!(
            "error: cannot write {}: {error}\nhelp: give a path in a directory that can be written\n",
            path.display()
        ))
    };
    if path.file_name().is_none() {
        return Err(Failure(format!("error: {} names no file\nhelp: give the path of a file\n", path.display())));
    }
    if path.symlink_metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return Err(Failure(format!("error: {} is no regular file\nhelp: give another path\n", path.display())));
    }
    if path.is_dir() {
        return Err(Failure(format!("error: {} is a directory\nhelp: give the path of a file\n", path.display())));
    }
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        let (path, directory) = (path.display(), directory.display());
        return Err(Failure(format!(
            "error: cannot write {path}: there is no directory {directory}\nhelp: make it first, or give another path\n"
        )));
    }
    // Nobody else writes to this one, and what is there already is not written over.
    let part = path.with_file_name(format!(".overlapsim-{}.part", std::process::id()));
    let written = File::create_new(&part)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&part);
        cannot(&error)
    })
}

/// Whether two paths lead to one file that is there.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(one, other)| one == other)
}

/// What is written is a file of its own: neither standard output nor the scenario.
pub(super) fn is_no_other(what: &str, scenario: &Path, out: &Path) -> Result<(), Failure> {
    if out == Path::new("-") {
        let help = "give the path of a file; ./- is one of that name";
        return Err(Failure(format!("error: {what} is not written to standard output\nhelp: {help}\n")));
    }
    if is_same_file(scenario, out) {
        let shown = scenario.display();
        return Err(Failure(format!("error: {shown} would be written over itself\nhelp: give another path to -o\n")));
    }
    Ok(())
}
