//! The JSON form of `run`: the documented fields in their documented order.
//!
//! Structs, not maps, so that the order is that of the fields. Names are snake_case; kinds and verdicts are
//! kebab-case. Fields beyond the documented ones come last in their object.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::escape;
use crate::judge::{CheckpointCounts, ClassCounts, Finding, MaskReuse, Overwritten, RequestOutcome};
use crate::metrics::Timing;
use crate::record::ReqId;

use super::observation::{ObservationJson, observations_json};
use super::skew::{SkewRow, skew_rows};
use super::text::held;
use super::{Run, name, warning};

/// A run, ready to be serialized.
#[derive(Debug, Serialize)]
pub struct RunJson<'a> {
    scenario: &'a str,
    rule: &'a str,
    verdict: &'static str,
    turns: u32,
    decode_results: u64,
    lookahead: BTreeMap<i64, u64>,
    decisions: DecisionsJson,
    checkpoints: CheckpointsJson,
    mask_reuse: MaskReuseJson,
    findings: Vec<FindingJson<'a>>,
    requests: Vec<RequestJson>,
    time: &'a Timing,
    warnings: Vec<String>,
    bound: Option<&'static str>,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    skew: Option<Vec<SkewRow>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    observations: Vec<ObservationJson>,
}

#[derive(Debug, Serialize)]
struct DecisionsJson {
    agree: u64,
    early: u64,
    settled: u64,
    repeat: u64,
    missed: u64,
    wrong_label: u64,
    wrong_slot: u64,
}

#[derive(Debug, Serialize)]
struct CheckpointsJson {
    due: u64,
    recorded: u64,
    lost: u64,
    skipped: u64,
    donated: u64,
    cost_tokens: u64,
}

#[derive(Debug, Serialize)]
struct MaskReuseJson {
    reused: u64,
    recomputed: u64,
    bytes: u64,
    lost: u64,
}

#[derive(Debug, Serialize)]
struct FindingJson<'a> {
    kind: &'static str,
    request: Option<String>,
    turn: u32,
    label: Option<u32>,
    holds: Option<u32>,
    slot: Option<u32>,
    reason: &'a str,
    phase: &'static str,
    /// The index in `findings` of the finding that caused an inherited one.
    root: Option<usize>,
    replay: &'a str,
    /// The step that overwrote a rightly decided checkpoint.
    overwritten: Option<OverwrittenJson>,
}

#[derive(Debug, Serialize)]
struct OverwrittenJson {
    decided_turn: u32,
    step: u32,
    batch: u32,
    turn: u32,
}

#[derive(Debug, Serialize)]
struct RequestJson {
    id: String,
    prefix_hit: u32,
    outputs: u32,
    finish: Option<&'static str>,
}

/// The JSON value of a run.
pub fn run_json<'a>(run: &'a Run<'a>) -> RunJson<'a> {
    let judgement = run.judgement;
    let mut lookahead = BTreeMap::from([(0, 0), (1, 0)]);
    lookahead.extend(&judgement.lookahead);
    RunJson {
        scenario: run.scenario,
        rule: run.rule,
        verdict: name::verdict(judgement.verdict),
        turns: judgement.turns,
        decode_results: judgement.decode_results,
        lookahead,
        decisions: decisions(judgement.decisions),
        checkpoints: checkpoints(judgement.checkpoints),
        mask_reuse: mask_reuse(judgement.mask_reuse),
        findings: judgement.findings.iter().map(|of| finding(of, run)).collect(),
        requests: requests(run.names, &judgement.requests),
        time: run.timing,
        warnings: warning::warnings(run),
        bound: warning::bound_name(judgement.bound),
        seed: run.seed,
        skew: run.skew.map(skew_rows),
        observations: observations_json(run),
    }
}

/// The JSON text of several runs, pretty-printed with a newline at its end: an object for one run, an array otherwise.
pub fn runs_json(runs: &[Run]) -> String {
    let values: Vec<RunJson> = runs.iter().map(run_json).collect();
    let text = match values.as_slice() {
        [one] => serde_json::to_string_pretty(one),
        several => serde_json::to_string_pretty(several),
    };
    format!("{}\n", escape::json(&text.expect("strings, numbers and integer keys always serialize")))
}

fn decisions(of: ClassCounts) -> DecisionsJson {
    let ClassCounts { agree, early, settled, repeat, missed, wrong_label, wrong_slot } = of;
    DecisionsJson { agree, early, settled, repeat, missed, wrong_label, wrong_slot }
}

fn checkpoints(of: CheckpointCounts) -> CheckpointsJson {
    let CheckpointCounts { due, recorded, lost, skipped, donated, cost_tokens } = of;
    CheckpointsJson { due, recorded, lost, skipped, donated, cost_tokens }
}

fn mask_reuse(of: MaskReuse) -> MaskReuseJson {
    let MaskReuse { reused, recomputed, lost, bytes } = of;
    MaskReuseJson { reused, recomputed, bytes, lost }
}

fn finding<'a>(of: &'a Finding, run: &'a Run) -> FindingJson<'a> {
    FindingJson {
        kind: name::kind(of.kind),
        request: of.req.map(|req| name::request(run.names, req)),
        turn: of.turn,
        label: of.label,
        holds: held(of, &run.judgement.findings),
        slot: of.slot.map(|slot| slot.0),
        reason: &of.reason,
        phase: name::phase(of.phase),
        root: of.root,
        replay: &run.replay,
        overwritten: of.overwritten.map(overwritten),
    }
}

fn overwritten(of: Overwritten) -> OverwrittenJson {
    let Overwritten { decided_turn, len, batch, turn } = of;
    OverwrittenJson { decided_turn, step: len, batch: batch.0, turn }
}

/// Every request of the scenario, also those that never arrived.
fn requests(names: &[String], outcomes: &[RequestOutcome]) -> Vec<RequestJson> {
    let count = names.len().max(outcomes.len());
    let one = |index: usize| {
        let of = outcomes.get(index).copied().unwrap_or_default();
        RequestJson {
            id: name::request(names, ReqId(index as u32)),
            prefix_hit: of.prefix_hit,
            outputs: of.outputs,
            finish: of.finish.map(name::finish),
        }
    };
    (0..count).map(one).collect()
}
