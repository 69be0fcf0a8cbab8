//! The contents of all slots, computed from the accesses: in the order of the record, and in every other order that the
//! streams allow.
//!
//! A copy on the schedule stream does not wait for a forward. If the CPU has not waited for a forward before it issues
//! the copy, the copy may run before any access of that forward, together with the copies that the schedule stream
//! issued in between. The other way round nothing is open: a forward waits for every copy that was issued before its
//! launch. So the order of the record is the one in which copies run as late as they can.

use crate::record::{BatchId, GpuStream, SlotId};

use super::accesses::{Access, Accesses, Fold};
use super::exact::Numbers;

/// Another order: the copy at index `copy` of the accesses runs before the access at index `before`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EarlyCopy {
    pub copy: usize,
    pub before: usize,
}

/// The contents of all slots; `None` for numbers that depend on tokens that the record lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents(Vec<Option<Numbers>>);

impl Contents {
    /// The content of a slot; zero if it was never written.
    pub fn get(&self, slot: SlotId) -> Option<Numbers> {
        self.0.get(slot.index()).copied().unwrap_or(Some(Numbers::ZERO))
    }

    fn set(&mut self, slot: SlotId, numbers: Option<Numbers>) {
        if slot.index() >= self.0.len() {
            self.0.resize(slot.index() + 1, Some(Numbers::ZERO));
        }
        self.0[slot.index()] = numbers;
    }

    fn fold(&mut self, fold: Fold, accesses: &Accesses) {
        let Fold { slot, tokens, keep } = fold;
        let mut state = self.get(slot);
        let mut kept = state;
        match tokens {
            Some((from, to)) => {
                for (count, &token) in (1..).zip(&accesses.tokens[from..to]) {
                    state = state.map(|state| state.step(token));
                    if keep.is_some_and(|(_, at)| at == count) {
                        kept = state;
                    }
                }
            }
            None => (state, kept) = (None, None),
        }
        self.set(slot, state);
        if let Some((slot, _)) = keep {
            self.set(slot, kept);
        }
    }
}

/// Runs all accesses, in the order of the record or with one copy earlier. `seen` gets the index of every access with
/// the contents before it.
pub(super) fn run(accesses: &Accesses, order: Option<EarlyCopy>, seen: &mut dyn FnMut(usize, &Contents)) {
    let mut contents = Contents::default();
    for (at, access) in accesses.list.iter().enumerate() {
        if let Some(EarlyCopy { copy, before }) = order.filter(|order| order.before == at) {
            for &early in &accesses.list[before..=copy] {
                if let Access::Copy { from, to, stream: GpuStream::Schedule } = early {
                    contents.set(to, contents.get(from));
                }
            }
        }
        seen(at, &contents);
        match *access {
            Access::Clear(slot) => contents.set(slot, Some(Numbers::ZERO)),
            Access::Copy { from, to, stream } => {
                let is_early = |order: EarlyCopy| (order.before..=order.copy).contains(&at);
                if stream == GpuStream::Forward || !order.is_some_and(is_early) {
                    contents.set(to, contents.get(from));
                }
            }
            Access::Fold(fold) => contents.fold(fold, accesses),
            Access::Launch(_) | Access::Wait(_) | Access::Read(_) => {}
        }
    }
    seen(accesses.list.len(), &contents);
}

/// Every other order in which a copy changes places with an access to one of its slots.
pub(super) fn other_orders(accesses: &Accesses) -> Vec<EarlyCopy> {
    let mut orders = Vec::new();
    // The forwards that the CPU has not waited for: batch, and index of the launch.
    let mut in_flight: Vec<(BatchId, usize)> = Vec::new();
    for (at, access) in accesses.list.iter().enumerate() {
        match *access {
            Access::Launch(batch) => in_flight.push((batch, at)),
            Access::Wait(batch) => {
                let waited = in_flight.iter().rposition(|&(launched, _)| launched == batch);
                in_flight.drain(..waited.map_or(0, |last| last + 1));
            }
            Access::Copy { from, to, stream: GpuStream::Schedule } => {
                let Some(&(_, first)) = in_flight.first() else { continue };
                let meets = |before: &usize| conflicts(accesses.list[*before], from, to);
                // A forward's read stands just before the access that uses what is read.
                let with_read =
                    |before: usize| before - usize::from(matches!(accesses.list[before - 1], Access::Read(_)));
                let order = |before| EarlyCopy { copy: at, before: with_read(before) };
                orders.extend((first..at).filter(meets).map(order));
            }
            Access::Clear(_) | Access::Copy { .. } | Access::Fold(_) | Access::Read(_) => {}
        }
    }
    orders
}

/// Whether a forward's access and a copy from `source` to `target` leave another result in the other order: one of them
/// writes a slot that the other one uses.
fn conflicts(access: Access, source: SlotId, target: SlotId) -> bool {
    let writes = |slot: SlotId| slot == source || slot == target;
    match access {
        Access::Clear(slot) => writes(slot),
        Access::Copy { from, to, stream: GpuStream::Forward } => writes(to) || from == target,
        Access::Fold(Fold { slot, keep, .. }) => writes(slot) || keep.is_some_and(|(slot, _)| writes(slot)),
        // Copies of the schedule stream keep their own order.
        Access::Copy { stream: GpuStream::Schedule, .. } | Access::Launch(_) | Access::Wait(_) | Access::Read(_) => {
            false
        }
    }
}
