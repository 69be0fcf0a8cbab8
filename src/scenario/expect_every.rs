//! The `expect_every` block: the expected result of each listed rule over all timings that `vary` leaves open.

use crate::model::Vary;

use super::Diagnostic;
use super::expect::{ExpectVerdict, FINDING_KINDS, kind_verdict, rule_once, unknown_kind};
use super::locate::PathStep;
use super::raw::RawExpectEvery;
use super::source::SourceText;
use super::words::quote;

/// The expected result of one rule over all timings: the worst verdict, and the kinds of finding that some timing
/// shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectEvery {
    /// The rule.
    pub rule: String,
    /// The worst verdict of any timing.
    pub verdict: ExpectVerdict,
    /// The kinds of [`FINDING_KINDS`] that some timing shows. No timing shows another kind.
    pub kinds: Vec<String>,
}

/// Checks that something is open, rule names, kinds, and that the verdict is that of the worst kind.
pub(super) fn validate(
    source: &SourceText<'_>,
    rules: &[&str],
    vary: Vary,
    raw: &[RawExpectEvery],
) -> Result<Vec<ExpectEvery>, Diagnostic> {
    if vary.is_nothing() && !raw.is_empty() {
        let message = "`expect_every` is about every timing, but nothing is open";
        let remedy = "say what is open, as in `vary: (arrivals: true)`, or write `expect`, which is about the script";
        return Err(source.at_key(&[], ("expect_every", 0), message, remedy));
    }
    let mut expects: Vec<ExpectEvery> = Vec::with_capacity(raw.len());
    for (at, expect) in raw.iter().enumerate() {
        let field = |name| [PathStep::Field("expect_every"), PathStep::Item(at), PathStep::Field(name)];
        let rule = expect.rule.as_str();
        rule_once(source, &field("rule"), rule, rules, expects.iter().any(|other| other.rule == rule))?;
        for (nth, kind) in expect.kinds.iter().enumerate() {
            let path =
                [PathStep::Field("expect_every"), PathStep::Item(at), PathStep::Field("kinds"), PathStep::Item(nth)];
            if !FINDING_KINDS.contains(&kind.as_str()) {
                return Err(unknown_kind(source, &path, kind));
            }
            if expect.kinds[..nth].contains(kind) {
                let message = format!("the kind {} is listed twice", quote(kind));
                return Err(source.at(&path, message, "list each kind once, however many timings show it"));
            }
        }
        fits(source, &field("verdict"), expect)?;
        let &RawExpectEvery { verdict, ref kinds, .. } = expect;
        expects.push(ExpectEvery { rule: rule.to_string(), verdict, kinds: kinds.clone() });
    }
    Ok(expects)
}

/// The verdict of a search is that of the worst kind that it finds.
fn fits(source: &SourceText<'_>, path: &[PathStep<'_>], expect: &RawExpectEvery) -> Result<(), Diagnostic> {
    if expect.verdict == ExpectVerdict::Inconclusive {
        let message = "a search that a bound ended proves nothing about every timing";
        return Err(source.at(path, message, "write the verdict of the whole search: Clean, Lossy, Corrupt or Broken"));
    }
    let follows = expect.kinds.iter().map(|kind| kind_verdict(kind)).max_by_key(|verdict| rank(*verdict));
    let follows = follows.unwrap_or(ExpectVerdict::Clean);
    if expect.verdict == follows {
        return Ok(());
    }
    let message = match (expect.verdict, expect.kinds.is_empty()) {
        (ExpectVerdict::Clean, _) => {
            "under a clean rule no timing shows a finding, but some kinds are listed".to_string()
        }
        (verdict, true) => format!("the verdict is {verdict:?}, but no kind of finding is listed that makes it so"),
        (verdict, false) => format!("these kinds of finding make the verdict {follows:?}, not {verdict:?}"),
    };
    let remedy = format!("write `verdict: {follows:?}`, or the kinds that `overlapsim check` shows");
    Err(source.at(path, message, remedy))
}

/// From best to worst.
fn rank(verdict: ExpectVerdict) -> u8 {
    match verdict {
        ExpectVerdict::Clean => 0,
        ExpectVerdict::Lossy => 1,
        ExpectVerdict::Inconclusive => 2,
        ExpectVerdict::Corrupt => 3,
        ExpectVerdict::Broken => 4,
    }
}
