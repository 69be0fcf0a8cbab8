//! A setup in which a given number of requests decode together: the engine, costs and request shapes of another setup,
//! scaled to a batch.
//!
//! Owns how requests fill a batch and how large the pools are. A batch size without a steady decode step of one token a
//! request is refused with a remedy.

use crate::model::{Arrive, Engine, Prompt, RequestSpec, Setup, Stop, prompt_len, turns_max};

use super::FRESH_FIRST;

/// Most tokens of prompts and outputs of all requests of a batch.
const TOKENS_MAX: u64 = 1 << 25;
/// Most outputs of all requests of a batch: the time of a run grows with them, and one steady step is like another.
const OUTPUTS_MAX: u64 = 1 << 22;

/// Lengths of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestShape {
    /// Tokens in its prompt.
    pub prompt: u32,
    /// Its outputs.
    pub outputs: u32,
}

/// Why a setup has no steady decode at some batch size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSteady {
    /// A verify accepts one token or several.
    #[error("with speculative decoding a step does not give one token a request: a verify accepts one or several")]
    Speculative,
    /// The prompts and outputs of this many requests.
    #[error("its requests have {tokens} tokens, more than {TOKENS_MAX}")]
    TooLarge {
        /// Tokens of its prompts and outputs.
        tokens: u64,
    },
    /// The outputs of this many requests.
    #[error("its requests have {outputs} outputs, more than {OUTPUTS_MAX}")]
    TooLong {
        /// Outputs of its requests.
        outputs: u64,
    },
    /// No request has outputs for a decode step, or the requests that are prefilled first end before the last one is
    /// prefilled.
    #[error("its requests are never all in a decode batch for long enough")]
    Apart,
}

impl NotSteady {
    /// The remedy for a batch of these requests.
    pub fn remedy(self, engine: &Engine, shapes: &[RequestShape], batch: u32) -> String {
        match self {
            NotSteady::Speculative => "take `spec` out of the scenario".to_owned(),
            NotSteady::TooLarge { .. } | NotSteady::TooLong { .. } => {
                "give smaller batches with --batch, or fewer outputs with --outputs".to_owned()
            }
            NotSteady::Apart => match (engine.mixed_chunk, engine.chunked_prefill_size) {
                (true, Some(chunk)) => mixed(chunk, engine.page_size, shapes, batch),
                (true, None) | (false, _) => {
                    let outputs = shapes.iter().map(|shape| shape.outputs).min().unwrap_or(1);
                    more_outputs(u64::from(outputs.saturating_mul(4).max(64)))
                }
            },
        }
    }
}

fn more_outputs(outputs: u64) -> String {
    format!("give every request more outputs with --outputs, such as --outputs {outputs}")
}

/// The remedy for mixed batches. Decode rows use tokens of a chunk: the last prompt is prefilled beside the rows of all
/// other requests, and the first request needs outputs until then.
fn mixed(chunk: u32, page: u32, shapes: &[RequestShape], batch: u32) -> String {
    let all = "a larger `chunked_prefill_size`, or `mixed_chunk: false`";
    if u64::from(batch) - 1 + u64::from(page) > u64::from(chunk) {
        return format!(
            "more outputs do not help: with mixed_chunk the rows of {} others leave no room for a prompt in a chunk of {chunk} \
             tokens. Give batches of at most {} with --batch, {all}",
            batch - 1,
            (chunk + 1).saturating_sub(page).max(1)
        );
    }
    let turns =
        |(rows, shape): (u32, &RequestShape)| u64::from(shape.prompt.div_ceil((chunk - rows) / page * page)) + 1;
    let prefills: u64 = (0..batch).zip(shapes.iter().cycle()).map(turns).sum();
    format!("{}, a smaller batch with --batch, {all}", more_outputs(prefills.next_multiple_of(64) + 64))
}

/// The lengths of the requests of a setup, in order. If `outputs` is given, each request has that many outputs.
pub fn shapes(setup: &Setup, outputs: Option<u32>) -> Vec<RequestShape> {
    let one = |(i, spec): (usize, &RequestSpec)| RequestShape {
        prompt: prompt_len(&setup.requests, i) as u32,
        outputs: outputs.unwrap_or(spec.outputs()),
    };
    setup.requests.iter().enumerate().map(one).collect()
}

/// The setup of `batch` requests with these shapes, repeated in order. All requests arrive in turn 0, have fresh
/// prompts and end by length. Arrivals, shared prefixes, stop tokens and events of `setup` are left out. Slots, KV and
/// `max_running` suffice for all requests.
///
/// # Errors
/// Speculative decoding, or more tokens than are simulated.
///
/// # Panics
/// If there is no shape, or no request.
pub fn steady(setup: &Setup, shapes: &[RequestShape], batch: u32) -> Result<Setup, NotSteady> {
    assert!(!shapes.is_empty() && batch > 0, "a batch has requests");
    if setup.engine.spec.is_some() {
        return Err(NotSteady::Speculative);
    }
    let outputs = shapes.iter().cycle().take(batch as usize).map(|shape| u64::from(shape.outputs)).sum();
    if outputs > OUTPUTS_MAX {
        return Err(NotSteady::TooLong { outputs });
    }
    let page = u64::from(setup.engine.page_size);
    let (mut requests, mut tokens, mut kv_tokens) = (Vec::with_capacity(batch as usize), 0, page);
    let mut fresh = FRESH_FIRST;
    for &RequestShape { prompt, outputs } in shapes.iter().cycle().take(batch as usize) {
        let len = u64::from(prompt) + u64::from(outputs);
        tokens += len;
        // Admission wants a page to spare.
        kv_tokens += (len.div_ceil(page) + 2) * page;
        if tokens.max(kv_tokens) > TOKENS_MAX {
            let of = |shape: &RequestShape| u64::from(shape.prompt) + u64::from(shape.outputs);
            let tokens = shapes.iter().cycle().take(batch as usize).map(of).sum::<u64>().max(kv_tokens);
            return Err(NotSteady::TooLarge { tokens });
        }
        requests.push(RequestSpec {
            arrive: Arrive::Turn(0),
            prompt: Prompt::Fresh { fresh, len: prompt },
            stop: Stop::Length,
            max_new: outputs,
            accept: Vec::new(),
        });
        fresh += prompt;
    }
    let mut engine = setup.engine.clone();
    // Up to 0.5.18 a request in chunks counts twice when its last chunk makes room for others.
    engine.max_running = batch + 1;
    engine.kv_tokens = kv_tokens as u32;
    // A request has three slots; a slot is handed over and replaced by a fresh one, and a slot is cached at the end.
    engine.mamba_slots = 6 * batch + 16;
    let names = (0..batch).map(|nth| format!("r{nth}")).collect();
    let turns_max = turns_max(&requests, &[]);
    Ok(Setup { engine, state: setup.state, costs: setup.costs.clone(), requests, names, events: Vec::new(), turns_max })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Accept, Costs, Engine, Release, Spec};

    fn setup() -> Setup {
        let request =
            |prompt, stop, max_new| RequestSpec { arrive: Arrive::Turn(7), prompt, stop, max_new, accept: Vec::new() };
        let requests = vec![
            request(Prompt::Fresh { fresh: 1000, len: 5 }, Stop::Token(4), 9),
            request(Prompt::Of { req: crate::record::ReqId(0), keep: None, fresh: 1005, len: 2 }, Stop::Length, 3),
        ];
        Setup {
            engine: Engine::preset(Release::V0_5_17),
            state: None,
            costs: Costs::default(),
            requests,
            names: vec!["a".into(), "b".into()],
            events: Vec::new(),
            turns_max: 9,
        }
    }

    #[test]
    fn requests_of_the_file_fill_a_batch_over_and_over() {
        let setup = setup();
        let own = shapes(&setup, None);
        assert_eq!(own, [RequestShape { prompt: 5, outputs: 4 }, RequestShape { prompt: 11, outputs: 3 }]);
        let scaled = steady(&setup, &own, 3).expect("it fits");
        let lens: Vec<(Prompt, u32)> = scaled.requests.iter().map(|of| (of.prompt.clone(), of.max_new)).collect();
        let fresh = |fresh, len| Prompt::Fresh { fresh, len };
        assert_eq!(lens, [(fresh(1000, 5), 4), (fresh(1005, 11), 3), (fresh(1016, 5), 4)]);
        assert!(scaled.requests.iter().all(|of| of.arrive == Arrive::Turn(0) && of.stop == Stop::Length));
        assert!(shapes(&setup, Some(8)).iter().all(|shape| shape.outputs == 8));
    }

    #[test]
    fn what_has_no_steady_step_is_refused() {
        let mut setup = setup();
        let shapes = vec![RequestShape { prompt: (1 << 12) - 1, outputs: 1 }];
        let refused = steady(&setup, &shapes, 1 << 14).expect_err("2^26 tokens");
        assert_eq!(refused, NotSteady::TooLarge { tokens: 1 << 26 });
        let shapes = vec![RequestShape { prompt: 1, outputs: 1 << 12 }];
        let refused = steady(&setup, &shapes, 1 << 11).expect_err("2^23 outputs");
        assert_eq!(refused, NotSteady::TooLong { outputs: 1 << 23 });
        setup.engine.spec = Some(Spec { draft: 1, accept: Accept::Fixed(vec![1]) });
        assert_eq!(steady(&setup, &shapes, 1), Err(NotSteady::Speculative));
    }
}
