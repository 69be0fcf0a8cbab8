//! The findings of the judge by turn. Each is shown by one line of the timeline.

use std::collections::BTreeMap;

use crate::judge::{Finding, FindingKind, Judgement};
use crate::record::{ReqId, SlotId};
use crate::report::style::{self, Tone};
use crate::report::text::{holds, words};

/// The findings that no line has shown yet.
#[derive(Debug)]
pub(super) struct FindingsByTurn<'a> {
    all: &'a [Finding],
    by_turn: BTreeMap<u32, Vec<&'a Finding>>,
}

impl<'a> FindingsByTurn<'a> {
    pub(super) fn new(judgement: &'a Judgement) -> FindingsByTurn<'a> {
        let mut by_turn: BTreeMap<u32, Vec<&Finding>> = BTreeMap::new();
        for finding in &judgement.findings {
            by_turn.entry(finding.turn).or_default().push(finding);
        }
        FindingsByTurn { all: &judgement.findings, by_turn }
    }

    /// The finding about the state that `req` donates or takes in this turn, as the end of a line; empty if there is
    /// none.
    pub(super) fn of_state(&mut self, turn: u32, req: ReqId, slot: SlotId) -> String {
        let Some(findings) = self.by_turn.get_mut(&turn) else { return String::new() };
        let is_it = |of: &&Finding| of.req == Some(req) && of.slot == Some(slot) && is_of_state(of.kind);
        let Some(index) = findings.iter().position(is_it) else { return String::new() };
        let finding = findings.remove(index);
        let holds = holds(finding, self.all).map_or(String::new(), |holds| format!(", holds {holds}"));
        format!("  <-- {} {}{holds}", wrong(), style::kind(finding.kind))
    }

    /// The findings of a turn that no line has shown.
    pub(super) fn rest(&mut self, turn: u32, names: &[String]) -> Vec<String> {
        let findings = self.by_turn.remove(&turn).unwrap_or_default();
        findings.into_iter().map(|finding| format!("{} {}", wrong(), words(finding, names, self.all))).collect()
    }

    /// The findings of turns that are not in the record.
    pub(super) fn left(self, names: &[String]) -> Vec<String> {
        let all = self.all;
        let findings =
            self.by_turn.into_iter().flat_map(|(turn, findings)| findings.into_iter().map(move |of| (turn, of)));
        findings.map(|(turn, of)| format!("{} turn {turn}, {}", wrong(), words(of, names, all))).collect()
    }
}

fn wrong() -> String {
    Tone::Bad.word("WRONG:")
}

fn is_of_state(kind: FindingKind) -> bool {
    match kind {
        FindingKind::Mislabelled
        | FindingKind::Unwritten
        | FindingKind::Foreign
        | FindingKind::Aliased
        | FindingKind::Torn
        | FindingKind::Inherited => true,
        FindingKind::Lost
        | FindingKind::Assertion
        | FindingKind::Leak
        | FindingKind::DoubleFree
        | FindingKind::UseAfterFree
        | FindingKind::Lock => false,
    }
}
