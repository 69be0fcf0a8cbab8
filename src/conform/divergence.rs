//! What came of a comparison: as plain data for the renderers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::record::Phase;

use super::recorded_verdict::RecordedVerdict;

/// Two values that differ within a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FieldDifference {
    pub path: String,
    pub recorded: Value,
    pub modelled: Value,
}

/// The first difference between a recording and the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The line of the file.
    pub line: u64,
    /// The turn, counted from 0.
    pub turn: u32,
    /// The CPU phase of the model.
    pub phase: Option<Phase>,
    /// The kind of the recorded event, or of the modelled one where the recording had come to its end.
    pub event: String,
    /// The request it is about, if it is about one.
    pub request: Option<String>,
    /// The field; `ev` if the events are of different kinds, `i` if their turns differ.
    pub field: String,
    /// The value recorded; null if there is none.
    pub recorded: Value,
    /// The value modelled; null if there is none.
    pub modelled: Value,
    /// The model's event, as a recording would have it; shortened if it is long.
    pub modelled_event: Option<String>,
    /// The lines of the recording around it.
    pub around: Vec<String>,
}

/// What came of one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The file, and its place there if it is one of several.
    pub recording: String,
    /// The name of the rule that ran.
    pub rule: String,
    /// Which implementation of the radix tree ran, if the recording says.
    pub tree_core: Option<String>,
    /// Events that agree, by kind.
    pub compared: BTreeMap<String, u64>,
    /// Fields and events that could not be compared, by name.
    pub unchecked: BTreeMap<String, u64>,
    /// The comparison ended before the recording did.
    pub cut: bool,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// What the recording shows of its run, by its own contents.
    pub recorded: RecordedVerdict,
    /// The first difference in a field on which others depend; if there is none, the first in another one.
    pub divergence: Option<Divergence>,
    /// Differences in fields on which nothing depends, by event and field.
    pub observed: BTreeMap<String, u64>,
    /// There are no others.
    pub agrees_otherwise: bool,
}

/// The path of a field without the indices of lists: `reqs.finished` of `reqs[3].finished`.
pub fn without_indices(path: &str) -> String {
    path.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect()
}
