//! Who owns every slot, and which request holds which lock.
//!
//! Owns the owners. Does not look at contents: a slot can be held by the right request and hold the wrong state.

use educe::Educe;

use crate::record::{Owner, ReqId, SlotId};

use super::super::findings::{AccountingFault, Findings};
use super::super::grow::entry;
use super::{REQS_MAX, SLOTS_MAX};

/// The owners of slots and locks.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(crate) struct Owners {
    /// By slot; nothing for a free one.
    slots: Vec<Option<Owner>>,
    /// By request: the node whose lock it holds.
    locks: Vec<Option<u32>>,
    /// Whether a slot or request was named that is not followed.
    pub overflow: bool,
}

impl Owners {
    /// The owner of a slot; nothing for a free one.
    #[inline]
    pub fn owner(&self, slot: SlotId) -> Option<Owner> {
        self.slots.get(slot.index()).copied().flatten()
    }

    /// How a slot is owned, as a number below 512, and by which request, if there is one.
    #[inline]
    pub fn kind(&self, slot: SlotId) -> (u32, Option<ReqId>) {
        match self.owner(slot) {
            None => (0, None),
            Some(Owner::Spare) => (1, None),
            Some(Owner::Tree) => (2, None),
            Some(Owner::Request(req)) => (3, Some(req)),
            Some(Owner::Active(req)) => (4, Some(req)),
            Some(Owner::Track(req, index)) => (5 + u32::from(index), Some(req)),
        }
    }

    /// Whether a request holds a lock.
    pub fn is_locked(&self, req: ReqId) -> bool {
        self.locks.get(req.index()).is_some_and(Option::is_some)
    }

    /// Slots and locks of requests for which `is_one` holds.
    pub fn owned_by(&self, is_one: impl Fn(ReqId) -> bool) -> u64 {
        let Owners { slots, locks, overflow: _ } = self;
        let slots = slots.iter().flatten().filter(|&&owner| req_of(owner).is_some_and(&is_one)).count();
        let locks = taken(locks).filter(|&(index, _)| is_one(ReqId(index as u32))).count();
        (slots + locks) as u64
    }

    /// A slot was allocated.
    pub fn alloc(&mut self, slot: SlotId, owner: Owner, findings: &mut Findings) {
        if let Some(held) = self.hand_over(slot, Some(owner)).flatten() {
            let reason = || format!("slot {slot} was given out twice: {} still has it", name(Some(held)));
            findings.add_accounting(AccountingFault::SlotTwice, 1, req_of(owner), Some(slot), reason);
        }
    }

    /// A slot went from one owner to another, or became free.
    pub fn transfer(&mut self, slot: SlotId, from: Owner, to: Option<Owner>, findings: &mut Findings) {
        let Some(held) = self.hand_over(slot, to) else { return };
        if held != Some(from) {
            let done = if to.is_some() { "handed on" } else { "freed" };
            let reason = || format!("slot {slot} was {done} by {}, but {} has it", name(Some(from)), name(held));
            findings.add_accounting(AccountingFault::SlotNotOwned, 1, req_of(from), Some(slot), reason);
        }
    }

    /// Gives a slot to an owner, or to nobody. Returns the owner before, if the slot is followed.
    fn hand_over(&mut self, slot: SlotId, to: Option<Owner>) -> Option<Option<Owner>> {
        let owner = entry(&mut self.slots, slot.index(), SLOTS_MAX, || None, &mut self.overflow)?;
        Some(std::mem::replace(owner, to))
    }

    /// A request took the lock on a node.
    pub fn lock(&mut self, req: ReqId, node: u32, findings: &mut Findings) {
        let Some(lock) = entry(&mut self.locks, req.index(), REQS_MAX, || None, &mut self.overflow) else { return };
        if let Some(held) = lock.replace(node) {
            let reason = || format!("node {node} was locked while the lock on node {held} is held");
            findings.add_accounting(AccountingFault::LockTwice, 1, Some(req), None, reason);
        }
    }

    /// A request gave the lock on a node back.
    pub fn unlock(&mut self, req: ReqId, node: u32, findings: &mut Findings) {
        let Some(lock) = entry(&mut self.locks, req.index(), REQS_MAX, || None, &mut self.overflow) else { return };
        if *lock == Some(node) {
            *lock = None;
            return;
        }
        let held = lock.map_or("no lock is held".to_string(), |held| format!("the lock held is on node {held}"));
        let reason = || format!("node {node} was unlocked, but {held}");
        findings.add_accounting(AccountingFault::LockNotHeld, 1, Some(req), None, reason);
    }

    /// A forward or copy of `req` writes a slot. Slot 0, the target of padding, is nobody's and may be written.
    pub fn writes(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        self.uses(AccountingFault::WritesSlot, "written", slot, req, findings);
    }

    /// A forward advances the state of `req` in a slot. A row on slot 0 is padding.
    #[inline]
    pub fn advances(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        self.uses(AccountingFault::ReadsSlot, "advanced", slot, req, findings);
    }

    #[inline]
    fn uses(&self, how: AccountingFault, verb: &str, slot: SlotId, req: ReqId, findings: &mut Findings) {
        let owner = self.owner(slot);
        if !is_owned_by(owner, req) && slot.0 != 0 {
            used(how, verb, slot, req, owner, findings);
        }
    }

    /// The schedule stream writes a slot for `req`: its own, or one that goes straight into the tree.
    pub fn writes_copy(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        if !matches!(self.owner(slot), Some(Owner::Tree | Owner::Spare)) {
            self.writes(slot, req, findings);
        }
    }

    /// A copy for `req` reads a slot: its own, or one of the tree.
    pub fn reads(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        let owner = self.owner(slot);
        if !is_owned_by(owner, req) && owner != Some(Owner::Tree) {
            used(AccountingFault::ReadsSlot, "read", slot, req, owner, findings);
        }
    }

    /// Every slot that is neither free nor the tree's, but for those of `excused` requests.
    pub fn close_slots(&self, excused: impl Fn(ReqId) -> bool, findings: &mut Findings) {
        for (index, owner) in taken(&self.slots) {
            if owner != Owner::Tree && !req_of(owner).is_some_and(&excused) {
                let reason = || format!("slot s{index} is still held by {} at the end", name(Some(owner)));
                let slot = SlotId(index as u32);
                findings.add_accounting(AccountingFault::SlotLeft, 1, req_of(owner), Some(slot), reason);
            }
        }
    }

    /// Every lock that is held, but for those of `excused` requests.
    pub fn close_locks(&self, excused: impl Fn(ReqId) -> bool, findings: &mut Findings) {
        for (index, node) in taken(&self.locks) {
            let req = ReqId(index as u32);
            if !excused(req) {
                let reason = || format!("the lock on node {node} was never given back");
                findings.add_accounting(AccountingFault::LockLeft, 1, Some(req), None, reason);
            }
        }
    }
}

/// Whether a request may use a slot as its own.
#[inline]
fn is_owned_by(owner: Option<Owner>, req: ReqId) -> bool {
    match owner {
        Some(Owner::Active(held) | Owner::Track(held, _)) => held == req,
        Some(Owner::Spare | Owner::Request(_) | Owner::Tree) | None => false,
    }
}

/// The request behind an owner.
pub(crate) fn req_of(owner: Owner) -> Option<ReqId> {
    match owner {
        Owner::Active(req) | Owner::Track(req, _) | Owner::Request(req) => Some(req),
        Owner::Spare | Owner::Tree => None,
    }
}

#[cold]
fn used(how: AccountingFault, verb: &str, slot: SlotId, req: ReqId, owner: Option<Owner>, findings: &mut Findings) {
    let reason = || format!("slot {slot} was {verb} for <{req}>, but {} has it", name(owner));
    findings.add_accounting(how, 1, Some(req), Some(slot), reason);
}

/// An owner in words.
pub(crate) fn name(owner: Option<Owner>) -> String {
    match owner {
        Some(Owner::Spare) => "the waiting queue".to_string(),
        Some(Owner::Active(req)) => format!("<{req}> as its active state"),
        Some(Owner::Track(req, index)) => format!("<{req}> as track slot {index}"),
        Some(Owner::Request(req)) => format!("<{req}>"),
        Some(Owner::Tree) => "the tree".to_string(),
        None => "nobody".to_string(),
    }
}

fn taken<T: Copy>(list: &[Option<T>]) -> impl Iterator<Item = (usize, T)> + '_ {
    list.iter().enumerate().filter_map(|(index, it)| it.map(|it| (index, it)))
}
