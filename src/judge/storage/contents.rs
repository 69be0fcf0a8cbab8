//! The content of every state slot, derived from the effects in the record.
//!
//! Owns the contents, the last writer of each slot, the accesses of forwards in flight, and the donation of each cached
//! state. Does not know which request may write a slot (`owners`), which content is correct (`audit`), or what an
//! unordered access means (`race`).
//!
//! "In flight" means: launched, and the CPU has not waited for it. A slot has two contents of interest: the content
//! after all launched forwards ([`Contents::content`]), and the content after the forwards that the CPU has waited for
//! ([`Contents::completed_content`]).

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
    /// The donor.
    pub req: ReqId,
    /// The content of the slot at the donation.
    pub state: Prefix,
    /// If this content was wrong: the index of the finding at the root.
    pub root: Option<usize>,
    /// Whether a decode wrote the state; otherwise a prefill did. `None` if the record has no donation. For coverage
    /// goals only.
    pub by_decode: Option<bool>,
}

/// A content with the launch that wrote it. Launch 0 stands for a write that is complete at once.
#[derive(Clone, Copy, Debug, Default)]
struct ContentVersion {
    content: Prefix,
    launch: u32,
}

/// The state of one slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The content after all launched forwards, and the launch of the last write.
    now: ContentVersion,
    /// The request of the last write since the present owner got the slot.
    writer: Option<ReqId>,
    /// The request of the last write before the present owner got the slot.
    earlier: Option<ReqId>,
    /// The number of the last launch at the time when the present owner got the slot.
    since: u32,
    /// The last launch that copied from the slot, and the request of that copy.
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

/// An access to a slot by a forward in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingAccess {
    /// The request of the access, if the record has it.
    pub req: Option<ReqId>,
    /// Whether it is a write; otherwise it is a read.
    pub writes: bool,
    /// Whether the forward was launched before the present owner got the slot.
    pub inherited: bool,
}

/// The state of all slots.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(crate) struct Contents {
    slots: Vec<Slot>,
    /// The contents that forwards in flight overwrote, in launch order: the slot, its content before the launch, and
    /// the number of the launch that overwrote it.
    overwritten: Vec<(SlotId, ContentVersion)>,
    /// Slots that a torn copy wrote, sorted: the content that the copy left, and the index of its finding. Nearly
    /// always empty.
    flaws: Vec<(SlotId, Prefix, usize)>,
    clock: LaunchClock,
    /// Whether the record has a slot from [`SLOTS_MAX`] on.
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

    /// A slot got a new owner: no request has written the slot since then, and the slot is not cached.
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

    /// A forward clears a slot for `req`. A clear by the owner is not a write: the slot stays unwritten.
    pub fn clear(&mut self, slot: SlotId, req: ReqId, by_owner: bool) {
        if let Some(slot) = self.overwrite(slot, Prefix::EMPTY)
            && (slot.writer.is_some() || !by_owner)
        {
            slot.writer = Some(req);
        }
    }

    /// The last launch writes a content. Keeps the content before the first write of this launch, for as long as the
    /// launch is in flight.
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

    /// The schedule stream writes `state`; the write is complete at once. If a forward in flight writes the slot too,
    /// the order is open, and the content of the forward is kept: it is the worse outcome. `flaw` is the finding about
    /// the copy, if the copy is torn.
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

    /// Forgets that a torn copy wrote the slot.
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

    /// The content after the forwards that the CPU has waited for, and no others.
    pub fn completed_content(&self, slot: SlotId) -> Prefix {
        let pending = self.overwritten.iter().find(|(other, _)| *other == slot);
        pending.map_or(self.get(slot).now, |(_, before)| *before).content
    }

    /// Whether the last write is in flight.
    pub fn in_flight(&self, slot: SlotId) -> bool {
        !self.clock.has_completed(self.get(slot).now.launch)
    }

    /// The last write of the slot, if it is in flight; else the last read, if it is in flight.
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

    /// The number of forwards in flight.
    pub fn in_flight_count(&self) -> u32 {
        self.clock.in_flight()
    }

    /// The content that an unordered read sees while a write is in flight: neither the old content nor the new one,
    /// with the length of the old one.
    pub fn torn(&self, slot: SlotId) -> Prefix {
        sequence::torn(self.completed_content(slot), self.content(slot))
    }

    /// The finding about the torn copy that wrote the present content, if there is one.
    pub fn flaw(&self, slot: SlotId) -> Option<usize> {
        let content = self.content(slot);
        self.flaw_in(slot).filter(|flaw| flaw.0 == content).map(|flaw| flaw.1)
    }

    /// The content that a torn copy left in the slot, even if it was overwritten since, and the finding about the copy.
    #[inline]
    fn flaw_in(&self, slot: SlotId) -> Option<(Prefix, usize)> {
        self.flaws.iter().find(|flaw| flaw.0 == slot).map(|flaw| (flaw.1, flaw.2))
    }

    /// The request of the last write since the present owner got the slot; `None` if the slot is unwritten.
    pub fn writer(&self, slot: SlotId) -> Option<ReqId> {
        self.get(slot).writer
    }

    /// The donation that put the slot into the tree, if the record has it.
    pub fn donation(&self, slot: SlotId) -> Option<TreeDonation> {
        self.get(slot).donation
    }

    /// The slot was donated, or its donation turned out to be wrong.
    pub fn donate(&mut self, slot: SlotId, donation: TreeDonation) {
        if let Some(slot) = self.slot(slot) {
            slot.donation = Some(donation);
        }
    }

    /// The state of a slot, as created if the record has not named it.
    #[inline]
    fn get(&self, slot: SlotId) -> &Slot {
        self.slots.get(slot.index()).unwrap_or(&FRESH)
    }

    /// The mutable state of a slot; `None` if the slot is not tracked.
    #[inline]
    fn slot(&mut self, slot: SlotId) -> Option<&mut Slot> {
        entry(&mut self.slots, slot.index(), SLOTS_MAX, || FRESH, &mut self.overflow)
    }
}

impl Slot {
    /// Whether the last write was launched after the present owner got the slot.
    #[inline]
    fn is_its_owners(&self) -> bool {
        self.now.launch > self.since
    }

    /// The request of the last write, also of one from before the present owner. `None` if the last write is the
    /// present owner's own clear.
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
    fn the_completed_content_is_that_of_forwards_waited_for() {
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
    fn a_pending_access_is_inherited_if_it_precedes_the_owner() {
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
    fn a_slot_beyond_the_limit_is_not_tracked() {
        let mut store = Contents::default();
        store.write(SlotId(u32::MAX), n(1), R);
        assert!(store.overflow);
        assert_eq!(store.content(SlotId(u32::MAX)), Prefix::EMPTY);
    }
}
