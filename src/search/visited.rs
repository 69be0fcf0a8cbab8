//! The set of states that were seen, by fingerprint. Never iterated, so its order is nobody's business.
//!
//! Owns a table of its own: a fingerprint is random already, so that its low bits are its place, and a look at it costs one wait for memory.

/// Places of the smallest table.
const PLACES_MIN: usize = 64;

/// Fingerprints that were seen.
#[derive(Debug)]
pub(super) struct Visited {
    /// A power of two of places, 0 in those that are empty; each fingerprint stands at its place or behind it, with no empty one between.
    places: Vec<u128>,
    count: usize,
    /// Whether 0 was seen, which stands for nothing in the table.
    zero: bool,
}

impl Default for Visited {
    fn default() -> Self {
        Visited { places: vec![0; PLACES_MIN], count: 0, zero: false }
    }
}

impl Visited {
    /// Adds a fingerprint. Says whether it is new.
    #[inline]
    pub fn insert(&mut self, print: u128) -> bool {
        if print == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        let at = self.place(print);
        if self.places[at] == print {
            return false;
        }
        self.places[at] = print;
        self.count += 1;
        if self.count * 8 > self.places.len() * 5 {
            self.grow();
        }
        true
    }

    /// Whether a fingerprint was seen.
    pub fn contains(&self, print: u128) -> bool {
        if print == 0 { self.zero } else { self.places[self.place(print)] == print }
    }

    /// Looks at the places of fingerprints that are about to be added: they wait for memory together, and not one after another.
    pub fn touch(&self, prints: impl Iterator<Item = u128>) {
        let seen = prints.fold(0, |seen, print| seen ^ self.places[self.home(print)]);
        std::hint::black_box(seen);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Visited::default();
    }

    /// Where the search for a fingerprint begins.
    #[inline]
    fn home(&self, print: u128) -> usize {
        print as usize & (self.places.len() - 1)
    }

    /// Where a fingerprint is, or would be.
    #[inline]
    fn place(&self, print: u128) -> usize {
        let mut at = self.home(print);
        while self.places[at] != print && self.places[at] != 0 {
            at = (at + 1) & (self.places.len() - 1);
        }
        at
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![0; 2 * self.places.len()];
        for print in std::mem::replace(&mut self.places, larger) {
            if print != 0 {
                let at = self.place(print);
                self.places[at] = print;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_the_set_that_a_set_is() {
        let (mut visited, mut set) = (Visited::default(), BTreeSet::new());
        for nth in 0..4000_u128 {
            // Some come twice, some are 0, and many have one place.
            let print = ((nth * nth % 977) << 5) | ((nth % 3) << 100);
            visited.touch(std::iter::once(print));
            assert_eq!(visited.contains(print), set.contains(&print));
            assert_eq!(visited.insert(print), set.insert(print));
            assert!(visited.contains(print));
        }
        visited.clear();
        assert!(!visited.contains(0) && visited.insert(0) && !visited.insert(0));
    }
}
