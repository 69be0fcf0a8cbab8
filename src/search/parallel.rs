//! Independent pieces of work on several threads, with their results in order.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Does `work(0)`, `work(1)`, .. up to `count` on `jobs` threads, of which the caller's is one, and returns the results in that order.
/// `done` is told of each piece by the thread that did it.
pub fn in_order<R: Send>(
    jobs: usize,
    count: usize,
    work: impl Fn(usize) -> R + Sync,
    done: impl Fn(usize) + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let one = || {
        let mut mine = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return mine;
            }
            mine.push((at, work(at)));
            done(at);
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..jobs.min(count)).map(|_| scope.spawn(one)).collect();
        let mut all = one();
        all.extend(others.into_iter().flat_map(|other| other.join().expect("a piece of work panicked")));
        all
    });
    all.sort_unstable_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        let squares: Vec<usize> = (0..100).map(|n| n * n).collect();
        for jobs in [0, 1, 2, 7, 200] {
            assert_eq!(in_order(jobs, 100, |n| n * n, |_| ()), squares);
        }
        assert!(in_order(4, 0, |n| n, |_| ()).is_empty());
    }
}
