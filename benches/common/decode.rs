//! The workload of the benches: requests that decode together.

use overlapsim::model::{Arrive, Costs, Engine, Prompt, Release, RequestSpec, Setup, Stop};

/// `batch` requests that decode together for `outputs` steps.
pub fn setup(batch: u32, outputs: u32) -> Setup {
    let mut engine = Engine::preset(Release::V0_5_17);
    engine.max_running = batch;
    engine.mamba_slots = 5 * batch + 8;
    engine.kv_tokens = batch * (outputs + 64) + 4096;
    engine.max_prefill_tokens = engine.kv_tokens;
    let request = |i: u32| RequestSpec {
        arrive: Arrive::Turn(0),
        prompt: Prompt::Fresh { fresh: 1000 + 16 * i, len: 16 },
        stop: Stop::Length,
        max_new: outputs,
        accept: Vec::new(),
    };
    let names = (0..batch).map(|i| format!("r{i}")).collect();
    let requests = (0..batch).map(request).collect();
    Setup { engine, costs: Costs::default(), requests, names, events: Vec::new(), turns_max: u32::MAX }
}
