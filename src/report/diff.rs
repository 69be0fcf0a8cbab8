//! The text of `diff`: the rules side by side, a row for each boundary decision that differs from the reference under
//! some rule, then the verdicts.

use std::collections::BTreeMap;

use crate::escape;
use crate::judge::{Boundary, Class, FindingKind, Judgement};
use crate::record::ReqId;

use super::layout::{align, count};
use super::style;
use super::text::finding_words;
use super::{Run, name, warning};

/// The key of a decision: the request, and its length after the step.
type DecisionKey = (ReqId, u32);

/// Columns before those of the rules.
const FIXED: usize = 4;

/// All runs side by side. They are of one scenario and keep their boundaries.
///
/// # Panics
/// If a judgement counts decisions that differ from the reference but has kept no boundaries.
pub fn diff_text(runs: &[Run]) -> String {
    for run in runs {
        let of = run.judgement;
        let differ = of.decode_results > of.decisions.agree;
        assert!(!differ || !of.boundaries.is_empty(), "{} was judged without keeping its boundaries", run.rule);
    }
    let mut rows = vec![head(runs)];
    let columns: Vec<BTreeMap<DecisionKey, Vec<&Boundary>>> = runs.iter().map(|run| by_key(run.judgement)).collect();
    let keys = differing(&columns);
    for (_, key) in &keys {
        rows.push(decision(*key, &columns, runs));
    }
    let decisions = rows.len();
    rows.extend(verdicts(runs));

    let (scenario, seed) = runs.first().map_or(("", 0), |run| (run.scenario, run.seed));
    let mut out = format!("{} under {}, seed {seed}\n\n", escape::line(scenario), count(runs.len() as u64, "rule"));
    for (index, line) in align(&rows, &[1, 2, 3]).into_iter().enumerate() {
        if index == decisions {
            out.push_str(if keys.is_empty() { "every boundary decision agrees under every rule\n\n" } else { "\n" });
        }
        out.push_str(&line);
        out.push('\n');
    }
    notes(&mut out, runs);
    out
}

fn head(runs: &[Run]) -> Vec<String> {
    let mut cells = ["request", "k", "turn", "L"].map(str::to_owned).to_vec();
    cells.extend(runs.iter().map(|run| run.rule.to_owned()));
    cells
}

fn by_key(judgement: &Judgement) -> BTreeMap<DecisionKey, Vec<&Boundary>> {
    let mut all: BTreeMap<DecisionKey, Vec<&Boundary>> = BTreeMap::new();
    for boundary in &judgement.boundaries {
        all.entry((boundary.req, boundary.k)).or_default().push(boundary);
    }
    all
}

/// The keys with a class other than `agree` under some rule, ordered by their first turn under any rule.
fn differing(columns: &[BTreeMap<DecisionKey, Vec<&Boundary>>]) -> Vec<(u32, DecisionKey)> {
    let mut turns: BTreeMap<DecisionKey, (u32, bool)> = BTreeMap::new();
    for (key, boundaries) in columns.iter().flatten() {
        for boundary in boundaries {
            let (turn, differs) = turns.entry(*key).or_insert((boundary.turn, false));
            *turn = boundary.turn.min(*turn);
            *differs |= boundary.class != Class::Agree;
        }
    }
    let mut keys: Vec<(u32, DecisionKey)> =
        turns.into_iter().filter(|&(_, (_, differs))| differs).map(|(key, (turn, _))| (turn, key)).collect();
    keys.sort_unstable();
    keys
}

fn decision(key: DecisionKey, columns: &[BTreeMap<DecisionKey, Vec<&Boundary>>], runs: &[Run]) -> Vec<String> {
    let names = runs.first().map_or(&[][..], |run| run.names);
    let all = || columns.iter().filter_map(|column| column.get(&key)).flatten();
    let turn = among(all().map(|boundary| i64::from(boundary.turn)));
    let lookahead = among(all().map(|boundary| boundary.lookahead));
    let mut cells = vec![name::request(names, key.0), key.1.to_string(), turn, lookahead];
    for column in columns {
        let boundaries = column.get(&key).map_or(&[][..], Vec::as_slice);
        let words: Vec<String> = boundaries.iter().map(|boundary| cell(boundary)).collect();
        cells.push(if words.is_empty() { "-".to_owned() } else { words.join(" + ") });
    }
    cells
}

/// The value, or the range of values if schedules differ between rules.
fn among(values: impl Iterator<Item = i64>) -> String {
    let range = values.fold(None, |range: Option<(i64, i64)>, value| {
        Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    });
    match range {
        None => String::new(),
        Some((low, high)) if low == high => low.to_string(),
        Some((low, high)) => format!("{low}..{high}"),
    }
}

fn cell(boundary: &Boundary) -> String {
    let class = style::class(boundary.class);
    if !boundary.fired {
        return class;
    }
    let label = boundary.label.map_or("-".to_owned(), |label| label.to_string());
    let slot = boundary.slot.map_or("-".to_owned(), |slot| slot.to_string());
    format!("{class} {label}@{slot}")
}

/// The rows below: verdicts, findings by kind, and losses.
fn verdicts(runs: &[Run]) -> Vec<Vec<String>> {
    let row = |label: &str, cell: &dyn Fn(&Judgement) -> String| {
        let mut cells = vec![String::new(); FIXED];
        cells[0] = label.to_owned();
        cells.extend(runs.iter().map(|run| cell(run.judgement)));
        cells
    };
    let number = |number: u64| if number == 0 { "-".to_owned() } else { number.to_string() };
    let mut rows = vec![row("verdict", &|of| style::verdict(of.verdict))];
    for kind in name::KINDS {
        let times = |of: &Judgement| of.findings.iter().filter(|finding| finding.kind == kind).count() as u64;
        if runs.iter().any(|run| times(run.judgement) > 0) {
            rows.push(row(&style::kind(kind), &|of| number(times(of))));
        }
    }
    if runs.iter().any(|run| run.judgement.checkpoints.cost_tokens > 0) {
        rows.push(row("cost of loss", &|of| match of.checkpoints.cost_tokens {
            0 => "-".to_owned(),
            tokens => count(tokens, "token"),
        }));
    }
    if runs.iter().any(|run| run.judgement.mask_reuse.lost > 0) {
        rows.push(row("masks lost", &|of| number(of.mask_reuse.lost)));
    }
    rows
}

/// Failed assertions and warnings: each text once, with its rules unless it is for all.
fn notes(out: &mut String, runs: &[Run]) {
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    for run in runs {
        let assertions = run.judgement.findings.iter().filter(|of| of.kind == FindingKind::Assertion);
        let assertions = assertions.map(|of| {
            format!("{} (turn {}, {}): {}", finding_words(of, run), of.turn, name::phase(of.phase), of.reason)
        });
        let warnings = warning::warnings(run).into_iter().map(|warning| style::warning(&warning));
        for note in assertions.chain(warnings) {
            match all.iter_mut().find(|(text, _)| *text == note) {
                Some((_, rules)) => rules.push(run.rule),
                None => all.push((note, vec![run.rule])),
            }
        }
    }
    if !all.is_empty() {
        out.push('\n');
    }
    for (text, rules) in all {
        let whose = if rules.len() == runs.len() { String::new() } else { format!(" ({})", rules.join(", ")) };
        out.push_str(&format!("{text}{whose}\n"));
    }
}
