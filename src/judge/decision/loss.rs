//! Checkpoints due, recorded, lost and skipped, and what a loss costs.
//!
//! Owns the due lengths of one request that are not recorded. Does not find a state wrong: a loss only means that tokens will be computed
//! again.

use educe::Educe;

use crate::record::{Encoding, Phase, ReqId, SlotId, or_none};

use super::super::findings::Findings;
use super::CheckpointCounts;
use crate::judge::FindingKind;

/// A boundary step whose result was processed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DueCheckpoint {
    /// The length reached.
    pub k: u32,
    /// Where its forward kept the state.
    pub slot: SlotId,
    /// When the result was processed.
    pub turn: u32,
    /// In which phase.
    pub phase: Phase,
    /// The rule named the length and kept no slot for it.
    pub withheld: bool,
}

/// The due lengths of one request.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(super) struct DueCheckpoints {
    /// Lengths whose slot was refused and whose step may still come.
    refused: Vec<u32>,
    /// Processed and not recorded.
    open: Vec<DueCheckpoint>,
    /// The longest length due, without the skipped ones, since the request got its track slots.
    best: u32,
    /// In which turn and phase that was due.
    best_at: Option<(u32, Phase)>,
    /// The longest length recorded when a slot was refused: the step in question writes in place, over it.
    overwritten: u32,
    /// The longest length that it has donated.
    donated: u32,
    /// The label under which it offered a state at its end.
    offered: Option<u32>,
    /// A guard declined to offer one.
    declined: bool,
    /// The length of its prompt, if the record has it.
    prompt_len: Option<u32>,
    /// The length of all that it ended with, if that is known.
    final_len: Option<u32>,
    /// The longest prefix that it took from the cache.
    hit_len: u32,
}

impl DueCheckpoints {
    /// The slot that the boundary step of length `k` asked for was refused; it writes in place, or nothing.
    pub fn refuse(&mut self, k: u32, in_place: bool) {
        self.refused.push(k);
        if in_place {
            self.overwritten = self.best;
        }
    }

    /// Writes what a later loss depends on; not what it costs.
    pub fn encode(&self, out: &mut Encoding) {
        let DueCheckpoints {
            refused,
            open,
            best,
            overwritten,
            offered,
            declined,
            final_len,
            // By its end it makes `final_len`, and it is as the machine has it.
            prompt_len: _,
            // Where a finding was.
            best_at: _,
            // What a loss costs.
            donated: _,
            hit_len: _,
        } = self;
        // In which turn and phase it was due is told with a finding.
        for DueCheckpoint { k, slot, withheld, turn: _, phase: _ } in open {
            let slot = out.label_slot(Some(*slot));
            out.put([*k, slot, u32::from(*withheld)]);
        }
        out.word(u32::MAX);
        refused.iter().for_each(|&len| out.word(len));
        out.put([u32::MAX, *best, *overwritten, or_none(*offered), or_none(*final_len), u32::from(*declined)]);
    }

    /// A state was offered to the tree under a key of this length; at the end of the request under `offered`, too.
    pub fn donate(&mut self, key_len: u32, offered: Option<u32>, counts: &mut CheckpointCounts) {
        counts.donated += 1;
        self.donated = self.donated.max(key_len);
        self.offered = offered;
    }

    /// The request has a prompt of this length.
    pub fn prompt(&mut self, len: u32) {
        self.prompt_len = Some(len);
    }

    /// The request ended with this many outputs.
    pub fn finish(&mut self, outputs: u32) {
        self.final_len = self.prompt_len.map(|len| len.saturating_add(outputs));
    }

    /// The request was admitted with this much from the cache.
    pub fn admit(&mut self, prefix: u32) {
        self.hit_len = self.hit_len.max(prefix);
    }

    /// The slot that was written for a due length that is not recorded.
    pub fn slot(&self, len: u32) -> Option<SlotId> {
        self.open.iter().rev().find(|due| due.k == len).map(|due| due.slot)
    }

    /// The result of a boundary step was processed.
    pub fn process(&mut self, due: DueCheckpoint, recorded: bool, counts: &mut CheckpointCounts) {
        counts.due += 1;
        if recorded {
            self.keep(due, counts);
        } else {
            self.open.push(due);
        }
    }

    /// A length was recorded by a later result than its own.
    pub fn record(&mut self, len: u32, counts: &mut CheckpointCounts) {
        if let Some(at) = self.open.iter().rposition(|due| due.k == len) {
            let due = self.open.remove(at);
            self.keep(due, counts);
        }
    }

    fn keep(&mut self, due: DueCheckpoint, counts: &mut CheckpointCounts) {
        counts.recorded += 1;
        if due.k > self.best {
            (self.best, self.best_at) = (due.k, Some((due.turn, due.phase)));
        }
    }

    /// The request was retracted: what was kept is gone, by force.
    pub fn retract(&mut self, counts: &mut CheckpointCounts) {
        counts.skipped += self.open.len() as u64;
        self.open.clear();
        self.refused.clear();
        (self.best, self.overwritten) = (0, 0);
    }

    /// A guard declined what is recorded, or the due lengths for which it kept no slot.
    pub fn decline(&mut self, counts: &mut CheckpointCounts) {
        let open = self.open.len();
        self.open.retain(|due| !due.withheld);
        counts.skipped += (open - self.open.len()).max(1) as u64;
        self.declined = true;
    }

    /// The request gives its track slots back: every due length not recorded is lost, and at its end the longest one
    /// recorded, if it offers less. At the end the cost is added.
    pub fn release(&mut self, req: ReqId, finished: bool, counts: &mut CheckpointCounts, findings: &mut Findings) {
        let mut lost = 0;
        if finished {
            lost += self.lose_unoffered(req, counts, findings);
        }
        for due in std::mem::take(&mut self.open) {
            lost += 1;
            self.best = self.best.max(due.k);
            let why = if due.withheld { "the rule named it without a slot" } else { "no result recorded it" };
            let reason = || format!("step {} kept its state in slot {}, and {why}", due.k, due.slot);
            let index = findings.add(FindingKind::Lost, Some(req), reason);
            if let Some(finding) = findings.at(index) {
                (finding.turn, finding.phase, finding.label) = (due.turn, due.phase, Some(due.k));
            }
        }
        counts.lost += lost;
        if finished && lost > 0 {
            counts.cost_tokens += u64::from(self.best.saturating_sub(self.donated.max(self.hit_len)));
        }
        (self.best, self.overwritten) = (0, 0);
        self.offered = None;
        self.declined = false;
    }

    /// The request ends and offers less than the longest length recorded: that one is lost after all, unless a guard
    /// declined, a slot was refused since so that a step writes in place over it, or the length is beyond what the request
    /// ended with. Says how many are lost.
    fn lose_unoffered(&mut self, req: ReqId, counts: &mut CheckpointCounts, findings: &mut Findings) -> u64 {
        let (best, offered) = (self.best, self.offered.unwrap_or(0));
        if best <= offered || self.declined {
            return 0;
        }
        if best <= self.overwritten || self.final_len.is_some_and(|len| best > len) {
            counts.skipped += 1;
            return 0;
        }
        // Who takes findings from turn to turn has thrown away the count that it was in.
        counts.recorded = counts.recorded.saturating_sub(1);
        let reason = || match self.offered {
            Some(offered) => format!("length {best} was recorded, but at the end {offered} was offered"),
            None => format!("length {best} was recorded, but at the end no slot was kept for it"),
        };
        let index = findings.add(FindingKind::Lost, Some(req), reason);
        if let Some(finding) = findings.at(index) {
            finding.label = Some(best);
            (finding.turn, finding.phase) = self.best_at.unwrap_or((finding.turn, finding.phase));
        }
        1
    }

    /// Whether the slot for step `k`, whose result is processed now, was refused.
    #[inline]
    pub fn was_refused(&mut self, k: Option<u32>) -> bool {
        let Some(k) = k.filter(|_| !self.refused.is_empty()) else { return false };
        let refused = self.refused.contains(&k);
        self.refused.retain(|other| *other > k);
        refused
    }
}
