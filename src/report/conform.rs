//! Text and JSON of a comparison of recordings with the model.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use crate::conform::{Compared, Divergence, RecordingError};

use super::name;
use super::recorded::{CountedJson, RecordedVerdicts};
use super::style::Tone;

/// Differing recordings that the text shows.
const SHOWN_MAX: usize = 10;

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
    pub troubles: BTreeMap<RecordingKey, (String, RecordingError)>,
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
    pub fn trouble(&mut self, key: RecordingKey, file: String, trouble: RecordingError) {
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
    fn agree_otherwise(&self) -> usize {
        self.differing.iter().filter(|(_, differing)| differing.agrees_otherwise).count()
    }

    fn events(&self) -> u64 {
        self.compared.values().sum()
    }
}

/// The text for people.
pub fn conform_text(summary: &ConformSummary) -> String {
    let mut out = String::new();
    for (_, differing) in summary.differing.iter().take(SHOWN_MAX) {
        difference(&mut out, differing);
    }
    let more = summary.differing.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        let _ = writeln!(out, "and {more} more recordings that differ: --format json lists them all\n");
    }
    let by_kind = |counts: &BTreeMap<String, u64>| {
        counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
    };
    let differ = summary.recordings - summary.agree;
    let in_part = match summary.agree_in_part {
        0 => String::new(),
        count => format!(" ({count} only up to where lines were lost)"),
    };
    let _ = writeln!(
        out,
        "{} recordings: {} agree{in_part}, {differ} {}; {} events compared",
        summary.recordings,
        summary.agree,
        Tone::Bad.word_if(differ > 0, "differ"),
        summary.events()
    );
    summary.recorded.text(&mut out);
    if !summary.compared.is_empty() {
        let _ = writeln!(out, "compared:    {}", by_kind(&summary.compared));
    }
    if !summary.observed.is_empty() {
        let only = summary.agree_otherwise();
        let _ = writeln!(
            out,
            "observed:    {}; no event depends on these fields, and {only} of the recordings that differ do so in them alone",
            by_kind(&summary.observed)
        );
    }
    if !summary.unchecked.is_empty() {
        let _ = writeln!(out, "not checked: {}", by_kind(&summary.unchecked));
    }
    if !summary.differing.is_empty() {
        let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
        for (_, differing) in &summary.differing {
            let Divergence { event, field, .. } = &differing.divergence;
            let field: String =
                field.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect();
            *kinds.entry(format!("{event}.{field}")).or_default() += 1;
        }
        let _ = writeln!(out, "differ at:   {}", by_kind(&kinds));
    }
    if !summary.tree_cores.is_empty() {
        let said: u64 = summary.tree_cores.values().sum();
        let rest = summary.recordings - said;
        let rest = if rest > 0 { format!(", not said {rest}") } else { String::new() };
        let _ = writeln!(out, "tree core:   {}{rest}", by_kind(&summary.tree_cores));
    }
    for (note, count) in &summary.notes {
        let _ = writeln!(out, "note: {note} ({count} recordings)");
    }
    if !summary.troubles.is_empty() {
        let _ = writeln!(out, "{} could not be read, see the errors", summary.troubles.len());
    }
    out
}

fn difference(out: &mut String, differing: &Differing) {
    let it = &differing.divergence;
    let phase = it.phase.map_or(String::new(), |phase| format!(", phase {}", name::phase(phase)));
    let request = it.request.as_ref().map_or(String::new(), |request| format!(", request {}", request.escape_debug()));
    let only = if differing.agrees_otherwise { ", in fields alone on which nothing depends" } else { "" };
    let _ = writeln!(out, "{} {} at line {}{only}", differing.recording, Tone::Bad.word("differs"), it.line);
    let _ = writeln!(out, "  turn {}{phase}, event {}{request}", it.turn, it.event);
    let _ = writeln!(out, "  field {}: recorded {}, modelled {}", it.field, shown(&it.recorded), shown(&it.modelled));
    for line in &it.around {
        let _ = writeln!(out, "    {line}");
    }
    if let Some(told) = &it.told {
        let _ = writeln!(out, "  model says {told}");
    }
    if differing.tried && differing.agrees_with.is_empty() {
        let _ = writeln!(out, "  no single setting of another release makes it agree");
    }
    for setting in &differing.agrees_with {
        let _ = writeln!(out, "  it would agree with {setting}");
    }
    let _ = writeln!(out, "  replay: {}\n", differing.replay);
}

fn shown(value: &Value) -> String {
    if value.is_null() { "nothing".to_string() } else { value.to_string() }
}

#[derive(Serialize)]
struct SummaryJson<'a> {
    recordings: u64,
    agree: u64,
    agree_in_part: u64,
    events: u64,
    recorded: BTreeMap<&'static str, CountedJson<'a>>,
    compared: &'a BTreeMap<String, u64>,
    observed: &'a BTreeMap<String, u64>,
    divergences: Vec<DivergenceJson<'a>>,
    unchecked: &'a BTreeMap<String, u64>,
    tree_cores: &'a BTreeMap<String, u64>,
    notes: &'a BTreeMap<String, u64>,
    errors: Vec<ErrorJson<'a>>,
}

#[derive(Serialize)]
struct DivergenceJson<'a> {
    recording: &'a str,
    line: u64,
    turn: u32,
    event: &'a str,
    request: Option<&'a str>,
    field: &'a str,
    recorded: &'a Value,
    modelled: &'a Value,
    phase: Option<&'static str>,
    around: &'a [String],
    told: Option<&'a str>,
    agrees_otherwise: bool,
    agrees_with: &'a [String],
    replay: &'a str,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    recording: &'a str,
    line: u64,
    message: &'a str,
    remedy: &'a str,
}

/// One JSON object and a line break.
pub fn conform_json(summary: &ConformSummary) -> String {
    let divergences = summary.differing.iter().map(|(_, differing)| {
        let it = &differing.divergence;
        DivergenceJson {
            recording: &differing.recording,
            line: it.line,
            turn: it.turn,
            event: &it.event,
            request: it.request.as_deref(),
            field: &it.field,
            recorded: &it.recorded,
            modelled: &it.modelled,
            phase: it.phase.map(name::phase),
            around: &it.around,
            told: it.told.as_deref(),
            agrees_otherwise: differing.agrees_otherwise,
            agrees_with: &differing.agrees_with,
            replay: &differing.replay,
        }
    });
    let errors = summary.troubles.values().map(|(file, trouble)| ErrorJson {
        recording: file,
        line: trouble.line,
        message: &trouble.message,
        remedy: trouble.remedy,
    });
    let json = SummaryJson {
        recordings: summary.recordings,
        agree: summary.agree,
        agree_in_part: summary.agree_in_part,
        events: summary.events(),
        recorded: summary.recorded.json(),
        compared: &summary.compared,
        observed: &summary.observed,
        divergences: divergences.collect(),
        unchecked: &summary.unchecked,
        tree_cores: &summary.tree_cores,
        notes: &summary.notes,
        errors: errors.collect(),
    };
    let text = serde_json::to_string(&json).expect("plain data always serializes");
    format!("{text}\n")
}
