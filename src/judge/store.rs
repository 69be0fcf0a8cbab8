//! What every state slot holds: an emulation of the slots from the forward effects in the record.
//!
//! Owns contents, the last writer, the writes not yet waited for, and where a cached state came from. Refuses to know
//! who may write a slot (that is `account`) and which content would be right (that is `audit`).

use crate::record::{BatchId, ReqId, SlotId, State};

/// Slots beyond this index are not followed; the run is then at best inconclusive.
const SLOTS_MAX: usize = 1 << 20;
/// Launches remembered by batch. A pipeline has two in flight; the rest is slack for records written by hand.
const LAUNCHES: usize = 8;

/// The donation that put a slot into the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Donation {
    /// Who donated it.
    pub req: ReqId,
    /// What it held then.
    pub state: State,
    /// The finding at the root, if that was wrong.
    pub root: Option<usize>,
}

/// A content that a launch overwrote. Launch 0 is none.
#[derive(Clone, Copy, Debug)]
struct Before {
    launch: u64,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    content: State,
    /// What the last two launches that wrote here overwrote, older first.
    before: [Before; 2],
    /// The launch of the last write.
    launch: u64,
    /// Who wrote last since the present owner got the slot.
    writer: Option<ReqId>,
    donation: Option<Donation>,
}

const NOTHING: Before = Before { launch: 0, state: State::ZERO };
/// A slot as the pool was created.
const FRESH: Slot = Slot { content: State::ZERO, before: [NOTHING; 2], launch: 0, writer: None, donation: None };

/// All slots, and which launches the CPU has waited for.
#[derive(Debug)]
pub(super) struct Store {
    slots: Vec<Slot>,
    /// How many forwards have been launched: the number of the last one.
    launched: u64,
    /// Launches up to this number are complete for the CPU.
    completed: u64,
    batches: [(BatchId, u64); LAUNCHES],
    /// Whether a slot was named that is not followed.
    pub overflow: bool,
}

impl Store {
    /// No slot known, nothing launched.
    pub fn new() -> Store {
        Store { slots: Vec::new(), launched: 0, completed: 0, batches: [(BatchId(0), 0); LAUNCHES], overflow: false }
    }

    /// A forward was queued; the effects that follow belong to it.
    pub fn launch(&mut self, batch: BatchId) {
        self.launched += 1;
        self.batches[self.launched as usize % LAUNCHES] = (batch, self.launched);
    }

    /// The CPU has waited for a batch, and so for all launches up to it. A batch never launched changes nothing.
    pub fn wait(&mut self, batch: BatchId) {
        let known = self.batches.iter().filter(|known| known.0 == batch).map(|known| known.1).max();
        self.completed = self.completed.max(known.unwrap_or(0));
    }

    /// A new owner: what was written before is not its doing.
    pub fn begin(&mut self, slot: SlotId) {
        if let Some(slot) = self.slot(slot) {
            slot.writer = None;
            slot.donation = None;
        }
    }

    /// A forward of `req` writes `state`.
    #[inline]
    pub fn write(&mut self, slot: SlotId, state: State, req: ReqId) {
        let launch = self.launched;
        if let Some(slot) = self.slot(slot) {
            slot.overwrite(launch);
            slot.content = state;
            slot.writer = Some(req);
        }
    }

    /// A forward clears a slot. A slot that its owner cleared and nobody wrote counts as unwritten.
    pub fn clear(&mut self, slot: SlotId, req: ReqId, by_owner: bool) {
        let launch = self.launched;
        if let Some(slot) = self.slot(slot) {
            slot.overwrite(launch);
            slot.content = State::ZERO;
            if slot.writer.is_some() || !by_owner {
                slot.writer = Some(req);
            }
        }
    }

    /// The schedule stream writes `state` for `req`: complete for the CPU at once.
    pub fn write_now(&mut self, slot: SlotId, state: State, req: ReqId) {
        if let Some(slot) = self.slot(slot) {
            *slot = Slot { content: state, before: [NOTHING; 2], launch: 0, writer: Some(req), ..*slot };
        }
    }

    /// The content after all launched forwards.
    #[inline]
    pub fn content(&self, slot: SlotId) -> State {
        self.get(slot).content
    }

    /// The content after the forwards that the CPU has waited for.
    pub fn right_now(&self, slot: SlotId) -> State {
        let slot = self.get(slot);
        let pending = slot.before.iter().find(|before| before.launch > self.completed);
        pending.map_or(slot.content, |before| before.state)
    }

    /// Whether the last write has not been waited for.
    pub fn in_flight(&self, slot: SlotId) -> bool {
        self.get(slot).launch > self.completed
    }

    /// Who wrote last since the present owner got the slot.
    pub fn writer(&self, slot: SlotId) -> Option<ReqId> {
        self.get(slot).writer
    }

    /// The donation that put the slot into the tree, if the record has it.
    pub fn donation(&self, slot: SlotId) -> Option<Donation> {
        self.get(slot).donation
    }

    /// Notes where a cached state came from.
    pub fn donate(&mut self, slot: SlotId, donation: Donation) {
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
        if slot.index() >= self.slots.len() {
            if slot.index() >= SLOTS_MAX {
                self.overflow = true;
                return None;
            }
            self.slots.resize(slot.index() + 1, FRESH);
        }
        self.slots.get_mut(slot.index())
    }
}

impl Slot {
    /// Remembers the content before the first write of a launch.
    #[inline]
    fn overwrite(&mut self, launch: u64) {
        if self.before[1].launch != launch {
            self.before = [self.before[1], Before { launch, state: self.content }];
        }
        self.launch = launch;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: ReqId = ReqId(0);

    fn n(n: u32) -> State {
        State { n, h: 1 }
    }

    #[test]
    fn right_now_is_what_has_been_waited_for() {
        let (mut store, slot) = (Store::new(), SlotId(1));
        for batch in 1..=3 {
            store.launch(BatchId(batch));
            store.write(slot, n(9), R);
            store.write(slot, n(batch), R);
        }
        store.wait(BatchId(1));
        assert_eq!((store.right_now(slot), store.content(slot), store.in_flight(slot)), (n(1), n(3), true));
        store.wait(BatchId(2));
        assert_eq!(store.right_now(slot), n(2));
        store.wait(BatchId(3));
        assert_eq!((store.right_now(slot), store.in_flight(slot)), (n(3), false));
    }

    #[test]
    fn a_clear_by_the_owner_writes_nothing_and_by_another_does() {
        let (mut store, slot) = (Store::new(), SlotId(1));
        store.clear(slot, R, true);
        assert_eq!(store.writer(slot), None);
        store.clear(slot, ReqId(1), false);
        assert_eq!(store.writer(slot), Some(ReqId(1)));
    }

    #[test]
    fn an_absurd_slot_is_not_followed() {
        let mut store = Store::new();
        store.write(SlotId(u32::MAX), n(1), R);
        assert!(store.overflow);
        assert_eq!(store.content(SlotId(u32::MAX)), State::ZERO);
    }
}
