//! The events of offers to the radix tree, and of offers that were not made.

use crate::record::{DonationOutcome, NoDonation, ReqId, SlotId};

use super::super::event::{EmptyOffer, EventBody, PreparedOffer, Reason};
use super::EncoderState;

impl EncoderState<'_> {
    pub(super) fn donate(&mut self, req: ReqId, key_len: u32, slot: SlotId, how: DonationOutcome) {
        let held = self.contents.get(slot);
        let truth = self.contents.truth(req, key_len);
        let ok = held == truth;
        let reason = if how.finished { Reason::Finished } else { Reason::Unfinished };
        let tainted = self.requests[req.index()].tainted;
        self.request(req).gave = how.finished && !how.existed;
        let stats = &mut self.stats;
        stats.donate += 1;
        if !ok && !how.existed {
            stats.donate_bad += 1;
            stats.donate_finished_bad += u32::from(how.finished);
            if !tainted {
                stats.donate_bad_root += 1;
                let by_reason = match how.finished {
                    true => &mut stats.donate_bad_root_finished,
                    false => &mut stats.donate_bad_root_unfinished,
                };
                *by_reason.get_or_insert(0) += 1;
            }
        }
        self.emit(EventBody::Donate {
            rid: self.name(req),
            label: key_len,
            slot: slot.0,
            n: held.n,
            hash: format!("{:016x}", held.h),
            expected: format!("{:016x}", truth.h),
            ok,
            reason,
            already_in_tree: how.existed,
            tainted,
        });
    }

    pub(super) fn no_insert(&mut self, req: ReqId, why: NoDonation, slot: Option<SlotId>) {
        self.request(req).gave = false;
        let finished =
            self.phase == crate::record::Phase::Result && self.requests[req.index()].ending != super::Ending::None;
        let (reason, came_to_choose) = match why {
            NoDonation::Retracted => (Reason::Retract, false),
            NoDonation::Aborted | NoDonation::Declined => (Reason::Finished, false),
            NoDonation::NoCheckpoint | NoDonation::NoSlot if finished => (Reason::Finished, true),
            NoDonation::NoCheckpoint | NoDonation::NoSlot => (Reason::Unfinished, true),
        };
        let (rid, slot) = (self.name(req), slot.map(|slot| slot.0));
        // Up to 0.5.18, the empty offer of a finished request reaches the tree, which refuses it.
        let offer = if finished && came_to_choose && self.format.tree_gets_empty_offers {
            EmptyOffer::Refused { label: 0, slot }
        } else {
            EmptyOffer::Prepared(came_to_choose.then_some(PreparedOffer { rid, label: 0, slot, finished }))
        };
        self.emit(EventBody::NoInsert { rid, reason, offer });
    }

    /// Up to 0.5.18, a request that gave its only track slot to the tree frees the others: an empty list.
    pub(super) fn free_of_nothing(&mut self, req: ReqId) {
        let request = self.request(req);
        let gave = std::mem::take(&mut request.gave);
        if gave
            && self.requests[req.index()].track_slots == 0
            && self.format.frees_empty_list
            && self.setup.engine.track_policy().has_track_slots()
        {
            self.emit(EventBody::SlotFree { slots: Vec::new(), free: self.free });
        }
    }
}
