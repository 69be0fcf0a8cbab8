//! The way down: greedy descent through candidates to a local minimum. Knows nothing of setups and findings.

/// Greedy descent from `start`: takes the first candidate of `smaller(value)` that `keep` accepts and begins again from
/// the value that `keep` returns for it. Ends where `keep` accepts no candidate, or after `tries_max` candidates.
/// Returns the last value, and the number of candidates tried.
///
/// The value that `keep` returns must be smaller than the value before by a measure that cannot fall for ever.
pub(super) fn descend<T>(
    start: T,
    tries_max: usize,
    smaller: impl Fn(&T) -> Vec<T>,
    mut keep: impl FnMut(&T, T) -> Option<T>,
) -> (T, usize) {
    let (mut value, mut tries) = (start, 0);
    'again: loop {
        for candidate in smaller(&value) {
            if tries == tries_max {
                return (value, tries);
            }
            tries += 1;
            if let Some(kept) = keep(&value, candidate) {
                value = kept;
                continue 'again;
            }
        }
        return (value, tries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_accepted_candidate_is_taken_until_none_is_accepted() {
        let smaller = |n: &u32| vec![n / 2, n.saturating_sub(1)].into_iter().filter(|m| m < n).collect();
        let (least, tries) = descend(100, 1000, smaller, |_, n| (n >= 7).then_some(n));
        assert_eq!(least, 7);
        assert!(tries < 20);
        assert_eq!(descend(100, 1, smaller, |_, n| (n >= 7).then_some(n)), (50, 1));
    }
}
