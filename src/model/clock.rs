//! Virtual time of the machine: the CPU clock, and the end of the forward stream.

use crate::engine::{Chooser, Time};

use super::setup::Cost;

/// The virtual times of the CPU and of the forward stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineClock {
    /// The time of the CPU.
    pub cpu: Time,
    /// The time at which the forward stream has run all queued work.
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

/// The cost of `count` uses. A fixed cost takes one multiplication.
pub fn draw_many(chooser: &mut impl Chooser, cost: Cost, count: u32) -> u64 {
    match cost {
        Cost::Fixed(ns) => ns * u64::from(count),
        Cost::Uniform(..) => (0..count).map(|_| draw(chooser, cost)).sum(),
    }
}

/// The smallest cost of one use.
pub fn least(cost: Cost) -> u64 {
    match cost {
        Cost::Fixed(ns) | Cost::Uniform(ns, _) => ns,
    }
}
