//! `completions` and `man`: what the command line says of itself, to standard output or to a directory.

use std::path::Path;

use super::finding::OutDir;
use super::output::{Exit, Failure, print};

/// Prints a script with which a shell completes command lines.
///
/// # Errors
/// Output that cannot be written.
pub fn completions(script: &str) -> Result<Exit, Failure> {
    print(script)?;
    Ok(Exit::Good)
}

/// Writes man pages, given by the names of their files, to a directory that is made if it is not there, and says how
/// many.
///
/// # Errors
/// A directory that cannot be made or written.
pub fn man(directory: &Path, pages: &[(String, String)]) -> Result<Exit, Failure> {
    let out = OutDir::new(directory)?;
    for (name, page) in pages {
        out.write(name, page)?;
    }
    print(&format!("{}: {} man pages written\n", directory.display(), pages.len()))?;
    Ok(Exit::Good)
}
