//! The forms of `jitter`: what every lookahead pattern around one request comes to under every rule.
//!
//! Owns what is printed of a run under a pattern, and its JSON; the text is in `text`. A run in which the lookahead was
//! another one than asked for is never counted under the pattern that was asked for.

mod cells;
mod cubes;
mod text;

use serde::{Serialize, Serializer};

use crate::escape;
use crate::judge::{Boundary, Finding, FindingKind, Judgement, Verdict};
use crate::metrics::{LastOffer, PatternRun};
use crate::record::ReqId;

use super::name;
use super::text::{held, holds};

pub use text::jitter_text;

/// All patterns under all rules. Fields in the order of the JSON form.
#[derive(Clone, Debug, Serialize)]
pub struct JitterReport {
    /// The scenario file.
    pub scenario: String,
    /// The request whose lookahead is set.
    pub request: String,
    /// Tokens in its prompt.
    pub prompt: u32,
    /// The grid of checkpoints, in tokens.
    pub grid: u32,
    /// The step whose result the first place of a pattern is about, by the length that it reaches.
    pub first_step: u32,
    /// That of the last place.
    pub last_step: u32,
    /// The boundaries among these steps.
    pub boundaries: Vec<u32>,
    /// The seed of drawn durations.
    pub seed: u64,
    /// The lookahead that the scenario has as it stands, if it is the same under every rule.
    pub as_it_stands: Option<String>,
    /// Requests of the scenario that are fillers at these steps: a pattern takes their place.
    pub stand_ins: Vec<String>,
    /// How many patterns came to what, by rule.
    pub rules: Vec<JitterRule>,
    /// Every pattern, in the order in which they were asked for.
    pub patterns: Vec<JitterPattern>,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// The scenario that was written.
    pub written: Option<String>,
}

/// How many patterns came to what under one rule.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JitterRule {
    /// The rule.
    pub rule: &'static str,
    /// Patterns that came about and were clean.
    pub clean: u64,
    /// Checkpoints lost.
    pub lossy: u64,
    /// A bound ended the run.
    pub inconclusive: u64,
    /// A state cached under a label that it does not have.
    pub corrupt: u64,
    /// Assertions, accounting.
    pub broken: u64,
    /// Patterns that did not come about: they are not among the others.
    pub did_not_come_about: u64,
}

/// One pattern.
#[derive(Clone, Debug, Serialize)]
pub struct JitterPattern {
    /// The lookahead asked for, `0` or `1` for each step.
    pub pattern: String,
    /// The command that writes it as a scenario.
    pub write: String,
    /// What it came to under every rule.
    pub runs: Vec<JitterRun>,
}

/// One pattern under one rule.
#[derive(Clone, Debug, Serialize)]
pub struct JitterRun {
    /// The rule.
    pub rule: &'static str,
    /// The lookahead that each result really had: `-` where no result was processed, `?` where it was neither 0 nor 1.
    pub came_out: String,
    /// Whether that is what was asked for, as far as the run went.
    pub came_about: bool,
    /// The verdict of the whole run.
    #[serde(serialize_with = "verdict_name")]
    pub verdict: Verdict,
    /// Where the rule fired for the request, at any step of it.
    pub fired: Vec<JitterFiring>,
    /// The label under which the request offered a state at its end; none if it offered none.
    pub label: Option<u32>,
    /// The length of the key that the tree got.
    pub key: Option<u32>,
    /// How many tokens the slot holds; none if no forward has written it.
    pub holds: Option<u32>,
    /// Why nothing was offered at its end.
    pub not_offered: Option<&'static str>,
    /// All findings of the run, those of other requests as well.
    pub findings: Vec<JitterFinding>,
    /// The command that replays the scenario, once it is written.
    pub replay: String,
    /// What the slot holds in words, if it is not what the key says.
    #[serde(skip)]
    pub holds_words: Option<String>,
}

/// A firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct JitterFiring {
    /// The step at whose result the rule fired.
    pub k: u32,
    /// The lookahead of that result.
    pub lookahead: i64,
    /// The class.
    pub class: &'static str,
    /// The label after.
    pub label: Option<u32>,
    /// The kept slot after.
    pub slot: Option<u32>,
}

/// A finding in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JitterFinding {
    /// The kind.
    pub kind: &'static str,
    /// Whose.
    pub request: Option<String>,
    /// The label.
    pub label: Option<u32>,
    /// How many tokens the slot holds.
    pub holds: Option<u32>,
    /// In which turn.
    pub turn: u32,
}

impl JitterRun {
    /// The printed form of a run, without the command that replays it.
    pub fn of(run: &PatternRun<'_>) -> JitterRun {
        let PatternRun { pattern, rule, req, names, outcome } = *run;
        let Judgement { findings, boundaries, verdict, .. } = &outcome.judgement;
        let offer = outcome.end.and_then(Result::ok);
        let wrong = offer.and_then(|offer| wrong(findings, req, offer));
        JitterRun {
            rule,
            came_out: outcome.came_out(),
            came_about: outcome.came_about(pattern),
            verdict: *verdict,
            fired: boundaries.iter().filter(|it| it.req == req && it.fired).map(firing).collect(),
            label: offer.map(|offer| offer.label),
            key: offer.map(|offer| offer.key_len),
            holds: match wrong {
                Some(wrong) => held(wrong, findings),
                None => offer.map(|offer| offer.key_len),
            },
            not_offered: outcome.end.and_then(Result::err).map(name::no_donation),
            findings: findings.iter().map(|of| finding(of, names, findings)).collect(),
            replay: String::new(),
            holds_words: wrong.map(|wrong| holds(wrong, findings).unwrap_or_else(|| "unknown".to_owned())),
        }
    }
}

/// The finding about what a request offered at its end.
fn wrong(findings: &[Finding], of: ReqId, offer: LastOffer) -> Option<&Finding> {
    let about = |it: &&Finding| {
        it.req == Some(of)
            && it.slot == Some(offer.slot)
            && it.label == Some(offer.key_len)
            && it.kind != FindingKind::Lost
    };
    findings.iter().rev().find(about)
}

fn firing(of: &Boundary) -> JitterFiring {
    JitterFiring {
        k: of.k,
        lookahead: of.lookahead,
        class: name::class(of.class),
        label: of.label,
        slot: of.slot.map(|slot| slot.0),
    }
}

fn finding(of: &Finding, names: &[String], findings: &[Finding]) -> JitterFinding {
    JitterFinding {
        kind: name::kind(of.kind),
        request: of.req.map(|req| name::request(names, req)),
        label: of.label,
        holds: held(of, findings),
        turn: of.turn,
    }
}

impl JitterRule {
    /// Counts the runs of one rule.
    pub fn of<'a>(rule: &'static str, runs: impl Iterator<Item = &'a JitterRun>) -> JitterRule {
        let mut sum = JitterRule { rule, ..JitterRule::default() };
        for run in runs {
            let count = match (run.came_about, run.verdict) {
                (false, _) => &mut sum.did_not_come_about,
                (true, Verdict::Clean) => &mut sum.clean,
                (true, Verdict::Lossy) => &mut sum.lossy,
                (true, Verdict::Inconclusive) => &mut sum.inconclusive,
                (true, Verdict::Corrupt) => &mut sum.corrupt,
                (true, Verdict::Broken) => &mut sum.broken,
            };
            *count += 1;
        }
        sum
    }
}

fn verdict_name<S: Serializer>(verdict: &Verdict, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(name::verdict(*verdict))
}

/// The JSON text, pretty-printed with a newline at its end.
pub fn jitter_json(report: &JitterReport) -> String {
    let text = serde_json::to_string_pretty(report).expect("strings and numbers always serialize");
    format!("{}\n", escape::json(&text))
}
