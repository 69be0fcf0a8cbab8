//! What a command compared: counts over recordings, the recordings that differ, and the files that could not be read.

use std::collections::BTreeMap;

use super::divergence::{Compared, Divergence};
use super::lines::RecordingError;
use super::verdict_counts::VerdictCounts;

/// A recording by the index of its file on the command line and its index in the file. Results are put in this order.
pub type RecordingKey = (usize, usize);

/// A recording that differs from the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Differing {
    /// The file, and the recording's index in it.
    pub recording: String,
    /// The command that compares it again.
    pub replay: String,
    /// The first difference in a field that later events depend on; without one, the first in an independent field.
    pub divergence: Divergence,
    /// It differs only in independent fields.
    pub agrees_otherwise: bool,
    /// Settings of other releases each of which alone makes it agree. Only the first differing recordings are tried.
    pub agrees_with: Vec<String>,
    /// The settings of other releases were tried on this recording.
    pub tried: bool,
}

/// Counts over all recordings. They do not depend on how the recordings were distributed over threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConformSummary {
    /// Recordings that could be read.
    pub recordings: u64,
    /// Recordings that agree.
    pub agree: u64,
    /// Of these, the ones compared only up to lost lines.
    pub agree_in_part: u64,
    /// The verdicts of the recordings by their own contents.
    pub recorded: VerdictCounts,
    /// Events that agree, by kind.
    pub compared: BTreeMap<String, u64>,
    /// Differences in independent fields, by event and field.
    pub observed: BTreeMap<String, u64>,
    /// Events and fields that could not be compared, by name.
    pub unchecked: BTreeMap<String, u64>,
    /// Recordings by the implementation of the radix tree that they name.
    pub tree_cores: BTreeMap<String, u64>,
    /// Notes for the user, and how many recordings each is about.
    pub notes: BTreeMap<String, u64>,
    /// The recordings that differ.
    pub differing: Vec<(RecordingKey, Differing)>,
    /// Files and recordings that could not be read: the file's name and the error.
    pub errors: BTreeMap<RecordingKey, (String, RecordingError)>,
}

impl ConformSummary {
    /// Adds one recording.
    pub fn add(&mut self, key: RecordingKey, compared: Compared, differing: Option<Differing>) {
        self.recordings += 1;
        self.recorded.add(key, &compared.recording, compared.recorded);
        for (field, count) in compared.observed {
            *self.observed.entry(field).or_default() += count;
        }
        for (kind, count) in compared.compared {
            *self.compared.entry(kind).or_default() += count;
        }
        for (what, count) in compared.unchecked {
            *self.unchecked.entry(what).or_default() += count;
        }
        if let Some(core) = compared.tree_core {
            *self.tree_cores.entry(core).or_default() += 1;
        }
        for note in compared.notes {
            *self.notes.entry(note).or_default() += 1;
        }
        match differing {
            None => {
                self.agree += 1;
                self.agree_in_part += u64::from(compared.cut);
            }
            Some(differing) => self.differing.push((key, differing)),
        }
    }

    /// Adds a file or recording that could not be read.
    pub fn add_error(&mut self, key: RecordingKey, file: String, error: RecordingError) {
        self.errors.insert(key, (file, error));
    }

    /// Adds the counts of other recordings.
    pub fn merge(&mut self, other: ConformSummary) {
        let ConformSummary {
            recordings,
            agree,
            agree_in_part,
            recorded,
            compared,
            observed,
            unchecked,
            tree_cores,
            notes,
            differing,
            errors,
        } = other;
        self.agree_in_part += agree_in_part;
        self.recordings += recordings;
        self.agree += agree;
        self.recorded.merge(recorded);
        let counts = [
            (&mut self.compared, compared),
            (&mut self.observed, observed),
            (&mut self.unchecked, unchecked),
            (&mut self.tree_cores, tree_cores),
            (&mut self.notes, notes),
        ];
        for (sum, part) in counts {
            for (name, count) in part {
                *sum.entry(name).or_default() += count;
            }
        }
        self.differing.extend(differing);
        self.errors.extend(errors);
    }

    /// Sorts the differing recordings by the order of the command line.
    pub fn order(&mut self) {
        self.differing.sort_by_key(|(key, _)| *key);
    }

    /// Recordings that differ only in independent fields.
    pub fn agree_otherwise(&self) -> usize {
        self.differing.iter().filter(|(_, differing)| differing.agrees_otherwise).count()
    }

    /// Events that agree, of all kinds.
    pub fn events(&self) -> u64 {
        self.compared.values().sum()
    }
}
