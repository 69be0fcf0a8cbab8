//! Fields that a recording notes and that no later event depends on: whether a rule fired, as far as the recordings can see it, and what they
//! count by it; and the mask of the step after, which a rule may or may not build. A difference in one of them is kept, and the
//! comparison goes on.

use serde_json::{Map, Value};

use super::cursor::first_difference;
use super::divergence::FieldDifference;

/// Of a row of a result: that it fired, and what is noted only of a row that did or did not.
const ROW: [&str; 4] = ["fired", "track_seqlen", "second_fire", "missed"];

/// Of the totals: the counts of the same.
const STATS: [&str; 3] = ["fired", "fired_same_boundary", "missed_boundary"];

/// Whether nothing depends on a field of an event.
pub(super) fn is_field(kind: &str, name: &str) -> bool {
    kind == "prepare_decode" && name == "next_mask"
}

/// Whether nothing depends on a count of the totals.
pub(super) fn is_count(name: &str) -> bool {
    STATS.contains(&name)
}

/// Where two rows of a result differ first, in a field on which others depend; only the fields that the recording has, if `given`.
/// Differences in the fields on which nothing depends go to `seen`.
pub(super) fn rows_differ(
    path: &str,
    (was, is): (&Map<String, Value>, &Map<String, Value>),
    passed_over: &[&str],
    given: bool,
    seen: &mut Vec<FieldDifference>,
) -> Option<FieldDifference> {
    let null = Value::Null;
    let mut first = None;
    let only_modelled = is.keys().filter(|name| !given && !was.contains_key(*name));
    for name in was.keys().chain(only_modelled).map(String::as_str).filter(|name| !passed_over.contains(name)) {
        let (recorded, modelled) = (was.get(name), is.get(name));
        // Of a recording that leaves things out, what is null is as good as not there.
        let alike = given && recorded.unwrap_or(&null) == modelled.unwrap_or(&null);
        if recorded == modelled || alike {
            continue;
        }
        let path = format!("{path}.{name}");
        let (one, other) = (recorded.unwrap_or(&null), modelled.unwrap_or(&null));
        let whole = || FieldDifference { path: path.clone(), recorded: one.clone(), modelled: other.clone() };
        let place = first_difference(&path, one, other).unwrap_or_else(whole);
        if ROW.contains(&name) {
            seen.push(place);
        } else if first.is_none() {
            first = Some(place);
        }
    }
    first
}
