//! Small setups, each of which shows if one field is left out of a state, or one condition of a reduction is dropped. The
//! first comment of a file says which.

use std::path::{Path, PathBuf};

use overlapsim::runner;
use overlapsim::scenario::{self, Scenario};

use super::features::Case;
use super::futures::look;
use super::reduction::compare;

/// Most states of each when nothing is left out.
const STATES_MAX: u64 = 1000;

/// The files, by name.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/search");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn what_each_setup_is_for_is_told_apart() {
    let files = files();
    assert!(!files.is_empty());
    for file in files {
        let Scenario { setup, vary, rule, title, .. } =
            scenario::load(&file, &runner::rule_names()).unwrap_or_else(|error| panic!("{error:?}"));
        assert!(!title.is_empty(), "{} says what it is for", file.display());
        let rule = runner::rule(rule.as_deref().unwrap_or(setup.engine.release.rule())).expect("a rule");
        let case = Case { setup: &setup, rule, vary };
        let name = file.display().to_string();
        let compared = compare(&name, &case, STATES_MAX);
        assert!(compared.is_some_and(|it| it.literal.is_some()), "{name} is too large");
        assert!(look(&name, &case, STATES_MAX as usize).is_some(), "{name} is too large");
    }
}
