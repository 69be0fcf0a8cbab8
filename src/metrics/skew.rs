//! Reads of shared fields: how often a result reads a field newer than its prepare saw it, and whether that changed
//! what the rule did.

use crate::record::{Fact, ProbeFact, SharedField, Sink};

/// Counts by shared field; a sink of [`ProbeFact::Read`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skew {
    counts: [SkewCount; SharedField::ALL.len()],
}

/// The counts of one field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkewCount {
    /// Results that read the field.
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
    /// Every shared field with its counts.
    pub fn counts(&self) -> impl Iterator<Item = (SharedField, SkewCount)> {
        SharedField::ALL.into_iter().zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{BatchId, ReqId};

    #[test]
    fn every_field_is_counted_by_itself() {
        let mut skew = Skew::default();
        let read = |field, newer, changed| {
            Fact::Probe(ProbeFact::Read { batch: BatchId(1), req: ReqId(0), field, newer, changed })
        };
        skew.fact(read(SharedField::KvCommittedLen, true, true));
        skew.fact(read(SharedField::KvCommittedLen, true, false));
        skew.fact(read(SharedField::LastTrackSeqlen, false, false));
        let of = |wanted| skew.counts().find(|(field, _)| *field == wanted).expect("every field is counted").1;
        assert_eq!(of(SharedField::KvCommittedLen), SkewCount { reads: 2, newer: 2, changed: 1 });
        assert_eq!(of(SharedField::LastTrackSeqlen), SkewCount { reads: 1, newer: 0, changed: 0 });
    }
}
