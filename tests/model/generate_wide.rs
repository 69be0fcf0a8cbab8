//! The preset `wide` draws every variant of every engine field. A new field or variant does not compile here until it is counted, and
//! the test fails until it is drawn.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::draws::Draws;
use overlapsim::model::{
    Accept, Arrive, CopyOnWrite, Cost, Costs, Engine, Event, Exhaustion, FinishOrder, Grid, KvEviction, MixedTracking,
    Prompt, Release, ResultQueue, Setup, SlotFree, SlotHeadroom, Snapshot, Spec, Stop, Strategy, TombstoneLock,
};
use overlapsim::workload::{Preset, generate};

const SEEDS: u64 = 3000;
/// The least number of setups with each variant.
const LEAST: u32 = 40;

/// How often each variant of each field was drawn, and the numbers of the fields that have no variants.
#[derive(Default)]
struct Seen {
    variants: BTreeMap<(&'static str, &'static str), u32>,
    numbers: BTreeMap<&'static str, BTreeSet<u64>>,
}

/// Counts a variant; a variant that is never drawn stays at 0.
macro_rules! count {
    ($seen:ident, $field:literal, $value:expr, $($variant:pat),+) => {
        match $value { $($variant => *$seen.variants.entry(($field, stringify!($variant))).or_insert(0) += 1),+ }
        $($seen.variants.entry(($field, stringify!($variant))).or_insert(0);)+
    };
}

macro_rules! flags {
    ($seen:ident, $($field:ident),+) => { $(
        *$seen.variants.entry((stringify!($field), if *$field { "true" } else { "false" })).or_insert(0) += 1;
        $seen.variants.entry((stringify!($field), "true")).or_insert(0);
        $seen.variants.entry((stringify!($field), "false")).or_insert(0);
    )+ };
}

macro_rules! numbers {
    ($seen:ident, $($field:ident),+) => { $(
        $seen.numbers.entry(stringify!($field)).or_default().insert(u64::from(*$field));
    )+ };
}

impl Seen {
    fn engine(&mut self, engine: &Engine) {
        let Engine {
            release,
            strategy,
            overlap,
            track_interval,
            mamba_chunk,
            page_size,
            grid,
            mamba_slots,
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
            spec,
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
        count!(self, "release", release, Release::V0_5_16, Release::V0_5_17, Release::V0_5_18, Release::V0_5_23);
        count!(self, "strategy", strategy, Strategy::NoBuffer, Strategy::ExtraBuffer, Strategy::ExtraBufferLazy);
        count!(self, "grid", grid, Grid::Interval, Grid::Lcm);
        count!(self, "result_queue", result_queue, ResultQueue::Copy, ResultQueue::Alias);
        count!(self, "chunked_prefill_size", chunked_prefill_size, None, Some(_));
        count!(self, "mixed_tracking", mixed_tracking, MixedTracking::Dropped, MixedTracking::Kept);
        count!(self, "kv_eviction", kv_eviction, KvEviction::Whole, KvEviction::Shortfall);
        count!(self, "finish_order", finish_order, FinishOrder::LengthFirst, FinishOrder::TokenFirst);
        count!(self, "slot_headroom", slot_headroom, SlotHeadroom::PerRequest, SlotHeadroom::Exact);
        count!(self, "snapshot", snapshot, Snapshot::HandOver, Snapshot::Copy);
        count!(self, "copy_on_write", copy_on_write, CopyOnWrite::Deferred, CopyOnWrite::Immediate);
        count!(self, "slot_free", slot_free, SlotFree::AtResult, SlotFree::Deferred, SlotFree::Masked);
        count!(self, "exhaustion", exhaustion, Exhaustion::Skip, Exhaustion::Assert);
        count!(self, "tombstone_lock", tombstone_lock, TombstoneLock::Steal, TombstoneLock::Skip, TombstoneLock::Count);
        count!(self, "state", state, None, Some(_));
        count!(
            self,
            "spec",
            spec,
            None,
            Some(Spec { accept: Accept::Fixed(_), .. }),
            Some(Spec { accept: Accept::Seeded(_), .. })
        );
        flags!(self, overlap, mixed_chunk, disable_consecutive_prefill_overlap, skip_finishing_decode);
        flags!(self, filter_before_prefill, lazy_prealloc_evicts, refused_prealloc_clears_label, caches_through_stop);
        flags!(self, previous_checkpoint, branching_beyond_state, split_refreshes_state, admission_forgets_skip);
        flags!(self, fixed_length_reserves_all, waiting_prefix_refresh, rematch_after_insert, handover_unlocks_state);
        numbers!(self, track_interval, mamba_chunk, page_size, mamba_slots, kv_tokens, max_running, max_prefill_tokens);
        self.numbers.entry("conservativeness").or_default().insert(conservativeness.to_bits());
    }

    fn costs(&mut self, costs: &Costs) {
        let Costs {
            ingest,
            plan,
            prepare,
            prepare_request,
            launch,
            result,
            result_request,
            check_recompute,
            check_mask,
            boundary_update,
            gpu_extend,
            gpu_extend_token,
            gpu_decode,
            gpu_decode_request,
            result_copy,
        } = costs;
        count!(self, "ingest", ingest, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "plan", plan, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "prepare", prepare, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "prepare_request", prepare_request, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "launch", launch, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "result", result, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "result_request", result_request, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "check_recompute", check_recompute, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "check_mask", check_mask, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "boundary_update", boundary_update, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "gpu_extend", gpu_extend, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "gpu_extend_token", gpu_extend_token, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "gpu_decode", gpu_decode, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "gpu_decode_request", gpu_decode_request, Cost::Fixed(_), Cost::Uniform(..));
        count!(self, "result_copy", result_copy, Cost::Fixed(_), Cost::Uniform(..));
    }

    fn script(&mut self, setup: &Setup) {
        for spec in &setup.requests {
            count!(self, "arrive", spec.arrive, Arrive::Turn(_), Arrive::At(_), Arrive::After(_), Arrive::Before(..));
            count!(self, "stop", spec.stop, Stop::Token(_), Stop::Length);
            count!(self, "accepts", spec.accept.is_empty(), true, false);
            // Blocks come of traces only: a scenario file cannot say them.
            assert!(!matches!(spec.prompt, Prompt::Blocks { .. }));
            count!(
                self,
                "prompt",
                spec.prompt,
                Prompt::Tokens(_),
                Prompt::Fresh { .. },
                Prompt::Of { keep: None, .. },
                Prompt::Of { keep: Some(_), .. } | Prompt::Blocks { .. }
            );
        }
        for event in &setup.events {
            count!(self, "event", event, Event::FailAlloc { .. }, Event::Abort { .. }, Event::Retract { .. });
        }
    }
}

#[test]
fn wide_setups_have_every_variant_of_everything() {
    let mut seen = Seen::default();
    for seed in 0..SEEDS {
        let setup = generate(Preset::Wide, &mut Draws::new(seed));
        seen.engine(&setup.engine);
        seen.costs(&setup.costs);
        seen.script(&setup);
    }
    let rare: Vec<_> = seen.variants.iter().filter(|(_, count)| **count < LEAST).collect();
    assert!(rare.is_empty(), "hardly ever drawn: {rare:?}");
    let narrow: Vec<_> = seen.numbers.iter().filter(|(_, values)| values.len() < 3).collect();
    assert!(narrow.is_empty(), "hardly ever varied: {narrow:?}");
}
