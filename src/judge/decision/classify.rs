//! The decision diff for one row: what was due by the batch's own write, against what the rule did.
//!
//! Owns the lengths that a request has recorded, and the classification.

use educe::Educe;
use tinyvec::TinyVec;

use crate::record::{Encoding, Kept, SlotId};

use super::Class;
use super::cause::Trail;
use super::window::Seen;

/// The written lengths that the rule has named while the request holds its track slots, sorted.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(super) struct Recorded {
    lens: TinyVec<[u32; 4]>,
    /// Only for words: nothing is judged by it.
    pub trail: Trail,
}

impl Recorded {
    /// The track slots are gone, and what was kept in them.
    pub fn clear(&mut self) {
        self.lens.clear();
        self.trail = Trail::default();
    }

    /// Whether a length is recorded, be it with another slot than was written for it.
    #[inline]
    pub fn named(&self, len: u32) -> bool {
        has(&self.lens, len)
    }

    /// Writes the lengths.
    pub fn encode(&self, out: &mut Encoding) {
        let Recorded {
            lens,
            trail: _, // Only for words of a finding, which a replay makes anew.
        } = self;
        lens.iter().for_each(|&len| out.word(len));
        out.word(u32::MAX);
    }

    /// The class of a row, and the length that its decision names for a state that was really written, if any. `ahead` is the length that the
    /// step in flight keeps, and its slot; `late` is the slot written for a length whose result was processed before. `turn` is that of the row.
    pub fn judge(
        &mut self,
        seen: Seen,
        ahead: Option<(u32, SlotId)>,
        decision: Option<Kept>,
        turn: u32,
        late: impl Fn(u32) -> Option<SlotId>,
    ) -> (Class, Option<u32>) {
        let due = seen.k.filter(|&k| seen.due.is_some() && !self.named(k));
        let (mut class, mut names) = (Class::Agree, None);
        match decision {
            Some(after) => {
                (class, names) = self.decide(seen, ahead, after, late);
                if let (Class::Agree | Class::Early, Some(label), Some(slot)) = (class, after.label, after.slot) {
                    self.trail.decided_rightly(label, slot, turn);
                }
            }
            None if seen.due.is_some() => class = Class::Settled,
            None => {}
        }
        if due.is_some() && names != due {
            class = class.max(Class::Missed);
        }
        (class, names)
    }

    /// The class of a decision by itself. A length named with another slot than was written counts as recorded: the
    /// state audit convicts it when it is donated.
    fn decide(
        &mut self,
        seen: Seen,
        ahead: Option<(u32, SlotId)>,
        after: Kept,
        late: impl Fn(u32) -> Option<SlotId>,
    ) -> (Class, Option<u32>) {
        let Some(label) = after.label else { return (Class::WrongLabel, None) };
        let own = seen.k == Some(label);
        let ahead = ahead.filter(|&(len, _)| len == label).map(|(_, slot)| slot);
        let due = if own { seen.due } else { ahead };
        let Some(written) = due.or_else(|| late(label)) else {
            return (if self.named(label) { Class::Repeat } else { Class::WrongLabel }, None);
        };
        let known = self.named(label);
        if after.slot.is_none() {
            return (if known { Class::Repeat } else { Class::WrongSlot }, None);
        }
        let right = after.slot == Some(written);
        insert(&mut self.lens, label);
        let class = match (known, due) {
            (true, _) => Class::Repeat,
            (false, None) => Class::WrongLabel,
            (false, Some(_)) if !right => Class::WrongSlot,
            (false, Some(_)) if own => Class::Agree,
            (false, Some(_)) => Class::Early,
        };
        (class, Some(label))
    }
}

/// Looks from the end: nearly always the newest length is asked for.
#[inline]
fn has(sorted: &[u32], len: u32) -> bool {
    match sorted.last() {
        Some(&last) if last > len => sorted.binary_search(&len).is_ok(),
        Some(&last) => last == len,
        None => false,
    }
}

fn insert(sorted: &mut TinyVec<[u32; 4]>, len: u32) {
    if let Err(at) = sorted.binary_search(&len) {
        sorted.insert(at, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(label: u32, slot: u32) -> Option<Kept> {
        Some(Kept { label: Some(label), slot: Some(SlotId(slot)) })
    }

    fn seen(k: u32, due: Option<u32>, ahead: Option<u32>) -> (Seen, Option<(u32, SlotId)>) {
        let seen = Seen { k: Some(k), due: due.map(SlotId), ..Seen::default() };
        (seen, ahead.map(|slot| (k + 1, SlotId(slot))))
    }

    #[test]
    fn the_classes_rank_as_the_specification_says() {
        use Class::*;
        let ranked = [Agree, Settled, Early, WrongSlot, WrongLabel, Missed, Repeat];
        assert!(ranked.is_sorted());
    }

    #[test]
    fn rows_and_their_classes() {
        let none = |_: u32| None;
        // (named before, seen, decision) -> (class, named by it)
        type Row = (&'static [u32], (Seen, Option<(u32, SlotId)>), Option<Kept>, Class, Option<u32>);
        let rows: [Row; 17] = [
            (&[], seen(3, None, None), None, Class::Agree, None),
            (&[], seen(4, Some(1), None), kept(4, 1), Class::Agree, Some(4)),
            (&[], seen(3, None, Some(1)), kept(4, 1), Class::Early, Some(4)),
            (&[], seen(3, None, Some(1)), kept(4, 2), Class::WrongSlot, Some(4)),
            (&[], seen(4, Some(1), None), kept(4, 2), Class::WrongSlot, Some(4)),
            (&[], seen(3, None, None), kept(4, 1), Class::WrongLabel, None),
            (&[], seen(5, None, None), kept(5, 1), Class::WrongLabel, None),
            (&[], seen(5, None, None), kept(4, 1), Class::WrongLabel, None),
            (&[], seen(4, Some(1), None), None, Class::Missed, None),
            (&[4], seen(4, Some(1), None), None, Class::Settled, None),
            (&[4], seen(4, Some(1), None), kept(4, 2), Class::Repeat, Some(4)),
            (&[4], seen(4, Some(1), None), kept(4, 1), Class::Repeat, Some(4)),
            (&[4], seen(6, None, None), kept(4, 1), Class::Repeat, None),
            // Due and not recorded outranks a wrong label and an early record of the next one.
            (&[], seen(4, Some(1), None), kept(3, 1), Class::Missed, None),
            (&[], seen(4, Some(1), None), None, Class::Missed, None),
            (&[], seen(1, Some(1), Some(2)), kept(2, 2), Class::Missed, Some(2)),
            (&[2], seen(4, Some(1), None), kept(2, 1), Class::Repeat, None),
        ];
        for (index, (named, (seen, ahead), decision, class, names)) in rows.into_iter().enumerate() {
            let mut recorded = Recorded { lens: named.into(), ..Recorded::default() };
            assert_eq!(recorded.judge(seen, ahead, decision, 0, none), (class, names), "row {index}");
        }
    }

    #[test]
    fn a_length_recorded_one_result_late_is_a_wrong_label_there_but_recorded() {
        let mut recorded = Recorded::default();
        let (boundary, after) = (seen(4, Some(1), None).0, seen(5, None, None).0);
        assert_eq!(recorded.judge(boundary, None, None, 0, |_| None), (Class::Missed, None));
        let late = |len| (len == 4).then_some(SlotId(1));
        assert_eq!(recorded.judge(after, None, kept(4, 1), 0, late), (Class::WrongLabel, Some(4)));
        assert!(recorded.named(4));
    }
}
