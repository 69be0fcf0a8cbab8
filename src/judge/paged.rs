//! Who holds each page, laid out for requests whose pages lie apart.
//!
//! Owns where the number of a page stands. Requests that decode together take a page each in turn, so that the pages of one lie apart by
//! as many as there are requests; where that is a power of two, the lines of memory that hold their numbers would all fall into a few
//! sets of every cache. Refuses to know owners.

use crate::record::PageId;

use super::holder::Holder;

/// Numbers that change places among themselves. The first so many keep theirs: small cases know few pages.
const BLOCK: usize = 512;
/// The bits of a place that say which line of the block it is in; the sixteen numbers of a line stay together.
const LINES: usize = BLOCK - 16;

/// The holders of pages, from the first one on.
#[derive(Debug, Default)]
pub(super) struct Paged {
    list: Vec<Holder>,
}

clone_in_place!(Paged { list });

/// Where a page stands: in its block, in the line that it would have moved by the number of the block.
#[inline]
fn at(page: usize) -> usize {
    page ^ ((page >> 5) & LINES)
}

impl Paged {
    /// Who holds a page.
    #[inline]
    pub fn get(&self, page: PageId) -> Holder {
        self.list.get(at(page.index())).copied().unwrap_or_default()
    }

    /// Makes room for all pages below `end`.
    #[inline]
    pub fn make_room(&mut self, end: usize) {
        if end > self.list.len() {
            let whole = if end > BLOCK { end.next_multiple_of(BLOCK) } else { end };
            self.list.resize(whole, Holder::NOBODY);
        }
    }

    /// All there is room for, to be written.
    #[inline]
    pub fn all(&mut self) -> All<'_> {
        All(&mut self.list)
    }

    /// Who holds each page, in order.
    pub fn iter(&self) -> impl Iterator<Item = Holder> + '_ {
        (0..self.list.len()).map(|page| self.list[at(page)])
    }
}

/// The holders of pages, to be written.
pub(super) struct All<'a>(&'a mut [Holder]);

impl All<'_> {
    /// The place of a page for which there is room.
    #[inline]
    pub fn of(&mut self, page: PageId) -> &mut Holder {
        &mut self.0[at(page.index())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::holder::Holders;
    use crate::record::{Owner, ReqId};

    #[test]
    fn each_page_has_a_place_of_its_own() {
        for end in [1, 40, 511, 512, 513, 20_000, 40_000] {
            let mut paged = Paged::default();
            paged.make_room(end);
            let mut holders = Holders::default();
            let mut holder = |page: u32| holders.number(Some(Owner::Request(ReqId(page))));
            for page in 0..end as u32 {
                assert_eq!(std::mem::replace(paged.all().of(PageId(page)), holder(page)), Holder::NOBODY);
            }
            for page in 0..end as u32 {
                assert_eq!(paged.get(PageId(page)), holder(page));
            }
            assert!(paged.iter().take(end).eq((0..end as u32).map(holder)));
            assert!(paged.iter().skip(end).all(|holder| holder == Holder::NOBODY));
            assert!(end > BLOCK || paged.list.len() == end);
        }
    }
}
