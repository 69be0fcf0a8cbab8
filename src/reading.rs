//! Reads the files that a command line or a scenario names, each up to a stated number of bytes. Every read of an input
//! file goes through here, so that no path can hang the program or fill its memory.
//!
//! Accepted: regular files; and, if the command line names it, what a shell has already opened (`/dev/stdin`,
//! `/dev/fd/N`). Refused without being opened: FIFOs, devices, sockets and directories, and the files of `/proc` and
//! `/sys`, some of which have no end.

use std::fs::{File, Metadata};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Component, Path, PathBuf};

use crate::packed::Packed;

/// The most bytes of a scenario file.
pub const SCENARIO_BYTES_MAX: u64 = 256 * MIB;
/// The most bytes that are read of a trace.
pub const TRACE_BYTES_MAX: u64 = 1024 * MIB;
/// The most bytes of the report of a search.
pub const REPORT_BYTES_MAX: u64 = 64 * MIB;
/// The most bytes of a recording file, unpacked.
pub const RECORDING_BYTES_MAX: u64 = 16 * 1024 * MIB;

const MIB: u64 = 1 << 20;

/// Why a file cannot be read, in the same words on every system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// What is wrong, as the end of a sentence.
    pub why: String,
    /// What the user can do, if the reason tells.
    pub remedy: Option<&'static str>,
}

impl Unreadable {
    fn new(why: impl Into<String>) -> Unreadable {
        Unreadable { why: why.into(), remedy: None }
    }

    fn larger_than(most: u64) -> Unreadable {
        Unreadable::new(format!("it is larger than the {} MiB that are read", most / MIB))
    }
}

impl From<&io::Error> for Unreadable {
    fn from(error: &io::Error) -> Unreadable {
        match error.kind() {
            io::ErrorKind::NotFound => Unreadable::new("there is no such file"),
            io::ErrorKind::PermissionDenied => Unreadable::new("it may not be read"),
            io::ErrorKind::IsADirectory => Unreadable::new("it is a directory"),
            io::ErrorKind::OutOfMemory => Unreadable::new("there is not enough memory to read it"),
            io::ErrorKind::InvalidInput | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => {
                Unreadable::new("it is not the path of a file")
            }
            _ => Unreadable::new(error.to_string()),
        }
    }
}

/// The bytes of a file that the command line names. A compressed file is refused, with the command that unpacks it.
///
/// # Errors
/// The file cannot be read, is not a regular file, is compressed, or has more than `most` bytes.
pub fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, Unreadable> {
    let file = if is_open_already(path) { File::open(path).map_err(|error| (&error).into()) } else { regular(path) }?;
    if file.metadata().is_ok_and(|kind| kind.len() > most) {
        return Err(Unreadable::larger_than(most));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| Unreadable::from(&error))?;
    plain(bytes, most)
}

/// The first lines of a regular file, at most `lines_max`; as [`bytes`] otherwise.
///
/// # Errors
/// As [`bytes`], where these lines have more than `most` bytes.
pub fn first_lines(path: &Path, lines_max: usize, most: u64) -> Result<Vec<u8>, Unreadable> {
    let mut reader = BufReader::new(regular(path)?.take(most + 1));
    let mut bytes = Vec::new();
    for _ in 0..lines_max {
        if reader.read_until(b'\n', &mut bytes).map_err(|error| Unreadable::from(&error))? == 0 {
            break;
        }
    }
    plain(bytes, most)
}

fn plain(bytes: Vec<u8>, most: u64) -> Result<Vec<u8>, Unreadable> {
    match Packed::of(&bytes) {
        Some(packed) => Err(Unreadable { why: packed.name().into(), remedy: Some(packed.remedy()) }),
        None if bytes.len() as u64 > most => Err(Unreadable::larger_than(most)),
        None => Ok(bytes),
    }
}

/// Opens a regular file. It is not opened unless it is one: opening a FIFO waits for its writer.
///
/// # Errors
/// The file cannot be opened, or is of another kind.
pub fn regular(path: &Path) -> Result<File, Unreadable> {
    let failed = |error: io::Error| Unreadable::from(&error);
    checked(&std::fs::metadata(path).map_err(failed)?)?;
    let real = path.canonicalize().map_err(failed)?;
    if ["/proc", "/sys"].iter().any(|system| real.starts_with(system)) {
        return Err(Unreadable::new("it is a file of the system, not a regular file"));
    }
    let file = File::open(path).map_err(failed)?;
    checked(&file.metadata().map_err(failed)?)?;
    Ok(file)
}

fn checked(kind: &Metadata) -> Result<(), Unreadable> {
    match kind.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(Unreadable::new("it is a directory")),
        _ => Err(Unreadable::new("it is not a regular file")),
    }
}

/// Whether a path names what the shell has opened for this process: standard input, or `<(command)`.
fn is_open_already(path: &Path) -> bool {
    path == Path::new("/dev/stdin")
        || path.parent().is_some_and(|of| of == Path::new("/dev/fd") || of == Path::new("/proc/self/fd"))
}

/// The path of a file that a file in `folder` names, if it is in that directory or below, symbolic links resolved.
///
/// # Errors
/// The file is elsewhere, or cannot be found.
pub fn inside(folder: &Path, named: &Path) -> Result<PathBuf, Unreadable> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let outside = || Unreadable {
        why: "it is outside the directory of the scenario, or is not written as a path from there".into(),
        remedy: Some("move it there and write `NAME` or `FOLDER/NAME`, or allow it with --allow-outside"),
    };
    // A path that leaves by its spelling is refused before the disk is asked whether it exists.
    let mut depth = 0_i64;
    for part in named.components() {
        depth += match part {
            Component::Prefix(_) | Component::RootDir => return Err(outside()),
            Component::ParentDir => -1,
            Component::CurDir => 0,
            Component::Normal(_) => 1,
        };
        if depth < 0 {
            return Err(outside());
        }
    }
    let real = |path: &Path| path.canonicalize().map_err(|error| Unreadable::from(&error));
    let path = folder.join(named);
    if real(&path)?.starts_with(real(here)?) { Ok(path) } else { Err(outside()) }
}

/// Whether a regular file has this content, and no more.
pub fn holds(path: &Path, content: &[u8]) -> bool {
    let same_len = |there: Metadata| there.len() == content.len() as u64;
    let mut there = Vec::new();
    let read = |file: File| file.take(content.len() as u64 + 1).read_to_end(&mut there).is_ok();
    std::fs::metadata(path).is_ok_and(same_len) && regular(path).is_ok_and(read) && there == content
}
