//! Checkpoints due, recorded, lost and skipped, and what a loss costs.
//!
//! Owns the due lengths of one request that nobody has recorded, and the counts of the run. Refuses to find a state
//! wrong: a loss only means that tokens will be computed again.

use crate::record::{Phase, ReqId, SlotId};

use super::findings::Findings;
use super::{Checkpoints, Kind};

/// A boundary step whose result was processed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    /// The length reached.
    pub k: u32,
    /// Where its forward kept the state.
    pub slot: SlotId,
    /// When the result was processed.
    pub turn: u32,
    /// In which phase.
    pub phase: Phase,
    /// The engine refused the slot that the step asked for.
    pub refused: bool,
    /// The rule named the length and kept no slot for it.
    pub withheld: bool,
}

/// The due lengths of one request.
#[derive(Debug, Default)]
pub(super) struct Dues {
    /// Processed, and recorded by nobody.
    open: Vec<Due>,
    refused: Vec<u32>,
    /// The longest length due, without the skipped ones, since the request got its track slots.
    best: u32,
    /// The longest length that it has donated.
    donated: u32,
    /// The longest prefix that it took from the cache.
    prefix: u32,
}

impl Dues {
    /// The slot that the boundary step of length `k` asked for was refused.
    pub fn refuse(&mut self, k: u32) {
        self.refused.push(k);
    }

    /// A state was offered to the tree under a key of this length.
    pub fn donate(&mut self, key_len: u32, counts: &mut Checkpoints) {
        counts.donated += 1;
        self.donated = self.donated.max(key_len);
    }

    /// The request was admitted with this much from the cache.
    pub fn admit(&mut self, prefix: u32) {
        self.prefix = self.prefix.max(prefix);
    }

    /// The slot that was written for a due length that is not recorded.
    pub fn slot(&self, len: u32) -> Option<SlotId> {
        self.open.iter().rev().find(|due| due.k == len).map(|due| due.slot)
    }

    /// The result of a boundary step was processed.
    pub fn process(&mut self, due: Due, recorded: bool, counts: &mut Checkpoints) {
        counts.due += 1;
        if recorded {
            counts.recorded += 1;
            self.best = self.best.max(due.k);
        } else {
            self.open.push(due);
        }
    }

    /// A length was recorded by a later result than its own.
    pub fn record(&mut self, len: u32, counts: &mut Checkpoints) {
        if let Some(at) = self.open.iter().rposition(|due| due.k == len) {
            self.open.remove(at);
            counts.recorded += 1;
            self.best = self.best.max(len);
        }
    }

    /// The request was retracted: what was kept is gone, by force.
    pub fn retract(&mut self, counts: &mut Checkpoints) {
        counts.skipped += self.open.len() as u64;
        self.open.clear();
        self.refused.clear();
        self.best = 0;
    }

    /// A guard declined what is recorded, or the due lengths for which it kept no slot.
    pub fn decline(&mut self, counts: &mut Checkpoints) {
        let open = self.open.len();
        self.open.retain(|due| !due.withheld);
        counts.skipped += (open - self.open.len()).max(1) as u64;
    }

    /// The request gives its track slots back: every due length not recorded is lost. `finished` adds the cost.
    pub fn release(&mut self, req: ReqId, finished: bool, counts: &mut Checkpoints, findings: &mut Findings) {
        let mut lost = 0;
        for due in std::mem::take(&mut self.open) {
            if due.refused {
                counts.skipped += 1;
                continue;
            }
            lost += 1;
            self.best = self.best.max(due.k);
            let reason = format!("step {} kept its state in slot {}, and no result recorded it", due.k, due.slot);
            let index = findings.add(Kind::Lost, Some(req), reason);
            if let Some(finding) = findings.at(index) {
                (finding.turn, finding.phase, finding.label) = (due.turn, due.phase, Some(due.k));
            }
        }
        counts.lost += lost;
        if finished && lost > 0 {
            counts.cost_tokens += u64::from(self.best.saturating_sub(self.donated.max(self.prefix)));
        }
        self.best = 0;
    }

    /// The request ends and offers nothing: what it had recorded is lost after all, unless the engine forced it by
    /// refusing the slot of a step in flight.
    pub fn withdraw(&mut self, req: ReqId, counts: &mut Checkpoints, findings: &mut Findings) {
        if self.best == 0 {
            return;
        }
        if !self.refused.is_empty() {
            counts.skipped += 1;
            return;
        }
        counts.lost += 1;
        counts.recorded -= 1;
        counts.cost_tokens += u64::from(self.best.saturating_sub(self.donated.max(self.prefix)));
        let reason = format!("length {} was recorded, but at the end no slot was kept for it", self.best);
        let index = findings.add(Kind::Lost, Some(req), reason);
        if let Some(finding) = findings.at(index) {
            finding.label = Some(self.best);
        }
        self.best = 0;
    }

    /// Whether the slot for step `k`, whose result is processed now, was refused.
    #[inline]
    pub fn was_refused(&mut self, k: Option<u32>) -> bool {
        !self.refused.is_empty() && k.is_some_and(|k| self.take_refused(k))
    }

    #[cold]
    fn take_refused(&mut self, k: u32) -> bool {
        let refused = self.refused.contains(&k);
        self.refused.retain(|&other| other > k);
        refused
    }
}
