//! The visited set: fingerprints of the states reached so far. It is never iterated, so its order has no effect on
//! results.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// A set of fingerprints.
#[derive(Debug, Default)]
pub(super) struct Visited(HashTable<u128>);

/// The hash of a fingerprint is its low half: a fingerprint is a hash already.
fn hash(fingerprint: &u128) -> u64 {
    *fingerprint as u64
}

impl Visited {
    /// Adds a fingerprint. Returns whether it is new.
    pub fn insert(&mut self, fingerprint: u128) -> bool {
        match self.0.entry(hash(&fingerprint), |seen| *seen == fingerprint, hash) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(fingerprint);
                true
            }
        }
    }

    /// Whether the set has a fingerprint.
    pub fn contains(&self, fingerprint: u128) -> bool {
        self.0.find(hash(&fingerprint), |seen| *seen == fingerprint).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_with_equal_hashes_stay_distinct() {
        let mut visited = Visited::default();
        for high in 0..100_u128 {
            let fingerprint = high << 64 | 7;
            assert!(!visited.contains(fingerprint));
            assert!(visited.insert(fingerprint) && !visited.insert(fingerprint));
            assert!(visited.contains(fingerprint));
        }
    }
}
