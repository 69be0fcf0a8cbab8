//! The list of findings, and the present turn and phase of the run.
//!
//! Owns the order of findings and the grouping of accounting findings: equal faults of the same request are one finding
//! with a count. Does not decide what is wrong.

use std::collections::BTreeMap;

use educe::Educe;

use crate::record::{Phase, ReqId, SlotId};

use super::{Finding, FindingKind};

/// A kind of accounting fault. Faults of the same kind and request differ only in slot, page and time, and are one
/// finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AccountingFault {
    /// A slot was allocated while it had an owner.
    SlotTwice,
    /// A page was allocated while it had an owner.
    PageTwice,
    /// A slot was freed or moved by another than its owner.
    SlotNotOwned,
    /// A page was freed or moved by another than its owner.
    PageNotOwned,
    /// A forward or a copy read a slot that its request does not own.
    ReadsSlot,
    /// A forward or a copy wrote a slot that its request does not own.
    WritesSlot,
    /// The schedule stream wrote a slot that a forward in flight of the previous owner still writes.
    RacesWrite,
    /// The schedule stream wrote a slot that a forward in flight of the previous owner still reads.
    RacesRead,
    /// A request locked a node while it held a lock.
    LockTwice,
    /// A request unlocked a node whose lock it did not hold.
    LockNotHeld,
    /// At the end, a slot was neither free nor in the tree.
    SlotLeft,
    /// At the end, a page was neither free nor in the tree.
    PageLeft,
    /// At the end, a lock was held.
    LockLeft,
}

/// All findings of a run so far.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub(super) struct Findings {
    /// The present turn.
    pub turn: u32,
    /// The present phase.
    pub phase: Phase,
    list: Vec<Finding>,
    /// By kind of fault and request: the index of the finding, and the count.
    groups: BTreeMap<(AccountingFault, Option<ReqId>), (usize, u64)>,
    /// Whether findings get reasons.
    with_reasons: bool,
}

impl Findings {
    /// An empty list, before the first turn.
    pub fn new(with_reasons: bool) -> Findings {
        Findings { turn: 0, phase: Phase::Ingest, list: Vec::new(), groups: BTreeMap::new(), with_reasons }
    }

    /// Adds a finding about a request, at the present turn and phase. Returns its index; the caller sets other fields
    /// by [`Findings::at`].
    pub fn add(&mut self, kind: FindingKind, req: Option<ReqId>, reason: impl FnOnce() -> String) -> usize {
        let (turn, phase) = (self.turn, self.phase);
        let reason = if self.with_reasons { reason() } else { String::new() };
        let (label, holds, slot, root, overwritten) = Default::default();
        self.list.push(Finding { kind, req, turn, phase, label, holds, slot, reason, root, overwritten });
        self.list.len() - 1
    }

    /// Appends words to the reason of a finding.
    pub fn add_words(&mut self, index: usize, words: impl FnOnce() -> String) {
        if self.with_reasons {
            self.list[index].reason.push_str(&words());
        }
    }

    /// The number of findings.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// A finding by its index.
    pub fn at(&mut self, index: usize) -> Option<&mut Finding> {
        self.list.get_mut(index)
    }

    /// Adds `count` accounting faults. Slot, turn, phase and reason are those of the first fault of the group. Returns
    /// the index of the finding; `None` if `count` is 0.
    pub fn add_accounting(
        &mut self,
        fault: AccountingFault,
        count: u64,
        req: Option<ReqId>,
        slot: Option<SlotId>,
        reason: impl FnOnce() -> String,
    ) -> Option<usize> {
        if count == 0 {
            return None;
        }
        if let Some((index, total)) = self.groups.get_mut(&(fault, req)) {
            *total += count;
            return Some(*index);
        }
        let index = self.add(fault.kind(), req, reason);
        self.list[index].slot = slot;
        self.groups.insert((fault, req), (index, count));
        Some(index)
    }

    /// The number of accounting faults.
    #[cfg(test)]
    pub fn accounting_count(&self) -> u64 {
        self.groups.values().map(|&(_, count)| count).sum()
    }

    /// Takes the findings so far.
    pub fn take(&mut self) -> Vec<Finding> {
        self.groups.clear();
        std::mem::take(&mut self.list)
    }

    /// The list. Reasons get the counts of grouped findings, and names of requests.
    pub fn finish(&mut self, names: &[String]) -> Vec<Finding> {
        if !self.with_reasons {
            return self.take();
        }
        for &(index, count) in self.groups.values() {
            if count > 1 {
                self.list[index].reason.push_str(&format!(" ({count} in all)"));
            }
        }
        for finding in &mut self.list {
            finding.reason = by_name(&finding.reason, names);
        }
        std::mem::take(&mut self.list)
    }
}

/// Replaces `<r5>` in a reason by the name of request 5, or by `r5` if it has no name.
fn by_name(reason: &str, names: &[String]) -> String {
    let mut parts = reason.split('<');
    let mut out = parts.next().unwrap_or("").to_string();
    for part in parts {
        let (id, rest) = part.split_once('>').unwrap_or((part, ""));
        let name = id.strip_prefix('r').and_then(|index| names.get(index.parse::<usize>().ok()?));
        out.push_str(name.map_or(id, String::as_str));
        out.push_str(rest);
    }
    out
}

impl AccountingFault {
    /// The kind of the finding.
    fn kind(self) -> FindingKind {
        match self {
            AccountingFault::SlotTwice
            | AccountingFault::PageTwice
            | AccountingFault::SlotLeft
            | AccountingFault::PageLeft => FindingKind::Leak,
            AccountingFault::SlotNotOwned | AccountingFault::PageNotOwned => FindingKind::DoubleFree,
            AccountingFault::ReadsSlot
            | AccountingFault::WritesSlot
            | AccountingFault::RacesWrite
            | AccountingFault::RacesRead => FindingKind::UseAfterFree,
            AccountingFault::LockTwice | AccountingFault::LockNotHeld | AccountingFault::LockLeft => FindingKind::Lock,
        }
    }
}
