//! Makes something smaller as long as it keeps what it is kept for: greedy, to a point where no one step helps.

/// Goes from `start` to ever smaller values: takes the first of `smaller(value)` for which `keeps` says yes, and begins
/// anew from there, until none does or `tries_max` were tried. Returns the last one, and how many were tried.
///
/// `smaller` must list values that are smaller by some measure that cannot fall for ever.
pub fn shrink<T>(
    start: T,
    tries_max: usize,
    smaller: impl Fn(&T) -> Vec<T>,
    mut keeps: impl FnMut(&T) -> bool,
) -> (T, usize) {
    let (mut value, mut tries) = (start, 0);
    'again: loop {
        for candidate in smaller(&value) {
            if tries == tries_max {
                return (value, tries);
            }
            tries += 1;
            if keeps(&candidate) {
                value = candidate;
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
        let (least, tries) = shrink(100, 1000, smaller, |n| *n >= 7);
        assert_eq!(least, 7);
        assert!(tries < 20);
        assert_eq!(shrink(100, 1, smaller, |n| *n >= 7), (50, 1));
    }
}
