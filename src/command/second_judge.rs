//! The words for what the judges say in a random search.

use std::collections::BTreeMap;

use crate::model::Setup;
use crate::numeric::{NumericOpinion, Place};
use crate::report::{Agreements, name};
use crate::runner::{Agreement, Disagreement};

/// The number of uses of states by agreement.
pub(super) fn agreements(counts: &BTreeMap<Agreement, u64>) -> Agreements {
    let count = |of| counts.get(&of).copied().unwrap_or(0);
    Agreements {
        right: count(Agreement::Right),
        wrong: count(Agreement::Wrong),
        wrong_in_another_order: count(Agreement::WrongInAnotherOrder),
        after_wrong_hit: count(Agreement::AfterWrongHit),
        after_wrong_donation: count(Agreement::AfterWrongDonation),
        after_torn_copy: count(Agreement::AfterTornCopy),
        after_use_after_free: count(Agreement::AfterUseAfterFree),
    }
}

/// The use on which the judges disagree.
pub(super) fn use_words(of: &Disagreement, setup: &Setup) -> String {
    let Some(place) = of.place else { return format!("verdict {} of the run", name::verdict(of.verdict)) };
    let (req, slot, len) = (setup.name(place.req), place.slot, place.len);
    let used = match place.at {
        Place::Donation => format!("{req} offers slot {slot} under {len} tokens"),
        Place::Hit => format!("{req} starts from slot {slot}, cached under {len} tokens"),
        Place::Start => format!("a forward of {req} advances slot {slot}, which should hold {len} tokens"),
        Place::Cached => format!("slot {slot}, which {req} cached under {len} tokens, leaves the tree"),
        Place::Copy { to } => format!("slot {slot} is copied to {to} for {req} on the schedule stream"),
    };
    format!("turn {}: {used} (run {})", place.turn, name::verdict(of.verdict))
}

/// What the judge says.
pub(super) fn judge_words(of: &Disagreement) -> &'static str {
    of.judge.map_or("right", name::kind)
}

/// What the numbers say.
pub(super) fn numbers_words(of: &Disagreement) -> &'static str {
    match of.numbers {
        NumericOpinion::Right => "right",
        NumericOpinion::WrongInAnotherOrder => "wrong in another order",
        NumericOpinion::Wrong => "wrong",
        NumericOpinion::Unknown => "unknown, as the record lacks tokens",
    }
}
