//! Exit codes, and writing to standard output without minding a closed pipe.

use std::io::{ErrorKind, Write as _};

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

/// Writes to standard output. A reader that went away is not an error.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure(format!("error: cannot write to standard output: {error}\n")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A command line that runs what a finding was found in: the path is quoted if a shell would take it apart.
pub(super) fn replay_line(path: &str, rule: &str, seed: Option<u64>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    let path = if !path.is_empty() && path.chars().all(plain) && !path.starts_with('-') {
        path.to_string()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    };
    let seed = seed.map_or(String::new(), |seed| format!(" --seed {seed}"));
    format!("overlapsim run {path} --rule {rule}{seed} --timeline")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_only_if_it_must_be() {
        let line = replay_line("scenarios/x.ron", "token-len", None);
        assert_eq!(line, "overlapsim run scenarios/x.ron --rule token-len --timeline");
        let line = replay_line("it's here.ron", "token-len", Some(7));
        assert_eq!(line, r"overlapsim run 'it'\''s here.ron' --rule token-len --seed 7 --timeline");
    }

    #[test]
    fn exit_codes_follow_the_verdict() {
        let codes = [Verdict::Clean, Verdict::Lossy, Verdict::Inconclusive, Verdict::Corrupt, Verdict::Broken]
            .map(|verdict| Exit::from(verdict).code());
        assert_eq!(codes, [0, 0, 3, 1, 1]);
    }
}
