//! Exit codes, and where bytes go: standard output without minding a closed pipe. Owns whether text is coloured. Files are written in
//! `file`.

use std::fmt;
use std::io::{BufWriter, ErrorKind, StdoutLock, Write as _};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};

use crate::report::plain;
use crate::report::style::message;

/// Whether what is printed is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal; `NO_COLOR` and `CLICOLOR_FORCE` overrule this.
    #[default]
    Auto,
    /// Even if the output is not a terminal.
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
    /// Standard output cannot be written.
    pub fn of_stdout(error: &std::io::Error) -> Failure {
        let help = "help: check where the output goes and whether there is space left";
        Failure(format!("error: cannot write to standard output: {error}\n{help}\n"))
    }

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
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::of_stdout(&error)),
            Some(_) | None => Ok(()),
        }
    }
}

/// What a command prints that writes files beside it, and how it ends.
pub(super) struct Printed {
    /// What is printed.
    pub text: String,
    /// How it ends, if every file is written.
    pub exit: Exit,
    /// What went wrong with files. What the command came to is printed in any case.
    pub unwritten: Vec<Failure>,
}

impl Printed {
    /// Prints it, and says then which files are not there.
    pub(super) fn print(self) -> Result<Exit, Failure> {
        print(&self.text)?;
        self.end()
    }

    /// The text without styles.
    pub(super) fn into_text(self) -> Result<(String, Exit), Failure> {
        let text = plain(&self.text).into_owned();
        self.end().map(|exit| (text, exit))
    }

    fn end(self) -> Result<Exit, Failure> {
        if self.unwritten.is_empty() {
            return Ok(self.exit);
        }
        Err(Failure(self.unwritten.into_iter().map(|failure| failure.0).collect()))
    }
}

/// Writes a whole text to standard output.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut printer = Printer::new();
    printer.print(text);
    printer.end()
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
