//! Replay lines of random searches, and the check of a report that a file gives. A report is text of others: its words
//! must be those of this program, and its replay lines are made anew, so no command line is printed that a file wrote.

use std::path::Path;

use crate::judge::Goal;
use crate::record::fingerprint;
use crate::report::{FuzzFinding, FuzzReport, FuzzRule, name};
use crate::runner;
use crate::scenario::Outside;
use crate::workload::Preset;

use super::fuzz::StyleWord;
use super::line::{choices, choices_word, outside_word, replay_line};
use super::replay_spec::ReplaySpec;

/// What a random search runs.
pub(super) enum SearchSource<'a> {
    /// A scenario file, and whether its paths may leave its directory.
    File(&'a Path, Outside),
    /// Scenarios of the generator.
    Generated(Preset),
}

impl SearchSource<'_> {
    /// The command that replays the run of a seed. `written` is the file of the shrunk scenario.
    pub(super) fn replay(
        &self,
        (rule, style): (&str, StyleWord),
        (seed, choices): (u64, &[u32]),
        written: Option<&str>,
    ) -> String {
        match (self, written) {
            (SearchSource::File(path, outside), _) => {
                let spec = ReplaySpec { seed: Some(seed), choices: Some(choices), ..ReplaySpec::default() };
                format!("{}{}", replay_line(path, rule, spec), outside_word(*outside))
            }
            // A generated setup is in no other file.
            (SearchSource::Generated(_), Some(path)) => replay_line(Path::new(path), rule, ReplaySpec::default()),
            (SearchSource::Generated(preset), None) => {
                let (preset, end, style) = (preset.name(), seed.saturating_add(1), style.name());
                format!(
                    "overlapsim fuzz --generate {preset} --seeds {seed}..{end} --strategy {style} --rule {rule} --out found"
                )
            }
        }
    }
}

/// The digest of what was run, as reports have it.
pub(super) fn digest(of: &str) -> String {
    format!("{:032x}", fingerprint(of.as_bytes()))
}

/// The preset that a report is about; none if it is about a scenario file. A file may have the name that generated
/// scenarios have in reports, but not their digest.
fn preset(report: &FuzzReport) -> Option<Preset> {
    let preset = Preset::from_name(report.source.strip_prefix("generated ")?)?;
    (report.digest == digest(preset.name())).then_some(preset)
}

/// A report that a file gives, with its replay lines made anew. A line never has `--allow-outside`: whether a scenario may
/// read files elsewhere is not for a report to say.
///
/// # Errors
/// The part of the report that this program would not have written.
pub(super) fn checked(mut report: FuzzReport) -> Result<FuzzReport, &'static str> {
    let style = StyleWord::from_name(&report.strategy).ok_or("its strategy is not known")?;
    let path = report.source.clone();
    let source =
        preset(&report).map_or(SearchSource::File(Path::new(&path), Outside::Refused), SearchSource::Generated);
    for rule in &mut report.rules {
        check_rule(rule)?;
        for finding in &mut rule.findings {
            let FuzzFinding { kind, choices: word, seed, scenario, replay, .. } = finding;
            name::kind_from_name(kind).ok_or("a kind of finding is not known")?;
            let answers = known_choices(word)?;
            *replay = source.replay((&rule.rule, style), (*seed, &answers), scenario.as_deref());
        }
    }
    Ok(report)
}

fn check_rule(rule: &FuzzRule) -> Result<(), &'static str> {
    runner::rule(&rule.rule).ok_or("a rule is not known")?;
    if rule.verdict != name::verdict(rule.verdicts.worst()) {
        return Err("a verdict is not the worst of its runs");
    }
    let runs = rule.verdicts.all().into_iter().try_fold(0, |sum: u64, (_, runs)| sum.checked_add(runs));
    if runs != Some(rule.runs) {
        return Err("the runs of a rule are not those of its verdicts");
    }
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
