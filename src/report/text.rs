//! The text form of `run`: verdict, counts, findings, costs, warnings and times, in 100 columns.

use std::collections::BTreeMap;

use crate::escape;
use crate::judge::{Class, Finding, FindingKind, Judgement};
use crate::metrics::Quantiles;

use super::layout::{align, count, span, wrap};
use super::style::{self, Tone};
use super::{Run, name, observation, skew_text, warning};

/// Findings of one kind that are printed in full.
const SHOWN_MAX: usize = 20;

/// The report of one run.
pub fn run_text(run: &Run) -> String {
    let verdict = style::verdict(run.judgement.verdict);
    let mut out = format!("{verdict}   {} under {}, {}\n\n", escape::line(run.scenario), run.rule, run.way);
    counts(&mut out, run.judgement);
    findings(&mut out, run);
    out.push('\n');
    losses(&mut out, run.judgement);
    for observation in observation::observations(run) {
        wrap(&mut out, 0, &observation);
    }
    for warning in warning::warnings(run) {
        wrap(&mut out, 0, &style::warning(&warning));
    }
    out.push('\n');
    times(&mut out, run);
    if let Some(skew) = run.skew {
        out.push('\n');
        out.push_str(&skew_text(skew));
    }
    out
}

fn counts(out: &mut String, judgement: &Judgement) {
    let decisions = judgement.decisions;
    let checkpoints = judgement.checkpoints;
    let masks = judgement.mask_reuse;
    let rows = [
        ("turns", judgement.turns.to_string()),
        ("results", format!("{}{}", count(judgement.decode_results, "decode row"), lookahead(judgement))),
        (
            "decisions",
            format!(
                "{} agree, {} early, {} settled, {}, {}, {}, {}",
                decisions.agree,
                decisions.early,
                decisions.settled,
                wrong(decisions.repeat, Class::Repeat),
                wrong(decisions.missed, Class::Missed),
                wrong(decisions.wrong_label, Class::WrongLabel),
                wrong(decisions.wrong_slot, Class::WrongSlot)
            ),
        ),
        (
            "checkpoints",
            format!(
                "{} due, {} recorded, {} {}, {} skipped, {} donated",
                checkpoints.due,
                checkpoints.recorded,
                checkpoints.lost,
                Tone::Doubt.word_if(checkpoints.lost > 0, "lost"),
                checkpoints.skipped,
                checkpoints.donated
            ),
        ),
        (
            "mask reuse",
            format!(
                "{} reused, {} recomputed, {} of masks",
                masks.reused,
                masks.recomputed,
                count(masks.bytes, "byte")
            ),
        ),
        ("findings", kinds(&judgement.findings)),
    ];
    let cells: Vec<Vec<String>> = rows.into_iter().map(|(head, body)| vec![head.to_owned(), body]).collect();
    for line in align(&cells, &[]) {
        out.push_str(&line);
        out.push('\n');
    }
}

/// The number of rows of a wrong class, coloured unless 0.
fn wrong(number: u64, class: Class) -> String {
    let word = if number > 0 { style::class(class) } else { name::class(class).to_owned() };
    format!("{number} {word}")
}

/// The number of rows by lookahead. L=0 and L=1 are always there.
fn lookahead(judgement: &Judgement) -> String {
    let mut all = BTreeMap::from([(0, 0), (1, 0)]);
    all.extend(&judgement.lookahead);
    all.iter().map(|(lookahead, rows)| format!(", L={lookahead}: {rows}")).collect()
}

/// The number of findings of each kind and the turn of the first, in order of first occurrence.
fn kinds(findings: &[Finding]) -> String {
    let mut groups: Vec<(&Finding, u64)> = Vec::new();
    for finding in findings {
        match groups.iter_mut().find(|(first, _)| first.kind == finding.kind) {
            Some((_, number)) => *number += 1,
            None => groups.push((finding, 1)),
        }
    }
    let one = |&(first, number): &(&Finding, u64)| {
        let first_word = if number == 1 { "" } else { "first " };
        format!("{number} {} ({first_word}in turn {})", style::kind(first.kind), first.turn)
    };
    let words: Vec<String> = groups.iter().map(one).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn findings(out: &mut String, run: &Run) {
    let mut seen: BTreeMap<FindingKind, usize> = BTreeMap::new();
    for (index, of) in run.judgement.findings.iter().enumerate() {
        let number = seen.entry(of.kind).or_default();
        *number += 1;
        if *number <= SHOWN_MAX {
            out.push('\n');
            finding(out, index, of, run);
        }
    }
    let rest: Vec<String> = seen
        .iter()
        .filter(|&(_, &number)| number > SHOWN_MAX)
        .map(|(&kind, &number)| {
            format!("... and {} more {} (see --format json)\n", number - SHOWN_MAX, name::kind(kind))
        })
        .collect();
    if !rest.is_empty() {
        out.push('\n');
        out.push_str(&rest.concat());
    }
}

fn finding(out: &mut String, index: usize, of: &Finding, run: &Run) {
    wrap(out, 0, &format!("{}. {}", index + 1, finding_words(of, run)));
    let mut why = format!("turn {}, {}: {}", of.turn, name::phase(of.phase), of.reason);
    if let Some(root) = of.root {
        why.push_str(&format!(" (from finding {})", root + 1));
    }
    wrap(out, 3, &why);
    // Never wrapped: a line to copy.
    out.push_str(&format!("   replay: {}\n", run.replay));
}

/// A finding without its place and reason: kind, request, label, what the slot holds, slot.
pub(super) fn finding_words(of: &Finding, run: &Run) -> String {
    words(of, run.names, &run.judgement.findings)
}

/// As [`finding_words`], from the ids of requests and all findings of the run.
pub(super) fn words(of: &Finding, names: &[String], findings: &[Finding]) -> String {
    let mut parts = vec![format!("{}:", style::kind(of.kind))];
    if let Some(req) = of.req {
        parts.push(format!("request {},", name::request(names, req)));
    }
    if let Some(label) = of.label {
        parts.push(format!("label {label},"));
    }
    if let Some(holds) = holds(of, findings) {
        parts.push(format!("holds {holds},"));
    }
    if let Some(slot) = of.slot {
        parts.push(format!("slot {slot},"));
    }
    parts.join(" ").trim_end_matches([',', ':']).to_owned()
}

/// The content of the slot of a finding in words, if the finding is about content.
pub(super) fn holds(of: &Finding, findings: &[Finding]) -> Option<String> {
    match held(of, findings) {
        Some(holds) => Some(holds.to_string()),
        None if is_unwritten(of, findings) => Some("nothing".to_owned()),
        None => None,
    }
}

/// The length of the content of the slot of a finding; `None` if no forward has written the slot.
pub(super) fn held(of: &Finding, findings: &[Finding]) -> Option<u32> {
    of.holds.filter(|_| !is_unwritten(of, findings))
}

/// Whether no forward has written the slot of a finding. An inherited finding counts if its root is about the same slot
/// and unwritten.
fn is_unwritten(of: &Finding, findings: &[Finding]) -> bool {
    let root = of.root.and_then(|root| findings.get(root));
    match of.kind {
        FindingKind::Unwritten => true,
        FindingKind::Inherited => root.is_some_and(|root| root.kind == FindingKind::Unwritten && root.slot == of.slot),
        FindingKind::Mislabelled
        | FindingKind::Foreign
        | FindingKind::Aliased
        | FindingKind::Torn
        | FindingKind::Lost
        | FindingKind::Assertion
        | FindingKind::Leak
        | FindingKind::DoubleFree
        | FindingKind::UseAfterFree
        | FindingKind::Lock => false,
    }
}

fn losses(out: &mut String, judgement: &Judgement) {
    let checkpoints = judgement.checkpoints;
    let cost = match (checkpoints.lost, checkpoints.cost_tokens) {
        (0, 0) => "none".to_owned(),
        (_, tokens) => format!(
            "{} to recompute ({} never recorded)",
            count(tokens, "token"),
            count(checkpoints.lost, "due checkpoint")
        ),
    };
    out.push_str(&format!("cost of loss: {cost}\n"));
    let lost = judgement.mask_reuse.lost;
    if lost > 0 {
        let rows = count(lost, "row");
        let words = format!(
            "mask reuse lost: {rows} recomputed because the masks of their batch were dropped: slower, not wrong"
        );
        wrap(out, 0, &words);
    }
}

fn times(out: &mut String, run: &Run) {
    let timing = run.timing;
    let head = ["virtual time", "p50", "p90", "p99"].map(str::to_owned).to_vec();
    let row = |label: &str, of: Quantiles| {
        let cell = |value: Option<u64>| value.map_or("-".to_owned(), span);
        vec![label.to_owned(), cell(of.p50), cell(of.p90), cell(of.p99)]
    };
    let rows = [head, row("  ttft", timing.ttft_ns), row("  tpot", timing.tpot_ns), row("  e2e", timing.e2e_ns)];
    for line in align(&rows, &[1, 2, 3]) {
        out.push_str(&line);
        out.push('\n');
    }
    out.push_str(&format!(
        "  makespan {}, {}, {:.1} per second\n",
        span(timing.makespan_ns),
        count(timing.output_tokens, "output token"),
        timing.output_tokens_per_s
    ));
}
