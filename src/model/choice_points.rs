//! Choice points for the scheduler's own decisions: which requests a batch takes, which slots the pool gives out
//! ([`ChoicePoint::Admission`] to [`ChoicePoint::Slot`]). The chooser is asked only if it opens the choice point, as
//! the replay of a recording does. Otherwise the scheduler's own decision holds.

use crate::engine::{Choice, ChoicePoint, Chooser};
use crate::record::{ReqId, Sink, SlotId};

use super::batch::Rows;
use super::machine::Machine;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// The answer of the chooser if the choice point is open, otherwise `default`.
    #[inline]
    pub(super) fn ask(&mut self, point: ChoicePoint, subject: u32, options: u32, default: u32) -> u32 {
        if self.chooser.is_open(point) {
            self.chooser.choose(Choice { point, subject, options, default })
        } else {
            default
        }
    }

    /// As [`Machine::ask`] for a yes/no point.
    #[inline]
    pub(super) fn ask_whether(&mut self, point: ChoicePoint, subject: u32, default: bool) -> bool {
        self.ask(point, subject, 2, u32::from(default)) == 1
    }

    /// Takes `count` slots into `out`, all or none, from the pool or as the chooser answers. The call fails if the
    /// chooser names a slot that is not free.
    pub(super) fn give_slots(&mut self, count: u32, out: &mut Rows<SlotId>) -> bool {
        if !self.chooser.is_open(ChoicePoint::Slot) {
            return self.world.slots.alloc(count, out);
        }
        let own = count <= self.world.slots.available();
        let start = out.len();
        for _ in 0..count {
            let default = if own { self.world.slots.front().map_or(0, |slot| slot.0) } else { 0 };
            let options = self.setup.engine.mamba_slots + 1;
            let choice = Choice { point: ChoicePoint::Slot, subject: count, options, default };
            let chosen = SlotId(self.chooser.choose(choice));
            if !self.world.slots.take(chosen) {
                // All or none: the slots of this call go back to the front of the free list.
                for &slot in out[start..].iter().rev() {
                    self.world.slots.put_back(slot);
                }
                out.truncate(start);
                return false;
            }
            out.push(chosen);
        }
        true
    }

    /// The place in `keep` of the next request to retract: the last place if `more` requests must be retracted.
    pub(super) fn next_retracted(&mut self, keep: &[ReqId], more: bool) -> Option<usize> {
        let last = keep.len() - 1;
        if !self.chooser.is_open(ChoicePoint::Retracted) {
            return more.then_some(last);
        }
        (0..keep.len()).rev().find(|&at| self.ask_whether(ChoicePoint::Retracted, keep[at].0, more && at == last))
    }
}
