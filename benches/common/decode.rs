//! The workloads of the benches: requests that decode together.

use overlapsim::model::{Arrive, Cost, Costs, Engine, Prompt, Release, RequestSpec, Setup, Stop};

/// `batch` requests that decode together for `outputs` steps.
pub fn setup(batch: u32, outputs: u32) -> Setup {
    waves(batch, 1, outputs)
}

/// `times` as many requests, of which `batch` decode together while the others wait for their places; pools are those of one
/// batch, so what the cache keeps of the finished is evicted.
pub fn waves(batch: u32, times: u32, outputs: u32) -> Setup {
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
    let names = (0..times * batch).map(|i| format!("r{i}")).collect();
    let requests = (0..times * batch).map(request).collect();
    Setup { engine, state: None, costs: Costs::default(), requests, names, events: Vec::new(), turns_max: u32::MAX }
}

/// The same with lookahead jitter: prompts of as many lengths as there are requests, so that boundaries fall into all turns; a
/// prefill of one output takes the place of a decode step in every seventh turn, and steps of the GPU differ in length.
#[allow(dead_code, reason = "not every bench has jitter")]
pub fn jittered(batch: u32, outputs: u32) -> Setup {
    let mut setup = setup(batch, outputs);
    setup.engine.max_running = batch + 1;
    let count = outputs / 7;
    setup.engine.mamba_slots += 5 + count;
    setup.engine.kv_tokens += batch * batch + 16 * count;
    for (i, spec) in setup.requests.iter_mut().enumerate() {
        spec.prompt = Prompt::Fresh { fresh: 1_000_000 * i as u32, len: 16 + i as u32 };
    }
    setup.costs.gpu_decode = Cost::Uniform(4_000_000, 12_000_000);
    let fresh = 1_000_000 * batch;
    setup.requests.extend((0..count).map(|nth| RequestSpec {
        arrive: Arrive::Turn(7 * nth + 7),
        prompt: Prompt::Fresh { fresh: fresh + 8 * nth, len: 8 },
        stop: Stop::Length,
        max_new: 1,
        accept: Vec::new(),
    }));
    setup.names = (0..setup.requests.len()).map(|i| format!("r{i}")).collect();
    setup
}
