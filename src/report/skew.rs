//! How often results read fields newer than their prepare saw them, and whether it mattered to the rule.

use serde::Serialize;

use crate::record::{Fact, ProbeFact, SharedField, Sink};

use super::{layout, name};

/// Counts by shared field; a sink of [`ProbeFact::Read`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skew {
    counts: [Count; SharedField::ALL.len()],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    reads: u64,
    newer: u64,
    changed: u64,
}

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

impl Sink for Skew {
    fn fact(&mut self, fact: Fact) {
        if let Fact::Probe(ProbeFact::Read { field, newer, changed, .. }) = fact {
            let count = &mut self.counts[field as usize];
            count.reads += 1;
            count.newer += u64::from(newer);
            count.changed += u64::from(changed);
        }
    }
}

impl Skew {
    /// The table, a row a field.
    pub fn rows(&self) -> Vec<SkewRow> {
        let row = |(&field, count): (&SharedField, &Count)| SkewRow {
            field: name::field(field),
            reads: count.reads,
            newer: count.newer,
            changed: count.changed,
        };
        SharedField::ALL.iter().zip(&self.counts).map(row).collect()
    }
}

/// The table as text.
pub fn skew_text(skew: &Skew) -> String {
    let heads = ["shared field", "results", "newer than at prepare", "decision changed by it"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    for row in skew.rows() {
        rows.push(vec![row.field.to_string(), row.reads.to_string(), row.newer.to_string(), row.changed.to_string()]);
    }
    layout::align(&rows, &[1, 2, 3]).join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::BatchId;
    use crate::record::ReqId;

    #[test]
    fn every_field_is_counted_by_itself() {
        let mut skew = Skew::default();
        let read = |field, newer, changed| {
            Fact::Probe(ProbeFact::Read { batch: BatchId(1), req: ReqId(0), field, newer, changed })
        };
        skew.fact(read(SharedField::KvCommittedLen, true, true));
        skew.fact(read(SharedField::KvCommittedLen, true, false));
        skew.fact(read(SharedField::LastTrackSeqlen, false, false));
        let rows = skew.rows();
        assert_eq!((rows[1].field, rows[1].reads, rows[1].newer, rows[1].changed), ("kv_committed_len", 2, 2, 1));
        assert_eq!((rows[6].field, rows[6].reads, rows[6].newer), ("last_track_seqlen", 1, 0));
        assert!(skew_text(&skew).lines().count() >= 8);
    }
}
