//! The pool of KV pages, and the pages of a request.

use crate::record::{GrantId, PageRange};

/// A pool of pages of `page_size` tokens. A page is named by the admission in which it was allocated, so a pool is a count.
#[derive(Clone, Debug)]
pub struct PagePool {
    free: u32,
    page_size: u32,
}

/// The pages of a request, in token order: those of its cached prefix, which are the tree's, then its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReqPages {
    /// The admission in which it got its own.
    pub grant: GrantId,
    /// How many there are, the tree's included.
    pub count: u32,
}

impl PagePool {
    /// A full pool of `kv_tokens` tokens, a multiple of `page_size`.
    pub fn new(kv_tokens: u32, page_size: u32) -> Self {
        PagePool { free: kv_tokens / page_size, page_size }
    }

    /// Free tokens: all that a search tells pools apart by.
    pub fn available(&self) -> u32 {
        let PagePool { free, page_size } = self;
        free * page_size
    }

    /// Takes `count` pages, or none at all.
    #[must_use]
    pub fn alloc(&mut self, count: u32) -> bool {
        let left = self.free.checked_sub(count);
        self.free = left.unwrap_or(self.free);
        left.is_some()
    }

    /// Returns pages.
    pub fn free(&mut self, pages: PageRange) {
        self.free += pages.count();
    }
}

impl ReqPages {
    /// Its own pages behind the first `from` up to the first `to` pages of its sequence.
    pub fn range(self, from: u32, to: u32) -> PageRange {
        PageRange { grant: self.grant, from, to: to.max(from) }
    }

    /// Puts `count` pages of its own behind the others; says which.
    pub fn append(&mut self, count: u32) -> PageRange {
        let from = self.count;
        self.count += count;
        self.range(from, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_is_all_or_nothing() {
        let mut pool = PagePool::new(12, 4);
        assert!(!pool.alloc(4) && pool.available() == 12);
        assert!(pool.alloc(2) && pool.available() == 4);
        pool.free(ReqPages { grant: GrantId(1), count: 2 }.range(0, 2));
        assert_eq!(pool.available(), 12);
    }
}
