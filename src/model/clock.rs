//! Virtual time of the machine: the CPU's clock, and when the forward stream is free.

use crate::engine::{Chooser, Time};

use super::setup::Cost;

/// Where the CPU and the forward stream are.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineClock {
    /// The CPU's time.
    pub cpu: Time,
    /// When the forward stream has run all that is queued.
    pub gpu_free: Time,
}

/// The cost of one use.
#[inline(always)]
pub fn draw(chooser: &mut impl Chooser, cost: Cost) -> u64 {
    match cost {
        Cost::Fixed(ns) => ns,
        Cost::Uniform(lo, hi) if lo < hi => chooser.duration_ns(lo, hi),
        Cost::Uniform(lo, _) => lo,
    }
}

/// The cost of `count` uses: one multiplication where every use costs the same.
pub fn draw_many(chooser: &mut impl Chooser, cost: Cost, count: u32) -> u64 {
    match cost {
        Cost::Fixed(ns) => ns * u64::from(count),
        Cost::Uniform(..) => (0..count).map(|_| draw(chooser, cost)).sum(),
    }
}

/// The least that one use can cost.
pub fn least(cost: Cost) -> u64 {
    match cost {
        Cost::Fixed(ns) | Cost::Uniform(ns, _) => ns,
    }
}
