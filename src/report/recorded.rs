//! Text and JSON of the verdicts of recordings by their own contents.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::conform::{FirstShown, RecordedVerdicts};
use crate::judge::Verdict;

use super::{name, style};

/// All verdicts, from best to worst.
const ALL: [Verdict; 5] = [Verdict::Clean, Verdict::Lossy, Verdict::Inconclusive, Verdict::Corrupt, Verdict::Broken];

/// The verdicts that a text always has, from best to worst.
const NAMED: [Verdict; 4] = [Verdict::Clean, Verdict::Lossy, Verdict::Corrupt, Verdict::Broken];

/// Writes lines for people; none where no recording could be read.
pub(super) fn recorded_text(verdicts: &RecordedVerdicts, out: &mut String) {
    if verdicts.is_empty() {
        return;
    }
    let any = ALL.into_iter().any(|verdict| verdicts.recordings(verdict) > 0);
    let named = |verdict: &Verdict| any && NAMED.contains(verdict) || verdicts.recordings(*verdict) > 0;
    let count = |verdict: Verdict| format!("{} {}", verdicts.recordings(verdict), style::verdict(verdict));
    let mut counts: Vec<String> = ALL.into_iter().filter(named).map(count).collect();
    if verdicts.unknown() > 0 {
        counts.push(format!("{} without contents", verdicts.unknown()));
    }
    let _ = writeln!(out, "by their own contents: {}", counts.join(", "));
    for verdict in ALL {
        if let Some(FirstShown { recording, line, reason }) = verdicts.first(verdict) {
            let verdict = style::verdict(verdict);
            let _ = writeln!(out, "  first {verdict}: {recording} at line {line}: {}", reason.escape_debug());
        }
    }
}

/// The counts by the name of each verdict.
pub(super) fn recorded_json(verdicts: &RecordedVerdicts) -> BTreeMap<&'static str, CountedJson<'_>> {
    let of = |verdict: Verdict| {
        let counted = CountedJson { recordings: verdicts.recordings(verdict), first: verdicts.first(verdict) };
        (name::verdict(verdict), counted)
    };
    let unknown = CountedJson { recordings: verdicts.unknown(), first: None };
    ALL.into_iter().map(of).chain([("without_contents", unknown)]).collect()
}

/// Recordings of one verdict.
#[derive(Serialize)]
pub(super) struct CountedJson<'a> {
    recordings: u64,
    first: Option<&'a FirstShown>,
}
