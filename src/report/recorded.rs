//! The verdicts of recordings by their recorded contents: the number of each verdict and its first recording, as text and JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use crate::conform::RecordedVerdict;
use crate::judge::Verdict;

use super::RecordingKey;
use super::{name, style};

/// All verdicts, from best to worst.
const ALL: [Verdict; 5] = [Verdict::Clean, Verdict::Lossy, Verdict::Inconclusive, Verdict::Corrupt, Verdict::Broken];

/// The verdicts that a text always has, from best to worst.
const NAMED: [Verdict; 4] = [Verdict::Clean, Verdict::Lossy, Verdict::Corrupt, Verdict::Broken];

/// Recordings by their verdicts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedVerdicts {
    of: BTreeMap<Verdict, Counted>,
    /// All verdicts that an event of a recording shows.
    shown: BTreeSet<Verdict>,
    /// Recordings without contents of slots.
    unknown: u64,
}

/// Recordings of one verdict.
#[derive(Clone, Debug, PartialEq)]
struct Counted {
    recordings: u64,
    /// The first recording with a fault, in the order of the command line.
    first: Option<(RecordingKey, First)>,
}

/// The event of a recording that shows its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct First {
    recording: String,
    line: u64,
    reason: String,
}

impl RecordedVerdicts {
    /// Adds the verdict of a recording.
    pub(super) fn add(&mut self, key: RecordingKey, recording: &str, recorded: RecordedVerdict) {
        let RecordedVerdict { verdict, shown, all } = recorded;
        self.shown.extend(all);
        let Some(verdict) = verdict else {
            self.unknown += 1;
            return;
        };
        let first = shown.map(|shown| {
            let recording = recording.to_string();
            (key, First { recording, line: shown.line, reason: shown.reason })
        });
        self.count(verdict, Counted { recordings: 1, first });
    }

    /// Adds the verdicts of other recordings.
    pub(super) fn merge(&mut self, other: RecordedVerdicts) {
        let RecordedVerdicts { of, shown, unknown } = other;
        self.shown.extend(shown);
        self.unknown += unknown;
        for (verdict, counted) in of {
            self.count(verdict, counted);
        }
    }

    fn count(&mut self, verdict: Verdict, more: Counted) {
        let sum = self.of.entry(verdict).or_insert(Counted { recordings: 0, first: None });
        sum.recordings += more.recordings;
        sum.first = match (sum.first.take(), more.first) {
            (Some(one), Some(other)) => Some(if other.0 < one.0 { other } else { one }),
            (one, other) => one.or(other),
        };
    }

    /// All verdicts that events of recordings show: an inconclusive recording may have lost a checkpoint before.
    pub fn shown(&self) -> impl Iterator<Item = Verdict> {
        self.shown.iter().copied()
    }

    /// The number of recordings with a verdict.
    pub fn recordings(&self, verdict: Verdict) -> u64 {
        self.of.get(&verdict).map_or(0, |counted| counted.recordings)
    }

    /// The text; empty if no recording could be read.
    pub(super) fn text(&self, out: &mut String) {
        if self.of.is_empty() && self.unknown == 0 {
            return;
        }
        let named = |verdict: &Verdict| NAMED.contains(verdict) || self.recordings(*verdict) > 0;
        let count = |verdict: Verdict| format!("{} {}", self.recordings(verdict), style::verdict(verdict));
        let mut counts: Vec<String> =
            if self.of.is_empty() { Vec::new() } else { ALL.into_iter().filter(named).map(count).collect() };
        if self.unknown > 0 {
            counts.push(format!("{} without contents", self.unknown));
        }
        let _ = writeln!(out, "by their own contents: {}", counts.join(", "));
        for (verdict, counted) in &self.of {
            if let Some((_, First { recording, line, reason })) = &counted.first {
                let verdict = style::verdict(*verdict);
                let _ = writeln!(out, "  first {verdict}: {recording} at line {line}: {}", reason.escape_debug());
            }
        }
    }

    /// For JSON.
    pub(super) fn json(&self) -> BTreeMap<&'static str, CountedJson<'_>> {
        let of = |verdict: Verdict| {
            let first = self.of.get(&verdict).and_then(|counted| counted.first.as_ref()).map(|(_, first)| first);
            (name::verdict(verdict), CountedJson { recordings: self.recordings(verdict), first })
        };
        let unknown = CountedJson { recordings: self.unknown, first: None };
        ALL.into_iter().map(of).chain([("without_contents", unknown)]).collect()
    }
}

/// Recordings of one verdict.
#[derive(Serialize)]
pub(super) struct CountedJson<'a> {
    recordings: u64,
    first: Option<&'a First>,
}
