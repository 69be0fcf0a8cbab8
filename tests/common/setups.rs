//! Random valid setups of small size, for property tests.

use overlapsim::model::{
    Accept, Arrive, Costs, Engine, Event, Exhaustion, Grid, MixedTracking, Prompt, Release, RequestSpec, ResultQueue,
    Setup, SlotFree, Spec, Stop, Strategy,
};
use overlapsim::record::ReqId;
use proptest::prelude::*;
use proptest::strategy::{Strategy as Generator, Union};

/// One request before its references are resolved: arrival, prompt and stop by number.
type RawRequest = (u8, u32, u8, u32, u32, bool, u32);

fn release() -> impl Generator<Value = Release> {
    Union::new(Release::ALL.map(Just))
}

fn engine() -> impl Generator<Value = Engine> {
    (
        release(),
        0..4u8,
        1..4u32,
        prop_oneof![Just(1u32), Just(2), Just(4)],
        1..4u32,
        1..5u32,
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(release, strategy, interval, page, chunk, running, tight, serial)| {
            let mut engine = Engine::preset(release);
            (engine.strategy, engine.overlap) = match strategy {
                0 => (Strategy::NoBuffer, false),
                1 => (Strategy::ExtraBuffer, false),
                2 => (Strategy::ExtraBuffer, true),
                _ => (Strategy::ExtraBufferLazy, true),
            };
            engine.page_size = if strategy == 0 { 1 } else { page };
            engine.track_interval = 2 * interval * engine.page_size;
            engine.mamba_chunk = chunk * engine.page_size;
            engine.max_running = running;
            engine.mamba_slots = if tight { 5 * running + 1 } else { 64 };
            engine.kv_tokens = if tight { 160 } else { 4096 };
            engine.conservativeness = if tight { 0.1 } else { 1.0 };
            engine.disable_consecutive_prefill_overlap = serial;
            engine
        })
}

fn resolve(engine: Engine, raw: Vec<RawRequest>, fails: Vec<(u32, u8)>) -> Setup {
    let mut requests: Vec<RequestSpec> = Vec::new();
    let mut fresh = 1000;
    for (i, &(kind, turn, source, len, stop, by_token, extra)) in raw.iter().enumerate() {
        let max_new = if by_token { stop + extra } else { stop };
        let of = (i > 0).then(|| ReqId(u32::from(source) % i as u32));
        let mut take = |len| {
            let first = fresh;
            fresh += len;
            first
        };
        let (arrive, prompt) = match (kind % 6, of) {
            (0 | 1, _) | (_, None) => (Arrive::Turn(turn), Prompt::Fresh { fresh: take(len), len }),
            (2, Some(req)) => (Arrive::After(req), Prompt::Of { req, keep: None, fresh: take(len), len }),
            (3, Some(req)) => (Arrive::After(req), Prompt::Of { req, keep: Some(1), fresh: take(len), len }),
            (4, Some(req)) => (Arrive::Before(req, 4 + turn), Prompt::Fresh { fresh: take(len), len }),
            (_, Some(_)) => {
                let len = len.min(9);
                (Arrive::Turn(turn), Prompt::Tokens((1..=len).collect()))
            }
        };
        let stop = if by_token { Stop::Token(stop) } else { Stop::Length };
        requests.push(RequestSpec { arrive, prompt, stop, max_new, accept: Vec::new() });
    }
    let names = (0..requests.len()).map(|i| format!("r{i}")).collect();
    let count = requests.len() as u32;
    let events =
        fails.into_iter().map(|(turn, req)| Event::FailAlloc { turn, req: ReqId(u32::from(req) % count) }).collect();
    Setup { engine, state: None, costs: Costs::default(), requests, names, events, turns_max: 4000 }
}

/// A setup of up to six requests, each at most 12 fresh tokens and 14 outputs.
pub fn setups() -> impl Generator<Value = Setup> {
    let raw = (any::<u8>(), 0..16u32, any::<u8>(), 1..12u32, 1..14u32, any::<bool>(), 1..6u32);
    let fails = proptest::collection::vec((0..30u32, any::<u8>()), 0..4);
    (engine(), proptest::collection::vec(raw, 1..7), fails, any::<bool>()).prop_map(|(engine, raw, fails, alias)| {
        let mut setup = resolve(engine, raw, fails);
        if alias {
            setup.engine.result_queue = ResultQueue::Alias;
        }
        setup
    })
}

/// A setup of requests that decode together in batches of more rows than a few, some of them for long.
pub fn crowds() -> impl Generator<Value = Setup> {
    let raw = (any::<u8>(), 0..6u32, any::<u8>(), 1..12u32, 1..70u32, any::<bool>(), 1..6u32);
    let fails = proptest::collection::vec((0..60u32, any::<u8>()), 0..3);
    (engine(), proptest::collection::vec(raw, 9..28), fails, 8..26u32).prop_map(|(mut engine, raw, fails, running)| {
        let tight = engine.mamba_slots < 64;
        engine.max_running = running;
        engine.mamba_slots = if tight { 5 * running + 1 } else { 400 };
        engine.kv_tokens = if tight { 80 * running } else { 8192 };
        // Rows that wait for a boundary for long, or meet one every few steps.
        engine.track_interval *= if running % 2 == 0 { 4 } else { 64 };
        resolve(engine, raw, fails)
    })
}

/// The same as [`setups`] with every engine variant in play: chunks, mixed batches, speculation, aborts, forced retraction,
/// exhaustion, snapshots by copy, immediate copy-on-write, deferred frees, any grid.
pub fn wide_setups() -> impl Generator<Value = Setup> {
    let chunk = prop_oneof![Just(None), (4..20u32).prop_map(Some)];
    let events = proptest::collection::vec((0..40u32, any::<u8>(), any::<bool>()), 0..5);
    let spec = prop_oneof![3 => Just(None), 1 => (1..4u32, proptest::collection::vec(0..4u32, 1..5)).prop_map(Some)];
    let bits = any::<u16>();
    (setups(), chunk, events, spec, 1..10u32, bits).prop_map(|(mut setup, chunk, events, spec, interval, bits)| {
        let bit = |n: u32| bits >> n & 1 == 1;
        let engine = &mut setup.engine;
        engine.chunked_prefill_size = chunk.map(|chunk| chunk.next_multiple_of(engine.page_size));
        engine.mixed_chunk = chunk.is_some() && bit(0);
        engine.mixed_tracking = if bit(1) { MixedTracking::Kept } else { MixedTracking::Dropped };
        engine.exhaustion = if bit(2) { Exhaustion::Skip } else { Exhaustion::Assert };
        engine.grid = if bit(3) { Grid::Lcm } else { Grid::Interval };
        engine.skip_finishing_decode = bit(4);
        engine.slot_free = match (bit(5), bit(9)) {
            (true, _) => SlotFree::Deferred,
            (false, true) => SlotFree::Masked,
            (false, false) => SlotFree::AtResult,
        };
        engine.previous_checkpoint = bit(6);
        engine.caches_through_stop = bit(7);
        engine.filter_before_prefill = bit(8);
        engine.track_interval = interval * engine.page_size;
        if let Some((draft, accept)) = spec.filter(|_| engine.overlap) {
            engine.page_size = 1;
            engine.mixed_chunk = false;
            engine.track_interval = engine.track_interval.max(draft + 1);
            let accept = Accept::Fixed(accept.into_iter().map(|count| 1 + count % (draft + 1)).collect());
            engine.spec = Some(Spec { draft, accept });
        }
        let count = setup.requests.len() as u32;
        for (turn, req, abort) in events {
            let req = ReqId(u32::from(req) % count);
            setup.events.push(if abort { Event::Abort { turn, req } } else { Event::Retract { turn, req } });
        }
        setup
    })
}
