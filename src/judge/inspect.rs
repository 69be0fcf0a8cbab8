//! What the judge knows of a slot in the middle of a run, for views of a run under way.
//!
//! Owns no state. Finds nothing: a slot that would be wrong if it were donated now is no finding yet.

use crate::record::{ReqId, SlotId};

use super::Judge;

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Tokens folded once all launched forwards have run; nothing if nobody has written the slot since its owner got it.
    pub tokens: Option<u32>,
    /// Who wrote it last since its owner got it.
    pub writer: Option<ReqId>,
    /// Whether the last write has not been waited for.
    pub in_flight: bool,
}

impl Judge {
    /// How many findings there are so far: those of a run are found in the order in which its judgement lists them.
    pub fn finding_count(&self) -> usize {
        self.findings.len()
    }

    /// What a slot holds.
    pub fn holding(&self, slot: SlotId) -> Holding {
        let writer = self.storage.contents.writer(slot);
        Holding {
            tokens: writer.map(|_| self.storage.contents.content(slot).len),
            writer,
            in_flight: self.storage.contents.in_flight(slot),
        }
    }

    /// Whether a slot holds the first `len` tokens of a live request once all launched forwards have run. Nothing if the
    /// request has been released.
    pub fn holds(&self, slot: SlotId, req: ReqId, len: u32) -> Option<bool> {
        self.storage.holds(slot, req, len)
    }

    /// Whether a slot of the tree was right when it was donated and still holds that. Nothing if the record has no donation of
    /// it.
    pub fn holds_donation(&self, slot: SlotId) -> Option<bool> {
        let donation = self.storage.contents.donation(slot)?;
        let same = donation.state == self.storage.contents.content(slot);
        Some(donation.root.is_none() && same && self.storage.contents.flaw(slot).is_none())
    }
}
