//! Every variant of an engine, each with real probability. Every field of an engine is named: one that is new does not
//! compile until it is said here how it varies.

use crate::engine::Chooser;
use crate::model::{
    CopyOnWrite, Cost, Costs, Engine, Exhaustion, FinishOrder, Grid, KvEviction, MixedTracking, ResultQueue, SlotFree,
    SlotHeadroom, Snapshot, TombstoneLock,
};
use crate::numeric::Ssm;

use super::draw::Draw;

const BOTH: [bool; 2] = [false, true];

/// Varies what a release's preset, a strategy with its overlap, and pools say. Speculation and short pools are left to
/// the caller.
pub(super) fn vary<C: Chooser>(draw: &mut Draw<'_, C>, engine: &mut Engine) {
    let Engine {
        release: _,
        strategy,
        overlap: _,
        track_interval,
        mamba_chunk,
        page_size,
        grid,
        mamba_slots: _,
        kv_tokens,
        max_running,
        max_prefill_tokens,
        conservativeness,
        result_queue,
        chunked_prefill_size,
        mixed_chunk,
        mixed_tracking,
        disable_consecutive_prefill_overlap,
        skip_finishing_decode,
        filter_before_prefill,
        lazy_prealloc_evicts,
        refused_prealloc_clears_label,
        kv_eviction,
        finish_order,
        slot_headroom,
        spec: _,
        caches_through_stop,
        previous_checkpoint,
        snapshot,
        copy_on_write,
        slot_free,
        exhaustion,
        branching_beyond_state,
        split_refreshes_state,
        tombstone_lock,
        admission_forgets_skip,
        fixed_length_reserves_all,
        waiting_prefix_refresh,
        rematch_after_insert,
        handover_unlocks_state,
        state,
    } = engine;

    if strategy.allows_pages() {
        *page_size = draw.of(&[1, 2, 4, 3]);
    }
    *track_interval = *page_size * draw.between(1, 8);
    *mamba_chunk = draw.between(1, 8);
    draw.vary(grid, &[Grid::Interval, Grid::Lcm]);
    *kv_tokens = kv_tokens.next_multiple_of(*page_size);
    draw.vary(max_running, &[1, 2, 3, 5]);
    draw.vary(max_prefill_tokens, &[1, 4, 9, 24]);
    draw.vary(conservativeness, &[0.0, 0.1, 0.5, 2.0]);
    draw.vary(result_queue, &[ResultQueue::Copy, ResultQueue::Alias]);

    if draw.one_in(3) {
        *chunked_prefill_size = Some(*page_size * draw.between(1, 8));
        *mixed_chunk = draw.one_in(2);
    }
    draw.vary(mixed_tracking, &[MixedTracking::Dropped, MixedTracking::Kept]);

    draw.vary(kv_eviction, &[KvEviction::Whole, KvEviction::Shortfall]);
    draw.vary(finish_order, &[FinishOrder::LengthFirst, FinishOrder::TokenFirst]);
    draw.vary(slot_headroom, &[SlotHeadroom::PerRequest, SlotHeadroom::Exact]);
    draw.vary(snapshot, &[Snapshot::HandOver, Snapshot::Copy]);
    draw.vary(copy_on_write, &[CopyOnWrite::Deferred, CopyOnWrite::Immediate]);
    draw.vary(slot_free, &[SlotFree::AtResult, SlotFree::Deferred, SlotFree::Masked]);
    draw.vary(exhaustion, &[Exhaustion::Skip, Exhaustion::Assert]);
    draw.vary(tombstone_lock, &[TombstoneLock::Steal, TombstoneLock::Skip, TombstoneLock::Count]);
    for field in [
        disable_consecutive_prefill_overlap,
        skip_finishing_decode,
        filter_before_prefill,
        lazy_prealloc_evicts,
        refused_prealloc_clears_label,
        caches_through_stop,
        previous_checkpoint,
        branching_beyond_state,
        split_refreshes_state,
        admission_forgets_skip,
        fixed_length_reserves_all,
        waiting_prefix_refresh,
        rematch_after_insert,
        handover_unlocks_state,
    ] {
        draw.vary(field, &BOTH);
    }
    if draw.one_in(8) {
        *state = Some(Ssm { dim: draw.between(1, 16), vocab: draw.between(2, 64), seed: draw.below(8).into() });
    }
}

/// Varies costs: a third of them, from nothing to twice their default, half of these drawn anew at every use.
pub(super) fn vary_costs<C: Chooser>(draw: &mut Draw<'_, C>, costs: &mut Costs) {
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
