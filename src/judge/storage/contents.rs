//! What every state slot holds: an emulation of the slots from the effects in the record.
//!
//! Owns contents, the last writer, the accesses not yet waited for, and where a cached state came from. Does not know which request may
//! write a slot (that is `owners`), which content would be right (`audit`), and what an access without order means (`race`).

mod encoding;

use educe::Educe;

use crate::record::{BatchId, Prefix, ReqId, SlotId};

use super::super::grow::entry;
use super::SLOTS_MAX;
use super::clock::LaunchClock;
use super::sequence;

/// The donation that put a slot into the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeDonation {
    /// Who donated it.
    pub req: ReqId,
    /// What it held then.
    pub state: Prefix,
    /// The finding at the root, if that was wrong.
    pub root: Option<usize>,
    /// Whether a decode left the state, else a prefill, if the record has the donation. Only for goals.
    pub by_decode: Option<bool>,
}

/// A content, and the launch that wrote it, or that wrote over it. Launch 0 is none.
#[derive(Clone, Copy, Debug, Default)]
struct ContentVersion {
    content: Prefix,
    launch: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// What it holds, and the launch of the last write.
    now: ContentVersion,
    /// Who wrote last since the present owner got the slot.
    writer: Option<ReqId>,
    /// Who wrote last before that, if the present owner got the slot while that was in flight.
    earlier: Option<ReqId>,
    /// The last launch when the present owner got the slot.
    since: u32,
    /// The last launch that copied from here, and for whom.
    read: (u32, ReqId),
    donation: Option<TreeDonation>,
}

/// A slot as the pool was created.
const FRESH: Slot = Slot {
    now: ContentVersion { content: Prefix::EMPTY, launch: 0 },
    writer: None,
    earlier: None,
    since: 0,
    read: (0, ReqId(0)),
    donation: None,
};

/// What a forward that the CPU has not waited for does to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingAccess {
    /// For whom, if the record has it.
    pub req: Option<ReqId>,
    /// Whether it writes the slot; otherwise it only reads it.
    pub writes: bool,
    /// Whether it was launched before the present owner got the slot.
    pub inherited: bool,
}

/// All slots, and how far the CPU knows the forwards to be.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(crate) struct Contents {
    slots: Vec<Slot>,
    /// What launches in flight overwrote: the slot, its content before the launch, and the launch. In order.
    overwritten: Vec<(SlotId, ContentVersion)>,
    /// By slot, in order: what a racing copy left there, and the finding that says so. There are hardly ever any.
    flaws: Vec<(SlotId, Prefix, usize)>,
    clock: LaunchClock,
    /// Whether a slot was named that is not followed.
    pub overflow: bool,
}

impl Contents {
    /// A forward was queued; the effects that follow belong to it.
    pub fn launch(&mut self, batch: BatchId) {
        self.clock.launch(batch);
    }

    /// The CPU has waited for a batch.
    pub fn wait(&mut self, batch: BatchId) {
        self.clock.wait(batch);
        let known = self.overwritten.iter().take_while(|(_, before)| self.clock.has_completed(before.launch)).count();
        if known > 0 {
            self.overwritten.drain(..known);
        }
    }

    /// A new owner: what was written before is not its doing.
    pub fn begin_owner(&mut self, slot: SlotId) {
        let launched = self.clock.launched();
        if let Some(slot) = self.slot(slot) {
            slot.earlier = slot.last_writer();
            slot.writer = None;
            slot.since = launched;
            slot.donation = None;
        }
        self.forget_flaw(slot);
    }

    /// A forward of `req` writes `state`.
    #[inline]
    pub fn write(&mut self, slot: SlotId, state: Prefix, req: ReqId) {
        if let Some(slot) = self.overwrite(slot, state) {
            slot.writer = Some(req);
        }
    }

    /// A forward clears a slot. A slot that its owner cleared and nobody wrote counts as unwritten.
    pub fn clear(&mut self, slot: SlotId, req: ReqId, by_owner: bool) {
        if let Some(slot) = self.overwrite(slot, Prefix::EMPTY)
            && (slot.writer.is_some() || !by_owner)
        {
            slot.writer = Some(req);
        }
    }

    /// Puts a content into a slot, and remembers the one before the first write of the last launch.
    #[inline]
    fn overwrite(&mut self, slot: SlotId, content: Prefix) -> Option<&mut Slot> {
        let launch = self.clock.launched();
        let held = entry(&mut self.slots, slot.index(), SLOTS_MAX, || FRESH, &mut self.overflow)?;
        let before = std::mem::replace(&mut held.now, ContentVersion { content, launch });
        if before.launch != launch && !self.clock.has_completed(launch) {
            self.overwritten.push((slot, ContentVersion { launch, ..before }));
        }
        Some(held)
    }

    /// A forward of `req` copies from a slot.
    pub fn read(&mut self, slot: SlotId, req: ReqId) {
        let launch = self.clock.launched();
        if let Some(slot) = self.slot(slot) {
            slot.read = (launch, req);
        }
    }

    /// The schedule stream writes `state` for `req`: complete for the CPU at once, unless a forward in flight writes
    /// there too. Then what that one leaves is the worst that can come of it. `flaw` is the finding about the copy.
    pub fn write_on_schedule(&mut self, slot: SlotId, state: Prefix, writer: Option<ReqId>, flaw: Option<usize>) {
        let in_flight = self.in_flight(slot);
        let Some(held) = self.slot(slot) else { return };
        if in_flight {
            held.writer = held.last_writer();
            return;
        }
        held.now = ContentVersion { content: state, launch: 0 };
        held.writer = writer;
        self.forget_flaw(slot);
        if let Some(flaw) = flaw {
            let at = self.flaws.partition_point(|known| known.0 < slot);
            self.flaws.insert(at, (slot, state, flaw));
        }
    }

    fn forget_flaw(&mut self, slot: SlotId) {
        if !self.flaws.is_empty() {
            self.flaws.retain(|flaw| flaw.0 != slot);
        }
    }

    /// The content after all launched forwards.
    #[inline]
    pub fn content(&self, slot: SlotId) -> Prefix {
        self.get(slot).now.content
    }

    /// The content after the forwards that the CPU has waited for.
    pub fn completed_content(&self, slot: SlotId) -> Prefix {
        let pending = self.overwritten.iter().find(|(other, _)| *other == slot);
        pending.map_or(self.get(slot).now, |(_, before)| *before).content
    }

    /// Whether the last write has not been waited for.
    pub fn in_flight(&self, slot: SlotId) -> bool {
        !self.clock.has_completed(self.get(slot).now.launch)
    }

    /// What a forward that has not been waited for does to a slot: the write if there is one, else the read.
    pub fn pending(&self, slot: SlotId) -> Option<PendingAccess> {
        let slot = self.get(slot);
        let ((launch, req), writes) = if !self.clock.has_completed(slot.now.launch) {
            ((slot.now.launch, slot.last_writer()), true)
        } else {
            let (launch, req) = slot.read;
            ((launch, Some(req)), false)
        };
        (!self.clock.has_completed(launch)).then_some(PendingAccess { req, writes, inherited: launch <= slot.since })
    }

    /// Forwards that the CPU has not waited for.
    pub fn in_flight_count(&self) -> u32 {
        self.clock.in_flight()
    }

    /// What a read that is not ordered after the write in flight may see: neither the old state nor the new one, as
    /// long as the old one.
    pub fn torn(&self, slot: SlotId) -> Prefix {
        sequence::torn(self.completed_content(slot), self.content(slot))
    }

    /// The finding about the copy that left what a slot holds.
    pub fn flaw(&self, slot: SlotId) -> Option<usize> {
        let content = self.content(slot);
        self.flaw_in(slot).filter(|flaw| flaw.0 == content).map(|flaw| flaw.1)
    }

    /// The same, and what that copy left, whether or not it is still there.
    #[inline]
    fn flaw_in(&self, slot: SlotId) -> Option<(Prefix, usize)> {
        self.flaws.iter().find(|flaw| flaw.0 == slot).map(|flaw| (flaw.1, flaw.2))
    }

    /// Who wrote last since the present owner got the slot.
    pub fn writer(&self, slot: SlotId) -> Option<ReqId> {
        self.get(slot).writer
    }

    /// The donation that put the slot into the tree, if the record has it.
    pub fn donation(&self, slot: SlotId) -> Option<TreeDonation> {
        self.get(slot).donation
    }

    /// Notes where a cached state came from.
    pub fn donate(&mut self, slot: SlotId, donation: TreeDonation) {
        if let Some(slot) = self.slot(slot) {
            slot.donation = Some(donation);
        }
    }

    #[inline]
    fn get(&self, slot: SlotId) -> &Slot {
        self.slots.get(slot.index()).unwrap_or(&FRESH)
    }

    #[inline]
    fn slot(&mut self, slot: SlotId) -> Option<&mut Slot> {
        entry(&mut self.slots, slot.index(), SLOTS_MAX, || FRESH, &mut self.overflow)
    }
}

impl Slot {
    /// Whether the last write came after the present owner got the slot.
    #[inline]
    fn is_its_owners(&self) -> bool {
        self.now.launch > self.since
    }

    /// Who wrote last: the present owner's side, if the last write came after it got the slot (nobody, if that is the owner's own clear);
    /// else whoever wrote before.
    #[inline]
    fn last_writer(&self) -> Option<ReqId> {
        if self.is_its_owners() { self.writer } else { self.writer.or(self.earlier) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::StreamId;

    const R: ReqId = ReqId(0);

    fn n(len: u32) -> Prefix {
        Prefix { stream: StreamId(1), len }
    }

    #[test]
    fn right_now_is_what_has_been_waited_for() {
        let (mut store, slot) = (Contents::default(), SlotId(1));
        for batch in 1..=3 {
            store.launch(BatchId(batch));
            store.write(slot, n(9), R);
            store.write(slot, n(batch), R);
        }
        store.wait(BatchId(1));
        assert_eq!((store.completed_content(slot), store.content(slot), store.in_flight(slot)), (n(1), n(3), true));
        store.wait(BatchId(2));
        assert_eq!(store.completed_content(slot), n(2));
        store.wait(BatchId(3));
        assert_eq!((store.completed_content(slot), store.in_flight(slot)), (n(3), false));
    }

    #[test]
    fn a_clear_by_the_owner_writes_nothing_and_by_another_does() {
        let (mut store, slot) = (Contents::default(), SlotId(1));
        store.clear(slot, R, true);
        assert_eq!(store.writer(slot), None);
        store.clear(slot, ReqId(1), false);
        assert_eq!(store.writer(slot), Some(ReqId(1)));
    }

    #[test]
    fn what_is_pending_is_known_by_when_the_owner_got_the_slot() {
        let (mut store, slot) = (Contents::default(), SlotId(1));
        store.launch(BatchId(1));
        store.write(slot, n(9), R);
        let own = PendingAccess { req: Some(R), writes: true, inherited: false };
        assert_eq!(store.pending(slot), Some(own));
        store.begin_owner(slot);
        store.begin_owner(slot);
        assert_eq!(store.pending(slot), Some(PendingAccess { inherited: true, ..own }));
        store.write_on_schedule(slot, n(4), Some(ReqId(1)), None);
        assert_eq!((store.content(slot), store.writer(slot), store.in_flight(slot)), (n(9), Some(R), true));
        store.wait(BatchId(1));
        assert_eq!(store.pending(slot), None);
        store.write_on_schedule(slot, n(4), Some(ReqId(1)), None);
        store.launch(BatchId(2));
        store.read(slot, R);
        assert_eq!((store.content(slot), store.pending(slot)), (n(4), Some(PendingAccess { writes: false, ..own })));
    }

    #[test]
    fn an_absurd_slot_is_not_followed() {
        let mut store = Contents::default();
        store.write(SlotId(u32::MAX), n(1), R);
        assert!(store.overflow);
        assert_eq!(store.content(SlotId(u32::MAX)), Prefix::EMPTY);
    }
}
