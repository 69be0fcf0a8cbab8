//! Every variant of an engine, each with real probability.

use crate::engine::Chooser;
use crate::model::{
    CopyOnWrite, Cost, Costs, Engine, Exhaustion, FinishOrder, Grid, KvEviction, MixedTracking, ResultQueue, SlotFree,
    SlotHeadroom, Snapshot, Ssm, TombstoneLock,
};

use super::draw::Draws;

const BOTH: [bool; 2] = [false, true];

/// Switches that are drawn together with a strategy or a size, not one by one.
const DRAWN_WITH_OTHERS: [&str; 2] = ["overlap", "mixed_chunk"];

/// Varies every field that the preset of a release, a strategy with its overlap, and ample pools leave open.
/// Speculation and short pools are left to the caller.
///
/// A new switch of the table of engine fields is drawn here without further code. `tests/model/generate_wide.rs` fails
/// until a new field of another kind is drawn as well.
pub(super) fn vary<C: Chooser>(draw: &mut Draws<'_, C>, engine: &mut Engine) {
    if engine.strategy.allows_pages() {
        engine.page_size = draw.of(&[1, 2, 4, 3]);
    }
    engine.track_interval = engine.page_size * draw.between(1, 8);
    engine.mamba_chunk = draw.between(1, 8);
    draw.vary(&mut engine.grid, &[Grid::Interval, Grid::Lcm]);
    engine.kv_tokens = engine.kv_tokens.next_multiple_of(engine.page_size);
    draw.vary(&mut engine.max_running, &[1, 2, 3, 5]);
    draw.vary(&mut engine.max_prefill_tokens, &[1, 4, 9, 24]);
    draw.vary(&mut engine.conservativeness, &[0.0, 0.1, 0.5, 2.0]);
    draw.vary(&mut engine.result_queue, &[ResultQueue::Copy, ResultQueue::Alias]);

    if draw.one_in(3) {
        engine.chunked_prefill_size = Some(engine.page_size * draw.between(1, 8));
        engine.mixed_chunk = draw.one_in(2);
    }
    draw.vary(&mut engine.mixed_tracking, &[MixedTracking::Dropped, MixedTracking::Kept]);

    draw.vary(&mut engine.kv_eviction, &[KvEviction::Whole, KvEviction::Shortfall]);
    draw.vary(&mut engine.finish_order, &[FinishOrder::LengthFirst, FinishOrder::TokenFirst]);
    draw.vary(&mut engine.slot_headroom, &[SlotHeadroom::PerRequest, SlotHeadroom::Exact]);
    draw.vary(&mut engine.snapshot, &[Snapshot::HandOver, Snapshot::Copy]);
    draw.vary(&mut engine.copy_on_write, &[CopyOnWrite::Deferred, CopyOnWrite::Immediate]);
    draw.vary(&mut engine.slot_free, &[SlotFree::AtResult, SlotFree::Deferred, SlotFree::Masked]);
    draw.vary(&mut engine.exhaustion, &[Exhaustion::Skip, Exhaustion::Assert]);
    draw.vary(&mut engine.tombstone_lock, &[TombstoneLock::Steal, TombstoneLock::Skip, TombstoneLock::Count]);
    for field in Engine::FIELDS {
        if let Some(switch) = (field.switch)(engine)
            && !DRAWN_WITH_OTHERS.contains(&field.name)
        {
            draw.vary(switch, &BOTH);
        }
    }
}

/// Draws a numeric state for one setup in eight.
pub(super) fn state<C: Chooser>(draw: &mut Draws<'_, C>) -> Option<Ssm> {
    draw.one_in(8).then(|| Ssm { dim: draw.between(1, 16), vocab: draw.between(2, 64), seed: draw.below(8).into() })
}

/// Varies costs: a third of them, from nothing to twice their default, half of these drawn anew at every use.
pub(super) fn vary_costs<C: Chooser>(draw: &mut Draws<'_, C>, costs: &mut Costs) {
    for cost in costs.each_mut() {
        let usual = match *cost {
            Cost::Fixed(ns) | Cost::Uniform(_, ns) => ns,
        };
        let percent = |ns: u64, share: u32| ns * u64::from(share) / 100;
        match draw.below(6) {
            4 => *cost = Cost::Fixed(percent(usual, draw.below(201))),
            5 => *cost = Cost::Uniform(percent(usual, draw.below(100)), percent(usual, draw.between(100, 200))),
            _ => {}
        }
    }
}
