//! The sum of many comparisons: what agrees, what differs, what could not be read.

use std::collections::BTreeMap;

use super::divergence::{Compared, Divergence};
use super::lines::Trouble;
use super::recorded_verdicts::RecordedVerdicts;

/// A recording by the place of its file on the command line and its place in the file.
pub type RecordingKey = (usize, usize);

/// A recording that differs from the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Differing {
    /// File and place.
    pub recording: String,
    /// The command that shows it again.
    pub replay: String,
    /// The first difference in a field on which others depend; if there is none, the first in another one.
    pub divergence: Divergence,
    /// It differs only in fields on which nothing depends.
    pub agrees_otherwise: bool,
    /// Settings of other releases with which it would agree, one at a time; looked for in the first few recordings only.
    pub agrees_with: Vec<String>,
    /// These settings were looked for.
    pub tried: bool,
}

/// The sum over all recordings; the same however the work was shared out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConformSummary {
    /// Recordings that could be read.
    pub recordings: u64,
    /// Those that agree.
    pub agree: u64,
    /// Of these, those that were compared only up to where lines were lost.
    pub agree_in_part: u64,
    /// The verdicts of the recordings by their own contents.
    pub recorded: RecordedVerdicts,
    /// Events that agree, by kind.
    pub compared: BTreeMap<String, u64>,
    /// Differences in fields on which nothing depends, by event and field.
    pub observed: BTreeMap<String, u64>,
    /// What could not be compared, by event and field.
    pub unchecked: BTreeMap<String, u64>,
    /// Which implementation of the radix tree ran, by recordings that say.
    pub tree_cores: BTreeMap<String, u64>,
    /// Notes for the reader, with the number of recordings that each is about.
    pub notes: BTreeMap<String, u64>,
    /// The recordings that differ.
    pub differing: Vec<(RecordingKey, Differing)>,
    /// Files, or recordings in them, that could not be read.
    pub troubles: BTreeMap<RecordingKey, (String, Trouble)>,
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

    /// Adds one that could not be read.
    pub fn trouble(&mut self, key: RecordingKey, file: String, trouble: Trouble) {
        self.troubles.insert(key, (file, trouble));
    }

    /// Adds the sum of others.
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
            troubles,
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
        self.troubles.extend(troubles);
    }

    /// Puts the differing ones in the order of the command line.
    pub fn order(&mut self) {
        self.differing.sort_by_key(|(key, _)| *key);
    }

    /// Recordings that differ only in fields on which nothing depends.
    pub fn agree_otherwise(&self) -> usize {
        self.differing.iter().filter(|(_, differing)| differing.agrees_otherwise).count()
    }

    /// Events that agree, of every kind.
    pub fn events(&self) -> u64 {
        self.compared.values().sum()
    }
}
