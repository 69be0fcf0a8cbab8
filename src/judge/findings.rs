//! The list of findings, with the place where the run is now.
//!
//! Owns turn, phase, order and the grouping of accounting findings: the same trouble of the same request is one
//! finding that says how often, but no kind is ever dropped. Refuses to decide what is wrong.

use std::collections::BTreeMap;

use educe::Educe;

use crate::record::{Phase, ReqId, SlotId};

use super::{Finding, FindingKind};

/// Accounting trouble that is the same but for the slot, page or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AccountingFault {
    /// A slot was given out while somebody had it.
    SlotTwice,
    /// A page was given out while somebody had it.
    PageTwice,
    /// A slot was freed or handed on by somebody else.
    SlotNotOwned,
    /// A page was freed or handed on by somebody else.
    PageNotOwned,
    /// A forward or a copy read a slot that its request does not hold.
    ReadsSlot,
    /// A forward or a copy wrote a slot that its request does not hold.
    WritesSlot,
    /// The schedule stream writes a slot that the step in flight of its previous owner still writes.
    RacesWrite,
    /// The same, and that step still reads it.
    RacesRead,
    /// A lock taken while another is held.
    LockTwice,
    /// A lock given back that is not held.
    LockNotHeld,
    /// A slot neither free nor in the tree at the end.
    SlotLeft,
    /// A page neither free nor in the tree at the end.
    PageLeft,
    /// A lock held at the end.
    LockLeft,
}

/// All findings of a run so far.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub(super) struct Findings {
    /// The loop turn.
    pub turn: u32,
    /// The CPU phase.
    pub phase: Phase,
    list: Vec<Finding>,
    groups: BTreeMap<(AccountingFault, Option<ReqId>), (usize, u64)>,
    /// Whether somebody will read the reasons.
    worded: bool,
}

impl Findings {
    /// None yet, before the first turn. Reasons are empty unless they are `worded`.
    pub fn new(worded: bool) -> Findings {
        Findings { turn: 0, phase: Phase::Ingest, list: Vec::new(), groups: BTreeMap::new(), worded }
    }

    /// A finding of a kind about a request, here and now. Returns its index; details follow by [`Findings::at`].
    pub fn add(&mut self, kind: FindingKind, req: Option<ReqId>, reason: impl FnOnce() -> String) -> usize {
        let (turn, phase) = (self.turn, self.phase);
        let reason = if self.worded { reason() } else { String::new() };
        let (label, holds, slot, root, overwritten) = Default::default();
        self.list.push(Finding { kind, req, turn, phase, label, holds, slot, reason, root, overwritten });
        self.list.len() - 1
    }

    /// Puts words behind the reason of a finding.
    pub fn add_words(&mut self, index: usize, words: impl FnOnce() -> String) {
        if self.worded {
            self.list[index].reason.push_str(&words());
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// A finding by its index.
    pub fn at(&mut self, index: usize) -> Option<&mut Finding> {
        self.list.get_mut(index)
    }

    /// Accounting trouble, `count` times. The first one gives slot, place and words. Returns the index of the finding.
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

    /// How often there was accounting trouble.
    #[cfg(test)]
    pub fn accounting_count(&self) -> u64 {
        self.groups.values().map(|&(_, count)| count).sum()
    }

    /// Takes what was found so far.
    pub fn take(&mut self) -> Vec<Finding> {
        self.groups.clear();
        std::mem::take(&mut self.list)
    }

    /// The list, with the counts of grouped findings in their reasons, and the requests there by name.
    pub fn finish(&mut self, names: &[String]) -> Vec<Finding> {
        if !self.worded {
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

/// Puts names where a reason says `<r5>`; where there is no name the number must do.
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
