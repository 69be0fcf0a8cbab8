//! The fields of an engine as a table of names and values: the one list that all writers of scenarios go by.

use crate::model::{Accept, Engine, Release};

/// A value of an engine field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A word of the format, in its own spelling.
    Word(String),
    Bool(bool),
    Number(u64),
    Float(f64),
    /// Speculative decoding.
    Spec(u32, Accept),
    /// The numeric state: dim, vocab, seed.
    State(u32, u32, u64),
    /// Not set.
    Nothing,
}

fn word(value: impl std::fmt::Debug) -> Value {
    Value::Word(format!("{value:?}"))
}

/// Every field but `release`, in the order of the documentation.
pub(super) fn fields(engine: &Engine) -> Vec<(&'static str, Value)> {
    let number = |value: u32| Value::Number(value.into());
    vec![
        ("strategy", word(engine.strategy)),
        ("overlap", Value::Bool(engine.overlap)),
        ("track_interval", number(engine.track_interval)),
        ("mamba_chunk", number(engine.mamba_chunk)),
        ("page_size", number(engine.page_size)),
        ("grid", word(engine.grid)),
        ("mamba_slots", number(engine.mamba_slots)),
        ("kv_tokens", number(engine.kv_tokens)),
        ("max_running", number(engine.max_running)),
        ("max_prefill_tokens", number(engine.max_prefill_tokens)),
        ("conservativeness", Value::Float(engine.conservativeness)),
        ("chunked_prefill_size", engine.chunked_prefill_size.map_or(Value::Nothing, number)),
        ("mixed_chunk", Value::Bool(engine.mixed_chunk)),
        ("mixed_tracking", word(engine.mixed_tracking)),
        ("spec", engine.spec.as_ref().map_or(Value::Nothing, |spec| Value::Spec(spec.draft, spec.accept.clone()))),
        ("state", engine.state.map_or(Value::Nothing, |ssm| Value::State(ssm.dim, ssm.vocab, ssm.seed))),
        ("exhaustion", word(engine.exhaustion)),
        ("snapshot", word(engine.snapshot)),
        ("copy_on_write", word(engine.copy_on_write)),
        ("slot_free", word(engine.slot_free)),
        ("result_queue", word(engine.result_queue)),
        ("disable_consecutive_prefill_overlap", Value::Bool(engine.disable_consecutive_prefill_overlap)),
        ("skip_finishing_decode", Value::Bool(engine.skip_finishing_decode)),
        ("filter_before_prefill", Value::Bool(engine.filter_before_prefill)),
        ("lazy_prealloc_evicts", Value::Bool(engine.lazy_prealloc_evicts)),
        ("refused_prealloc_clears_label", Value::Bool(engine.refused_prealloc_clears_label)),
        ("kv_eviction", word(engine.kv_eviction)),
        ("finish_order", word(engine.finish_order)),
        ("slot_headroom", word(engine.slot_headroom)),
        ("caches_through_stop", Value::Bool(engine.caches_through_stop)),
        ("previous_checkpoint", Value::Bool(engine.previous_checkpoint)),
        ("branching_beyond_state", Value::Bool(engine.branching_beyond_state)),
        ("split_refreshes_state", Value::Bool(engine.split_refreshes_state)),
        ("tombstone_lock", word(engine.tombstone_lock)),
        ("admission_forgets_skip", Value::Bool(engine.admission_forgets_skip)),
        ("fixed_length_reserves_all", Value::Bool(engine.fixed_length_reserves_all)),
        ("waiting_prefix_refresh", Value::Bool(engine.waiting_prefix_refresh)),
        ("rematch_after_insert", Value::Bool(engine.rematch_after_insert)),
        ("handover_unlocks_state", Value::Bool(engine.handover_unlocks_state)),
    ]
}

/// Fields that are not what the preset of the engine's release has.
pub(super) fn set(engine: &Engine) -> Vec<(&'static str, Value)> {
    let preset = fields(&Engine::preset(engine.release));
    fields(engine).into_iter().zip(preset).filter(|(given, preset)| given != preset).map(|(given, _)| given).collect()
}

/// Names of the fields in which releases differ.
pub(super) fn release_differences() -> Vec<&'static str> {
    let presets = Release::ALL.map(|release| fields(&Engine::preset(release)));
    let differs = |at: &usize| presets.iter().any(|preset| preset[*at].1 != presets[0][*at].1);
    (0..presets[0].len()).filter(differs).map(|at| presets[0][at].0).collect()
}
