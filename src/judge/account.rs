//! Who holds every slot, page and lock.
//!
//! Owns the owners. Refuses to look at contents: a slot can be held by the right request and hold the wrong state.

use crate::record::{Owner, PageId, ReqId, SlotId};

use super::findings::{Findings, Trouble};
use super::holder::{Holder, Holders, REQS_MAX};
use super::paged::Paged;

/// Slots beyond this index are not followed.
const SLOTS_MAX: usize = 1 << 20;
/// Pages beyond this index are not followed.
const PAGES_MAX: usize = 1 << 25;

/// The owners of everything.
#[derive(Debug, Default)]
pub(super) struct Account {
    slots: Vec<Holder>,
    pages: Paged,
    holders: Holders,
    /// By request: the node whose lock it holds.
    locks: Vec<Option<u32>>,
    /// By request: how many slots and pages it holds.
    booked: Vec<u32>,
    /// How many slots and pages are neither free nor the tree's.
    held: u64,
    /// Whether a slot, page or request was named that is not followed.
    pub overflow: bool,
}

clone_in_place!(Account { slots, pages, holders, locks, booked } copied { held, overflow });

impl Account {
    /// Who holds a slot.
    #[inline]
    pub fn holder(&self, slot: SlotId) -> Option<Owner> {
        self.slots.get(slot.index()).and_then(|holder| self.holders.owner(*holder))
    }

    /// How a slot is held, as a number below 512, and by which request, if there is one.
    #[inline]
    pub fn kind(&self, slot: SlotId) -> (u32, Option<ReqId>) {
        match self.holder(slot) {
            None => (0, None),
            Some(Owner::Spare) => (1, None),
            Some(Owner::Tree) => (2, None),
            Some(Owner::Request(req)) => (3, Some(req)),
            Some(Owner::Active(req)) => (4, Some(req)),
            Some(Owner::Track(req, index)) => (5 + u32::from(index), Some(req)),
        }
    }

    /// Whether a slot is the tree's.
    #[inline]
    pub fn is_cached(&self, slot: SlotId) -> bool {
        self.slots.get(slot.index()) == Some(&Holder::TREE)
    }

    /// Tells whose each page is: how many of the tree's come first, and whether the others are this request's; if they are not,
    /// sixteen pages make a word, two bits each: 0 nobody's, 1 this request's, 2 the tree's, 3 another's.
    #[inline]
    pub fn pages_of(&self, pages: &[PageId], req: ReqId, mut tell: impl FnMut(u32)) {
        let (own, tree) = (self.holders.known(Some(Owner::Request(req))), Holder::TREE);
        let is = |page: &PageId, holder: Holder| self.pages.get(*page) == holder;
        let cached = pages.iter().take_while(|page| is(page, tree)).count();
        let others_own = pages[cached..].iter().all(|page| is(page, own));
        tell((cached as u32) << 1 | u32::from(others_own));
        if !others_own {
            let bits = |page: &PageId| match self.pages.get(*page) {
                Holder::NOBODY => 0,
                Holder::TREE => 2,
                holder if holder == own => 1,
                _ => 3,
            };
            pages.chunks(16).for_each(|run| tell(run.iter().fold(0, |word, page| word << 2 | bits(page))));
        }
    }

    /// Whether nobody holds a slot.
    #[inline]
    pub fn is_free(&self, slot: SlotId) -> bool {
        self.slots.get(slot.index()).is_none_or(|holder| *holder == Holder::NOBODY)
    }

    /// Whether a request holds a lock.
    pub fn is_locked(&self, req: ReqId) -> bool {
        self.locks.get(req.index()).is_some_and(Option::is_some)
    }

    /// How many slots, pages and locks are booked to requests for which `gone` holds.
    pub fn left(&self, gone: impl Fn(ReqId) -> bool) -> u32 {
        let Account {
            locks,
            booked,
            held: count_held,
            // A search writes who holds each slot that has a label (`kind`) and each page of a live request (`pages_of`): others are free,
            // the tree's, or booked to a request that is over, and counted here.
            slots: _,
            pages: _,
            holders: _,  // Names of owners.
            overflow: _, // A run that names too much is cut short at once.
        } = self;
        let is_gone = |index: usize| gone(ReqId(index as u32));
        // What is booked to a request is held.
        let booked = if *count_held == 0 { &[] } else { booked.as_slice() };
        let booked = booked.iter().enumerate().filter(|&(index, &count)| count > 0 && is_gone(index));
        let locks = held(locks).filter(|&(index, _)| is_gone(index)).count();
        booked.map(|(_, count)| count).sum::<u32>() + locks as u32
    }

    /// A slot was given out.
    pub fn slot_alloc(&mut self, slot: SlotId, owner: Owner, findings: &mut Findings) {
        if let Some(held) = self.hand_over(slot, Some(owner)).and_then(|held| self.holders.owner(held)) {
            let reason = || format!("slot {slot} was given out twice: {} still has it", name(Some(held)));
            findings.trouble(Trouble::SlotTwice, 1, req_of(owner), Some(slot), reason);
        }
    }

    /// A slot went from one owner to another, or to nobody.
    pub fn slot_pass(&mut self, slot: SlotId, from: Owner, to: Option<Owner>, findings: &mut Findings) {
        let Some(held) = self.hand_over(slot, to) else { return };
        if held != self.holders.known(Some(from)) {
            let held = self.holders.owner(held);
            let done = if to.is_some() { "handed on" } else { "freed" };
            let reason = || format!("slot {slot} was {done} by {}, but {} has it", name(Some(from)), name(held));
            findings.trouble(Trouble::SlotNotHis, 1, req_of(from), Some(slot), reason);
        }
    }

    /// Books a slot to somebody, or to nobody. Returns who had it, if it is followed.
    fn hand_over(&mut self, slot: SlotId, to: Option<Owner>) -> Option<Holder> {
        let holder = entry(&mut self.slots, slot.index(), SLOTS_MAX, &mut self.overflow)?;
        let to = self.holders.number(to);
        let from = std::mem::replace(holder, to);
        self.tally(from, to, 1);
        Some(from)
    }

    /// Pages were given out.
    pub fn page_alloc(&mut self, first: PageId, count: u32, owner: Owner, findings: &mut Findings) {
        let Some(twice) = self.page_run(first, count, None, Some(owner)) else { return };
        let reason = || format!("pages from {first} were given out, but somebody still has them");
        findings.trouble(Trouble::PageTwice, twice, req_of(owner), None, reason);
    }

    /// Pages went from one owner to another, or to nobody.
    pub fn page_pass(&mut self, first: PageId, count: u32, from: Owner, to: Option<Owner>, findings: &mut Findings) {
        let Some(wrong) = self.page_run(first, count, Some(from), to) else { return };
        let done = if to.is_some() { "handed on" } else { "freed" };
        let reason = || format!("pages from {first} were {done} by {}, which does not have them", name(Some(from)));
        findings.trouble(Trouble::PageNotHis, wrong, req_of(from), None, reason);
    }

    /// A request took the lock on a node.
    pub fn lock(&mut self, req: ReqId, node: u32, findings: &mut Findings) {
        let Some(lock) = entry(&mut self.locks, req.index(), REQS_MAX, &mut self.overflow) else { return };
        if let Some(held) = lock.replace(node) {
            let reason = || format!("node {node} was locked while the lock on node {held} is held");
            findings.trouble(Trouble::LockTwice, 1, Some(req), None, reason);
        }
    }

    /// A request gave the lock on a node back.
    pub fn unlock(&mut self, req: ReqId, node: u32, findings: &mut Findings) {
        let Some(lock) = entry(&mut self.locks, req.index(), REQS_MAX, &mut self.overflow) else { return };
        if *lock == Some(node) {
            *lock = None;
            return;
        }
        let held = lock.map_or("no lock is held".to_string(), |held| format!("the lock held is on node {held}"));
        let reason = || format!("node {node} was unlocked, but {held}");
        findings.trouble(Trouble::LockNotHeld, 1, Some(req), None, reason);
    }

    /// Gives each request a page, if all of them are free; otherwise nothing is changed.
    pub fn give_pages(&mut self, reqs: &[ReqId], pages: &[PageId]) -> bool {
        let rows = reqs.len().min(pages.len());
        let (reqs, pages) = (&reqs[..rows], &pages[..rows]);
        // No request is beyond this.
        let bound = reqs.iter().fold(0, |bound, req| bound | req.0) as usize;
        if bound >= REQS_MAX || !self.make_room(pages) {
            return false;
        }
        if bound >= self.booked.len() {
            let last = reqs.iter().map(|req| req.index()).max();
            self.booked.resize(self.booked.len().max(last.map_or(0, |last| last + 1)), 0);
        }
        let (mut all, booked) = (self.pages.all(), &mut self.booked[..]);
        for (at, (&req, &page)) in reqs.iter().zip(pages).enumerate() {
            let held = all.of(page);
            if *held != Holder::NOBODY {
                self.take_pages_back(&reqs[..at], &pages[..at]);
                return false;
            }
            *held = Holder::of_followed(req);
            booked[req.index()] += 1;
        }
        self.held += rows as u64;
        true
    }

    #[cold]
    fn take_pages_back(&mut self, reqs: &[ReqId], pages: &[PageId]) {
        for (req, &page) in reqs.iter().zip(pages) {
            *self.pages.all().of(page) = Holder::NOBODY;
            self.booked[req.index()] -= 1;
        }
    }

    /// A forward or copy of `req` writes a slot. Slot 0, the target of padding, is nobody's and may be written.
    #[inline]
    pub fn writes(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        let holder = self.holder(slot);
        if !is_his(holder, req) && slot.0 != 0 {
            used(Trouble::WritesSlot, "written", slot, req, holder, findings);
        }
    }

    /// The schedule stream writes a slot for `req`: its own, or one that goes straight into the tree.
    pub fn writes_copy(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        if !matches!(self.holder(slot), Some(Owner::Tree | Owner::Spare)) {
            self.writes(slot, req, findings);
        }
    }

    /// A forward advances the state of `req` in a slot. A row on slot 0 is padding.
    #[inline]
    pub fn advances(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        let holder = self.holder(slot);
        if !is_his(holder, req) && slot.0 != 0 {
            used(Trouble::ReadsSlot, "advanced", slot, req, holder, findings);
        }
    }

    /// A copy for `req` reads a slot: its own, or one of the tree.
    pub fn reads(&self, slot: SlotId, req: ReqId, findings: &mut Findings) {
        let holder = self.holder(slot);
        if !is_his(holder, req) && holder != Some(Owner::Tree) {
            used(Trouble::ReadsSlot, "read", slot, req, holder, findings);
        }
    }

    /// Everything that is neither free nor in the tree at the end, but for what `excused` requests hold.
    pub fn close(&self, excused: impl Fn(ReqId) -> bool, findings: &mut Findings) {
        if self.held > 0 || held(&self.locks).next().is_some() {
            self.tell_held(excused, findings);
        }
    }

    #[cold]
    fn tell_held(&self, excused: impl Fn(ReqId) -> bool, findings: &mut Findings) {
        let left = |held: Owner| !req_of(held).is_some_and(&excused);
        for (index, held) in self.outside(self.slots.iter().copied()).filter(|&(_, held)| left(held)) {
            let reason = || format!("slot s{index} is still held by {} at the end", name(Some(held)));
            let slot = SlotId(index as u32);
            findings.trouble(Trouble::SlotLeft, 1, req_of(held), Some(slot), reason);
        }
        for (index, held) in self.outside(self.pages.iter()).filter(|&(_, held)| left(held)) {
            let reason = || format!("page p{index} is still held by {} at the end", name(Some(held)));
            findings.trouble(Trouble::PageLeft, 1, req_of(held), None, reason);
        }
        for (index, node) in held(&self.locks) {
            let req = ReqId(index as u32);
            if !excused(req) {
                let reason = || format!("the lock on node {node} was never given back");
                findings.trouble(Trouble::LockLeft, 1, Some(req), None, reason);
            }
        }
    }

    /// What is neither free nor the tree's.
    fn outside<'a>(&'a self, list: impl Iterator<Item = Holder> + 'a) -> impl Iterator<Item = (usize, Owner)> + 'a {
        // Looked at number by number: most of a large pool goes no further.
        let outside = list.enumerate().filter(|&(_, holder)| holder.is_held());
        outside.filter_map(|(index, holder)| Some((index, self.holders.owner(holder)?)))
    }

    /// Gives pages from one holder to another, if that is as it should be for all of them; otherwise nothing is changed.
    pub fn pass_pages(&mut self, pages: &[PageId], from: Option<Owner>, to: Option<Owner>) -> bool {
        let (from, to) = (self.holders.known(from), self.holders.number(to));
        if !self.make_room(pages) {
            return false;
        }
        let mut all = self.pages.all();
        for (at, &page) in pages.iter().enumerate() {
            let held = all.of(page);
            if *held != from {
                pages[..at].iter().for_each(|&page| *all.of(page) = from);
                return false;
            }
            *held = to;
        }
        self.tally(from, to, pages.len() as u32);
        true
    }

    /// Makes room for pages, unless one of them is not followed.
    #[inline]
    fn make_room(&mut self, pages: &[PageId]) -> bool {
        let end = pages.iter().map(|page| page.0).max().map_or(0, |page| page as usize + 1);
        if end <= PAGES_MAX {
            self.pages.make_room(end);
        }
        end <= PAGES_MAX
    }

    /// Things went from one holder to another.
    #[inline]
    fn tally(&mut self, from: Holder, to: Holder, count: u32) {
        if from == to {
            return;
        }
        let count_if = |held: bool| if held { u64::from(count) } else { 0 };
        self.held = self.held + count_if(to.is_held()) - count_if(from.is_held());
        if let Some(index) = from.followed()
            && let Some(booked) = self.booked.get_mut(index)
        {
            *booked -= count;
        }
        if to.is_request() {
            self.count_booked(to.followed().unwrap_or(REQS_MAX), count);
        }
    }

    #[inline]
    fn count_booked(&mut self, index: usize, count: u32) {
        match self.booked.get_mut(index) {
            Some(booked) => *booked += count,
            None => self.book_first(index, count),
        }
    }

    /// Counts what is held again.
    #[cfg(test)]
    pub fn check_counts(&self) {
        let all = || self.slots.iter().copied().chain(self.pages.iter());
        assert_eq!(self.held, all().filter(|holder| holder.is_held()).count() as u64);
        for (req, &booked) in (0..).zip(&self.booked) {
            let own = all().filter(|holder| holder.followed() == Some(req));
            assert_eq!(booked, own.count() as u32);
        }
        let unbooked = |holder: &Holder| holder.is_request() && holder.followed() >= Some(self.booked.len());
        assert_eq!(all().filter(unbooked).count(), 0);
    }

    #[cold]
    fn book_first(&mut self, index: usize, count: u32) {
        if let Some(booked) = entry(&mut self.booked, index, REQS_MAX, &mut self.overflow) {
            *booked += count;
        }
    }

    /// Gives a run of pages from one holder to another. Says how many of them somebody else had, unless they are not followed.
    #[inline]
    fn page_run(&mut self, first: PageId, count: u32, from: Option<Owner>, to: Option<Owner>) -> Option<u64> {
        let end = first.index().saturating_add(count as usize);
        if end > PAGES_MAX {
            self.overflow = true;
            return None;
        }
        self.pages.make_room(end);
        let (from, to) = (self.holders.known(from), self.holders.number(to));
        let mut wrong = 0;
        for page in (first.index()..end).map(|page| PageId(page as u32)) {
            let held = std::mem::replace(self.pages.all().of(page), to);
            if held != from {
                wrong += 1;
                self.tally(held, to, 1);
            }
        }
        self.tally(from, to, count - wrong);
        Some(wrong.into())
    }
}

/// Whether a request may use a slot as its own.
#[inline]
fn is_his(holder: Option<Owner>, req: ReqId) -> bool {
    match holder {
        Some(Owner::Active(held) | Owner::Track(held, _)) => held == req,
        Some(Owner::Spare | Owner::Request(_) | Owner::Tree) | None => false,
    }
}

/// The request behind an owner.
pub(super) fn req_of(owner: Owner) -> Option<ReqId> {
    match owner {
        Owner::Active(req) | Owner::Track(req, _) | Owner::Request(req) => Some(req),
        Owner::Spare | Owner::Tree => None,
    }
}

#[cold]
fn used(how: Trouble, verb: &str, slot: SlotId, req: ReqId, holder: Option<Owner>, findings: &mut Findings) {
    let reason = || format!("slot {slot} was {verb} for <{req}>, but {} has it", name(holder));
    findings.trouble(how, 1, Some(req), Some(slot), reason);
}

fn name(owner: Option<Owner>) -> String {
    match owner {
        Some(Owner::Spare) => "the waiting queue".to_string(),
        Some(Owner::Active(req)) => format!("<{req}> as its active state"),
        Some(Owner::Track(req, index)) => format!("<{req}> as track slot {index}"),
        Some(Owner::Request(req)) => format!("<{req}>"),
        Some(Owner::Tree) => "the tree".to_string(),
        None => "nobody".to_string(),
    }
}

fn held<T: Copy>(list: &[Option<T>]) -> impl Iterator<Item = (usize, T)> + '_ {
    list.iter().enumerate().filter_map(|(index, held)| held.map(|held| (index, held)))
}

/// The entry at an index, growing the list up to a limit.
#[inline]
fn entry<'a, T: Copy + Default>(
    list: &'a mut Vec<T>,
    index: usize,
    max: usize,
    overflow: &mut bool,
) -> Option<&'a mut T> {
    if index >= list.len() {
        if index >= max {
            *overflow = true;
            return None;
        }
        list.resize(index + 1, T::default());
    }
    list.get_mut(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a page and a slot that went from hand to hand come to, with owners that are followed and with owners that are not.
    fn handed_on(first: ReqId) -> (bool, Vec<u64>) {
        let [a, b] = [first, ReqId(first.0 + 1)];
        let (mut account, mut findings) = (Account::default(), Findings::new(false));
        let page = PageId(3);
        let one_by_one = !account.give_pages(&[a], &[page]);
        if one_by_one {
            account.page_alloc(page, 1, Owner::Request(a), &mut findings);
        }
        let mut held = Vec::new();
        account.pages_of(&[page], a, |word| held.push(word.into()));
        account.pages_of(&[page], b, |word| held.push(word.into()));
        assert!(!account.pass_pages(&[page], Some(Owner::Request(b)), Some(Owner::Tree)));
        account.page_pass(page, 1, Owner::Request(b), Some(Owner::Request(b)), &mut findings);
        account.slot_alloc(SlotId(1), Owner::Track(a, 1), &mut findings);
        account.slot_pass(SlotId(1), Owner::Track(a, 0), Some(Owner::Active(b)), &mut findings);
        assert_eq!(account.holder(SlotId(1)), Some(Owner::Active(b)));
        account.writes(SlotId(1), a, &mut findings);
        held.push(account.held);
        assert!(account.pass_pages(&[page], Some(Owner::Request(b)), None));
        account.slot_pass(SlotId(1), Owner::Active(b), None, &mut findings);
        account.close(|_| false, &mut findings);
        assert_eq!(one_by_one, account.overflow);
        held.push(account.held);
        held.push(findings.len() as u64);
        (account.overflow, held)
    }

    #[test]
    fn owners_too_many_to_be_followed_are_told_apart_like_others() {
        let (overflow, held) = handed_on(ReqId(0));
        assert!(!overflow);
        assert_eq!(handed_on(ReqId(u32::MAX - 1)), (true, held));
    }
}
