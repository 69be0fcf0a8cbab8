//! Text and JSON of the verdicts of recordings by their own contents.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::conform::{FirstRecording, VerdictCounts};
use crate::escape;
use crate::judge::Verdict;

use super::{name, style};

/// All verdicts, from best to worst.
const ALL: [Verdict; 5] = [Verdict::Clean, Verdict::Lossy, Verdict::Inconclusive, Verdict::Corrupt, Verdict::Broken];

/// The verdicts that the text names even if no recording has them.
const ALWAYS_NAMED: [Verdict; 4] = [Verdict::Clean, Verdict::Lossy, Verdict::Corrupt, Verdict::Broken];

/// Lines for people; none if no recording could be read.
pub(super) fn text(counts: &VerdictCounts, out: &mut String) {
    let without_contents = counts.without_contents();
    if !counts.has_verdicts() && without_contents == 0 {
        return;
    }
    let named = |verdict: &Verdict| ALWAYS_NAMED.contains(verdict) || counts.recordings(*verdict) > 0;
    let count = |verdict: Verdict| format!("{} {}", counts.recordings(verdict), style::verdict(verdict));
    let mut parts: Vec<String> = Vec::new();
    if counts.has_verdicts() {
        parts.extend(ALL.into_iter().filter(named).map(count));
    }
    if without_contents > 0 {
        parts.push(format!("{without_contents} without contents"));
    }
    let _ = writeln!(out, "by their own contents: {}", parts.join(", "));
    for verdict in ALL {
        if let Some(FirstRecording { recording, evidence }) = counts.first(verdict) {
            let (verdict, line, reason) = (style::verdict(verdict), evidence.line, escape::line(&evidence.reason));
            let _ = writeln!(out, "  first {verdict}: {} at line {line}: {reason}", escape::line(recording));
        }
    }
}

/// For JSON.
pub(super) fn json(counts: &VerdictCounts) -> BTreeMap<&'static str, VerdictJson<'_>> {
    let of = |verdict: Verdict| {
        let first = counts.first(verdict).map(|first| FirstJson {
            recording: &first.recording,
            line: first.evidence.line,
            reason: &first.evidence.reason,
        });
        (name::verdict(verdict), VerdictJson { recordings: counts.recordings(verdict), first })
    };
    let without_contents = VerdictJson { recordings: counts.without_contents(), first: None };
    ALL.into_iter().map(of).chain([("without_contents", without_contents)]).collect()
}

/// Recordings of one verdict.
#[derive(Serialize)]
pub(super) struct VerdictJson<'a> {
    recordings: u64,
    first: Option<FirstJson<'a>>,
}

/// The first of them.
#[derive(Serialize)]
struct FirstJson<'a> {
    recording: &'a str,
    line: u64,
    reason: &'a str,
}
