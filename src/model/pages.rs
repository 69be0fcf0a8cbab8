//! The pool of KV pages, and the pages of a request.

use crate::record::{GrantId, PageRange};

/// A pool of pages of `page_size` tokens. The name of a page comes from the admission that allocated it, so the pool is
/// only a count.
#[derive(Clone, Debug)]
pub struct PagePool {
    free: u32,
    page_size: u32,
}

/// The pages of a request in token order: the pages of its cached prefix, which are the tree's, then its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReqPages {
    /// The admission in which the request got its own pages.
    pub grant: GrantId,
    /// Number of pages, with those of the tree.
    pub count: u32,
}

impl PagePool {
    /// A full pool of `kv_tokens` tokens, a multiple of `page_size`.
    pub fn new(kv_tokens: u32, page_size: u32) -> Self {
        PagePool { free: kv_tokens / page_size, page_size }
    }

    /// Free tokens: the only state of the pool.
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
    /// The own pages at places `from..to` of the sequence.
    pub fn range(self, from: u32, to: u32) -> PageRange {
        PageRange { grant: self.grant, from, to: to.max(from) }
    }

    /// Appends `count` own pages, and returns them.
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
