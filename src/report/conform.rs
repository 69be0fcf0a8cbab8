//! Text and JSON of `conform`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use crate::conform::{ConformSummary, Differing, Divergence, without_indices};
use crate::escape;

use super::name;
use super::recorded_verdicts::{self, VerdictJson};
use super::style::Tone;

/// The most differing recordings that the text shows.
const SHOWN_MAX: usize = 10;

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
        counts.iter().map(|(name, count)| format!("{} {count}", escape::line(name))).collect::<Vec<_>>().join(", ")
    };
    let differ = summary.recordings - summary.agree;
    let in_part = match summary.agree_in_part {
        0 => String::new(),
        count => format!(" ({count} of them only up to lost lines)"),
    };
    let _ = writeln!(
        out,
        "{} recordings: {} agree{in_part}, {differ} {}; {} events compared",
        summary.recordings,
        summary.agree,
        Tone::Bad.word_if(differ > 0, "differ"),
        summary.events()
    );
    recorded_verdicts::text(&summary.recorded, &mut out);
    if !summary.compared.is_empty() {
        let _ = writeln!(out, "compared:    {}", by_kind(&summary.compared));
    }
    if !summary.observed.is_empty() {
        let only = summary.agree_otherwise();
        let _ = writeln!(
            out,
            "observed:    {}; no event depends on these fields, and {only} of the differing recordings differ only in them",
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
            *kinds.entry(format!("{event}.{}", without_indices(field))).or_default() += 1;
        }
        let _ = writeln!(out, "differ at:   {}", by_kind(&kinds));
    }
    if !summary.tree_cores.is_empty() {
        let recorded: u64 = summary.tree_cores.values().sum();
        let rest = summary.recordings - recorded;
        let rest = if rest > 0 { format!(", not recorded {rest}") } else { String::new() };
        let _ = writeln!(out, "tree core:   {}{rest}", by_kind(&summary.tree_cores));
    }
    for (note, count) in &summary.notes {
        let plural = if *count == 1 { "" } else { "s" };
        let _ = writeln!(out, "note: {} ({count} recording{plural})", escape::line(note));
    }
    if !summary.errors.is_empty() {
        let _ = writeln!(out, "{} could not be read, see the errors", summary.errors.len());
    }
    out
}

fn difference(out: &mut String, differing: &Differing) {
    let it = &differing.divergence;
    let phase = it.phase.map_or(String::new(), |phase| format!(", phase {}", name::phase(phase)));
    let request = it.request.as_ref().map_or(String::new(), |request| format!(", request {}", escape::line(request)));
    let only = if differing.agrees_otherwise { ", only in fields that no event depends on" } else { "" };
    let _ =
        writeln!(out, "{} {} at line {}{only}", escape::line(&differing.recording), Tone::Bad.word("differs"), it.line);
    let _ = writeln!(out, "  turn {}{phase}, event {}{request}", it.turn, escape::line(&it.event));
    let (recorded, modelled) = (shown(&it.recorded), shown(&it.modelled));
    let _ = writeln!(out, "  field {}: recorded {recorded}, modelled {modelled}", escape::line(&it.field));
    for line in &it.around {
        let _ = writeln!(out, "    {}", escape::line(line));
    }
    if let Some(event) = &it.modelled_event {
        let _ = writeln!(out, "  model says {}", escape::line(event));
    }
    if differing.tried && differing.agrees_with.is_empty() {
        let _ = writeln!(out, "  no single setting of another release makes it agree");
    }
    for setting in &differing.agrees_with {
        let _ = writeln!(out, "  it would agree with {}", escape::line(setting));
    }
    let _ = writeln!(out, "  replay: {}\n", differing.replay);
}

fn shown(value: &Value) -> String {
    if value.is_null() { "nothing".to_string() } else { escape::json(&value.to_string()).into_owned() }
}

#[derive(Serialize)]
struct SummaryJson<'a> {
    recordings: u64,
    agree: u64,
    agree_in_part: u64,
    events: u64,
    recorded: BTreeMap<&'static str, VerdictJson<'a>>,
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

/// One JSON object, with a line break.
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
            told: it.modelled_event.as_deref(),
            agrees_otherwise: differing.agrees_otherwise,
            agrees_with: &differing.agrees_with,
            replay: &differing.replay,
        }
    });
    let errors = summary.errors.values().map(|(file, error)| ErrorJson {
        recording: file,
        line: error.line,
        message: &error.message,
        remedy: error.remedy,
    });
    let json = SummaryJson {
        recordings: summary.recordings,
        agree: summary.agree,
        agree_in_part: summary.agree_in_part,
        events: summary.events(),
        recorded: recorded_verdicts::json(&summary.recorded),
        compared: &summary.compared,
        observed: &summary.observed,
        divergences: divergences.collect(),
        unchecked: &summary.unchecked,
        tree_cores: &summary.tree_cores,
        notes: &summary.notes,
        errors: errors.collect(),
    };
    let text = serde_json::to_string(&json).expect("plain data always serializes");
    format!("{}\n", escape::json(&text))
}
