//! Signals that end the process (SIGINT, SIGTERM, SIGHUP): unfinished files are deleted, standard error says what was not
//! written, and the process ends by the signal, as it would have without this.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tempfile::{NamedTempFile, PersistError};

use crate::escape;

/// The temporary files of this process, each with the file that it is to become. A signal is sent to the process, so the
/// list belongs to the process. Creating, renaming and deleting a temporary file happen under the lock, and so does the
/// handling of a signal: it sees each of them done or not begun.
static UNFINISHED: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());

/// The time that a signal leaves for its text to be printed.
const PRINT_TIME: Duration = Duration::from_secs(1);

fn unfinished() -> MutexGuard<'static, BTreeMap<PathBuf, PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file. It is deleted with the value, or by a signal, unless it is renamed.
pub(super) struct Part {
    /// None once it is renamed.
    file: Option<NamedTempFile<File>>,
    path: PathBuf,
}

impl Part {
    /// The temporary file that `create` makes; it is to become `target`.
    pub(super) fn new(target: &Path, create: impl FnOnce() -> io::Result<NamedTempFile<File>>) -> io::Result<Part> {
        let mut all = unfinished();
        let file = create()?;
        let path = file.path().to_path_buf();
        all.insert(path.clone(), target.to_path_buf());
        Ok(Part { file: Some(file), path })
    }

    /// The open file.
    pub(super) fn file(&mut self) -> &mut File {
        self.file.as_mut().expect("only `rename` takes it").as_file_mut()
    }

    /// Renames the file, as `rename` does.
    pub(super) fn rename(
        mut self,
        rename: impl FnOnce(NamedTempFile<File>) -> Result<File, PersistError<File>>,
    ) -> io::Result<()> {
        let file = self.file.take().expect("only `rename` takes it");
        let mut all = unfinished();
        let renamed = rename(file).map(|_| ()).map_err(|failed| {
            let PersistError { error, file } = failed;
            drop(file);
            error
        });
        all.remove(&self.path);
        renamed
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let mut all = unfinished();
            drop(file);
            all.remove(&self.path);
        }
    }
}

/// Deletes unfinished files, and says what was lost.
fn delete_unfinished(all: &mut BTreeMap<PathBuf, PathBuf>, signal: &str) -> String {
    let mut text = String::new();
    for (part, target) in std::mem::take(all) {
        let kept = if target.is_file() { "; the file of that name is as it was" } else { "" };
        let left = match std::fs::remove_file(&part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                format!("; {} is left: {error}", escape::path(&part))
            }
            Ok(()) | Err(_) => String::new(),
        };
        let _ = writeln!(text, "interrupted by {signal}: {} was not written{kept}{left}", escape::path(&target));
    }
    if text.is_empty() {
        let _ =
            writeln!(text, "interrupted by {signal}: the command did not finish; files that it has written are whole");
    }
    text
}

/// From now on signals end the process as the head of this file says. Signals that the process was started to ignore, as
/// by `nohup`, stay ignored.
#[cfg(unix)]
pub fn watch_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let ignored = ignored_signals();
    // Where it is not known, SIGHUP counts as ignored: a hangup must not end what `nohup` started.
    let is_ignored = |signal: i32| ignored.map_or(signal == SIGHUP, |mask| mask >> (signal - 1) & 1 == 1);
    let watched = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
    // A second signal ends the process at once, whatever the first one waits for.
    let is_second = Arc::new(AtomicBool::new(false));
    for signal in watched.clone() {
        let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(&is_second));
    }
    // Without the watch, signals end the process as they always do.
    let Ok(mut signals) = Signals::new(watched) else { return };
    let end = move || {
        for signal in signals.forever() {
            is_second.store(true, Ordering::SeqCst);
            let mut all = unfinished();
            let name = signal_hook::low_level::signal_name(signal).unwrap_or("a signal");
            let text = delete_unfinished(&mut all, name);
            // A write to standard error blocks if it is a full pipe. The process waits for PRINT_TIME at most.
            let (printed, is_printed) = std::sync::mpsc::channel();
            let print = move || {
                super::output::print_to_stderr(&text);
                let _ = printed.send(());
            };
            let _ = std::thread::Builder::new().spawn(print);
            let _ = is_printed.recv_timeout(PRINT_TIME);
            // Ends the process. The lock is held until then: no other file is begun or renamed.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(end);
}

/// Other systems have no such signals.
#[cfg(not(unix))]
pub fn watch_signals() {}

/// The signals that this process ignores, a bit each, where the system tells.
#[cfg(unix)]
fn ignored_signals() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unfinished_is_deleted_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x\u{202e}.json");
        let part =
            Part::new(&target, || tempfile::Builder::new().make_in(folder.path(), |path| File::create_new(path)));
        let part = part.unwrap();
        let mut all = BTreeMap::from([(part.path.clone(), target.clone())]);
        assert!(part.path.exists());
        let text = delete_unfinished(&mut all, "SIGTERM");
        assert!(!part.path.exists() && all.is_empty());
        assert!(text.ends_with("x\\u{202e}.json was not written\n"), "{text}");
        assert!(delete_unfinished(&mut all, "SIGTERM").contains("did not finish"));
        let path = part.path.clone();
        assert!(unfinished().contains_key(&path));
        drop(part);
        assert!(!unfinished().contains_key(&path));
    }
}
