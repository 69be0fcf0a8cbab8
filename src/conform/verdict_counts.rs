//! How many recordings have each verdict by their own contents, and the first recording of each.

use std::collections::{BTreeMap, BTreeSet};

use crate::judge::Verdict;

use super::recorded_verdict::{Evidence, RecordedVerdict};
use super::summary::RecordingKey;

/// Recordings by their verdicts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerdictCounts {
    by_verdict: BTreeMap<Verdict, Count>,
    /// All verdicts that an event of a recording shows.
    shown: BTreeSet<Verdict>,
    /// Recordings that do not say what slots held.
    without_contents: u64,
}

/// Recordings of one verdict.
#[derive(Clone, Debug, PartialEq)]
struct Count {
    recordings: u64,
    /// The first recording in the order of the command line that shows a fault.
    first: Option<(RecordingKey, FirstRecording)>,
}

/// A recording with the event that shows its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstRecording {
    /// The file, and the recording's index in it.
    pub recording: String,
    /// The event.
    pub evidence: Evidence,
}

impl VerdictCounts {
    /// Adds the verdict of a recording.
    pub(super) fn add(&mut self, key: RecordingKey, recording: &str, recorded: RecordedVerdict) {
        let RecordedVerdict { verdict, evidence, all } = recorded;
        self.shown.extend(all);
        let Some(verdict) = verdict else {
            self.without_contents += 1;
            return;
        };
        let first = evidence.map(|evidence| (key, FirstRecording { recording: recording.to_string(), evidence }));
        self.count(verdict, Count { recordings: 1, first });
    }

    /// Adds the verdicts of other recordings.
    pub(super) fn merge(&mut self, other: VerdictCounts) {
        let VerdictCounts { by_verdict, shown, without_contents } = other;
        self.shown.extend(shown);
        self.without_contents += without_contents;
        for (verdict, count) in by_verdict {
            self.count(verdict, count);
        }
    }

    fn count(&mut self, verdict: Verdict, more: Count) {
        let sum = self.by_verdict.entry(verdict).or_insert(Count { recordings: 0, first: None });
        sum.recordings += more.recordings;
        sum.first = match (sum.first.take(), more.first) {
            (Some(one), Some(other)) => Some(if other.0 < one.0 { other } else { one }),
            (one, other) => one.or(other),
        };
    }

    /// All verdicts that an event of a recording shows. An inconclusive recording may have lost a checkpoint as well.
    pub fn shown(&self) -> impl Iterator<Item = Verdict> {
        self.shown.iter().copied()
    }

    /// How many recordings have a verdict.
    pub fn recordings(&self, verdict: Verdict) -> u64 {
        self.by_verdict.get(&verdict).map_or(0, |count| count.recordings)
    }

    /// The first recording that has a verdict and shows it by an event.
    pub fn first(&self, verdict: Verdict) -> Option<&FirstRecording> {
        self.by_verdict.get(&verdict)?.first.as_ref().map(|(_, first)| first)
    }

    /// Whether any recording has a verdict.
    pub fn has_verdicts(&self) -> bool {
        !self.by_verdict.is_empty()
    }

    /// How many recordings have no verdict, because they do not say what slots held.
    pub fn without_contents(&self) -> u64 {
        self.without_contents
    }
}
