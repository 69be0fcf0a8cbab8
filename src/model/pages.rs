//! The pool of KV pages.

use crate::record::PageId;

/// The pages of a request, in token order.
pub type Pages = Vec<PageId>;

/// KV pages 0..count, each `page_size` tokens. The order in which pages are given out matters to nobody: those that came
/// back go first, so that a snapshot of a large pool is as small as what was used of it.
#[derive(Debug)]
pub struct PagePool {
    /// The first one never given out, and how many there are.
    fresh: (u32, u32),
    /// Those that came back; the last one is given out first.
    free: Vec<PageId>,
    page_size: u32,
}

clone_in_place!(PagePool { fresh, free, page_size });

impl PagePool {
    /// A full pool of `kv_tokens` tokens, a multiple of `page_size`.
    pub fn new(kv_tokens: u32, page_size: u32) -> Self {
        PagePool { fresh: (0, kv_tokens / page_size), free: Vec::new(), page_size }
    }

    /// Free tokens.
    pub fn available(&self) -> u32 {
        self.available_pages() * self.page_size
    }

    /// All that a search tells pools apart by: which pages are free, and their order, are names.
    fn available_pages(&self) -> u32 {
        let PagePool { fresh: (first, end), free, page_size: _ } = self;
        end - first + free.len() as u32
    }

    /// Takes `count` pages into `out`, or none at all.
    pub fn alloc(&mut self, count: u32, out: &mut Pages) -> bool {
        if count > self.available_pages() {
            return false;
        }
        let back = (count as usize).min(self.free.len());
        out.extend(self.free.drain(self.free.len() - back..).rev());
        let first = self.fresh.0;
        self.fresh.0 += count - back as u32;
        out.extend((first..self.fresh.0).map(PageId));
        true
    }

    /// Takes a page for each place in `out`, for as many as there are pages. Returns how many, in the order in which they
    /// would come one by one.
    pub fn alloc_each(&mut self, out: &mut [PageId]) -> usize {
        let count = out.len().min(self.available_pages() as usize);
        let kept = self.free.len().saturating_sub(count);
        let (back, fresh) = out[..count].split_at_mut(self.free.len() - kept);
        for (to, from) in back.iter_mut().zip(self.free.drain(kept..).rev()) {
            *to = from;
        }
        for to in fresh {
            *to = PageId(self.fresh.0);
            self.fresh.0 += 1;
        }
        count
    }

    /// Returns pages.
    pub fn free(&mut self, pages: &[PageId]) {
        self.free.extend(pages.iter().rev());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_is_all_or_nothing() {
        let mut pool = PagePool::new(12, 4);
        let mut taken = Pages::new();
        assert!(!pool.alloc(4, &mut taken) && taken.is_empty());
        assert!(pool.alloc(2, &mut taken));
        assert_eq!((taken.as_slice(), pool.available()), ([PageId(0), PageId(1)].as_slice(), 4));
        pool.free(&taken);
        assert_eq!(pool.available(), 12);
    }

    #[test]
    fn pages_for_each_are_given_for_as_long_as_there_are_any() {
        let mut pool = PagePool::new(20, 4);
        let mut taken = Pages::new();
        assert!(pool.alloc(3, &mut taken));
        pool.free(&taken[..2]);
        let mut out = [PageId(9); 5];
        assert_eq!(pool.alloc_each(&mut out[..1]), 1);
        assert_eq!(pool.alloc_each(&mut out[1..]), 3);
        assert_eq!((out, pool.available()), ([0, 1, 3, 4, 9].map(PageId), 0));
    }
}
