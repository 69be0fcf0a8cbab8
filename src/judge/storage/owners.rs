//! The owner of every slot, and the lock of every request.
//!
//! Owns the findings about allocation, moves, frees, locks, and accesses to a slot of another owner. Does not know
//! contents: the right owner can hold a wrong state.

use educe::Educe;

use crate::record::{Owner, ReqId, SlotId};

use super::super::findings::{AccountingFault, Findings};
use super::super::grow::entry;
use super::{REQS_MAX, SLOTS_MAX};

/// The owners of slots and locks.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(crate) struct Owners {
    /// By slot; `None` for a free slot.
    slots: Vec<Option<Owner>>,
    /// By request: the tree node whose lock it holds.
    locks: Vec<Option<u32>>,
    /// Whether the record has a slot or request that is not tracked.
    pub overflow: bool,
}

impl Owners {
    /// The owner of a slot; `None` if it is free.
    #[inline]
    pub fn owner(&self, slot: SlotId) -> Option<Owner> {
        self.slots.get(slot.index()).copied().flatten()
    }

    /// The kind of owner of a slot, as a number below 512, and the request of the owner, if any.
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

    /// The number of slots and locks of the requests for which `selects` holds.
    pub fn owned_by(&self, selects: impl Fn(ReqId) -> bool) -> u64 {
        let Owners { slots, locks, overflow: _ } = self;
        let slots = slots.iter().flatten().filter(|&&owner| req_of(owner).is_some_and(&selects)).count();
        let locks = taken(locks).filter(|&(index, _)| selects(ReqId(index as u32))).count();
        (slots + locks) as u64
    }

    /// A slot was allocated: a finding if it has an owner.
    pub fn alloc(&mut self, slot: SlotId, owner: Owner, findings: &mut Findings) {
        if let Some(held) = self.replace_owner(slot, Some(owner)).flatten() {
            let reason = || format!("slot {slot} was allocated, but {}", belongs_to(Some(held)));
            findings.add_accounting(AccountingFault::SlotTwice, 1, req_of(owner), Some(slot), reason);
        }
    }

    /// A slot moved from one owner to another, or was freed: a finding if `from` is not its owner.
    pub fn transfer(&mut self, slot: SlotId, from: Owner, to: Option<Owner>, findings: &mut Findings) {
        let Some(held) = self.replace_owner(slot, to) else { return };
        if held != Some(from) {
            let verb = moved_or_freed(to);
            let reason = || format!("slot {slot} was {verb} by {}, but {}", owner_words(from), belongs_to(held));
            findings.add_accounting(AccountingFault::SlotNotOwned, 1, req_of(from), Some(slot), reason);
        }
    }

    /// Sets the owner of a slot, and returns the previous owner; `None` if the slot is not tracked.
    fn replace_owner(&mut self, slot: SlotId, to: Option<Owner>) -> Option<Option<Owner>> {
        let owner = entry(&mut self.slots, slot.index(), SLOTS_MAX, || None, &mut self.overflow)?;
        Some(std::mem::replace(owner, to))
    }

    /// A request locked a node: a finding if it holds a lock.
    pub fn lock(&mut self, req: ReqId, node: u32, findings: &mut Findings) {
        let Some(lock) = entry(&mut self.locks, req.index(), REQS_MAX, || None, &mut self.overflow) else { return };
        if let Some(held) = lock.replace(node) {
            let reason = || format!("node {node} was locked, but the request holds the lock on node {held}");
            findings.add_accounting(AccountingFault::LockTwice, 1, Some(req), None, reason);
        }
    }

    /// A request released the lock on a node: a finding if it does not hold that lock.
    pub fn unlock(&mut self, req: ReqId, node: u32, findings: &mut Findings) {
        let Some(lock) = entry(&mut self.locks, req.index(), REQS_MAX, || None, &mut self.overflow) else { return };
        if *lock == Some(node) {
            *lock = None;
            return;
        }
        let held = lock.map_or("no lock".to_string(), |held| format!("the lock on node {held}"));
        let reason = || format!("node {node} was unlocked, but the request holds {held}");
        findings.add_accounting(AccountingFault::LockNotHeld, 1, Some(req), None, reason);
    }

    /// A forward or copy of `req` writes a slot: a finding if `req` does not own it. Slot 0, the target of padding, may
    /// always be written.
    pub fn writes(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        self.uses(AccountingFault::WritesSlot, "written", slot, req, findings);
    }

    /// A forward advances a state of `req` in a slot: a finding if `req` does not own it. A row on slot 0 is padding.
    #[inline]
    pub fn advances(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        self.uses(AccountingFault::ReadsSlot, "advanced", slot, req, findings);
    }

    /// A finding if a slot other than slot 0 does not belong to `req`.
    #[inline]
    fn uses(&self, how: AccountingFault, verb: &str, slot: SlotId, req: ReqId, findings: &mut Findings) {
        let owner = self.owner(slot);
        if !is_owned_by(owner, req) && slot.0 != 0 {
            used(how, verb, slot, req, owner, findings);
        }
    }

    /// The schedule stream writes a slot for `req`: a finding unless `req` owns it, or it is a spare slot or the
    /// tree's.
    pub fn writes_copy(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        if !matches!(self.owner(slot), Some(Owner::Tree | Owner::Spare)) {
            self.writes(slot, req, findings);
        }
    }

    /// A copy for `req` reads a slot: a finding unless `req` or the tree owns it.
    pub fn reads(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        let owner = self.owner(slot);
        if !is_owned_by(owner, req) && owner != Some(Owner::Tree) {
            used(AccountingFault::ReadsSlot, "read", slot, req, owner, findings);
        }
    }

    /// The run has ended: a finding for every slot that is neither free nor the tree's, except those of `excused`
    /// requests.
    pub fn close_slots(&self, excused: impl Fn(ReqId) -> bool, findings: &mut Findings) {
        for (index, owner) in taken(&self.slots) {
            if owner != Owner::Tree && !req_of(owner).is_some_and(&excused) {
                let reason = || format!("slot s{index} still belongs to {} at the end", owner_words(owner));
                let slot = SlotId(index as u32);
                findings.add_accounting(AccountingFault::SlotLeft, 1, req_of(owner), Some(slot), reason);
            }
        }
    }

    /// The run has ended: a finding for every held lock, except those of `excused` requests.
    pub fn close_locks(&self, excused: impl Fn(ReqId) -> bool, findings: &mut Findings) {
        for (index, node) in taken(&self.locks) {
            let req = ReqId(index as u32);
            if !excused(req) {
                let reason = || format!("the lock on node {node} was never released");
                findings.add_accounting(AccountingFault::LockLeft, 1, Some(req), None, reason);
            }
        }
    }
}

/// Whether a slot with this owner is the active slot or a track slot of the request.
#[inline]
fn is_owned_by(owner: Option<Owner>, req: ReqId) -> bool {
    match owner {
        Some(Owner::Active(held) | Owner::Track(held, _)) => held == req,
        Some(Owner::Spare | Owner::Request(_) | Owner::Tree) | None => false,
    }
}

/// The request of an owner, if any.
pub(crate) fn req_of(owner: Owner) -> Option<ReqId> {
    match owner {
        Owner::Active(req) | Owner::Track(req, _) | Owner::Request(req) => Some(req),
        Owner::Spare | Owner::Tree => None,
    }
}

/// Adds the finding that `req` used a slot of another owner.
#[cold]
fn used(how: AccountingFault, verb: &str, slot: SlotId, req: ReqId, owner: Option<Owner>, findings: &mut Findings) {
    let reason = || format!("slot {slot} was {verb} for <{req}>, but {}", belongs_to(owner));
    findings.add_accounting(how, 1, Some(req), Some(slot), reason);
}

/// The words for an owner.
pub(super) fn owner_words(owner: Owner) -> String {
    match owner {
        Owner::Spare => "the waiting queue".to_string(),
        Owner::Active(req) => format!("<{req}> (active slot)"),
        Owner::Track(req, index) => format!("<{req}> (track slot {index})"),
        Owner::Request(req) => format!("<{req}>"),
        Owner::Tree => "the tree".to_string(),
    }
}

/// The words for the present owner of a slot, which may be free.
fn belongs_to(owner: Option<Owner>) -> String {
    owner.map_or("it is free".to_string(), |owner| format!("it belongs to {}", owner_words(owner)))
}

/// The verb for a slot or page that gets this owner.
pub(super) fn moved_or_freed(to: Option<Owner>) -> &'static str {
    if to.is_some() { "moved" } else { "freed" }
}

/// The entries of a list that are set, with their indices.
fn taken<T: Copy>(list: &[Option<T>]) -> impl Iterator<Item = (usize, T)> + '_ {
    list.iter().enumerate().filter_map(|(index, it)| it.map(|it| (index, it)))
}
