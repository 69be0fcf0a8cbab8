//! The result of comparing one recording, as plain data for the renderers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::record::Phase;

use super::recorded_verdict::RecordedVerdict;

/// A difference within a field: its path and both values.
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
    /// The kind of the recorded event, or of the modelled event if the recording has ended.
    pub event: String,
    /// The request, if the event or the row is about one.
    pub request: Option<String>,
    /// The path of the field, as in `reqs[2].kv_committed`; `ev` if the kinds differ, `i` if the turns differ.
    pub field: String,
    /// The recorded value; null if the recording has none.
    pub recorded: Value,
    /// The modelled value; null if the model has none.
    pub modelled: Value,
    /// The model's event, as a recording would have it; shortened if it is long.
    pub modelled_event: Option<String>,
    /// The lines of the recording around it.
    pub around: Vec<String>,
}

/// The result of comparing one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The file, and the recording's index in it.
    pub recording: String,
    /// The name of the rule that ran.
    pub rule: String,
    /// The implementation of the radix tree that ran, if the recording names it.
    pub tree_core: Option<String>,
    /// Events that agree, by kind.
    pub compared: BTreeMap<String, u64>,
    /// Fields and events that could not be compared, by name.
    pub unchecked: BTreeMap<String, u64>,
    /// The comparison ended before the recording did.
    pub cut: bool,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The verdict of the recording by its own contents.
    pub recorded: RecordedVerdict,
    /// The first difference in a field that later events depend on; without one, the first in an independent field.
    pub divergence: Option<Divergence>,
    /// Differences in independent fields (`observed.rs`), by event and field.
    pub observed: BTreeMap<String, u64>,
    /// All differences are in independent fields.
    pub agrees_otherwise: bool,
}

/// The path of a field without the indices of lists: `reqs.finished` of `reqs[3].finished`.
pub fn without_indices(path: &str) -> String {
    path.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect()
}
