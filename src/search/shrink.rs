//! Makes something smaller as long as it keeps what it is kept for: greedy, to a point where no one step helps.

/// Goes from `start` to ever smaller values: takes the first of `smaller(value)` that `keep` gives back, as it is given
/// back, and begins anew from there, until none is or `tries_max` were tried. Returns the last one, and how many were
/// tried.
///
/// What `keep` gives back must be smaller than the value before by some measure that cannot fall for ever.
pub fn shrink<T>(
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
    fn the_first_step_that_keeps_it_is_taken_until_none_does() {
        let smaller = |n: &u32| vec![n / 2, n.saturating_sub(1)].into_iter().filter(|m| m < n).collect();
        let (least, tries) = shrink(100, 1000, smaller, |_, n| (n >= 7).then_some(n));
        assert_eq!(least, 7);
        assert!(tries < 20);
        assert_eq!(shrink(100, 1, smaller, |_, n| (n >= 7).then_some(n)), (50, 1));
    }
}
