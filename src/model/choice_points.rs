//! Doors for what the scheduler decides by itself: which requests a batch takes, which slots are given out. They are
//! open only to a chooser that says so, as one that replays a recording; otherwise nothing is asked.
//!
//! | site | subject | answers |
//! |---|---|---|
//! | `turn` | turn | none: a turn begins |
//! | `admission` | turn | whether waiting requests are looked at |
//! | `candidate` | request | whether it is looked at, as the next one |
//! | `admit` | request | tokens of it that the batch takes; 0 for none |
//! | `chunk` | request | tokens of it that the next chunk takes; 0 for no chunk |
//! | `decode` | turn | whether a decode step is prepared |
//! | `row` | request | whether it takes part in the decode step |
//! | `short` | turn | whether requests are retracted |
//! | `retracted` | request | whether it is the next one to be retracted |
//! | `mix` | turn | whether decode rows ride along |
//! | `sample` | request | the token that the model samples |
//! | `slot` | slots asked for | the slot given out; 0 to refuse |

use crate::engine::{Choice, Chooser};
use crate::record::{ReqId, Sink, SlotId};

use super::batch::Rows;
use super::machine::Machine;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Asks if the door is open; the scheduler's own decision otherwise.
    #[inline]
    pub(super) fn ask(&mut self, site: &'static str, subject: u32, options: u32, default: u32) -> u32 {
        if self.chooser.is_open(site) {
            self.chooser.choose(Choice { site, subject, options, default })
        } else {
            default
        }
    }

    /// A yes or no.
    #[inline]
    pub(super) fn ask_whether(&mut self, site: &'static str, subject: u32, default: bool) -> bool {
        self.ask(site, subject, 2, u32::from(default)) == 1
    }

    /// Slots given out by the pool or by whoever stands at the door, all or none, appended to `out`. An answer that names a
    /// slot that is not free is not followed.
    pub(super) fn give_slots(&mut self, count: u32, out: &mut Rows<SlotId>) -> bool {
        if !self.chooser.is_open("slot") {
            return self.world.slots.alloc(count, out);
        }
        let own = count <= self.world.slots.available();
        let start = out.len();
        for _ in 0..count {
            let default = if own { self.world.slots.front().map_or(0, |slot| slot.0) } else { 0 };
            let options = self.setup.engine.mamba_slots + 1;
            let choice = Choice { site: "slot", subject: count, options, default };
            let chosen = SlotId(self.chooser.choose(choice));
            if !self.world.slots.take(chosen) {
                // All or nothing: what was taken for this call goes back to where it came from.
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

    /// Which of `rows`, in the order of their worth, is the next to be retracted: the last one if `more` must go.
    pub(super) fn next_retracted(&mut self, keep: &[ReqId], more: bool) -> Option<usize> {
        let last = keep.len() - 1;
        if !self.chooser.is_open("retracted") {
            return more.then_some(last);
        }
        (0..keep.len()).rev().find(|&at| self.ask_whether("retracted", keep[at].0, more && at == last))
    }
}
