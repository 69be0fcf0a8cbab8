//! The size of a setup, which falls with every step of shrinking, and the fields of an engine that may go back to their
//! preset.

use crate::model::{Accept, Arrive, Costs, Engine, EngineField, Event, Prompt, RequestSpec, Setup, Stop, prompt_len};

/// The size of a setup, compared field by field from the first to the last. No field can fall for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measure {
    /// Requests.
    pub requests: u64,
    /// Scripted events.
    pub events: u64,
    /// Engine fields that are not as the preset of the setup's own release has them, and costs that are not the
    /// default.
    pub deviations: u64,
    /// A weight for arrivals, prompts, ends and lists of accepted tokens that are not of the plainest kind.
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
        deviations: deviating(engine).count() as u64
            + u64::from(setup.state.is_some())
            + u64::from(setup.costs != Costs::default()),
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

/// Fields that never change while a setup shrinks: a finding is about its release, strategy and overlap, and the grids
/// are sizes.
const NEVER_SET_BACK: [&str; 4] = ["strategy", "overlap", "track_interval", "mamba_chunk"];

/// Fields that are tried behind another one, not at their place in the table. The order decides at which of several
/// small setups shrinking ends.
const TRIED_BEHIND: [(&str, &str); 6] = [
    ("result_queue", "conservativeness"),
    ("spec", "slot_headroom"),
    ("snapshot", "previous_checkpoint"),
    ("copy_on_write", "snapshot"),
    ("slot_free", "copy_on_write"),
    ("exhaustion", "slot_free"),
];

/// Engine fields that are not as the preset of the engine's own release has them and may go back to it, in the order in
/// which they are tried.
pub(super) fn deviating(engine: &Engine) -> impl Iterator<Item = &'static EngineField> {
    let preset = Engine::preset(engine.release);
    let fields = Engine::fields_moved(&TRIED_BEHIND).into_iter();
    fields.filter(move |field| !NEVER_SET_BACK.contains(&field.name) && !field.is_same(engine, &preset))
}

/// A number of an engine that shrinking makes smaller, unless it is as in the preset.
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
