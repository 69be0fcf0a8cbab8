//! Replay lines of random searches, and the check of a report that a file gives. A report is text of others: its words
//! must be those of this program, and its replay lines are made anew, so no command line is printed that a file wrote.

use std::path::Path;

use crate::judge::Goal;
use crate::record::fingerprint;
use crate::report::{FuzzDisagreement, FuzzFinding, FuzzReport, FuzzRule, name};
use crate::runner;
use crate::scenario::Outside;

use super::fuzz::StyleWord;
use super::line::{choices, choices_word, outside_word, replay_line_in, shell_word};
use super::replay_spec::ReplaySpec;
use super::values::Generated;

/// What a random search runs.
pub(super) enum SearchSource<'a> {
    /// A scenario file, and whether its paths may leave its directory.
    File(&'a Path, Outside),
    /// Scenarios of the generator.
    Generated(Generated),
}

impl SearchSource<'_> {
    /// The command that repeats the run of a seed. A generated setup is in no file: its command searches the one seed, and
    /// writes a small scenario, unless that is `written` already.
    pub(super) fn replay(
        &self,
        (rule, style): (&str, StyleWord),
        (seed, choices): (u64, &[u32]),
        written: bool,
    ) -> String {
        match self {
            SearchSource::File(path, outside) => {
                let spec = ReplaySpec { seed: Some(seed), choices: Some(choices), ..ReplaySpec::default() };
                replay_line_in((path, *outside), rule, spec)
            }
            SearchSource::Generated(_) => {
                let out = if written { "" } else { " --out found" };
                format!("{}{out}", self.one_seed((rule, style), seed))
            }
        }
    }

    /// The command that judges the run of a seed twice.
    pub(super) fn replay_twice(&self, by: (&str, StyleWord), seed: u64) -> String {
        format!("{} --second-judge", self.one_seed(by, seed))
    }

    /// The command that searches one seed.
    fn one_seed(&self, (rule, style): (&str, StyleWord), seed: u64) -> String {
        let (what, outside) = match self {
            SearchSource::File(path, outside) => (shell_word(path), outside_word(*outside)),
            SearchSource::Generated(generated) => (format!("--generate {}", generated.preset(seed).name()), ""),
        };
        let (end, style) = (seed.saturating_add(1), style.name());
        format!("overlapsim fuzz {what} --seeds {seed}..{end} --strategy {style} --rule {rule}{outside}")
    }
}

/// The digest of what was run, as reports have it.
pub(super) fn digest(of: &str) -> String {
    format!("{:032x}", fingerprint(of.as_bytes()))
}

/// The presets that a report is about; none if it is about a scenario file. A file may have the name that generated
/// scenarios have in reports, but not their digest.
fn generated(report: &FuzzReport) -> Option<Generated> {
    let generated = Generated::from_name(report.source.strip_prefix("generated ")?)?;
    (report.digest == digest(generated.name())).then_some(generated)
}

/// A report that a file gives, with its replay lines made anew.
///
/// # Errors
/// The part of the report that this program would not have written.
pub(super) fn checked(mut report: FuzzReport) -> Result<FuzzReport, &'static str> {
    let style = StyleWord::from_name(&report.strategy).ok_or("its strategy is not known")?;
    let path = report.source.clone();
    let outside = if report.allow_outside { Outside::Allowed } else { Outside::Refused };
    let source = generated(&report).map_or(SearchSource::File(Path::new(&path), outside), SearchSource::Generated);
    for rule in &mut report.rules {
        check_rule(rule)?;
        for finding in &mut rule.findings {
            let FuzzFinding { kind, choices: word, seed, scenario, replay, .. } = finding;
            name::kind_from_name(kind).ok_or("a kind of finding is not known")?;
            let answers = known_choices(word)?;
            *replay = source.replay((&rule.rule, style), (*seed, &answers), scenario.is_some());
        }
        if let Some(FuzzDisagreement { choices, seed, replay, .. }) =
            rule.second_judge.as_mut().and_then(|second| second.disagreement.as_mut())
        {
            known_choices(choices)?;
            *replay = source.replay_twice((&rule.rule, style), *seed);
        }
    }
    Ok(report)
}

fn check_rule(rule: &FuzzRule) -> Result<(), &'static str> {
    runner::rule(&rule.rule).ok_or("a rule is not known")?;
    if let Some(bound) = &rule.bound {
        known_choices(&bound.choices)?;
    }
    let known = |goal: &String| Goal::ALL.iter().any(|of| of.name() == goal);
    if !rule.goals.iter().chain(&rule.goals_missed).all(known) {
        return Err("a goal is not known");
    }
    Ok(())
}

/// The choices of a word as this program writes it.
fn known_choices(word: &str) -> Result<Vec<u32>, &'static str> {
    let read = choices(word).map_err(|_| "a list of choices cannot be read")?.0;
    if choices_word(&read) == word { Ok(read) } else { Err("a list of choices is not as it is written") }
}
