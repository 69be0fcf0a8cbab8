//! Who holds a slot or a page, as a number of four bytes: every output token touches that of its page for the first time.
//!
//! Owns which number stands for whom: one for each owner, so that owners are told apart by their numbers. Refuses to leave an
//! owner out: those of requests too many to be followed get theirs in order of first use.

use std::collections::BTreeMap;

use crate::record::{Owner, ReqId};

/// Requests beyond this index are not followed.
pub(super) const REQS_MAX: usize = 1 << REQ_BITS;

const REQ_BITS: u32 = 22;
const IDX_BITS: u32 = 8;
/// The first number of each kind; a request, or an index and a request, stands below.
const REQUEST: u32 = 1 << 30;
const ACTIVE: u32 = REQUEST + (1 << REQ_BITS);
const TRACK: u32 = 1 << 31;
const ODD: u32 = TRACK + (1 << (IDX_BITS + REQ_BITS));

/// Who holds a slot or a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Holder(u32);

impl Holder {
    /// Nobody.
    pub const NOBODY: Holder = Holder(0);
    const SPARE: Holder = Holder(1);
    /// The tree.
    pub const TREE: Holder = Holder(2);
    /// Not an owner that anything was given to.
    const STRANGER: Holder = Holder(u32::MAX);

    /// The number of the pages of a request that is followed.
    #[inline]
    pub fn of_followed(req: ReqId) -> Holder {
        Holder(REQUEST | req.0)
    }

    /// The number of an owner, if it needs no place among the odd ones.
    #[inline]
    fn plain(owner: Option<Owner>) -> Option<Holder> {
        let (first, req) = match owner {
            None => return Some(Holder::NOBODY),
            Some(Owner::Spare) => return Some(Holder::SPARE),
            Some(Owner::Tree) => return Some(Holder::TREE),
            Some(Owner::Request(req)) => (REQUEST, req),
            Some(Owner::Active(req)) => (ACTIVE, req),
            Some(Owner::Track(req, idx)) => (TRACK + (u32::from(idx) << REQ_BITS), req),
        };
        (req.index() < REQS_MAX).then(|| Holder(first + req.0))
    }

    /// Whether it is anybody but nobody and the tree.
    #[inline]
    pub fn is_held(self) -> bool {
        self != Holder::NOBODY && self != Holder::TREE
    }

    /// Whether a request is behind it.
    #[inline]
    pub fn is_request(self) -> bool {
        self.0 >= REQUEST
    }

    /// The index of the request behind it, if there is one and it is followed.
    #[inline]
    pub fn followed(self) -> Option<usize> {
        (self.0 >= REQUEST && self.0 < ODD).then_some((self.0 & (REQS_MAX as u32 - 1)) as usize)
    }
}

/// Which number stands for whom.
#[derive(Debug, Default)]
pub(super) struct Holders {
    /// Owners of requests that are not followed, and the place of each.
    odd: Vec<Owner>,
    places: BTreeMap<Owner, u32>,
}

clone_in_place!(Holders { odd, places });

impl Holders {
    /// The number of an owner, to be written down.
    #[inline]
    pub fn number(&mut self, owner: Option<Owner>) -> Holder {
        match (Holder::plain(owner), owner) {
            (Some(holder), _) => holder,
            (None, Some(owner)) => self.odd_number(owner),
            (None, None) => unreachable!("nobody is not odd"),
        }
    }

    #[cold]
    fn odd_number(&mut self, owner: Owner) -> Holder {
        let next = self.odd.len() as u32;
        let place = *self.places.entry(owner).or_insert(next);
        if place == next {
            self.odd.push(owner);
        }
        Holder(ODD + place)
    }

    /// The number of an owner, to be compared: of one that was never written down, a number that nobody has.
    #[inline]
    pub fn known(&self, owner: Option<Owner>) -> Holder {
        match (Holder::plain(owner), owner) {
            (Some(holder), _) => holder,
            (None, Some(owner)) => self.places.get(&owner).map_or(Holder::STRANGER, |place| Holder(ODD + place)),
            (None, None) => unreachable!("nobody is not odd"),
        }
    }

    /// Whose number it is.
    #[inline]
    pub fn owner(&self, holder: Holder) -> Option<Owner> {
        let req = ReqId(holder.0 & (REQS_MAX as u32 - 1));
        match holder.0 {
            ODD.. => Some(self.odd[(holder.0 - ODD) as usize]),
            TRACK.. => Some(Owner::Track(req, (holder.0 >> REQ_BITS) as u8)),
            ACTIVE.. => Some(Owner::Active(req)),
            REQUEST.. => Some(Owner::Request(req)),
            number => [None, Some(Owner::Spare), Some(Owner::Tree)][number as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_told_from_its_number_and_no_two_have_one() {
        let mut holders = Holders::default();
        let mut numbers = BTreeMap::new();
        let followed = REQS_MAX as u32;
        for _ in 0..2 {
            for req in [0, 1, 2, followed - 1, followed, followed + 1, u32::MAX].map(ReqId) {
                let track = [0, 1, u8::MAX].map(|idx| Owner::Track(req, idx));
                let others = [Owner::Spare, Owner::Tree, Owner::Request(req), Owner::Active(req)];
                for owner in track.into_iter().chain(others).map(Some).chain([None]) {
                    let holder = holders.number(owner);
                    assert_eq!((holders.owner(holder), holders.known(owner)), (owner, holder));
                    assert_eq!(*numbers.entry(holder.0).or_insert(owner), owner);
                    let of_request = !matches!(owner, None | Some(Owner::Spare | Owner::Tree));
                    assert_eq!(holder.is_request(), of_request);
                    assert_eq!(holder.is_held(), of_request || owner == Some(Owner::Spare));
                    let index = (of_request && req.0 < followed).then_some(req.index());
                    assert_eq!(holder.followed(), index);
                }
            }
        }
        assert_eq!(numbers.len(), 3 + 7 * 5);
    }

    #[test]
    fn an_odd_owner_that_has_nothing_is_nobody_that_has_something() {
        let mut holders = Holders::default();
        let odd = Some(Owner::Request(ReqId(u32::MAX)));
        let stranger = holders.known(odd);
        assert!(holders.number(odd) != stranger && holders.known(odd) != stranger);
    }
}
