//! Independent work items on several threads, with the results in order.

use std::sync::Mutex;

/// Runs `work` for each item on `jobs` threads, the caller's thread included. Returns the results in the order of the
/// items.
pub fn in_order<T: Send, R: Send>(
    jobs: usize,
    items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator + Send>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let items = items.into_iter();
    let others = jobs.min(items.len()).saturating_sub(1);
    let next = Mutex::new(items.enumerate());
    let one = || {
        let mut mine = Vec::new();
        loop {
            let item = next.lock().expect("no thread panics while it takes an item").next();
            let Some((at, item)) = item else { return mine };
            mine.push((at, work(item)));
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let others: Vec<_> = (0..others).map(|_| scope.spawn(one)).collect();
        let mut all = one();
        all.extend(others.into_iter().flat_map(|other| other.join().expect("a work item panicked")));
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
            assert_eq!(in_order(jobs, 0..100, |n| n * n), squares);
        }
        assert!(in_order(4, 0..0, |n| n).is_empty());
    }
}
