//! The class of one row: the decision of the rule compared with the write of the row's own forward.
//!
//! Owns the recorded lengths of one request, and the classification. Does not know contents of slots, and does not
//! count losses (`loss`).

use educe::Educe;
use tinyvec::TinyVec;

use crate::record::{Encoding, KeptState, SlotId};

use super::Class;
use super::cause::DecisionTrail;
use super::window::ProcessedStep;

/// The recorded lengths of a request: lengths that a forward wrote, or will write, and that a decision has named since
/// the request got its track slots.
#[derive(Educe, Debug, Default)]
#[educe(Clone)]
pub(super) struct RecordedLens {
    /// Sorted.
    lens: TinyVec<[u32; 4]>,
    /// For the reasons of findings only.
    pub trail: DecisionTrail,
}

impl RecordedLens {
    /// The request lost its track slots.
    pub fn clear(&mut self) {
        self.lens.clear();
        self.trail = DecisionTrail::default();
    }

    /// Whether a length is recorded, even if the decision named another slot than the forward wrote.
    #[inline]
    pub fn is_recorded(&self, len: u32) -> bool {
        has(&self.lens, len)
    }

    /// Encodes the recorded lengths.
    pub fn encode(&self, out: &mut Encoding) {
        let RecordedLens {
            lens,
            trail: _, // For the reason of a finding only.
        } = self;
        lens.iter().for_each(|&len| out.word(len));
        out.word(u32::MAX);
    }

    /// The class of a row, and the length that its decision names, if a forward wrote or will write that length. Such a
    /// length is recorded from here on.
    ///
    /// `step` is the step of the row. `ahead` is the length and track slot of the step in flight, if it writes one.
    /// `decision` is label and kept slot after the decision; `None` if the rule did not fire. `late` returns the slot
    /// that an earlier step wrote for a length that is due and not recorded.
    pub fn classify(
        &mut self,
        step: ProcessedStep,
        ahead: Option<(u32, SlotId)>,
        decision: Option<KeptState>,
        turn: u32,
        late: impl Fn(u32) -> Option<SlotId>,
    ) -> (Class, Option<u32>) {
        let due = step.k.filter(|&k| step.due.is_some() && !self.is_recorded(k));
        let (mut class, mut named_len) = (Class::Agree, None);
        match decision {
            Some(after) => {
                (class, named_len) = self.classify_decision(step, ahead, after, late);
                if let (Class::Agree | Class::Early, Some(label), Some(slot)) = (class, after.label, after.slot) {
                    self.trail.decided_correctly(label, slot, turn);
                }
            }
            None if step.due.is_some() => class = Class::Settled,
            None => {}
        }
        // The checkpoint of the row's own step is due, and neither an earlier decision nor this one names it.
        if due.is_some() && named_len != due {
            class = class.max(Class::Missed);
        }
        (class, named_len)
    }

    /// The class of a decision, without regard to a checkpoint that it misses. A length that is named with another slot
    /// than the forward wrote counts as recorded: the state audit finds the wrong state at the donation.
    fn classify_decision(
        &mut self,
        step: ProcessedStep,
        ahead: Option<(u32, SlotId)>,
        after: KeptState,
        late: impl Fn(u32) -> Option<SlotId>,
    ) -> (Class, Option<u32>) {
        let Some(label) = after.label else { return (Class::WrongLabel, None) };
        let own = step.k == Some(label);
        let ahead = ahead.filter(|&(len, _)| len == label).map(|(_, slot)| slot);
        // The slot that a forward wrote, or will write, for the label: the row's own step or the step in flight, else
        // (late) an earlier step.
        let written_now = if own { step.due } else { ahead };
        let Some(written) = written_now.or_else(|| late(label)) else {
            return (if self.is_recorded(label) { Class::Repeat } else { Class::WrongLabel }, None);
        };
        let known = self.is_recorded(label);
        if after.slot.is_none() {
            return (if known { Class::Repeat } else { Class::WrongSlot }, None);
        }
        let is_written = after.slot == Some(written);
        insert(&mut self.lens, label);
        let class = match (known, written_now) {
            (true, _) => Class::Repeat,
            (false, None) => Class::WrongLabel,
            (false, Some(_)) if !is_written => Class::WrongSlot,
            (false, Some(_)) if own => Class::Agree,
            (false, Some(_)) => Class::Early,
        };
        (class, Some(label))
    }
}

/// Whether a sorted list contains a length. The longest one is compared first, since it is nearly always the one.
#[inline]
fn has(sorted: &[u32], len: u32) -> bool {
    match sorted.last() {
        Some(&last) if last > len => sorted.binary_search(&len).is_ok(),
        Some(&last) => last == len,
        None => false,
    }
}

/// Adds a length to a sorted list, unless it is there.
fn insert(sorted: &mut TinyVec<[u32; 4]>, len: u32) {
    if let Err(at) = sorted.binary_search(&len) {
        sorted.insert(at, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(label: u32, slot: u32) -> Option<KeptState> {
        Some(KeptState { label: Some(label), slot: Some(SlotId(slot)) })
    }

    fn step(k: u32, due: Option<u32>, ahead: Option<u32>) -> (ProcessedStep, Option<(u32, SlotId)>) {
        let step = ProcessedStep { k: Some(k), due: due.map(SlotId), ..ProcessedStep::default() };
        (step, ahead.map(|slot| (k + 1, SlotId(slot))))
    }

    #[test]
    fn the_classes_rank_as_the_specification_says() {
        use Class::*;
        let ranked = [Agree, Settled, Early, WrongSlot, WrongLabel, Missed, Repeat];
        assert!(ranked.is_sorted());
    }

    #[test]
    fn rows_and_their_classes() {
        /// The lengths recorded before, the step, the decision; its class, and the length that it records.
        type Case = (&'static [u32], (ProcessedStep, Option<(u32, SlotId)>), Option<KeptState>, Class, Option<u32>);
        let none = |_: u32| None;
        let rows: [Case; 17] = [
            (&[], step(3, None, None), None, Class::Agree, None),
            (&[], step(4, Some(1), None), kept(4, 1), Class::Agree, Some(4)),
            (&[], step(3, None, Some(1)), kept(4, 1), Class::Early, Some(4)),
            (&[], step(3, None, Some(1)), kept(4, 2), Class::WrongSlot, Some(4)),
            (&[], step(4, Some(1), None), kept(4, 2), Class::WrongSlot, Some(4)),
            (&[], step(3, None, None), kept(4, 1), Class::WrongLabel, None),
            (&[], step(5, None, None), kept(5, 1), Class::WrongLabel, None),
            (&[], step(5, None, None), kept(4, 1), Class::WrongLabel, None),
            (&[], step(4, Some(1), None), None, Class::Missed, None),
            (&[4], step(4, Some(1), None), None, Class::Settled, None),
            (&[4], step(4, Some(1), None), kept(4, 2), Class::Repeat, Some(4)),
            (&[4], step(4, Some(1), None), kept(4, 1), Class::Repeat, Some(4)),
            (&[4], step(6, None, None), kept(4, 1), Class::Repeat, None),
            // A missed checkpoint outranks a wrong label, and an early record of the next checkpoint.
            (&[], step(4, Some(1), None), kept(3, 1), Class::Missed, None),
            (&[], step(4, Some(1), None), None, Class::Missed, None),
            (&[], step(1, Some(1), Some(2)), kept(2, 2), Class::Missed, Some(2)),
            (&[2], step(4, Some(1), None), kept(2, 1), Class::Repeat, None),
        ];
        for (index, (named, (step, ahead), decision, class, named_len)) in rows.into_iter().enumerate() {
            let mut recorded = RecordedLens { lens: named.into(), ..RecordedLens::default() };
            assert_eq!(recorded.classify(step, ahead, decision, 0, none), (class, named_len), "row {index}");
        }
    }

    #[test]
    fn a_length_recorded_one_result_late_is_a_wrong_label_there_but_recorded() {
        let mut recorded = RecordedLens::default();
        let (boundary, after) = (step(4, Some(1), None).0, step(5, None, None).0);
        assert_eq!(recorded.classify(boundary, None, None, 0, |_| None), (Class::Missed, None));
        let late = |len| (len == 4).then_some(SlotId(1));
        assert_eq!(recorded.classify(after, None, kept(4, 1), 0, late), (Class::WrongLabel, Some(4)));
        assert!(recorded.is_recorded(4));
    }
}
