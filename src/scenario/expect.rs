//! The `expect` block: the exact findings that each listed rule must have.

use serde::Deserialize;

use super::Diagnostic;
use super::locate::PathStep;
use super::raw::{RawExpect, RawExpectRequest, RawFinding};
use super::requests::{RequestIndex, unknown_request};
use super::source::SourceText;
use super::words::{instead_of, quote};

/// The kinds of finding that can be expected, as the judge names them.
pub const FINDING_KINDS: [&str; 11] = [
    "mislabelled",
    "unwritten",
    "foreign",
    "aliased",
    "torn",
    "lost",
    "assertion",
    "leak",
    "double-free",
    "use-after-free",
    "lock",
];

/// The expected result of one rule: this verdict, and exactly these findings (`inherited` ones aside).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// The rule.
    pub rule: String,
    /// The verdict of the run.
    pub verdict: ExpectVerdict,
    /// All findings, in any order.
    pub findings: Vec<ExpectFinding>,
    /// The expected ends of some requests.
    pub requests: Vec<ExpectRequest>,
    /// Cached states that are taken out of the tree.
    pub evictions: Option<u64>,
    /// Findings `leak`.
    pub leaks: Option<u64>,
}

/// The expected end of one request. A field that is `None` is not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectRequest {
    /// Its name.
    pub id: String,
    /// Outputs delivered.
    pub outputs: Option<u32>,
    /// Tokens taken from the cache at its first admission.
    pub prefix_hit: Option<u32>,
    /// The turn of its first admission.
    pub admitted: Option<u32>,
    /// How it ended.
    pub ended: Option<ExpectEnd>,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum ExpectEnd {
    /// By a stop token.
    Token,
    /// By its length.
    Length,
    /// It was aborted.
    Abort,
    /// It did not end.
    Unfinished,
}

/// The verdict of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum ExpectVerdict {
    /// Nothing wrong.
    Clean,
    /// Checkpoints lost, nothing wrong.
    Lossy,
    /// A cached state is not what its label says.
    Corrupt,
    /// An assertion of the modelled system, or its accounting.
    Broken,
    /// A bound ended the run.
    Inconclusive,
}

/// One finding. A field that is `None` is not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectFinding {
    /// One of [`FINDING_KINDS`].
    pub kind: String,
    /// The name of the request.
    pub request: Option<String>,
    /// The length under which the state is cached.
    pub label: Option<u32>,
    /// The length that the state has.
    pub holds: Option<u32>,
    /// The turn in which it is found.
    pub turn: Option<u32>,
    /// The physical slot.
    pub slot: Option<u32>,
}

/// Checks rule names, kinds and requests.
pub(super) fn validate(
    source: &SourceText<'_>,
    names: &[String],
    rules: &[&str],
    raw: &[RawExpect],
) -> Result<Vec<Expect>, Diagnostic> {
    let index = RequestIndex::new(names);
    let mut expects: Vec<Expect> = Vec::with_capacity(raw.len());
    for (at, expect) in raw.iter().enumerate() {
        let field = |name| [PathStep::Field("expect"), PathStep::Item(at), PathStep::Field(name)];
        let rule = expect.rule.as_str();
        rule_once(source, &field("rule"), rule, rules, expects.iter().any(|other| other.rule == rule))?;
        if expect.verdict == ExpectVerdict::Clean && !expect.findings.is_empty() {
            let message = "a clean run has no findings, but some are expected";
            return Err(source.at(&field("verdict"), message, "write the verdict that they lead to, or drop them"));
        }
        let findings = expect.findings.iter().enumerate();
        let findings = findings.map(|(nth, raw)| finding(source, names, &index, (at, nth), raw));
        let findings = findings.collect::<Result<_, _>>()?;
        if expect.leaks.is_some_and(|leaks| leaks > 0) && expect.verdict != ExpectVerdict::Broken {
            let message = "a run that leaks is broken, but another verdict is expected";
            return Err(source.at(&field("leaks"), message, "write `verdict: Broken`, or `leaks: 0`"));
        }
        let requests = expect_requests(source, names, &index, at, &expect.requests)?;
        let &RawExpect { verdict, evictions, leaks, .. } = expect;
        expects.push(Expect { rule: rule.to_string(), verdict, findings, requests, evictions, leaks });
    }
    Ok(expects)
}

/// Checks that each request exists and is listed once, and that something is expected of it.
fn expect_requests(
    source: &SourceText<'_>,
    names: &[String],
    index: &RequestIndex<'_>,
    at: usize,
    raw: &[RawExpectRequest],
) -> Result<Vec<ExpectRequest>, Diagnostic> {
    let mut requests: Vec<ExpectRequest> = Vec::with_capacity(raw.len());
    for (nth, raw) in raw.iter().enumerate() {
        let path = [PathStep::Field("expect"), PathStep::Item(at), PathStep::Field("requests"), PathStep::Item(nth)];
        let id = [path[0], path[1], path[2], path[3], PathStep::Field("id")];
        let &RawExpectRequest { id: ref name, outputs, prefix_hit, admitted, ended } = raw;
        if index.get(name).is_none() {
            return Err(unknown_request(source, &id, name, names));
        }
        if requests.iter().any(|other| other.id == *name) {
            let message = format!("the request {} is expected twice", quote(name));
            return Err(source.at(&id, message, "put all that is expected of it into one entry"));
        }
        if outputs.is_none() && prefix_hit.is_none() && admitted.is_none() && ended.is_none() {
            let message = format!("nothing is expected of the request {}", quote(name));
            return Err(source.at(
                &path,
                message,
                "add `outputs`, `prefix_hit`, `admitted` or `ended`, or drop the entry",
            ));
        }
        requests.push(ExpectRequest { id: name.clone(), outputs, prefix_hit, admitted, ended });
    }
    Ok(requests)
}

/// Refuses a rule that does not exist, or that an entry before names already.
pub(super) fn rule_once(
    source: &SourceText<'_>,
    path: &[PathStep<'_>],
    rule: &str,
    rules: &[&str],
    again: bool,
) -> Result<(), Diagnostic> {
    if !rules.contains(&rule) {
        let message = format!("there is no rule {}", quote(rule));
        return Err(source.at(path, message, instead_of(rule, rules, "the rules are")));
    }
    if again {
        let message = format!("the rule {} is expected twice", quote(rule));
        return Err(source.at(path, message, "put all its findings into one entry"));
    }
    Ok(())
}

/// A kind of finding that cannot be expected.
pub(super) fn unknown_kind(source: &SourceText<'_>, path: &[PathStep<'_>], kind: &str) -> Diagnostic {
    let remedy = match kind {
        "inherited" => "inherited findings are never listed: drop it".to_string(),
        kind => instead_of(kind, &FINDING_KINDS, "the kinds are"),
    };
    source.at(path, format!("there is no kind of finding {}", quote(kind)), remedy)
}

/// The verdict of a run with findings of one kind of [`FINDING_KINDS`] and no others, as the judge gives it.
pub fn kind_verdict(kind: &str) -> ExpectVerdict {
    match kind {
        "lost" => ExpectVerdict::Lossy,
        "assertion" | "leak" | "double-free" | "use-after-free" | "lock" => ExpectVerdict::Broken,
        _ => ExpectVerdict::Corrupt,
    }
}

fn finding(
    source: &SourceText<'_>,
    names: &[String],
    index: &RequestIndex<'_>,
    (at, nth): (usize, usize),
    raw: &RawFinding,
) -> Result<ExpectFinding, Diagnostic> {
    let field = |name| {
        [
            PathStep::Field("expect"),
            PathStep::Item(at),
            PathStep::Field("findings"),
            PathStep::Item(nth),
            PathStep::Field(name),
        ]
    };
    if !FINDING_KINDS.contains(&raw.kind.as_str()) {
        return Err(unknown_kind(source, &field("kind"), &raw.kind));
    }
    if let Some(id) = raw.request.as_deref().filter(|id| index.get(id).is_none()) {
        return Err(unknown_request(source, &field("request"), id, names));
    }
    Ok(ExpectFinding {
        kind: raw.kind.clone(),
        request: raw.request.clone(),
        label: raw.label,
        holds: raw.holds,
        turn: raw.turn,
        slot: raw.slot,
    })
}
