//! Checkpoints due, recorded, lost and skipped, and the cost of a loss.
//!
//! Owns the due checkpoints of one request that are not recorded, and the findings `lost`. Does not know whether a
//! state is wrong: a loss only means that tokens will be computed again.

use educe::Educe;

use crate::record::{Encoding, Phase, ReqId, SlotId, or_none};

use super::super::findings::Findings;
use super::CheckpointCounts;
use crate::judge::FindingKind;

/// A due checkpoint: a boundary step whose result was processed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DueCheckpoint {
    /// The length reached.
    pub k: u32,
    /// The track slot that its forward wrote.
    pub slot: SlotId,
    /// The turn in which the result was processed.
    pub turn: u32,
    /// The phase in which the result was processed.
    pub phase: Phase,
    /// Whether the rule named the length but kept no slot for it.
    pub withheld: bool,
}

/// The due checkpoints of one request, and what its end is compared with.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(super) struct DueCheckpoints {
    /// Boundary lengths that were refused their second slot and whose result is not processed yet.
    refused: Vec<u32>,
    /// Due and not recorded.
    open: Vec<DueCheckpoint>,
    /// The longest length recorded since the request got its track slots. A release raises it to the longest lost
    /// length, for the cost.
    best: u32,
    /// The turn and phase in which the longest recorded length was due.
    best_at: Option<(u32, Phase)>,
    /// The longest length recorded when a step was refused its second slot and wrote in place: that step overwrites it.
    overwritten: u32,
    /// The longest length that the request has donated.
    donated: u32,
    /// The label of the state that the request donated at its end.
    offered: Option<u32>,
    /// Whether a guard declined the donation at its end.
    declined: bool,
    /// The length of its prompt, if the record has the prompt.
    prompt_len: Option<u32>,
    /// Its final length, prompt and outputs, if it has finished and the prompt is known.
    final_len: Option<u32>,
    /// The longest prefix from the cache at an admission.
    hit_len: u32,
}

impl DueCheckpoints {
    /// The boundary step of length `k` was refused its second slot. Its forward writes in place, or keeps no state.
    pub fn refuse(&mut self, k: u32, in_place: bool) {
        self.refused.push(k);
        if in_place {
            self.overwritten = self.best;
        }
    }

    /// Encodes the fields that a later finding depends on; not those that only its cost depends on.
    pub fn encode(&self, out: &mut Encoding) {
        let DueCheckpoints {
            refused,
            open,
            best,
            overwritten,
            offered,
            declined,
            final_len,
            // Used for `final_len` only. The machine encodes the length of the prompt.
            prompt_len: _,
            // The place of a finding.
            best_at: _,
            // The cost of a loss.
            donated: _,
            hit_len: _,
        } = self;
        // Turn and phase are the place of a finding.
        for DueCheckpoint { k, slot, withheld, turn: _, phase: _ } in open {
            let slot = out.label_slot(Some(*slot));
            out.put([*k, slot, u32::from(*withheld)]);
        }
        out.word(u32::MAX);
        refused.iter().for_each(|&len| out.word(len));
        out.put([u32::MAX, *best, *overwritten, or_none(*offered), or_none(*final_len), u32::from(*declined)]);
    }

    /// The request donated a state under a key of this length. `offered` is its label, if the request has finished.
    pub fn donate(&mut self, key_len: u32, offered: Option<u32>, counts: &mut CheckpointCounts) {
        counts.donated += 1;
        self.donated = self.donated.max(key_len);
        self.offered = offered;
    }

    /// The length of the prompt is known.
    pub fn prompt(&mut self, len: u32) {
        self.prompt_len = Some(len);
    }

    /// The request finished with this number of outputs.
    pub fn finish(&mut self, outputs: u32) {
        self.final_len = self.prompt_len.map(|len| len.saturating_add(outputs));
    }

    /// The request was admitted with `prefix` tokens from the cache.
    pub fn admit(&mut self, prefix: u32) {
        self.hit_len = self.hit_len.max(prefix);
    }

    /// The slot that a forward wrote for a length that is due and not recorded.
    pub fn slot(&self, len: u32) -> Option<SlotId> {
        self.open.iter().rev().find(|due| due.k == len).map(|due| due.slot)
    }

    /// The result of a boundary step was processed; `recorded` is whether its length is recorded.
    pub fn process(&mut self, due: DueCheckpoint, recorded: bool, counts: &mut CheckpointCounts) {
        counts.due += 1;
        if recorded {
            self.keep(due, counts);
        } else {
            self.open.push(due);
        }
    }

    /// A decision recorded a length. If the length was due earlier, it is no longer due.
    pub fn record(&mut self, len: u32, counts: &mut CheckpointCounts) {
        if let Some(at) = self.open.iter().rposition(|due| due.k == len) {
            let due = self.open.remove(at);
            self.keep(due, counts);
        }
    }

    /// A due checkpoint is recorded.
    fn keep(&mut self, due: DueCheckpoint, counts: &mut CheckpointCounts) {
        counts.recorded += 1;
        if due.k > self.best {
            (self.best, self.best_at) = (due.k, Some((due.turn, due.phase)));
        }
    }

    /// The request was retracted: its due checkpoints are skipped, not lost.
    pub fn retract(&mut self, counts: &mut CheckpointCounts) {
        counts.skipped += self.open.len() as u64;
        self.open.clear();
        self.refused.clear();
        (self.best, self.overwritten) = (0, 0);
    }

    /// A guard declined the donation: the due lengths for which the rule kept no slot are skipped, or else the recorded
    /// checkpoint is.
    pub fn decline(&mut self, counts: &mut CheckpointCounts) {
        let open = self.open.len();
        self.open.retain(|due| !due.withheld);
        counts.skipped += (open - self.open.len()).max(1) as u64;
        self.declined = true;
    }

    /// The request gives its track slots back. Every checkpoint due and not recorded is lost. If the request has
    /// finished, the longest recorded length is lost too if the request donated a shorter one, and the cost is added.
    pub fn release(&mut self, req: ReqId, finished: bool, counts: &mut CheckpointCounts, findings: &mut Findings) {
        let mut lost = 0;
        if finished {
            lost += self.lose_unoffered(req, counts, findings);
        }
        for due in std::mem::take(&mut self.open) {
            lost += 1;
            self.best = self.best.max(due.k);
            let why = if due.withheld { "the rule kept no slot for it" } else { "no result recorded it" };
            let reason = || format!("step {} wrote its state to slot {}, but {why}", due.k, due.slot);
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

    /// Checks the donation of a finished request against the longest recorded length. If the request donated a shorter
    /// one, the recorded length is lost, unless a guard declined; it is skipped if a refused step
    /// overwrote it in place, or if it is beyond the final length. Returns the number of losses.
    fn lose_unoffered(&mut self, req: ReqId, counts: &mut CheckpointCounts, findings: &mut Findings) -> u64 {
        let (best, offered) = (self.best, self.offered.unwrap_or(0));
        if best <= offered || self.declined {
            return 0;
        }
        if best <= self.overwritten || self.final_len.is_some_and(|len| best > len) {
            counts.skipped += 1;
            return 0;
        }
        // A search resets the counts after each turn, so the count can be 0 here.
        counts.recorded = counts.recorded.saturating_sub(1);
        let reason = || match self.offered {
            Some(offered) => format!("length {best} was recorded, but at its end the request donated length {offered}"),
            None => format!("length {best} was recorded, but at its end the request kept no slot for it"),
        };
        let index = findings.add(FindingKind::Lost, Some(req), reason);
        if let Some(finding) = findings.at(index) {
            finding.label = Some(best);
            (finding.turn, finding.phase) = self.best_at.unwrap_or((finding.turn, finding.phase));
        }
        1
    }

    /// Whether step `k`, whose result is processed now, was refused its second slot.
    #[inline]
    pub fn was_refused(&mut self, k: Option<u32>) -> bool {
        let Some(k) = k.filter(|_| !self.refused.is_empty()) else { return false };
        let refused = self.refused.contains(&k);
        self.refused.retain(|other| *other > k);
        refused
    }
}
