//! What is offered to the radix tree, what is not, and why: the events that show it.

use serde_json::{Value, json};

use crate::model::{Release, Strategy};
use crate::record::{Donated, Nothing, ReqId, SlotId};

use super::{EncoderState, option};

impl EncoderState<'_> {
    pub(super) fn donate(&mut self, req: ReqId, key_len: u32, slot: SlotId, how: Donated) {
        let held = self.contents.get(slot);
        let truth = self.contents.truth(req, key_len);
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
        self.emit(
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

    pub(super) fn no_insert(&mut self, req: ReqId, why: Nothing, slot: Option<SlotId>) {
        self.request(req).gave = false;
        let finished =
            self.phase == crate::record::Phase::Result && self.requests[req.index()].ending != super::Ending::None;
        let (reason, came_to_choose) = match why {
            Nothing::Retracted => ("retract", false),
            Nothing::Aborted | Nothing::Declined => ("finished", false),
            Nothing::NoCheckpoint | Nothing::NoSlot if finished => ("finished", true),
            Nothing::NoCheckpoint | Nothing::NoSlot => ("unfinished", true),
        };
        let mut fields = vec![("rid", self.name(req)), ("reason", reason.into())];
        let slot = option(slot.map(|slot| slot.0));
        // Up to 0.5.18 the offer of a finished request reaches the tree, which turns it down.
        if finished && came_to_choose && self.setup.engine.release < Release::V0_5_23 {
            fields.extend([("label", 0.into()), ("slot", slot)]);
        } else if came_to_choose {
            let prepared = json!({ "rid": self.name(req), "label": 0, "slot": slot, "finished": finished });
            fields.push(("prepared", prepared));
        } else {
            fields.push(("prepared", Value::Null));
        }
        self.emit("no_insert", fields);
    }

    /// Up to 0.5.18 a request that gave its only track slot to the tree frees the rest of them, which is none.
    pub(super) fn free_of_nothing(&mut self, req: ReqId) {
        let request = self.request(req);
        let gave = std::mem::take(&mut request.gave);
        if gave
            && self.requests[req.index()].track_slots == 0
            && self.setup.engine.release < Release::V0_5_23
            && self.setup.engine.strategy != Strategy::NoBuffer
        {
            self.emit("slot_free", vec![("slots", json!([])), ("free", self.free.into())]);
        }
    }
}
