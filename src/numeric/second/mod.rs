//! The second judge: which cached states are wrong, by their numbers.
//!
//! Reads facts and tokens, and shares no code with `judge` or a rule. The judge names the content of a slot by the token
//! sequence that it stands for; here a slot holds numbers ([`exact`]), every forward and copy computes with them, and a
//! state is right if its numbers are those of a cold prefill of its tokens. The comparison of both is
//! `runner::second_judge`; docs/testing.md explains it.

mod accesses;
mod exact;
mod orders;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::record::{Fact, ReqId, Sink, SlotId, Token};

use accesses::{Access, Accesses, Expected};
use orders::{Contents, EarlyCopy, other_orders, run};

/// Where the content of a slot matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// It is offered to the tree.
    Donation,
    /// A request starts from it.
    Hit,
    /// A forward advances it.
    Start,
    /// It was cached, and leaves the tree, or the run ends.
    Cached,
    /// A copy on the schedule stream reads it.
    Copy {
        /// The slot that the copy writes.
        to: SlotId,
    },
}

impl Place {
    /// Whether a forward uses the state, so that the use keeps its place among the accesses of forwards. Donations are
    /// uses of the CPU, and count what the slot holds in the end.
    fn is_of_a_forward(self) -> bool {
        match self {
            Place::Start | Place::Hit => true,
            Place::Donation | Place::Cached | Place::Copy { .. } => false,
        }
    }
}

/// One use of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatePlace {
    /// The use.
    pub at: Place,
    /// The loop turn.
    pub turn: u32,
    /// The request; for `Cached` the donor.
    pub req: ReqId,
    /// The slot.
    pub slot: SlotId,
    /// The number of tokens of the request that it should hold; 0 for a copy, which may have any length.
    pub len: u32,
}

/// What the numbers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NumericOpinion {
    /// The numbers of a cold prefill, in every order that the streams allow. Of a copy: all slots hold the same numbers
    /// after it in every order.
    Right,
    /// Right in the order of the record, and wrong in another order that the streams allow. Of a copy: the order matters.
    WrongInAnotherOrder,
    /// Wrong in the order of the record.
    Wrong,
    /// The record lacks tokens.
    Unknown,
}

/// The opinion on one use of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumericState {
    /// The use.
    pub place: StatePlace,
    /// The opinion.
    pub opinion: NumericOpinion,
}

/// A sink that judges every use of a state by numbers. Memory grows with the length of the run.
#[derive(Clone, Debug, Default)]
pub struct SecondJudge {
    accesses: Accesses,
}

impl SecondJudge {
    /// The opinions on all uses, in the order of the record; the cached states that the run leaves come last.
    pub fn finish(mut self) -> Vec<NumericState> {
        self.accesses.close();
        let accesses = &self.accesses;
        let orders = other_orders(accesses);
        let mut states: Vec<NumericState> =
            accesses.places.iter().map(|of| NumericState { place: of.place, opinion: NumericOpinion::Right }).collect();
        // What all slots hold after each copy that can change places, in the order of the record.
        let mut after_copies = BTreeMap::new();
        run(accesses, None, &mut |at, contents| {
            if orders.iter().any(|order| order.copy + 1 == at) {
                after_copies.insert(at, contents.clone());
            }
            if let Some((nth, expected)) = read_at(accesses, at) {
                states[nth].opinion = opinion(expected, contents);
            }
        });
        for order in orders {
            let after = after_copies.get(&(order.copy + 1)).expect("the order of the record comes first");
            self.try_order(order, after, &mut states);
        }
        states
    }

    /// Runs another order, and marks the uses that are right in the order of the record only.
    fn try_order(&self, order: EarlyCopy, after_copy: &Contents, states: &mut [NumericState]) {
        let accesses = &self.accesses;
        let mut mark = |nth: usize| {
            if states[nth].opinion == NumericOpinion::Right {
                states[nth].opinion = NumericOpinion::WrongInAnotherOrder;
            }
        };
        run(accesses, Some(order), &mut |at, contents| {
            if at == order.copy + 1 && contents != after_copy {
                let (nth, _) = read_at(accesses, order.copy - 1).expect("a copy has an entry just before it");
                mark(nth);
            }
            if let Some((nth, expected)) = read_at(accesses, at)
                && (at > order.copy || at >= order.before && expected.place.at.is_of_a_forward())
                && opinion(expected, contents) == NumericOpinion::Wrong
            {
                mark(nth);
            }
        });
    }
}

/// The opinion on one use, in one order. Of a copy the order alone matters.
fn opinion(expected: &Expected, contents: &Contents) -> NumericOpinion {
    match (expected.place.at, expected.numbers, contents.get(expected.place.slot)) {
        (Place::Copy { .. }, _, _) => NumericOpinion::Right,
        (_, Some(cold), Some(held)) if cold == held => NumericOpinion::Right,
        (_, Some(_), Some(_)) => NumericOpinion::Wrong,
        (_, None, _) | (_, _, None) => NumericOpinion::Unknown,
    }
}

/// The number of the place, and what is expected there, if the access at this index is a read.
fn read_at(accesses: &Accesses, at: usize) -> Option<(usize, &Expected)> {
    match accesses.list.get(at) {
        Some(&Access::Read(nth)) => Some((nth, &accesses.places[nth])),
        Some(Access::Launch(_) | Access::Wait(_) | Access::Clear(_) | Access::Copy { .. } | Access::Fold(_)) | None => {
            None
        }
    }
}

impl Sink for SecondJudge {
    fn fact(&mut self, fact: Fact) {
        self.accesses.fact(fact);
    }

    fn wants_tokens(&self) -> bool {
        true
    }

    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        self.accesses.tokens(req, from, tokens);
    }
}
