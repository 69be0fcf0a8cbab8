//! Atomic writes: a file is written under a temporary name in the directory of its target, and then renamed. Temporary
//! names are random and taken only if free, so processes on several machines can write to one directory. A killed
//! process may leave a temporary file behind; no command reads it.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::{escape, reading};

use super::output::Failure;

/// The most old versions of a file that are kept under other names.
const KEPT_MAX: u32 = 1000;

/// Creates a temporary file. It is deleted with the value unless it is renamed.
fn part_in(directory: &Path) -> io::Result<NamedTempFile<File>> {
    // With the usual permissions: the crate's own would let no other user read the file.
    Builder::new()
        .prefix(".overlapsim-")
        .suffix(".part")
        .rand_bytes(16)
        .make_in(directory, |path| File::create_new(path))
}

/// Whether files can be written in a directory. Checked before long work.
pub(super) fn is_writable(directory: &Path) -> io::Result<()> {
    part_in(directory)?.close()
}

/// The directory of a file.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a text to a temporary file and syncs it to the disk: some file systems report a full disk only then.
fn part_of(path: &Path, text: &str) -> io::Result<NamedTempFile<File>> {
    let mut part = part_in(directory_of(path))?;
    part.as_file_mut().write_all(text.as_bytes())?;
    part.as_file().sync_all()?;
    Ok(part)
}

/// The error for a path at which no file can be written, as far as it shows before writing.
fn checked(path: &Path) -> Result<(), Failure> {
    let shown = escape::path(path);
    if path.file_name().is_none() {
        return Err(Failure(format!("error: {shown} is not the name of a file\nhelp: give the path of a file\n")));
    }
    if path.symlink_metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return Err(Failure(format!("error: {shown} is not a regular file\nhelp: give another path\n")));
    }
    if path.is_dir() {
        return Err(Failure(format!("error: {shown} is a directory\nhelp: give the path of a file\n")));
    }
    let directory = directory_of(path);
    if !directory.is_dir() {
        let directory = escape::path(directory);
        return Err(Failure(format!(
            "error: cannot write {shown}: there is no directory {directory}\nhelp: create it first, or give another path\n"
        )));
    }
    Ok(())
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    let help = "help: give a path in a writable directory";
    Failure(format!("error: cannot write {}: {error}\n{help}\n", escape::path(path)))
}

/// Writes a file atomically. An existing file is replaced.
pub(super) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    checked(path)?;
    let written = part_of(path, text).and_then(|part| part.persist(path).map_err(|failed| failed.error));
    written.map(|_| ()).map_err(|error| cannot(path, &error))
}

/// Writes a file atomically unless the path is taken. Returns false if a file with another text has the path.
pub(super) fn write_new_file(path: &Path, text: &str) -> Result<bool, Failure> {
    let is_same = || reading::holds(path, text.as_bytes());
    if path.symlink_metadata().is_ok() {
        return Ok(is_same());
    }
    checked(path)?;
    let part = part_of(path, text).map_err(|error| cannot(path, &error))?;
    match part.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists => Ok(is_same()),
        // Some file systems have no rename that keeps an existing file: then the file is created under its name and
        // filled.
        Err(_) => match File::create_new(path) {
            Ok(mut file) => {
                let filled = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
                filled.map(|()| true).map_err(|error| cannot(path, &error))
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(is_same()),
            Err(error) => Err(cannot(path, &error)),
        },
    }
}

/// Writes a file atomically. An existing file with another text is kept under the first free name of `NAME.1`,
/// `NAME.2`, ..
pub(super) fn write_file_and_keep(path: &Path, text: &str) -> Result<(), Failure> {
    checked(path)?;
    let write = || {
        let part = part_of(path, text)?;
        if path.is_file() && !reading::holds(path, text.as_bytes()) {
            let name = |nth: u32| {
                let mut name = path.as_os_str().to_owned();
                name.push(format!(".{nth}"));
                PathBuf::from(name)
            };
            keep_under((1..=KEPT_MAX).map(name), path)?;
        }
        part.persist(path).map(|_| ()).map_err(|failed| failed.error)
    };
    write().map_err(|error: io::Error| cannot(path, &error))
}

/// Links a file under the first free name of `names`. Safe against other processes that do the same.
fn keep_under(mut names: impl Iterator<Item = PathBuf>, path: &Path) -> io::Result<()> {
    let tried = names.find_map(|name| match std::fs::hard_link(path, name) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
        tried => Some(tried),
    });
    tried.unwrap_or(Err(ErrorKind::AlreadyExists.into()))
}
