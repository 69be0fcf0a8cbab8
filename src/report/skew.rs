//! The skew table: for every shared field, how often results read it, read a newer value, and decided differently
//! because of it.

use serde::Serialize;

use crate::metrics::Skew;

use super::{layout, name};

/// One row of the skew table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkewRow {
    /// The field, as it is named in the modelled code.
    pub field: &'static str,
    /// Results that read it.
    pub reads: u64,
    /// Of these, with a value newer than the one that their prepare saw.
    pub newer: u64,
    /// Of these, where the rule would have done something else with the older value.
    pub changed: u64,
}

/// The table, a row for each field.
pub fn skew_rows(skew: &Skew) -> Vec<SkewRow> {
    let rows = skew.counts().map(|(field, count)| SkewRow {
        field: name::field(field),
        reads: count.reads,
        newer: count.newer,
        changed: count.changed,
    });
    rows.collect()
}

/// The table as text.
pub fn skew_text(skew: &Skew) -> String {
    let heads = ["shared field", "results", "newer than at prepare", "decision changed by it"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    for row in skew_rows(skew) {
        rows.push(vec![row.field.to_string(), row.reads.to_string(), row.newer.to_string(), row.changed.to_string()]);
    }
    layout::align(&rows, &[1, 2, 3]).join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_every_field_and_one_of_heads() {
        let skew = Skew::default();
        assert_eq!(skew_text(&skew).lines().count(), skew_rows(&skew).len() + 1);
        assert_eq!((skew_rows(&skew)[1].field, skew_rows(&skew)[6].field), ("kv_committed_len", "last_track_seqlen"));
    }
}
