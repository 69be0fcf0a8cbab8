//! Exit codes, and output to standard output and standard error: colours, closed pipes, which are not errors, and no
//! character that a terminal would not show ([`printed`]). Files are written in `file`.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt;
use std::io::{BufWriter, ErrorKind, StdoutLock, Write as _};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};

use crate::escape;
use crate::report::plain;
use crate::report::style::{message, printed};

use super::file::check_named_file;

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
    /// Applies the choice to all output of this process, help and errors included.
    pub fn apply(self) {
        let choice = match self {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// How a command ended, from best to worst. `fail_on.rs` has the exit of each verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// No verdict for which the command fails, and every expectation met. Exit code 0.
    Good,
    /// A bound ended a run. Exit code 3.
    Inconclusive,
    /// A verdict for which the command fails, or an expectation failed. Exit code 1.
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

/// An error in the user's input, as text for standard error. Exit code 2.
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

    /// Prints the error to standard error. If that is closed, the error is lost.
    pub fn print(&self) {
        print_to_stderr(&message(&self.0));
    }
}

/// Whether standard output shows colours.
pub(super) fn is_coloured() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// Writes a text to standard error. If that is closed, the text is lost.
pub(crate) fn print_to_stderr(text: &str) {
    let stderr = std::io::stderr().lock();
    let color = AutoStream::choice(&stderr) != ColorChoice::Never;
    let _ = stream(stderr, color).write_all(printed(text, color).as_bytes());
}

/// A stream that translates styles for the terminal and changes nothing else.
fn stream<S: anstream::stream::RawStream>(raw: S, color: bool) -> AutoStream<S> {
    if color { AutoStream::always(raw) } else { AutoStream::always_ansi(raw) }
}

/// Makes panics of this process print their message as errors are printed. A panic is a fault of this program, and its
/// message may quote a file.
pub fn escape_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = Backtrace::capture();
        let thread = std::thread::current();
        let mut text = format!("thread '{}' {panic}\n", thread.name().unwrap_or("without a name"));
        match backtrace.status() {
            BacktraceStatus::Captured => text.push_str(&format!("{backtrace}\n")),
            _ => text.push_str("note: with RUST_BACKTRACE=1 in the environment a backtrace is printed\n"),
        }
        print_to_stderr(&text);
    }));
}

/// The size of the output buffer.
const BUFFER_BYTES: usize = 1 << 16;

/// Standard output, written part by part. A closed pipe is not an error, but ends the writing.
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

    /// Writes a part. Returns false if further parts would be lost.
    pub(super) fn print(&mut self, text: &str) -> bool {
        if self.trouble.is_none() {
            self.trouble = self.out.write_all(printed(text, self.color).as_bytes()).err();
        }
        self.trouble.is_none()
    }

    /// Flushes the output. Returns the first error other than a closed pipe.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        match self.trouble.take().or_else(|| self.out.flush().err()) {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::of_stdout(&error)),
            Some(_) | None => Ok(()),
        }
    }
}

/// The output of a command that also writes files, and its exit.
pub(super) struct Printed {
    /// The text for standard output.
    pub text: String,
    /// The exit, if every file was written.
    pub exit: Exit,
    /// The errors of files that were not written. The text is printed in any case.
    pub unwritten: Vec<Failure>,
}

impl Printed {
    /// Prints the text, then the errors of files that were not written.
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
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut printer = Printer::new();
    printer.print(text);
    printer.end()
}

/// Whether two paths lead to the same existing file.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(one, other)| one == other)
}

/// The error for an output path that is standard output, the scenario itself, or where no file can be written.
pub(super) fn is_no_other(what: &str, scenario: &Path, out: &Path) -> Result<(), Failure> {
    if out == Path::new("-") {
        let help = "give the path of a file; ./- is one of that name";
        return Err(Failure(format!("error: {what} is not written to standard output\nhelp: {help}\n")));
    }
    if is_same_file(scenario, out) {
        let shown = escape::path(scenario);
        return Err(Failure(format!("error: {shown} would be written over itself\nhelp: give another path to -o\n")));
    }
    check_named_file(out)
}
