//! `completions` and `man`: the shell script to standard output, the man pages to a directory.

use std::path::Path;

use crate::escape;

use super::finding::OutDir;
use super::output::{Exit, Failure, print};

/// Prints the script that completes command lines in a shell.
///
/// # Errors
/// Output that cannot be written.
pub fn completions(script: &str) -> Result<Exit, Failure> {
    print(script)?;
    Ok(Exit::Good)
}

/// Writes man pages, given with their file names, to a directory, and prints their number. The directory is created if
/// it does not exist.
///
/// # Errors
/// A directory that cannot be created or written.
pub fn man(directory: &Path, pages: &[(String, String)]) -> Result<Exit, Failure> {
    let out = OutDir::new(directory)?;
    for (name, page) in pages {
        out.write(name, page)?;
    }
    print(&format!("{}: {} man pages written\n", escape::path(directory), pages.len()))?;
    Ok(Exit::Good)
}
