//! Why a checkpoint that was decided rightly is not in its slot: which step wrote over it.
//!
//! Owns the last right decisions of one request and the last step that wrote each of its track slots, and the words for that.
//! Refuses to find a state wrong: it is asked about one that is.

use crate::record::{BatchId, SlotId};

use super::Overwritten;

/// Decisions and slots that are remembered: a request holds two track slots at most.
const KEPT: usize = 2;

/// What one request decided rightly, and what its steps wrote to its track slots; the newest is last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DecisionTrail {
    decisions: [Option<RightDecision>; KEPT],
    writes: [Option<TrackWrite>; KEPT],
}

/// A decision that named the length and the slot that a forward wrote.
#[derive(Clone, Copy, Debug)]
struct RightDecision {
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

    /// In this turn a decision named this length and the slot that a forward wrote, or will have written, with it.
    pub fn decided_rightly(&mut self, label: u32, slot: SlotId, turn: u32) {
        self.decisions.rotate_left(1);
        self.decisions[KEPT - 1] = Some(RightDecision { label, slot, turn });
    }

    /// The step that wrote over the state of `label` in `slot`, which holds `holds` tokens now, if that was decided rightly.
    pub fn overwritten(&self, label: u32, slot: SlotId, holds: u32) -> Option<Overwritten> {
        let right = self.decisions.iter().flatten().find(|right| right.label == label && right.slot == slot)?;
        let write = self.writes.iter().flatten().find(|write| write.slot == slot)?;
        let TrackWrite { slot: _, len, batch, turn } = *write;
        (len != label && len == holds).then_some(Overwritten { decided_turn: right.turn, len, batch, turn })
    }
}

impl Overwritten {
    /// The sentence that goes behind the reason of a finding.
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
    fn only_a_right_decision_whose_slot_was_written_again_has_a_cause() {
        let mut trail = DecisionTrail::default();
        trail.wrote(write(3, 4));
        trail.decided_rightly(4, SlotId(3), 5);
        assert_eq!(trail.overwritten(4, SlotId(3), 4), None, "not written again");
        trail.wrote(write(2, 8));
        trail.wrote(write(3, 12));
        let by_12 = Overwritten { decided_turn: 5, len: 12, batch: BatchId(12), turn: 12 };
        assert_eq!(trail.overwritten(4, SlotId(3), 12), Some(by_12));
        assert_eq!(trail.overwritten(8, SlotId(2), 12), None, "not decided");
        assert_eq!(trail.overwritten(4, SlotId(3), 9), None, "something else wrote it");
        trail.wrote(write(2, 16));
        trail.wrote(write(2, 20));
        assert_eq!(trail.overwritten(4, SlotId(3), 12), Some(by_12), "a slot that is written again keeps one place");
    }
}
