//! Queries about a slot during a run, for interactive views.
//!
//! Owns no state and makes no findings: a wrong state in a slot is a finding only at its donation or hit.

use crate::record::{ReqId, SlotId};

use super::Judge;

/// The content of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The length of the content after all launched forwards; `None` if no forward has written the slot since its owner
    /// got it.
    pub tokens: Option<u32>,
    /// The request of the last write since the owner got the slot.
    pub writer: Option<ReqId>,
    /// Whether the CPU has not waited for the last write.
    pub in_flight: bool,
}

impl Judge {
    /// The number of findings so far. They are the first ones of the judgement, in the same order.
    pub fn finding_count(&self) -> usize {
        self.findings.len()
    }

    /// The content of a slot.
    pub fn holding(&self, slot: SlotId) -> Holding {
        let writer = self.storage.contents.writer(slot);
        Holding {
            tokens: writer.map(|_| self.storage.contents.content(slot).len),
            writer,
            in_flight: self.storage.contents.in_flight(slot),
        }
    }

    /// Whether a slot holds the first `len` tokens of a live request after all launched forwards. `None` if the request
    /// has been released.
    pub fn holds(&self, slot: SlotId, req: ReqId, len: u32) -> Option<bool> {
        self.storage.holds(slot, req, len)
    }

    /// Whether a slot of the tree was correct at its donation and still holds the same content. `None` if the record
    /// has no donation of the slot.
    pub fn holds_donation(&self, slot: SlotId) -> Option<bool> {
        let donation = self.storage.contents.donation(slot)?;
        let same = donation.state == self.storage.contents.content(slot);
        Some(donation.root.is_none() && same && self.storage.contents.flaw(slot).is_none())
    }
}
