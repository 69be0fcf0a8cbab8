//! Files, written whole or not at all: each under a name of its own in the directory of its target first, which then becomes the right
//! one. Owns these names. Such a name is random and is taken only if it is free, so that processes of any number of machines and
//! containers can write one directory; what a killed process leaves under one is read by nothing and is in nothing's spec.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::output::Failure;

/// Most files that are kept when others take their name.
const KEPT_MAX: u32 = 1000;

/// Creates a file under a name of its own, which goes away with the value unless it gets another name.
fn part_in(directory: &Path) -> io::Result<NamedTempFile<File>> {
    // By the usual permissions, where the crate would let no other user read it.
    Builder::new()
        .prefix(".overlapsim-")
        .suffix(".part")
        .rand_bytes(16)
        .make_in(directory, |path| File::create_new(path))
}

/// Whether files can be written in a directory, which is asked before long work.
pub(super) fn is_writable(directory: &Path) -> io::Result<()> {
    part_in(directory)?.close()
}

/// The directory of a file.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a text under a name of its own, where it gets all the way to the disk: some file systems report only then that it does not fit.
fn part_of(path: &Path, text: &str) -> io::Result<NamedTempFile<File>> {
    let mut part = part_in(directory_of(path))?;
    part.as_file_mut().write_all(text.as_bytes())?;
    part.as_file().sync_all()?;
    Ok(part)
}

/// What stands in the way of a file of this path, if that can be seen before it is written.
fn checked(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
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
        let directory = directory.display();
        return Err(Failure(format!(
            "error: cannot write {shown}: there is no directory {directory}\nhelp: create it first, or give another path\n"
        )));
    }
    Ok(())
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    let help = "help: give a path in a writable directory";
    Failure(format!("error: cannot write {}: {error}\n{help}\n", path.display()))
}

/// Writes a file whole or not at all. A file that is there is replaced.
pub(super) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    checked(path)?;
    let written = part_of(path, text).and_then(|part| part.persist(path).map_err(|failed| failed.error));
    written.map(|_| ()).map_err(|error| cannot(path, &error))
}

/// Writes a file whole or not at all, unless another one has its name: then says no. A file with the same text is the same file.
pub(super) fn write_new_file(path: &Path, text: &str) -> Result<bool, Failure> {
    let is_same = || std::fs::read(path).is_ok_and(|there| there == text.as_bytes());
    if path.symlink_metadata().is_ok() {
        return Ok(is_same());
    }
    checked(path)?;
    let part = part_of(path, text).map_err(|error| cannot(path, &error))?;
    match part.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists => Ok(is_same()),
        // Some file systems have no rename that spares what is there: then the name is taken first, and filled.
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

/// Writes a file whole or not at all. A file that is there with another text is kept, under the first free name of `NAME.1`, `NAME.2`, ..
pub(super) fn write_file_and_keep(path: &Path, text: &str) -> Result<(), Failure> {
    checked(path)?;
    let write = || {
        let part = part_of(path, text)?;
        if std::fs::read(path).is_ok_and(|there| there != text.as_bytes()) {
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

/// Gives a file a second name: the first of `names` that no other file has, whoever else looks for one.
fn keep_under(mut names: impl Iterator<Item = PathBuf>, path: &Path) -> io::Result<()> {
    let tried = names.find_map(|name| match std::fs::hard_link(path, name) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
        tried => Some(tried),
    });
    tried.unwrap_or(Err(ErrorKind::AlreadyExists.into()))
}
