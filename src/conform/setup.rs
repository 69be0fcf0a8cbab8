//! Makes a setup of what a recording was made of, and finds the release and the rule that ran.

use crate::model::{
    Accept, Arrive, Costs, Engine, Event, Prompt, Release, RequestSpec, Setup, Spec, Stop, Strategy, lcm,
};
use crate::record::{ReqId, Token, TokenFold};

use super::config::{Config, Scripted};
use super::inputs::{Arrival, Inputs};
use super::lines::RecordingError;

/// `max_prefill_tokens` if the configuration does not give it.
const MAX_PREFILL_TOKENS: u32 = 4096;

/// Tokens that the fake model samples are below this.
const SAMPLED_END: Token = 1000;

/// Turns of a setup beyond the last turn of its recording.
const TURNS_SPARE: u32 = 16;

/// The three numbers that a version begins with.
fn numbers(version: &str) -> Option<[u32; 3]> {
    let mut numbers = [0; 3];
    let mut parts = version.splitn(3, '.');
    for number in &mut numbers {
        let part = parts.next()?;
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        *number = part[..digits].parse().ok()?;
    }
    Some(numbers)
}

/// The newest modelled release that is not newer than a version, and whether it is that version.
pub fn release_of(version: &str) -> Option<(Release, bool)> {
    let version = version.trim_start_matches('v');
    let given = numbers(version)?;
    let known = Release::ALL.into_iter().rev().find(|release| numbers(release.version()) <= Some(given))?;
    Some((known, known.version() == version))
}

/// The rule that a `policy` of recordings stands for: its name, or `release` for the rule that the release shipped
/// with.
pub fn rule_of(policy: &str) -> &str {
    match policy {
        "native" => "release",
        "committed" => "committed-len",
        "tokens" => "token-len",
        other => other,
    }
}

/// The setup of a recording under a release, with every arrival and abort pinned to its turn.
///
/// # Errors
/// The configuration is not modelled.
pub fn setup(inputs: &Inputs, release: Release) -> Result<Setup, RecordingError> {
    let engine = engine(&inputs.meta.config, release)
        .map_err(|(message, remedy)| RecordingError::at(inputs.line, message, remedy))?;
    let requests = inputs.arrivals.iter().map(|arrival| request(arrival, inputs.meta.partial)).collect();
    let names = inputs.arrivals.iter().map(|arrival| arrival.rid.clone()).collect();
    let aborts = inputs.aborts.iter().map(|&(turn, req)| Ok(Event::Abort { turn, req }));
    let events = aborts.chain(inputs.meta.config.script.iter().map(|scripted| event(inputs, scripted)));
    let events = events.collect::<Result<_, _>>()?;
    let turns_max = inputs.turns + TURNS_SPARE;
    Ok(Setup { engine, state: None, costs: Costs::default(), requests, names, events, turns_max })
}

/// An event of the recording's script.
fn event(inputs: &Inputs, scripted: &Scripted) -> Result<Event, RecordingError> {
    let wrong = |what: String| RecordingError::at(inputs.line, what, "the recording is damaged or of another format");
    let named = inputs.arrivals.iter().position(|arrival| arrival.rid == scripted.rid);
    let req =
        named.ok_or_else(|| wrong(format!("`config.script` names request {:?}, which never arrives", scripted.rid)))?;
    let (turn, req) = (scripted.at.saturating_sub(1), ReqId(req as u32));
    match scripted.act.as_str() {
        "retract" => Ok(Event::Retract { turn, req }),
        "fail_alloc" => Ok(Event::FailAlloc { turn, req }),
        other => Err(wrong(format!("`config.script` has {other:?}: only retract and fail_alloc are known"))),
    }
}

fn request(arrival: &Arrival, partial: bool) -> RequestSpec {
    let max_new = arrival.max_new;
    let stop = if partial { stop_seen(arrival) } else { stop_sampled(arrival) };
    RequestSpec {
        arrive: Arrive::Turn(arrival.turn),
        prompt: Prompt::Tokens(arrival.prompt.as_slice().into()),
        stop,
        max_new,
        accept: Vec::new(),
    }
}

/// How a request of a partial recording ends: by its recorded outputs.
fn stop_seen(arrival: &Arrival) -> Stop {
    match (arrival.outputs, arrival.ignore_eos) {
        (Some(outputs), _) if outputs < arrival.max_new => Stop::Token(outputs),
        (_, Some(true)) => Stop::Length,
        // The request could have ended early and did not: its stop token is never sampled.
        (_, Some(false) | None) => Stop::Token(arrival.max_new + 1),
    }
}

/// How a request ends by the tokens that the fake model samples.
fn stop_sampled(arrival: &Arrival) -> Stop {
    arrival.stop_token.map_or(Stop::Length, |token| {
        // A stop token that is never sampled still makes the request one that could end early: its place is beyond the
        // length.
        Stop::Token(stop_at(&arrival.prompt, token, arrival.max_new).unwrap_or(arrival.max_new + 1))
    })
}

/// The first output that is the stop token, counted from 1.
fn stop_at(prompt: &[Token], token: Token, max_new: u32) -> Option<u32> {
    if token >= SAMPLED_END {
        return None;
    }
    let mut state = TokenFold::ZERO.fold_all(prompt);
    (1..=max_new).find(|_| {
        let sampled = state.sample();
        state = state.fold(sampled);
        sampled == token
    })
}

fn engine(config: &Config, release: Release) -> Result<Engine, (String, &'static str)> {
    let mut engine = Engine::preset(release);
    engine.strategy = Strategy::of_name(&config.strategy).ok_or_else(|| {
        let message = format!("`strategy` is {:?}", config.strategy);
        (message, "only no_buffer, extra_buffer and extra_buffer_lazy are modelled")
    })?;
    engine.overlap = config.overlap;
    engine.track_interval = config.track_interval;
    engine.mamba_chunk = config.mamba_chunk;
    engine.page_size = config.page_size;
    engine.mamba_slots = config.mamba_pool;
    engine.kv_tokens = config.kv_tokens;
    engine.max_running = config.max_running;
    engine.max_prefill_tokens = config.max_prefill_tokens.unwrap_or(MAX_PREFILL_TOKENS);
    engine.chunked_prefill_size = config.chunk_size;
    engine.mixed_chunk = config.mixed_chunk.unwrap_or(false);
    engine.disable_consecutive_prefill_overlap = config.disable_consecutive_prefill_overlap.unwrap_or(false);
    engine.conservativeness = config.conservativeness.unwrap_or(1.0);
    if let Some(spec) = &config.spec {
        let draft = spec.draft_tokens.saturating_sub(1);
        engine.spec = Some(Spec { draft, accept: Accept::Fixed(vec![1]) });
    }
    check(&engine)?;
    Ok(engine)
}

/// Checks what the machine relies on.
fn check(engine: &Engine) -> Result<(), (String, &'static str)> {
    const GRID_MAX: u64 = 1 << 31;
    const SIZE_MAX: u32 = 1 << 25;
    const SLOTS_MAX: u32 = 1 << 20;
    let sizes = [
        ("track_interval", engine.track_interval),
        ("mamba_chunk", engine.mamba_chunk),
        ("page_size", engine.page_size),
        ("mamba_pool", engine.mamba_slots),
        ("kv_tokens", engine.kv_tokens),
        ("max_running", engine.max_running),
        ("max_prefill_tokens", engine.max_prefill_tokens),
        ("chunk_size", engine.chunked_prefill_size.unwrap_or(1)),
        ("spec.draft_tokens less one", engine.spec.as_ref().map_or(1, |spec| spec.draft)),
    ];
    for (name, size) in sizes {
        if size == 0 || size > SIZE_MAX {
            return Err((format!("`{name}` is {size}"), "sizes are from 1 to 2^25"));
        }
    }
    for (name, size) in [("mamba_pool", engine.mamba_slots), ("max_running", engine.max_running)] {
        if size > SLOTS_MAX {
            return Err((format!("`{name}` is {size}"), "at most 2^20, as in a scenario file"));
        }
    }
    let grid = lcm(lcm(engine.mamba_chunk.into(), engine.page_size.into()), engine.track_interval.into());
    if grid >= GRID_MAX {
        let message = "the least common multiple of chunk, page and interval is 2^31 or more".to_string();
        return Err((message, "sizes with common factors"));
    }
    let page = engine.page_size;
    let whole = [("track_interval", engine.track_interval), ("kv_tokens", engine.kv_tokens)];
    let chunk = engine.chunked_prefill_size.map(|size| ("chunk_size", size));
    for (name, size) in whole.into_iter().chain(chunk) {
        if !size.is_multiple_of(page) {
            return Err((
                format!("`{name}` is {size}, `page_size` {page}"),
                "every release wants a multiple of the page",
            ));
        }
    }
    let strategy = engine.strategy;
    let wrong = if !strategy.allows_overlap(engine.overlap) {
        format!("`{}` {} overlap", strategy.name(), if engine.overlap { "with" } else { "without" })
    } else if page > 1 && !strategy.allows_pages() {
        format!("`{}` with pages of more than one token", strategy.name())
    } else if engine.spec.is_some() && (!engine.overlap || page > 1 || engine.mixed_chunk) {
        "speculative decoding without overlap, with pages or with mixed batches".to_string()
    } else if !engine.conservativeness.is_finite() || engine.conservativeness < 0.0 {
        "`conservativeness`".to_string()
    } else {
        return Ok(());
    };
    Err((format!("{wrong} is not modelled"), "docs/conformance.md says what is"))
}
