//! How large a setup is: the measure by which every step of shrinking goes down, and the fields of an engine that may go
//! back to their preset.

use crate::model::{Accept, Arrive, Costs, Engine, Event, Prompt, RequestSpec, Setup, Stop, prompt_len};

/// The size of a setup, compared field by field, the first one first. None of them can fall for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measure {
    /// Requests.
    pub requests: u64,
    /// Scripted events.
    pub events: u64,
    /// Engine fields that are not as the preset of the setup's own release has them, and costs that are not the default.
    pub deviations: u64,
    /// Arrivals, prompts, ends and accepted tokens that are not of the plainest kind.
    pub kinds: u64,
    /// Tokens in prompts, outputs, and tokens accepted by script.
    pub tokens: u64,
    /// Of these, tokens in prompts.
    pub prompts: u64,
    /// Most outputs of each request.
    pub outputs_max: u64,
    /// `track_interval` and `mamba_chunk`, the draft, and the numbers of `SIZES`.
    pub sizes: u64,
    /// Turns of arrivals and events, and steps and times that arrivals wait for.
    pub turns: u64,
}

/// Measures a setup.
pub fn measure(setup: &Setup) -> Measure {
    let engine = &setup.engine;
    let requests = &setup.requests;
    let lens: Vec<u64> = (0..requests.len()).map(|i| prompt_len(requests, i)).collect();
    let outputs: u64 = requests.iter().map(|spec| u64::from(spec.outputs())).sum();
    let accepted: u64 = requests.iter().flat_map(|spec| &spec.accept).map(|&count| 1 + u64::from(count)).sum();
    let (draft, fixed) = match &engine.spec {
        None => (0, 0),
        Some(spec) => match &spec.accept {
            Accept::Fixed(counts) => (spec.draft, counts.iter().map(|&count| 1 + u64::from(count)).sum()),
            Accept::Seeded(_) => (spec.draft, 0),
        },
    };
    let of_arrival = |spec: &RequestSpec| match spec.arrive {
        Arrive::Turn(turn) => u64::from(turn),
        Arrive::At(at) => at.ns(),
        Arrive::After(_) => 0,
        Arrive::Before(_, k) => u64::from(k),
    };
    Measure {
        requests: requests.len() as u64,
        events: setup.events.len() as u64,
        deviations: deviations(engine) + u64::from(setup.costs != Costs::default()),
        kinds: requests.iter().map(kinds).sum(),
        tokens: lens.iter().sum::<u64>() + outputs + accepted + fixed,
        prompts: lens.iter().sum(),
        outputs_max: requests.iter().map(|spec| u64::from(spec.max_new)).sum(),
        sizes: u64::from(engine.track_interval)
            + u64::from(engine.mamba_chunk)
            + u64::from(draft)
            + SIZES.iter().map(|size| (size.get)(engine).map_or(0, u64::from)).sum::<u64>(),
        turns: requests.iter().map(of_arrival).sum::<u64>()
            + setup.events.iter().map(|event: &Event| u64::from(event.at().0)).sum::<u64>(),
    }
}

fn kinds(spec: &RequestSpec) -> u64 {
    let arrive = match spec.arrive {
        Arrive::Turn(_) => 0,
        Arrive::At(_) | Arrive::After(_) | Arrive::Before(..) => 1,
    };
    let prompt = match spec.prompt {
        Prompt::Fresh { .. } => 0,
        Prompt::Of { .. } => 2,
        Prompt::Tokens(_) | Prompt::Blocks { .. } => 4,
    };
    let stop = match spec.stop {
        Stop::Length => 0,
        Stop::Token(_) => 1,
    };
    arrive + prompt + stop + u64::from(!spec.accept.is_empty())
}

/// A field of an engine: whether two agree in it, and how one takes it over from another.
pub(super) struct Field {
    pub same: fn(&Engine, &Engine) -> bool,
    pub take: fn(&mut Engine, &Engine),
}

macro_rules! fields {
    ($($name:ident),+ $(,)?) => {
        /// Every field that may go back to the preset of the release.
        pub(super) const FIELDS: &[Field] = &[
            $(Field { same: |a, b| a.$name == b.$name, take: |to, from| to.$name.clone_from(&from.$name) }),+
        ];

        /// Names every field, so that none is forgotten. A finding is about its release, strategy and overlap: they never
        /// change. The grids are sizes.
        const _: fn(&Engine) = |engine| {
            let Engine { release: _, strategy: _, overlap: _, track_interval: _, mamba_chunk: _, $($name: _),+ } = engine;
        };
    };
}

fields! {
    page_size, grid, mamba_slots, kv_tokens, max_running, max_prefill_tokens, conservativeness, result_queue, chunked_prefill_size, mixed_chunk, mixed_tracking, disable_consecutive_prefill_overlap,
    skip_finishing_decode, filter_before_prefill, lazy_prealloc_evicts, refused_prealloc_clears_label, kv_eviction,
    finish_order, slot_headroom, spec, caches_through_stop, previous_checkpoint, snapshot, copy_on_write, slot_free,
    exhaustion, branching_beyond_state, split_refreshes_state, tombstone_lock, admission_forgets_skip,
    fixed_length_reserves_all, waiting_prefix_refresh, rematch_after_insert, handover_unlocks_state, state,
}

/// A number of an engine that is small if it is not as the preset has it.
pub(super) struct Size {
    pub get: fn(&Engine) -> Option<u32>,
    pub set: fn(&mut Engine, u32),
    /// Whether it is a whole number of pages.
    pub pages: bool,
}

/// Pools, bounds and chunks.
pub(super) const SIZES: &[Size] = &[
    Size { get: |e| e.chunked_prefill_size, set: |e, size| e.chunked_prefill_size = Some(size), pages: true },
    Size { get: |e| Some(e.kv_tokens), set: |e, size| e.kv_tokens = size, pages: true },
    Size { get: |e| Some(e.mamba_slots), set: |e, size| e.mamba_slots = size, pages: false },
    Size { get: |e| Some(e.max_running), set: |e, size| e.max_running = size, pages: false },
    Size { get: |e| Some(e.max_prefill_tokens), set: |e, size| e.max_prefill_tokens = size, pages: false },
];

fn deviations(engine: &Engine) -> u64 {
    let preset = Engine::preset(engine.release);
    FIELDS.iter().filter(|field| !(field.same)(engine, &preset)).count() as u64
}
