//! Who holds each page, laid out for requests whose pages lie apart.
//!
//! Owns where the number of a page stands. Requests that decode together take a page each in turn, so that the pages of one lie apart by
//! as many as there are requests. In their own order, each of its numbers would be in a line of memory of its own, and where those many are
//! a power of two, all those lines in a few sets of every cache. Here pages that lie [`ROWS`] apart stand side by side: a request that is
//! over gives its pages away line by line, and a step still finds the lines of the step before. Refuses to know owners.

use crate::record::PageId;

use super::holder::Holder;

/// Pages that lie so many apart stand side by side.
const ROWS: usize = 64;
/// Pages that change places among themselves, a small part of the first-level cache. The first so many keep theirs: small cases know few
/// pages.
const BLOCK: usize = ROWS * 64;

/// The holders of pages, from the first one on.
#[derive(Debug, Default)]
pub(super) struct Paged {
    list: Vec<Holder>,
}

clone_in_place!(Paged { list });

/// Where a page stands: each block is a table whose rows are written where its columns were.
#[inline]
fn at(page: usize) -> usize {
    if page < BLOCK {
        return page;
    }
    let (row, column) = (page % ROWS, page / ROWS % (BLOCK / ROWS));
    page / BLOCK * BLOCK + row * (BLOCK / ROWS) + column
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
        for end in [1, 40, 4095, 4096, 4097, 20_000, 40_000] {
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
