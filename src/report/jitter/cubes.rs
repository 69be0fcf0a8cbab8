//! Compact notation of pattern sets: `x1` stands for `01` and `11`.

use std::collections::BTreeSet;

/// Lines that cover the patterns, where `x` stands for 0 and 1. The patterns have one length and no duplicates. Each
/// pattern is in exactly one line. Lines are in the order of their first patterns; their number is small but not
/// minimal.
pub(super) fn cubes(patterns: &[&str]) -> Vec<String> {
    let mut lines = Vec::new();
    cut(patterns, &mut lines);
    lines.sort_by_key(|line| line.replace('x', "0"));
    lines
}

fn cut(patterns: &[&str], lines: &mut Vec<String>) {
    let Some(first) = patterns.first() else { return };
    let differs = |at: &usize| patterns.iter().any(|pattern| bit(pattern, *at) != bit(first, *at));
    let open: Vec<usize> = (0..first.len()).filter(differs).collect();
    // A set is complete if it has all combinations of its open places.
    if u32::try_from(open.len()).ok().and_then(|open| 1usize.checked_shl(open)) == Some(patterns.len()) {
        lines.push(first.char_indices().map(|(at, c)| if open.contains(&at) { 'x' } else { c }).collect());
        return;
    }
    // Split at the place where the fewest patterns exist with both values.
    let all: BTreeSet<&str> = patterns.iter().copied().collect();
    let both = |at: &usize| patterns.iter().filter(|pattern| all.contains(turned(pattern, *at).as_str())).count();
    let Some(at) = open.into_iter().min_by_key(both) else { return };
    let (low, high): (Vec<&str>, Vec<&str>) = patterns.iter().partition(|pattern| bit(pattern, at) == b'0');
    cut(&low, lines);
    cut(&high, lines);
}

fn bit(pattern: &str, at: usize) -> u8 {
    pattern.as_bytes()[at]
}

fn turned(pattern: &str, at: usize) -> String {
    let other = if bit(pattern, at) == b'0' { "1" } else { "0" };
    format!("{}{other}{}", &pattern[..at], &pattern[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_sets_are_one_line() {
        assert_eq!(cubes(&["0", "1"]), ["x"]);
        assert_eq!(cubes(&["00", "01"]), ["0x"]);
        assert_eq!(cubes(&["010", "011", "110", "111"]), ["x1x"]);
        assert_eq!(cubes(&["101"]), ["101"]);
        assert!(cubes(&[]).is_empty());
    }

    #[test]
    fn others_are_cut_where_it_matters() {
        assert_eq!(cubes(&["00", "11"]), ["00", "11"]);
        assert_eq!(cubes(&["000", "001", "110", "111"]), ["00x", "11x"]);
        assert_eq!(cubes(&["01", "10", "11"]), ["01", "1x"]);
    }

    #[test]
    fn every_pattern_is_in_exactly_one_line() {
        let all: Vec<String> = (0..64).map(|n| format!("{n:06b}")).collect();
        for seed in 1..200u64 {
            let drawn = |p: &&str| {
                let n = u64::from_str_radix(p, 2).unwrap();
                (n * seed * 2_654_435_761) >> 7 & 3 != 0
            };
            let some: Vec<&str> = all.iter().map(String::as_str).filter(drawn).collect();
            let lines = cubes(&some);
            for pattern in &all {
                let fits = |line: &&String| line.chars().zip(pattern.chars()).all(|(l, p)| l == 'x' || l == p);
                let times = lines.iter().filter(fits).count();
                assert_eq!(times, usize::from(some.contains(&pattern.as_str())), "{pattern} in {lines:?}");
            }
        }
    }
}
