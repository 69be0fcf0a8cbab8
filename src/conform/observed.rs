//! Independent fields: fields that no later event depends on. They are whether a rule fired, as far as a recording can
//! see it, with the counts of that, and the mask of the next step, which a rule may build or not. A difference in an
//! independent field is counted as `observed`, and the comparison continues.

use serde_json::{Map, Value};

use super::cursor::first_difference;
use super::divergence::FieldDifference;

/// Independent fields of a row of a result: whether it fired, and the fields that follow from that.
const ROW: [&str; 4] = ["fired", "track_seqlen", "second_fire", "missed"];

/// Independent counts of the totals.
const STATS: [&str; 3] = ["fired", "fired_same_boundary", "missed_boundary"];

/// Whether a field of an event is independent.
pub(super) fn is_field(kind: &str, name: &str) -> bool {
    kind == "prepare_decode" && name == "next_mask"
}

/// Whether a count of the totals is independent.
pub(super) fn is_count(name: &str) -> bool {
    STATS.contains(&name)
}

/// The first difference between two rows of a result that later events depend on. Differences in independent fields go
/// to `independent`. If `is_partial`, only the fields that the recording has are compared, except those in `skipped`.
pub(super) fn rows_differ(
    path: &str,
    (recorded, modelled): (&Map<String, Value>, &Map<String, Value>),
    skipped: &[&str],
    is_partial: bool,
    independent: &mut Vec<FieldDifference>,
) -> Option<FieldDifference> {
    let null = Value::Null;
    let mut first = None;
    let only_modelled = modelled.keys().filter(|name| !is_partial && !recorded.contains_key(*name));
    for name in recorded.keys().chain(only_modelled).map(String::as_str).filter(|name| !skipped.contains(name)) {
        let (recorded, modelled) = (recorded.get(name), modelled.get(name));
        // In a partial recording, null and an absent field mean the same.
        let alike = is_partial && recorded.unwrap_or(&null) == modelled.unwrap_or(&null);
        if recorded == modelled || alike {
            continue;
        }
        let path = format!("{path}.{name}");
        let (one, other) = (recorded.unwrap_or(&null), modelled.unwrap_or(&null));
        let whole = || FieldDifference { path: path.clone(), recorded: one.clone(), modelled: other.clone() };
        let difference = first_difference(&path, one, other).unwrap_or_else(whole);
        if ROW.contains(&name) {
            independent.push(difference);
        } else if first.is_none() {
            first = Some(difference);
        }
    }
    first
}
