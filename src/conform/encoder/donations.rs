//! What is offered to the radix tree, what is not, and why: the events that show it.

use serde_json::{Value, json};

use crate::record::{DonationOutcome, NoDonation, ReqId, SlotId};

use super::{Scribe, option};

impl Scribe<'_> {
    pub(super) fn donate(&mut self, req: ReqId, key_len: u32, slot: SlotId, how: DonationOutcome) {
        let held = self.content.get(slot);
        let truth = self.content.truth(req, key_len);
        let ok = held == truth;
        let reason = if how.finished { "finished" } else { "unfinished" };
        let tainted = self.requests[req.index()].tainted;
        self.request(req).gave = how.finished && !how.existed;
        let totals = &mut self.totals;
        totals.donate += 1;
        if !ok && !how.existed {
            totals.donate_bad += 1;
            totals.donate_finished_bad += u32::from(how.finished);
            if !tainted {
                totals.donate_bad_root += 1;
                *totals.bad_root_by_reason.entry(reason).or_default() += 1;
            }
        }
        self.say(
            "donate",
            vec![
                ("rid", self.name(req)),
                ("label", key_len.into()),
                ("slot", slot.0.into()),
                ("n", held.n.into()),
                ("hash", format!("{:016x}", held.h).into()),
                ("expected", format!("{:016x}", truth.h).into()),
                ("ok", ok.into()),
                ("reason", reason.into()),
                ("already_in_tree", how.existed.into()),
                ("tainted", tainted.into()),
            ],
        );
    }

    pub(super) fn no_insert(&mut self, req: ReqId, why: NoDonation, slot: Option<SlotId>) {
        self.request(req).gave = false;
        let finished =
            self.phase == crate::record::Phase::Result && self.requests[req.index()].ending != super::Ending::None;
        let (reason, came_to_choose) = match why {
            NoDonation::Retracted => ("retract", false),
            NoDonation::Aborted | NoDonation::Declined => ("finished", false),
            NoDonation::NoCheckpoint | NoDonation::NoSlot if finished => ("finished", true),
            NoDonation::NoCheckpoint | NoDonation::NoSlot => ("unfinished", true),
        };
        let mut fields = vec![("rid", self.name(req)), ("reason", reason.into())];
        let slot = option(slot.map(|slot| slot.0));
        if finished && came_to_choose && self.format.tree_gets_empty_offers {
            fields.extend([("label", 0.into()), ("slot", slot)]);
        } else if came_to_choose {
            let prepared = json!({ "rid": self.name(req), "label": 0, "slot": slot, "finished": finished });
            fields.push(("prepared", prepared));
        } else {
            fields.push(("prepared", Value::Null));
        }
        self.say("no_insert", fields);
    }

    /// Up to 0.5.18 a request that gave its only track slot to the tree frees the rest of them, which is none.
    pub(super) fn free_of_nothing(&mut self, req: ReqId) {
        let request = self.request(req);
        let gave = std::mem::take(&mut request.gave);
        if gave
            && self.requests[req.index()].track_slots == 0
            && self.format.frees_empty_list
            && self.setup.engine.track_policy().has_track_slots()
        {
            self.say("slot_free", vec![("slots", json!([])), ("free", self.free.into())]);
        }
    }
}
