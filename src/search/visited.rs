//! The set of states that were seen, by fingerprint. Never iterated, so its order is nobody's business.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// Fingerprints that were seen.
#[derive(Debug, Default)]
pub(super) struct Visited {
    prints: HashSet<u128, BuildHasherDefault<Folded>>,
}

impl Visited {
    /// Adds a fingerprint. Says whether it is new.
    pub fn insert(&mut self, print: u128) -> bool {
        self.prints.insert(print)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.prints.clear();
    }

    /// Whether a fingerprint was seen.
    pub fn contains(&self, print: u128) -> bool {
        self.prints.contains(&print)
    }
}

/// A fingerprint is random already: its lower half is its hash.
#[derive(Debug, Default)]
struct Folded(u64);

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u128(&mut self, print: u128) {
        self.0 = print as u64;
    }
}
