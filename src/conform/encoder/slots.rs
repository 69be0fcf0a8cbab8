//! The events of the slot allocator, and how many track slots each request has.

use crate::record::{Owner, SlotId};

use super::super::event::EventBody;
use super::EncoderState;

impl EncoderState<'_> {
    pub(super) fn slot_alloc(&mut self, slot: SlotId, owner: Owner, last: bool) {
        self.group.push(slot);
        self.free -= 1;
        if let Owner::Track(req, _) = owner {
            self.request(req).track_slots += 1;
        }
        if last {
            let slots: Vec<u32> = self.group.drain(..).map(|slot| slot.0).collect();
            let n = slots.len() as u32;
            self.emit(EventBody::SlotAlloc { slots: Some(slots), n, free: self.free });
        }
    }

    pub(super) fn slot_refused(&mut self, count: u32) {
        if count > 0 {
            self.emit(EventBody::SlotAlloc { slots: None, n: count, free: self.free });
        }
    }

    pub(super) fn slot_move(&mut self, from: Owner, to: Owner) {
        if let Owner::Track(req, _) = from {
            self.request(req).track_slots -= 1;
        }
        if let Owner::Track(req, _) = to {
            self.request(req).track_slots += 1;
        }
    }

    pub(super) fn slot_free(&mut self, slot: SlotId, owner: Owner, last: bool) {
        self.group.push(slot);
        self.free += 1;
        if let Owner::Track(req, _) = owner {
            self.request(req).track_slots -= 1;
        }
        if last {
            let slots: Vec<u32> = self.group.drain(..).map(|slot| slot.0).collect();
            self.emit(EventBody::SlotFree { slots, free: self.free });
        }
        if let Owner::Active(req) = owner {
            self.free_of_nothing(req);
        }
    }
}
