//! Exit codes, and writing to standard output without minding a closed pipe.

use std::ffi::OsStr;
use std::io::{BufWriter, ErrorKind, StdoutLock, Write as _};
use std::path::Path;

use crate::judge::Verdict;

/// How a command ended, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Clean or lossy; every expectation met. Exit code 0.
    Good,
    /// A bound ended a run. Exit code 3.
    Inconclusive,
    /// Corrupt or broken; an expectation failed. Exit code 1.
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

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Exit {
        match verdict {
            Verdict::Clean | Verdict::Lossy => Exit::Good,
            Verdict::Inconclusive => Exit::Inconclusive,
            Verdict::Corrupt | Verdict::Broken => Exit::Found,
        }
    }
}

/// A mistake in what the user gave, in words ready for standard error. Exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

/// How much is written at once.
const BUFFER_BYTES: usize = 1 << 16;

/// Standard output, written part by part. A reader that went away is not an error, but nobody needs to write on.
pub(super) struct Printer {
    out: BufWriter<StdoutLock<'static>>,
    trouble: Option<std::io::Error>,
}

impl Printer {
    pub(super) fn new() -> Printer {
        Printer { out: BufWriter::with_capacity(BUFFER_BYTES, std::io::stdout().lock()), trouble: None }
    }

    /// Writes a part. Says whether there is any use in more.
    pub(super) fn print(&mut self, text: &str) -> bool {
        if self.trouble.is_none() {
            self.trouble = self.out.write_all(text.as_bytes()).err();
        }
        self.trouble.is_none()
    }

    /// What went wrong, if a reader was there for it.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        match self.trouble.take().or_else(|| self.out.flush().err()) {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure(format!("error: cannot write to standard output: {error}\n")))
            }
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
    let Some(name) = path.file_name() else {
        return Err(Failure(format!("error: {} names no file\nhelp: give the path of a file\n", path.display())));
    };
    if path.symlink_metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return Err(Failure(format!("error: {} is no regular file\nhelp: give another path\n", path.display())));
    }
    if path.is_dir() {
        return Err(Failure(format!("error: {} is a directory\nhelp: give the path of a file\n", path.display())));
    }
    let mut part = std::ffi::OsString::from(".");
    part.push(name);
    part.push(".part");
    let part = path.with_file_name(part);
    let written = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&part);
        cannot(&error)
    })
}

/// A command line that runs what a finding was found in.
pub(super) fn replay_line(path: &Path, rule: &str, seed: Option<u64>, choices: Option<&[u32]>) -> String {
    let seed = seed.map_or(String::new(), |seed| format!(" --seed {seed}"));
    let choices = choices.map_or(String::new(), |choices| format!(" --choices {}", choices_word(choices)));
    format!("overlapsim run {} --rule {rule}{seed}{choices} --timeline", shell_word(path))
}

/// A list of choices as one word: `0.2.1`, and `-` for the empty list.
pub(super) fn choices_word(choices: &[u32]) -> String {
    match choices {
        [] => "-".to_string(),
        choices => choices.iter().map(u32::to_string).collect::<Vec<_>>().join("."),
    }
}

/// Reads a list of choices, as reports write it.
///
/// # Errors
/// What is wrong with it, in words for the command line.
pub fn choices(word: &str) -> Result<Choices, String> {
    if word == "-" {
        return Ok(Choices(Vec::new()));
    }
    let number = |(at, part): (usize, &str)| {
        part.parse::<u32>().map_err(|_| format!("choice {} is `{part}`, not a number such as 0", at + 1))
    };
    word.split('.').enumerate().map(number).collect::<Result<_, _>>().map(Choices)
}

/// A list of choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices(pub Vec<u32>);

/// A path as a shell must be given it: quoted if it would be taken apart, and never like an option.
pub(super) fn shell_word(path: &Path) -> String {
    let dot = if path.as_os_str().as_encoded_bytes().starts_with(b"-") { "./" } else { "" };
    format!("{dot}{}", quoted(path.as_os_str()))
}

/// A text as a shell must be given it: quoted if it would be taken apart. Bytes that are no text, and control characters, are
/// spelled out as bash, zsh and ksh read them.
pub(super) fn quoted(text: &OsStr) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    match text.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
        Some(text) if !text.chars().any(char::is_control) => format!("'{}'", text.replace('\'', r"'\''")),
        Some(_) | None => {
            let spelled = text.as_encoded_bytes().iter().map(|&byte| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(byte)),
                b' '..=b'~' => char::from(byte).to_string(),
                // Three digits, always: a digit that follows is none of them.
                _ => format!("\\{byte:03o}"),
            });
            format!("$'{}'", spelled.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_only_if_it_must_be() {
        let line = replay_line(Path::new("scenarios/x.ron"), "token-len", None, None);
        assert_eq!(line, "overlapsim run scenarios/x.ron --rule token-len --timeline");
        let line = replay_line(Path::new("it's here.ron"), "token-len", Some(7), None);
        assert_eq!(line, r"overlapsim run 'it'\''s here.ron' --rule token-len --seed 7 --timeline");
    }

    #[test]
    fn a_list_of_choices_is_one_word() {
        for list in [vec![], vec![0], vec![1, 0, 12]] {
            assert_eq!(choices(&choices_word(&list)), Ok(Choices(list)));
        }
        assert_eq!(choices("1..2"), Err("choice 2 is ``, not a number such as 0".to_string()));
        assert!(choices("1.x").is_err() && choices("").is_err() && choices("-1").is_err());
    }

    #[test]
    fn no_path_looks_like_an_option_or_tears_the_line() {
        let word = |path: &str| shell_word(Path::new(path));
        assert_eq!(word("-x.ron"), "./-x.ron");
        assert_eq!(word("- x.ron"), "./'- x.ron'");
        assert_eq!(word("a\n1'\\é.ron"), r"$'a\0121\'\\\303\251.ron'");
        assert_eq!(word("é.ron"), "'é.ron'");
        assert_eq!(word(""), "''");
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_text_is_spelled_out() {
        use std::os::unix::ffi::OsStrExt as _;
        let name = std::ffi::OsStr::from_bytes(b"x\xff.ron");
        assert_eq!(shell_word(Path::new(name)), r"$'x\377.ron'");
    }

    #[test]
    fn exit_codes_follow_the_verdict() {
        let codes = [Verdict::Clean, Verdict::Lossy, Verdict::Inconclusive, Verdict::Corrupt, Verdict::Broken]
            .map(|verdict| Exit::from(verdict).code());
        assert_eq!(codes, [0, 0, 3, 1, 1]);
    }
}
