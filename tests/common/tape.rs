//! Records written by hand: the facts that every such record is made of.

use overlapsim::engine::Time;
use overlapsim::record::{BatchId, Fact, Mode, Owner, SlotId};

/// The time of everything in a record where times play no part.
pub const AT: Time = Time::ZERO;

/// A record under way.
pub trait Facts: Sized {
    /// Adds a fact.
    fn fact(&mut self, fact: Fact) -> &mut Self;

    fn give(&mut self, slot: u32, owner: Owner) -> &mut Self {
        self.fact(Fact::SlotAlloc { slot: SlotId(slot), owner, last: true })
    }

    fn free(&mut self, slot: u32, owner: Owner) -> &mut Self {
        self.fact(Fact::SlotFree { slot: SlotId(slot), owner, last: true })
    }

    fn launch(&mut self, batch: u32) -> &mut Self {
        let mode = Mode::Decode;
        self.fact(Fact::Launch { batch: BatchId(batch), mode, rows: 1, start: AT, end: AT, copied: AT })
    }

    fn wait(&mut self, batch: u32) -> &mut Self {
        self.fact(Fact::Wait { batch: BatchId(batch), at: AT })
    }
}
