//! The owner of every page of the KV cache.
//!
//! Owns, for each grant, the ranges of pages with their owners, and the findings about allocation, moves and frees.
//! Does not know the content of a page: KV is correct wherever the tokens are.

use educe::Educe;
use tinyvec::TinyVec;

use crate::record::{Encoding, GrantId, Owner, PageRange, ReqId};

use super::super::findings::{AccountingFault, Findings};
use super::super::grow::entry;
use super::owners::{moved_or_freed, owner_words, req_of};

/// Grants from this index on are not tracked. A run with one is at best inconclusive.
const GRANTS_MAX: usize = 1 << 24;

/// Pages `from..to` of a grant, all of the same owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Owned {
    from: u32,
    to: u32,
    owner: Owner,
}

/// The owners of all pages.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(crate) struct PageOwners {
    /// By grant: disjoint ranges in the order of the pages. Free pages are in no range.
    grants: Vec<TinyVec<[Owned; 2]>>,
    /// Whether the record has a grant from [`GRANTS_MAX`] on.
    pub overflow: bool,
}

impl PageOwners {
    /// Pages were allocated: a finding for those that have an owner.
    pub fn alloc(&mut self, pages: PageRange, owner: Owner, findings: &mut Findings) {
        let Some(owned) = self.grant(pages) else { return };
        let PageRange { grant: _, from, to } = pages;
        if owned.last().is_none_or(|last| last.to <= from) {
            return push(owned, Owned { from, to, owner });
        }
        let twice = owned.iter().map(|it| it.common(pages)).sum::<u32>();
        let reason = || format!("pages {} were allocated, but some of them are not free", words(pages));
        findings.add_accounting(AccountingFault::PageTwice, twice.into(), req_of(owner), None, reason);
        replace(owned, pages, Some(owner));
    }

    /// Pages moved from one owner to another, or were freed: a finding for those that `from` does not own.
    pub fn transfer(&mut self, pages: PageRange, from: Owner, to: Option<Owner>, findings: &mut Findings) {
        let Some(owned) = self.grant(pages) else { return };
        let owns = owned.iter().filter(|it| it.owner == from).map(|it| it.common(pages)).sum::<u32>();
        let reason = || {
            let (verb, from) = (moved_or_freed(to), owner_words(from));
            format!("pages {} were {verb} by {from}, which does not own all of them", words(pages))
        };
        findings.add_accounting(
            AccountingFault::PageNotOwned,
            (pages.count() - owns).into(),
            req_of(from),
            None,
            reason,
        );
        replace(owned, pages, to);
    }

    /// The number of pages of the requests for which `selects` holds.
    pub fn owned_by(&self, selects: impl Fn(ReqId) -> bool) -> u64 {
        let PageOwners { grants, overflow: _ } = self;
        let all = grants.iter().flatten();
        all.filter(|it| req_of(it.owner).is_some_and(&selects)).map(|it| u64::from(it.to - it.from)).sum()
    }

    /// Encodes whether a request owns exactly `pages`. Grants are names, so they are encoded only if it does not, which
    /// happens only in records that the machine did not write.
    pub fn encode(&self, pages: PageRange, req: ReqId, out: &mut Encoding) {
        let grants = (0..).map(GrantId).zip(&self.grants);
        let ranges = grants.flat_map(|(grant, owned)| owned.iter().map(move |it| (it.owner, it.range(grant))));
        let own = || ranges.clone().filter(|&(owner, _)| owner == Owner::Request(req)).map(|(_, range)| range);
        let expected = Some(pages).filter(|pages| pages.count() > 0);
        let is_exact = own().eq(expected);
        out.flag(is_exact);
        if !is_exact {
            own().for_each(|PageRange { grant, from, to }| out.put([grant.0, from, to]));
            out.word(u32::MAX);
        }
    }

    /// The run has ended: a finding for pages that are neither free nor the tree's, except those of `excused` requests.
    pub fn close(&self, excused: impl Fn(ReqId) -> bool, findings: &mut Findings) {
        for (grant, owned) in self.grants.iter().enumerate() {
            for &Owned { from, to, owner } in owned {
                if owner != Owner::Tree && !req_of(owner).is_some_and(&excused) {
                    let reason =
                        || format!("pages {from}..{to} of g{grant} still belong to {} at the end", owner_words(owner));
                    findings.add_accounting(AccountingFault::PageLeft, (to - from).into(), req_of(owner), None, reason);
                }
            }
        }
    }

    /// The ranges of the grant of `pages`; `None` if the grant is not tracked or `pages` is empty.
    fn grant(&mut self, pages: PageRange) -> Option<&mut TinyVec<[Owned; 2]>> {
        if pages.count() == 0 {
            return None;
        }
        entry(&mut self.grants, pages.grant.index(), GRANTS_MAX, TinyVec::new, &mut self.overflow)
    }
}

impl Owned {
    /// The range as pages of a grant.
    fn range(&self, grant: GrantId) -> PageRange {
        PageRange { grant, from: self.from, to: self.to }
    }

    /// The number of pages in common with a range.
    fn common(&self, pages: PageRange) -> u32 {
        self.to.min(pages.to).saturating_sub(self.from.max(pages.from))
    }
}

/// Sets the owner of a range, or frees it, whatever the previous owners.
fn replace(owned: &mut TinyVec<[Owned; 2]>, pages: PageRange, owner: Option<Owner>) {
    let PageRange { grant: _, from, to } = pages;
    let mut new: TinyVec<[Owned; 2]> = TinyVec::new();
    for &it in owned.iter().filter(|it| it.from < from) {
        push(&mut new, Owned { to: it.to.min(from), ..it });
    }
    if let Some(owner) = owner {
        push(&mut new, Owned { from, to, owner });
    }
    for &it in owned.iter().filter(|it| it.to > to) {
        push(&mut new, Owned { from: it.from.max(to), ..it });
    }
    *owned = new;
}

/// Adds a range at the end; extends the last range if that is adjacent and has the same owner.
fn push(list: &mut TinyVec<[Owned; 2]>, next: Owned) {
    match list.last_mut() {
        Some(last) if last.to == next.from && last.owner == next.owner => last.to = next.to,
        Some(_) | None => list.push(next),
    }
}

/// The words for a range of pages.
fn words(pages: PageRange) -> String {
    format!("{}..{} of {}", pages.from, pages.to, pages.grant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Ranges find what a list with an owner for every page finds.
        #[test]
        fn ranges_are_what_single_pages_are(
            steps in prop::collection::vec((0..2_u32, 0..8_u32, 0..5_u32, 0..4_usize, 0..4_usize), 0..40),
        ) {
            let owners = [None, Some(Owner::Tree), Some(Owner::Request(ReqId(0))), Some(Owner::Request(ReqId(1)))];
            let mut pages = PageOwners::default();
            let mut single = [[None; 16]; 2];
            for (grant, from, count, old, new) in steps {
                let range = PageRange { grant: GrantId(grant), from, to: from + count };
                let (old, new) = (owners[old], owners[new]);
                let (mut findings, mut wrong) = (Findings::new(true), 0_u64);
                match (old, new) {
                    (None, None) => continue,
                    (None, Some(owner)) => pages.alloc(range, owner, &mut findings),
                    (Some(from), to) => pages.transfer(range, from, to, &mut findings),
                }
                for page in &mut single[grant as usize][from as usize..(from + count) as usize] {
                    wrong += u64::from(*page != old);
                    *page = new;
                }
                prop_assert_eq!(findings.accounting_count(), wrong);
                for req in [0, 1].map(ReqId) {
                    let own = single.iter().flatten().filter(|page| **page == Some(Owner::Request(req))).count();
                    prop_assert_eq!(pages.owned_by(|other| other == req), own as u64);
                }
            }
        }
    }
}
