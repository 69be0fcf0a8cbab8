//! Text and JSON of `kl`: the KL divergence that wrong cached states cause under each rule, compared with the limits of
//! the public test.

use serde::Serialize;

use crate::escape;
use crate::judge::FindingKind;
use crate::numeric::{BEFORE, HitKl, LIMIT, Severity, Ssm};

use super::layout::{align, count, wrap};
use super::style::{self, Tone};
use super::{Run, name, warning};

/// Most hits of one rule that are printed.
const SHOWN_MAX: usize = 20;

/// The numeric state that the runs were measured with.
#[derive(Clone, Copy, Debug)]
pub struct KlState {
    /// The model.
    pub ssm: Ssm,
    /// Whether it is the default, because the scenario sets none.
    pub default: bool,
}

/// One run and its numbers.
#[derive(Clone, Debug)]
pub struct KlRun<'a> {
    /// The run.
    pub run: Run<'a>,
    /// The strategy of its engine.
    pub strategy: &'a str,
    /// The KL divergence of its cache hits.
    pub severity: &'a Severity,
}

/// The table over rules; for one rule also its hits.
pub fn kl_text(state: KlState, runs: &[KlRun]) -> String {
    let scenario = escape::line(runs.first().map_or("", |of| of.run.scenario));
    let durations = runs.first().map_or(0, |of| of.run.seed);
    let mut out = format!("{scenario} under {}, seed {durations}\n", count(runs.len() as u64, "rule"));
    let Ssm { dim, vocab, seed } = state.ssm;
    let why = if state.default { " (default: the scenario sets none)" } else { "" };
    wrap(&mut out, 0, &format!("state Ssm(dim: {dim}, vocab: {vocab}, seed: {seed}){why}"));
    out.push('\n');
    lines(&mut out, &table(runs), &[3, 4, 5, 6]);
    if let [one] = runs
        && !one.severity.hits.is_empty()
    {
        out.push('\n');
        hits(&mut out, one);
    }
    out.push('\n');
    let words = format!(
        "KL(cold prefill || from the cache) of the next token, in nats, over the outputs of requests that started from \
         a cached state. The public nightly test of Qwen3-Next allows {LIMIT} on average; it measured {BEFORE} before \
         the regression and 0.0065 with it."
    );
    wrap(&mut out, 0, &words);
    let racing: Vec<&str> = runs.iter().filter(|of| races(of) > 0).map(|of| of.run.rule).collect();
    if !racing.is_empty() {
        let words = format!(
            "note: under {} the judge found races (torn, use-after-free). The contents of their slots depend on timing. The \
             numbers are those of one order, so a small KL does not show that the run is right.",
            racing.join(", ")
        );
        wrap(&mut out, 0, &words);
    }
    if runs.iter().all(|of| of.severity.hits.is_empty()) {
        wrap(&mut out, 0, "No request started from a cached state: there is nothing to measure.");
    }
    for of in runs.iter().filter(|of| of.severity.avg().is_some_and(|avg| avg > LIMIT)) {
        // Never wrapped: a line to copy.
        out.push_str(&format!("replay: {}\n", of.run.replay));
    }
    warnings(&mut out, runs);
    out
}

fn table(runs: &[KlRun]) -> Vec<Vec<String>> {
    let head = ["rule", "strategy", "verdict", "hits", "outputs", "KL avg", "KL max", "differs at", "avg vs test"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for of in runs {
        let KlRun { run, strategy, severity } = of;
        let first = severity.first_difference;
        rows.push(vec![
            run.rule.to_owned(),
            (*strategy).to_owned(),
            style::verdict(run.judgement.verdict),
            severity.hits.len().to_string(),
            severity.positions().to_string(),
            nats(severity.avg()),
            nats(severity.max()),
            first.map_or_else(
                || none(severity.avg()),
                |first| format!("output {}, {}", first.output, name::request(run.names, first.req)),
            ),
            if races(of) > 0 { "undefined".to_owned() } else { against(severity.avg()) },
        ]);
    }
    rows
}

/// Every hit of one run, in order.
fn hits(out: &mut String, of: &KlRun) {
    let head = ["hit of", "turn", "label", "source", "outputs", "KL avg", "KL max", "differs at"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let row = |hit: &HitKl| {
        vec![
            name::request(of.run.names, hit.req),
            hit.turn.to_string(),
            hit.label.to_string(),
            if hit.source_right { "right".to_owned() } else { Tone::Bad.word("wrong") },
            hit.positions.to_string(),
            nats(hit.avg()),
            nats(hit.max()),
            hit.first_difference.map_or_else(|| none(hit.avg()), |output| format!("output {output}")),
        ]
    };
    rows.extend(of.severity.hits.iter().take(SHOWN_MAX).map(row));
    lines(out, &rows, &[1, 2, 4, 5, 6]);
    if of.severity.hits.len() > SHOWN_MAX {
        out.push_str(&format!("... and {} more (see --format json)\n", of.severity.hits.len() - SHOWN_MAX));
    }
}

fn lines(out: &mut String, rows: &[Vec<String>], right: &[usize]) {
    for line in align(rows, right) {
        out.push_str(&line);
        out.push('\n');
    }
}

/// The word for no difference: `none`, or `-` if no output was compared.
fn none(avg: Option<f64>) -> String {
    if avg.is_some() { "none" } else { "-" }.to_owned()
}

/// A divergence in nats: four decimals, or one digit and a power of ten if it is below 0.0001.
fn nats(kl: Option<f64>) -> String {
    match kl {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(kl) if kl >= 0.0001 => format!("{kl:.4}"),
        Some(kl) => format!("{kl:.1e}"),
    }
}

/// An average compared with the limits of the public test.
fn against(avg: Option<f64>) -> String {
    match avg {
        None => "-".to_owned(),
        Some(avg) if avg > LIMIT => Tone::Bad.word(&format!("> {LIMIT}")),
        Some(avg) if avg > BEFORE => format!("<= {LIMIT}"),
        Some(_) => format!("<= {BEFORE}"),
    }
}

/// The number of races. Their slots have no defined content, so the KL divergence is undefined.
fn races(of: &KlRun) -> u64 {
    let race = |kind| matches!(kind, FindingKind::Torn | FindingKind::UseAfterFree);
    of.run.judgement.findings.iter().filter(|finding| race(finding.kind)).count() as u64
}

/// Every warning once.
fn warnings(out: &mut String, runs: &[KlRun]) {
    let mut all: Vec<String> = Vec::new();
    for of in runs {
        let new = warning::warnings(&of.run).into_iter().filter(|text| !all.contains(text));
        let new: Vec<String> = new.collect();
        all.extend(new);
    }
    for text in all {
        wrap(out, 0, &style::warning(&text));
    }
}

/// The numbers of a run, ready to be serialized: the documented fields, then the rest.
#[derive(Debug, Serialize)]
struct KlJson<'a> {
    rule: &'a str,
    strategy: &'a str,
    hits: usize,
    kl: KlPair,
    first_difference: Option<u32>,
    first_difference_request: Option<String>,
    scenario: &'a str,
    verdict: &'static str,
    wrong_sources: usize,
    outputs: u64,
    limit: f64,
    before: f64,
    state: StateJson,
    per_hit: Vec<HitJson>,
    warnings: Vec<String>,
    seed: u64,
    races: u64,
}

#[derive(Debug, Serialize)]
struct KlPair {
    avg: Option<f64>,
    max: Option<f64>,
}

#[derive(Debug, Serialize)]
struct StateJson {
    dim: u32,
    vocab: u32,
    seed: u64,
    default: bool,
}

#[derive(Debug, Serialize)]
struct HitJson {
    request: String,
    turn: u32,
    label: u32,
    source_right: bool,
    outputs: u32,
    kl: KlPair,
    first_difference: Option<u32>,
}

/// The JSON text of several runs, pretty-printed with a newline at its end: an object for one run, an array otherwise.
pub fn kl_json(state: KlState, runs: &[KlRun]) -> String {
    let values: Vec<KlJson> = runs.iter().map(|of| json(state, of)).collect();
    let text = match values.as_slice() {
        [one] => serde_json::to_string_pretty(one),
        several => serde_json::to_string_pretty(several),
    };
    format!("{}\n", escape::json(&text.expect("strings and numbers always serialize")))
}

fn json<'a>(state: KlState, of: &'a KlRun) -> KlJson<'a> {
    let KlRun { run, strategy, severity } = of;
    let Ssm { dim, vocab, seed } = state.ssm;
    let first = severity.first_difference;
    KlJson {
        rule: run.rule,
        strategy,
        hits: severity.hits.len(),
        kl: KlPair { avg: severity.avg(), max: severity.max() },
        first_difference: first.map(|first| first.output),
        first_difference_request: first.map(|first| name::request(run.names, first.req)),
        scenario: run.scenario,
        verdict: name::verdict(run.judgement.verdict),
        wrong_sources: severity.wrong_sources(),
        outputs: severity.positions(),
        limit: LIMIT,
        before: BEFORE,
        state: StateJson { dim, vocab, seed, default: state.default },
        per_hit: severity.hits.iter().map(|hit| hit_json(run, hit)).collect(),
        warnings: warning::warnings(run),
        seed: run.seed,
        races: races(of),
    }
}

fn hit_json(run: &Run, hit: &HitKl) -> HitJson {
    HitJson {
        request: name::request(run.names, hit.req),
        turn: hit.turn,
        label: hit.label,
        source_right: hit.source_right,
        outputs: hit.positions,
        kl: KlPair { avg: hit.avg(), max: hit.max() },
        first_difference: hit.first_difference,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergences_are_short_and_stand_beside_the_limit() {
        let all = [None, Some(0.0), Some(1.23e-14), Some(0.00049), Some(0.00651), Some(3.25)];
        assert_eq!(all.map(nats), ["-", "0", "1.2e-14", "0.0005", "0.0065", "3.2500"]);
        let against =
            [None, Some(0.0005), Some(0.002), Some(0.0021)].map(|avg| super::super::plain(&against(avg)).into_owned());
        assert_eq!(against, ["-", "<= 0.0005", "<= 0.002", "> 0.002"]);
    }
}
