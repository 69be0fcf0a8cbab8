//! Virtual time: unsigned integer nanoseconds since the start of a run.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in virtual time or a span of it, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Time = Time(0);

    /// Nanoseconds since the start.
    pub fn ns(self) -> u64 {
        self.0
    }

    /// The span from `earlier` to `self`, zero if `earlier` is later.
    pub fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
}

impl Add<u64> for Time {
    type Output = Time;
    fn add(self, ns: u64) -> Time {
        Time(self.0 + ns)
    }
}

impl AddAssign<u64> for Time {
    fn add_assign(&mut self, ns: u64) {
        self.0 += ns;
    }
}

impl Sub for Time {
    type Output = u64;
    fn sub(self, other: Time) -> u64 {
        self.0 - other.0
    }
}

impl fmt::Display for Time {
    /// Microseconds with three decimals: exact, and aligned in columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:03}us", self.0 / 1000, self.0 % 1000);
        f.pad(&text)
    }
}
