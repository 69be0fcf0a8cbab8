//! Coverage goals: situations that a search should reach at least once.
//!
//! Owns the names of the goals, their order, and sets of goals. A goal is no finding: it says that a run was in a
//! situation, not that the situation is wrong. The code that reaches a goal is in `coverage.rs`, or next to the judge's
//! code for the same situation.

use std::fmt;

macro_rules! goals {
    ($($(#[$doc:meta])+ $goal:ident, $name:literal;)+) => {
        /// A situation that a search should reach. The order is that of reports.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Goal {
            $($(#[$doc])+ $goal,)+
        }

        impl Goal {
            /// All of them, in order.
            pub const ALL: &'static [Goal] = &[$(Goal::$goal),+];

            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Goal::$goal => $name,)+
                }
            }
        }
    };
}

goals! {
    /// A due checkpoint was recorded at its own result.
    Agree, "agree";
    /// A row was classed [`super::Class::Early`].
    Early, "early";
    /// A row was classed [`super::Class::Settled`].
    Settled, "settled";
    /// A row was classed [`super::Class::Repeat`].
    Repeat, "repeat";
    /// A row was classed [`super::Class::Missed`].
    Missed, "missed";
    /// A row was classed [`super::Class::WrongLabel`].
    WrongLabel, "wrong-label";
    /// A row was classed [`super::Class::WrongSlot`].
    WrongSlot, "wrong-slot";
    /// A stop token ended a request with no decode step of it in flight.
    FinishToken, "finish-token";
    /// A stop token ended a request with a decode step of it in flight.
    FinishTokenInFlight, "finish-token-in-flight";
    /// A request ended by length with no decode step of it in flight.
    FinishLength, "finish-length";
    /// A request ended by length with a decode step of it in flight.
    FinishLengthInFlight, "finish-length-in-flight";
    /// An abort ended a request with no decode step of it in flight.
    FinishAbort, "finish-abort";
    /// An abort ended a request with a decode step of it in flight.
    FinishAbortInFlight, "finish-abort-in-flight";
    /// A boundary b was due with L = 0 at the result before and L = 0 at result(b).
    BoundaryLevelLevel, "boundary-level-level";
    /// A boundary b was due with L = 0 at the result before and L = 1 at result(b).
    BoundaryLevelAhead, "boundary-level-ahead";
    /// A boundary b was due with L = 1 at the result before and L = 0 at result(b).
    BoundaryAheadLevel, "boundary-ahead-level";
    /// A boundary b was due with L = 1 at the result before and L = 1 at result(b).
    BoundaryAheadAhead, "boundary-ahead-ahead";
    /// A boundary was due at the first decode result of a request since its prefill.
    FirstDecodeIsBoundary, "first-decode-is-boundary";
    /// A request was retracted while a boundary step of it was in flight.
    RetractBoundaryInFlight, "retract-boundary-in-flight";
    /// An abort of a decoding request was taken in while a boundary step of it was in flight.
    AbortBoundaryInFlight, "abort-boundary-in-flight";
    /// The running batch was merged with another while a boundary step of a request that stays was in flight.
    MergeBoundaryInFlight, "merge-boundary-in-flight";
    /// Rows left the running batch while a boundary step of a request that stays was in flight.
    FilterBoundaryInFlight, "filter-boundary-in-flight";
    /// A boundary step was refused its second slot.
    SecondSlotRefused, "second-slot-refused";
    /// A donation was skipped because no slot was available for it.
    DonationNoSlot, "donation-no-slot";
    /// A hit on a state that a decode wrote: it was donated at the end of a request that had decoded.
    HitOfDecode, "hit-of-decode";
    /// A hit on a state that a prefill wrote.
    HitOfPrefill, "hit-of-prefill";
    /// A cached state was evicted.
    Eviction, "eviction";
    /// Several cached states were evicted in one turn.
    EvictionSeveral, "eviction-several";
    /// A donation to a node that already owned a state.
    DonationExisted, "donation-existed";
    /// A donation under a key that is shorter than the label: the label floored to a page.
    KeyFloored, "key-floored";
    /// The result of a chunk that does not end its prompt was processed.
    PrefillInChunks, "prefill-in-chunks";
    /// A decode row rode along in a mixed batch.
    RowRidesAlong, "row-rides-along";
    /// A verify crossed a boundary and wrote a track slot.
    VerifyCrosses, "verify-crosses";
    /// A rule computed a boundary again because the host masks had been dropped.
    MasksLost, "masks-lost";
    /// A row was processed with L = 0.
    LookaheadLevel, "lookahead-0";
    /// A row was processed with L = 1.
    LookaheadAhead, "lookahead-1";
    /// A guard declined a donation.
    DonationDeclined, "donation-declined";
    /// A request started from a cached state that was wrong.
    InheritedStart, "inherited-start";
    /// The bound on turns ended the run.
    Bound, "bound";
    /// The run stalled: requests wait that can never be admitted.
    Stall, "stall";
}

/// A set of goals.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Goals(u64);

const _: () = assert!(Goal::ALL.len() <= u64::BITS as usize, "every goal has a bit");

impl Goals {
    /// The empty set.
    pub const NONE: Goals = Goals(0);
    /// The set of all goals.
    pub const ALL: Goals = Goals(u64::MAX >> (u64::BITS as usize - Goal::ALL.len()));

    /// A bit for each goal, in order.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The goals of these bits.
    pub fn from_bits(bits: u64) -> Goals {
        Goals(bits & Goals::ALL.0)
    }

    /// The names of the goals in the set, and of those not in the set.
    pub fn names(self) -> (Vec<&'static str>, Vec<&'static str>) {
        let (reached, missed): (Vec<Goal>, Vec<Goal>) = Goal::ALL.iter().partition(|goal| self.contains(**goal));
        let names = |goals: Vec<Goal>| goals.into_iter().map(Goal::name).collect();
        (names(reached), names(missed))
    }

    /// Adds a goal.
    #[inline]
    pub fn insert(&mut self, goal: Goal) {
        self.0 |= 1 << goal as u8;
    }

    /// The goals in either set.
    #[must_use]
    pub fn union(self, other: Goals) -> Goals {
        Goals(self.0 | other.0)
    }

    /// Whether a goal is in the set.
    #[inline]
    pub fn contains(self, goal: Goal) -> bool {
        self.0 >> goal as u8 & 1 == 1
    }

    /// The goals in the set, in order.
    pub fn iter(self) -> impl Iterator<Item = Goal> {
        Goal::ALL.iter().copied().filter(move |&goal| self.contains(goal))
    }
}

impl FromIterator<Goal> for Goals {
    fn from_iter<I: IntoIterator<Item = Goal>>(goals: I) -> Goals {
        let mut set = Goals::NONE;
        goals.into_iter().for_each(|goal| set.insert(goal));
        set
    }
}

/// By name, as in reports.
impl fmt::Debug for Goals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Goal::name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_in_kebab_case() {
        let names: BTreeSet<&str> = Goal::ALL.iter().map(|goal| goal.name()).collect();
        assert_eq!(names.len(), Goal::ALL.len());
        let plain = |name: &str| name.bytes().all(|b| b == b'-' || b.is_ascii_lowercase() || b.is_ascii_digit());
        assert!(names.into_iter().all(plain));
    }

    #[test]
    fn the_order_is_that_of_declaration() {
        assert!(Goal::ALL.is_sorted());
        let set: Goals = [Goal::Stall, Goal::Early, Goal::FinishLengthInFlight, Goal::Early].into_iter().collect();
        let names: Vec<&str> = set.iter().map(Goal::name).collect();
        assert_eq!(names, ["early", "finish-length-in-flight", "stall"]);
        assert_eq!(format!("{set:?}"), r#"{"early", "finish-length-in-flight", "stall"}"#);
    }

    #[test]
    fn a_set_holds_what_was_put_in_and_nothing_else() {
        for &goal in Goal::ALL {
            let one: Goals = [goal].into_iter().collect();
            assert!(one.contains(goal) && Goals::ALL.contains(goal) && !Goals::NONE.contains(goal));
            assert_eq!(one.iter().collect::<Vec<_>>(), [goal]);
            assert_eq!(one.union(Goals::ALL), Goals::ALL);
            assert_eq!(one.union(Goals::NONE), one);
        }
        assert_eq!(Goal::ALL.iter().copied().collect::<Goals>(), Goals::ALL);
        assert_eq!(Goals::default(), Goals::NONE);
    }
}
