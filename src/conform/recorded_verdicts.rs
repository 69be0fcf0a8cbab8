//! The verdicts of recordings by their own contents, added up: how many recordings have each verdict, and the first that shows it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::judge::Verdict;

use super::recorded::RecordedVerdict;
use super::summary::RecordingKey;

/// Recordings by their verdicts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedVerdicts {
    of: BTreeMap<Verdict, Counted>,
    /// All verdicts that an event of a recording shows.
    shown: BTreeSet<Verdict>,
    /// Recordings that do not say what slots held.
    unknown: u64,
}

/// Recordings of one verdict.
#[derive(Clone, Debug, PartialEq)]
struct Counted {
    recordings: u64,
    /// The first in the order of the command line that shows a fault.
    first: Option<(RecordingKey, FirstShown)>,
}

/// Where a recording shows its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FirstShown {
    /// File and place of the recording.
    pub recording: String,
    /// The line of the event, from 1.
    pub line: u64,
    /// The fault in words.
    pub reason: String,
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
            (key, FirstShown { recording, line: shown.line, reason: shown.reason })
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

    /// All verdicts that an event of a recording shows: one that ends inconclusive may have lost a checkpoint before.
    pub fn shown(&self) -> impl Iterator<Item = Verdict> {
        self.shown.iter().copied()
    }

    /// How many recordings have a verdict.
    pub fn recordings(&self, verdict: Verdict) -> u64 {
        self.of.get(&verdict).map_or(0, |counted| counted.recordings)
    }

    /// Whether no recording was added.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty() && self.unknown == 0
    }

    /// Recordings that do not say what slots held.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// The first recording in the order of the command line that shows a fault of this verdict.
    pub fn first(&self, verdict: Verdict) -> Option<&FirstShown> {
        self.of.get(&verdict).and_then(|counted| counted.first.as_ref()).map(|(_, first)| first)
    }
}
