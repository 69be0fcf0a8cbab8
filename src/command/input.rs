//! What a command line names: the scenario file and the rules.

use std::path::Path;

use crate::model::Rule;
use crate::report::style::from_sgr;
use crate::runner;
use crate::scenario::{self, Outside, Scenario};

use super::mistake::no_rule;
use super::output::Failure;

/// What a scenario file may name beside itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct OutsidePaths {
    /// Let the paths in a scenario lead outside its directory: give it only for files that you trust
    #[arg(long)]
    pub allow_outside: bool,
}

/// Reads a scenario file.
pub(super) fn load(path: &Path, outside: OutsidePaths) -> Result<Scenario, Failure> {
    let outside = if outside.allow_outside { Outside::Allowed } else { Outside::Refused };
    scenario::load_with(path, &runner::rule_names(), outside)
        .map_err(|diagnostic| Failure(from_sgr(&diagnostic.render(true))))
}

/// The rules that `--rule` names; without it the scenario's own rule, or the default.
pub(super) fn rules(scenario: &Scenario, asked: Option<&str>) -> Result<Vec<&'static dyn Rule>, Failure> {
    let names = asked.or(scenario.rule.as_deref()).unwrap_or(runner::DEFAULT_RULE);
    let release = scenario.setup.engine.release;
    listed(names, |name| runner::rule_or_release(name, release).ok_or_else(|| no_rule(name, &["all", "release"])))
}

/// The warning where neither the command line nor the file names a rule: which rule runs, and which one the scenario's
/// release shipped with.
pub(super) fn unnamed_rule(scenario: &Scenario, asked: Option<&str>) -> Option<String> {
    if asked.is_some() || scenario.rule.is_some() {
        return None;
    }
    let release = scenario.setup.engine.release;
    let shipped = runner::release_rule(release).name();
    let default = runner::DEFAULT_RULE;
    (shipped != default).then(|| {
        let version = release.version();
        format!("no rule named: {default} ran. Release {version} shipped {shipped}: --rule release")
    })
}

/// The rules in a comma-separated list of names, in the order of [`all_rules`], each once; `all` stands for every rule.
///
/// # Errors
/// The error of `rule` for a name that is not a rule.
pub(super) fn listed(
    names: &str,
    rule: impl Fn(&str) -> Result<&'static dyn Rule, Failure>,
) -> Result<Vec<&'static dyn Rule>, Failure> {
    let mut wanted = Vec::new();
    for name in names.split(',').map(str::trim) {
        match name {
            "all" => wanted.extend(runner::rule_names()),
            name => wanted.push(rule(name)?.name()),
        }
    }
    Ok(all_rules().into_iter().filter(|rule| wanted.contains(&rule.name())).collect())
}

/// Every rule.
pub(super) fn all_rules() -> Vec<&'static dyn Rule> {
    runner::rule_names().into_iter().filter_map(runner::rule).collect()
}
