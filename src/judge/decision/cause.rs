//! The cause of a wrong state after a correct decision: the step that overwrote the checkpoint.
//!
//! Owns the last correct decisions of one request, the last write to each of its track slots, and the words for a
//! cause. Makes no findings: it explains findings of the state audit.

use crate::record::{BatchId, SlotId};

use super::Overwritten;

/// The number of decisions and writes kept: a request has at most two track slots.
const KEPT: usize = 2;

/// The last correct decisions of a request, and the last writes to its track slots; the newest is last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DecisionTrail {
    decisions: [Option<CorrectDecision>; KEPT],
    writes: [Option<TrackWrite>; KEPT],
}

/// A decision that named the length and the slot that a forward wrote, or will write.
#[derive(Clone, Copy, Debug)]
struct CorrectDecision {
    label: u32,
    slot: SlotId,
    turn: u32,
}

/// The last step that wrote a track slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrackWrite {
    /// The slot.
    pub slot: SlotId,
    /// The length of the state that it wrote.
    pub len: u32,
    /// Its batch.
    pub batch: BatchId,
    /// The turn in which it was launched.
    pub turn: u32,
}

impl DecisionTrail {
    /// A forward wrote a track slot.
    pub fn wrote(&mut self, write: TrackWrite) {
        let at = self.writes.iter().position(|known| known.is_some_and(|known| known.slot == write.slot)).unwrap_or(0);
        self.writes[at..].rotate_left(1);
        self.writes[KEPT - 1] = Some(write);
    }

    /// A decision in `turn` named a length and the slot that a forward wrote, or will write, for it.
    pub fn decided_correctly(&mut self, label: u32, slot: SlotId, turn: u32) {
        self.decisions.rotate_left(1);
        self.decisions[KEPT - 1] = Some(CorrectDecision { label, slot, turn });
    }

    /// The step that overwrote the state of length `label` in `slot`, which now holds `holds` tokens. `None` unless a
    /// decision named this length and slot correctly, and the last write to the slot explains its content.
    pub fn overwritten(&self, label: u32, slot: SlotId, holds: u32) -> Option<Overwritten> {
        let correct =
            self.decisions.iter().flatten().find(|decision| decision.label == label && decision.slot == slot)?;
        let write = self.writes.iter().flatten().find(|write| write.slot == slot)?;
        let TrackWrite { slot: _, len, batch, turn } = *write;
        (len != label && len == holds).then_some(Overwritten { decided_turn: correct.turn, len, batch, turn })
    }
}

impl Overwritten {
    /// The words that are appended to the reason of a finding.
    pub(in crate::judge) fn words(&self) -> String {
        let Overwritten { decided_turn, len, batch, turn } = *self;
        format!(
            "; the decision in turn {decided_turn} was right, but step {len} ({batch}, launched in turn {turn}) overwrites the slot"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(slot: u32, len: u32) -> TrackWrite {
        TrackWrite { slot: SlotId(slot), len, batch: BatchId(len), turn: len }
    }

    #[test]
    fn only_a_correct_decision_whose_slot_was_overwritten_has_a_cause() {
        let mut trail = DecisionTrail::default();
        trail.wrote(write(3, 4));
        trail.decided_correctly(4, SlotId(3), 5);
        assert_eq!(trail.overwritten(4, SlotId(3), 4), None, "the slot was not written again");
        trail.wrote(write(2, 8));
        trail.wrote(write(3, 12));
        let by_12 = Overwritten { decided_turn: 5, len: 12, batch: BatchId(12), turn: 12 };
        assert_eq!(trail.overwritten(4, SlotId(3), 12), Some(by_12));
        assert_eq!(trail.overwritten(8, SlotId(2), 12), None, "no decision named it");
        assert_eq!(trail.overwritten(4, SlotId(3), 9), None, "the last write does not explain the content");
        trail.wrote(write(2, 16));
        trail.wrote(write(2, 20));
        assert_eq!(trail.overwritten(4, SlotId(3), 12), Some(by_12), "only the last write to a slot is kept");
    }
}
