//! Options that several commands share, and the value parsers of all options: how a value is read, and the error for a
//! wrong one.

use std::ffi::OsStr;
use std::ops::RangeInclusive;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};

use crate::model::Vary;
use crate::runner::preset_of;
use crate::scenario::{CostSide, cost_preset_summaries, time_ns};
use crate::workload::Preset;

use super::fail_on::FailOn;
use super::line::{Choices, choices, vary};
use super::mistake::hint;

/// Answers to the open questions of a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Answers {
    /// Answers to the questions that the scenario's `vary` opens, in the order in which they are asked, as in 0.2.1 or
    /// 0x12, twelve times 0 (`-` for an empty list). After the last answer the run follows the script. Without --seed
    /// every duration is the shortest, as in `check`
    #[arg(long, value_name = "LIST", value_parser = choices, allow_hyphen_values = true)]
    pub choices: Option<Choices>,
    /// The questions that --choices answers, in place of the scenario's `vary`: names with commas between, as in
    /// arrivals,stops, or all
    #[arg(long, value_name = "NAMES", requires = "choices", value_parser = vary)]
    pub vary: Option<Vary>,
}

/// Which verdicts make the exit code 1.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct FailOnVerdict {
    /// The least severe verdict for which the exit code is 1
    #[arg(long = "fail-on", value_name = "VERDICT", value_enum, default_value_t = FailOn::Corrupt)]
    pub verdict: FailOn,
}

/// A number of threads.
pub(super) fn jobs() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u16).range(1..=1024).map(usize::from)
}

/// `A..B`, both included, or a single turn.
pub(super) fn turns(text: &str) -> Result<RangeInclusive<u32>, String> {
    let help = "give one turn such as 3, or the first and the last as in 3..4";
    let number =
        |text: &str| text.parse::<u32>().map_err(|_| hint(&format!("`{text}` is not the number of a turn"), help));
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let (from, to) = (number(from)?, number(to.strip_prefix('=').unwrap_or(to))?);
    if from <= to { Ok(from..=to) } else { Err(hint("the first turn comes after the last", help)) }
}

/// A whole number from 0.
pub(super) fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| hint("not a whole number from 0 to 18446744073709551615", "give a number such as 7"))
}

/// The number of a finding.
pub(super) fn finding(text: &str) -> Result<usize, String> {
    let help = "give the number that `run` prints before the finding, such as 1";
    text.parse().map_err(|_| hint("not the number of a finding", help))
}

/// The end of seeds without an end.
pub(super) const SEEDS_END: u64 = u64::MAX;

/// `A..B`, B not included, or `A..` for all seeds from A on.
pub(super) fn seeds(text: &str) -> Result<(u64, u64), String> {
    let help = "give the first seed and the end, which is excluded, as in 0..1000";
    let number = |text: &str| text.parse::<u64>().map_err(|_| hint(&format!("`{text}` is not a seed"), help));
    let (from, to) = text.split_once("..").ok_or_else(|| hint("this is a single number", help))?;
    let ends = !to.is_empty();
    let (from, to) = (number(from)?, if ends { number(to)? } else { SEEDS_END });
    if ends && to == SEEDS_END {
        return Err(hint("the end is too large", "the end is at most 2^64 - 2"));
    }
    if from < to { Ok((from, to)) } else { Err(hint("the range is empty", help)) }
}

/// `80x24`.
pub(super) fn size(text: &str) -> Result<(u16, u16), String> {
    let number = |text: &str| text.parse::<u16>().ok().filter(|number| (1..=1000).contains(number));
    let numbers = text.split_once('x').and_then(|(width, height)| number(width).zip(number(height)));
    numbers
        .ok_or_else(|| hint(&format!("`{text}` is not a size"), "give columns and rows, 1 to 1000 each, as in 80x24"))
}

/// A time in nanoseconds.
pub(super) fn time(text: &str) -> Result<u64, String> {
    time_ns(text).map_err(|why| hint(&format!("`{text}` {why}"), "give a time such as 30s or 500ms"))
}

/// The presets of generated scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generated {
    /// One preset.
    Of(Preset),
    /// All presets in turn, seed by seed.
    All,
}

impl Generated {
    const ALL: &'static str = "all";

    /// The presets of this word.
    pub(super) fn from_name(name: &str) -> Option<Generated> {
        if name == Generated::ALL { Some(Generated::All) } else { Preset::from_name(name).map(Generated::Of) }
    }

    /// The preset from which the scenario of a seed is drawn.
    pub(super) fn preset(self, seed: u64) -> Preset {
        match self {
            Generated::Of(preset) => preset,
            Generated::All => preset_of(seed),
        }
    }

    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Generated::Of(preset) => preset.name(),
            Generated::All => Generated::ALL,
        }
    }
}

/// The presets, with what each draws, and `all`.
pub(super) fn generated() -> impl TypedValueParser<Value = Generated> {
    let presets = Preset::ALL.map(|preset| PossibleValue::new(preset.name()).help(preset.summary()));
    let all = PossibleValue::new(Generated::ALL).help("the others in turn, seed by seed");
    let of = |name: String| Generated::from_name(&name).expect("only known names are accepted");
    PossibleValuesParser::new(presets.into_iter().chain([all])).map(of)
}

/// The name of a cost preset. Help and completions list the presets; the command gives the error for another name.
#[derive(Clone)]
pub(super) struct CostPresetName(pub(super) CostSide);

impl TypedValueParser for CostPresetName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |(name, summary): (&'static str, &'static str)| PossibleValue::new(name).help(summary);
        Some(Box::new(cost_preset_summaries(self.0).into_iter().map(value)))
    }
}
