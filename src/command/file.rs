//! Atomic writes: a file is written under a temporary name in the directory of its target, and then renamed. Temporary
//! names are random and taken only if free, so processes on several machines can write to one directory. A signal deletes
//! the temporary file ([`Part`]); a process that is killed outright may leave one behind, which no command reads.
//!
//! A file that is replaced keeps its permissions and, where the system lets it, its owner and group. A read-only file is
//! not replaced.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use crate::escape;
use crate::reading;

use super::interrupt::Part;
use super::output::Failure;

/// The most old versions of a file that are kept under other names.
const KEPT_MAX: u32 = 1000;

/// Creates a temporary file in a directory; it is to become `target`.
fn part_in(directory: &Path, target: &Path) -> io::Result<Part> {
    // With the usual permissions: the crate's own would let no other user read the file.
    let create = || {
        let mut name = Builder::new();
        name.prefix(".overlapsim-").suffix(".part").rand_bytes(16);
        name.make_in(directory, |path| File::create_new(path))
    };
    Part::new(target, create)
}

/// Whether files can be written in a directory. Checked before long work.
pub(super) fn is_writable(directory: &Path) -> io::Result<()> {
    part_in(directory, directory).map(drop)
}

/// The directory of a file.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a text to a temporary file and syncs it to the disk: some file systems report a full disk only then. The file
/// gets owner and permissions of the file that is there.
fn part_of(path: &Path, text: &str) -> io::Result<Part> {
    let mut part = part_in(directory_of(path), path)?;
    let file = part.file();
    if let Ok(there) = path.symlink_metadata() {
        keep_owner(file, &there);
        file.set_permissions(there.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(part)
}

/// Gives a file owner and group of another, as far as this user may.
#[cfg(unix)]
fn keep_owner(file: &File, there: &Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let is_same = |new: &Metadata| (new.uid(), new.gid()) == (there.uid(), there.gid());
    if !file.metadata().is_ok_and(|new| is_same(&new)) && fchown(file, Some(there.uid()), Some(there.gid())).is_err() {
        let _ = fchown(file, None, Some(there.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

/// The error for a path at which no file can be written, as far as it shows before writing.
fn checked(path: &Path) -> Result<(), Failure> {
    let shown = escape::path(path);
    let refused = |why: &str, help: &str| Err(Failure(format!("error: {shown} {why}\nhelp: {help}\n")));
    if path.file_name().is_none() {
        return refused("is not the name of a file", "give the path of a file");
    }
    let there = path.symlink_metadata();
    if there.as_ref().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return refused("is not a regular file", "give another path");
    }
    if path.is_dir() {
        return refused("is a directory", "give the path of a file");
    }
    let directory = directory_of(path);
    if !directory.is_dir() {
        let directory = escape::path(directory);
        return Err(Failure(format!(
            "error: cannot write {shown}: there is no directory {directory}\nhelp: create it first, or give another path\n"
        )));
    }
    // A rename would replace it all the same.
    let is_refused =
        || OpenOptions::new().write(true).open(path).is_err_and(|error| error.kind() != ErrorKind::NotFound);
    if there.is_ok_and(|there| there.permissions().readonly() || is_refused()) {
        return refused("is read-only and is not replaced", "give another path, make it writable, or remove it");
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
    let written = part_of(path, text).and_then(|part| part.rename(|part| part.persist(path)));
    written.map_err(|error| cannot(path, &error))
}

/// As [`write_file`], for a path that the user names: of a symbolic link the target is replaced, and the link stays.
pub(super) fn write_named_file(path: &Path, text: &str) -> Result<(), Failure> {
    write_file(&named_target(path)?, text)
}

/// The error of [`write_named_file`], as far as it shows before work whose result is to be written.
pub(super) fn check_named_file(path: &Path) -> Result<(), Failure> {
    checked(&named_target(path)?)
}

/// The file that a path of the user leads to.
fn named_target(path: &Path) -> Result<PathBuf, Failure> {
    // The links in /dev lead to what this process has open.
    if !path.is_symlink() || path.starts_with("/dev") {
        return Ok(path.to_path_buf());
    }
    path.canonicalize().map_err(|_| {
        let help = "help: give another path, or remove the link";
        Failure(format!("error: {} is a link to a file that does not exist\n{help}\n", escape::path(path)))
    })
}

/// Writes a file atomically unless the path is taken. Returns false if a file with another text has the path.
pub(super) fn write_new_file(path: &Path, text: &str) -> Result<bool, Failure> {
    let is_same = || reading::holds(path, text.as_bytes());
    if path.symlink_metadata().is_ok() {
        return Ok(is_same());
    }
    checked(path)?;
    let renamed = part_of(path, text).and_then(|part| {
        part.rename(|part| match part.persist_noclobber(path) {
            Err(failed) if failed.error.kind() != ErrorKind::AlreadyExists => {
                // Some file systems have no rename that keeps an existing file: then an empty file takes the name first.
                match File::create_new(path) {
                    Ok(_) => failed.file.persist(path).inspect_err(|_| drop(std::fs::remove_file(path))),
                    Err(error) => Err(tempfile::PersistError { error, file: failed.file }),
                }
            }
            tried => tried,
        })
    });
    match renamed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(is_same()),
        Err(error) => Err(cannot(path, &error)),
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
        part.rename(|part| part.persist(path))
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
