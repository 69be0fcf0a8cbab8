//! A directory of a test, and the program run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory that is removed when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    /// An empty directory. Tests of one program that run at once give it different names.
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("overlapsim-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory can be made");
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file and returns its path.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file can be written");
        path
    }

    /// Runs the program there.
    pub fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_overlapsim"))
            .args(args)
            .current_dir(&self.0)
            .output()
            .expect("the program runs")
    }

    /// The names of the files in a directory below, in order.
    pub fn names(&self, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(below)).expect("a directory that can be listed");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
