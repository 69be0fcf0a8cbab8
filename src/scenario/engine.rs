//! The `engine` block: the preset of its release, the fields that are set over it, and values that do not fit together.

use super::Diagnostic;
use super::limits::{DRAFT_MAX, POOL_TOKENS_MAX, SLOTS_MAX, TOKEN_END};
use super::locate::PathStep;
use super::raw::{RawAccept, RawEngine, RawSpec, RawState};
use super::source::SourceText;
use crate::model::{Accept, Engine, Grid, Release, Spec, Strategy, lcm};
use crate::numeric::{DIM_MAX, Ssm, VOCAB_MAX};

/// Fills in the preset and checks every field, alone and against the others.
pub(super) fn validate(source: &SourceText<'_>, raw: &RawEngine) -> Result<Engine, Diagnostic> {
    let mut engine = Engine::preset(raw.release.unwrap_or(Release::V0_5_17));
    raw.apply(&mut engine);
    engine.spec = raw.spec.as_ref().map(|spec| speculation(source, &engine, spec)).transpose()?;
    sizes(source, &engine)?;
    chunks(source, &engine)?;
    strategy(source, &engine)?;
    grids(source, &engine)?;
    pools(source, &engine)?;
    let conservativeness = engine.conservativeness;
    if !conservativeness.is_finite() || conservativeness < 0.0 {
        let message = format!("`conservativeness` is {conservativeness}, not a finite number of 0 or more");
        return Err(source.at(&field("conservativeness"), message, "give a factor such as 1.0"));
    }
    Ok(engine)
}

fn field(name: &str) -> [PathStep<'_>; 2] {
    [PathStep::Field("engine"), PathStep::Field(name)]
}

fn sizes(source: &SourceText<'_>, engine: &Engine) -> Result<(), Diagnostic> {
    for (name, size, most) in [
        ("track_interval", engine.track_interval, POOL_TOKENS_MAX),
        ("mamba_chunk", engine.mamba_chunk, POOL_TOKENS_MAX),
        ("page_size", engine.page_size, POOL_TOKENS_MAX),
        ("mamba_slots", engine.mamba_slots, SLOTS_MAX),
        ("kv_tokens", engine.kv_tokens, POOL_TOKENS_MAX),
        ("max_running", engine.max_running, SLOTS_MAX),
        ("max_prefill_tokens", engine.max_prefill_tokens, POOL_TOKENS_MAX),
    ] {
        if size == 0 {
            return Err(source.at(
                &field(name),
                format!("`{name}` is 0"),
                "give at least 1, or leave it to its default",
            ));
        }
        if size > most {
            let message = format!("`{name}` is {size}, more than the simulator holds");
            return Err(source.at(&field(name), message, format!("give at most {most}")));
        }
    }
    Ok(())
}

fn chunks(source: &SourceText<'_>, engine: &Engine) -> Result<(), Diagnostic> {
    match engine.chunked_prefill_size {
        None if engine.mixed_chunk => Err(source.at(
            &field("mixed_chunk"),
            "decode rows ride along only where prefill goes in chunks",
            "set `chunked_prefill_size` too, such as 8192, or `mixed_chunk: false`",
        )),
        Some(size) if size < engine.page_size || size > POOL_TOKENS_MAX => Err(source.at(
            &field("chunked_prefill_size"),
            format!("a chunk of {size} tokens is less than a page of {} or more than any pool", engine.page_size),
            format!("give a size from {} to {POOL_TOKENS_MAX}", engine.page_size),
        )),
        Some(size) if !size.is_multiple_of(engine.page_size) => {
            let nearest = size - size % engine.page_size;
            Err(source.at(
                &field("chunked_prefill_size"),
                format!("a chunk of {size} tokens ends within a page of {}; the releases refuse it", engine.page_size),
                format!("give a multiple of `page_size`, such as {nearest}"),
            ))
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks speculative decoding, which is modelled as it was recorded: a linear draft, page 1, overlap on.
fn speculation(source: &SourceText<'_>, engine: &Engine, raw: &RawSpec) -> Result<Spec, Diagnostic> {
    let part = |name| [PathStep::Field("engine"), PathStep::Field("spec"), PathStep::Field(name)];
    let forbidden = [
        (!engine.overlap, "overlap", "speculative decoding is modelled with overlap on", "set `overlap: true`"),
        (
            engine.page_size != 1,
            "page_size",
            "speculative decoding is modelled with pages of one token",
            "set `page_size: 1`",
        ),
        (
            engine.mixed_chunk,
            "mixed_chunk",
            "speculative decoding is modelled without mixed batches",
            "set `mixed_chunk: false`",
        ),
    ];
    for (wrong, name, message, remedy) in forbidden {
        if wrong {
            return Err(source.at_first(&[&field(name), &field("spec")], message, remedy));
        }
    }
    if raw.draft == 0 || raw.draft > DRAFT_MAX {
        let message = format!("a draft of {} tokens", raw.draft);
        return Err(source.at(&part("draft"), message, format!("give 1 to {DRAFT_MAX}")));
    }
    let most = raw.draft + 1;
    if engine.track_interval < most {
        let message = format!(
            "`track_interval` {} is less than the {most} tokens that a verify may accept",
            engine.track_interval
        );
        return Err(source.at_first(
            &[&field("track_interval"), &field("spec")],
            message,
            format!("set `track_interval` to at least {most}"),
        ));
    }
    let accept = match &raw.accept {
        RawAccept::Fixed(counts) if counts.is_empty() || counts.iter().any(|&count| count == 0 || count > most) => {
            let message = "a list of accept lengths that is empty or has one that no verify can reach";
            return Err(source.at(&part("accept"), message, format!("give numbers from 1 to {most} (draft + 1)")));
        }
        RawAccept::Fixed(counts) => Accept::Fixed(counts.clone()),
        RawAccept::Seeded(share) if !(0.0..=1.0).contains(share) => {
            let message = format!("{share} is no probability");
            return Err(source.at(&part("accept"), message, "give a number from 0.0 to 1.0"));
        }
        RawAccept::Seeded(share) => Accept::Seeded((share * 1e6).round() as u32),
    };
    Ok(Spec { draft: raw.draft, accept })
}

fn strategy(source: &SourceText<'_>, engine: &Engine) -> Result<(), Diagnostic> {
    match engine.strategy {
        Strategy::NoBuffer if engine.overlap => Err(source.at_first(
            &[&field("overlap"), &field("strategy")],
            "the strategy NoBuffer cannot run with overlap on",
            "set `overlap: false`, or use ExtraBuffer or ExtraBufferLazy",
        )),
        Strategy::NoBuffer if engine.page_size != 1 => Err(source.at(
            &field("page_size"),
            format!("the strategy NoBuffer cannot run with a page of {} tokens", engine.page_size),
            "set `page_size: 1`, or use ExtraBuffer or ExtraBufferLazy",
        )),
        Strategy::ExtraBufferLazy if !engine.overlap => Err(source.at(
            &field("overlap"),
            "the strategy ExtraBufferLazy cannot run with overlap off",
            "set `overlap: true`, or use ExtraBuffer: 0.5.18 and 0.5.23 accept the pair and end in an IndexError at the first decode boundary",
        )),
        Strategy::NoBuffer | Strategy::ExtraBuffer | Strategy::ExtraBufferLazy => Ok(()),
    }
}

fn grids(source: &SourceText<'_>, engine: &Engine) -> Result<(), Diagnostic> {
    let (interval, page, kv) = (engine.track_interval, engine.page_size, engine.kv_tokens);
    if interval % page != 0 {
        return Err(source.at_first(
            &[&field("track_interval"), &field("page_size")],
            format!("`track_interval` {interval} is off the page grid: it is no multiple of `page_size` {page}"),
            near_multiples("track_interval", interval, page),
        ));
    }
    if kv % page != 0 {
        return Err(source.at_first(
            &[&field("kv_tokens"), &field("page_size")],
            format!("`kv_tokens` {kv} is not a whole number of pages of {page} tokens"),
            near_multiples("kv_tokens", kv, page),
        ));
    }
    let chunk = lcm(engine.mamba_chunk.into(), page.into());
    let grid = match engine.grid {
        Grid::Interval => chunk,
        Grid::Lcm => lcm(chunk, interval.into()),
    };
    if grid >= u64::from(TOKEN_END) {
        let message = format!(
            "`mamba_chunk` {}, `page_size` {page} and `track_interval` {interval} have no common multiple below 2^31",
            engine.mamba_chunk
        );
        let remedy = "give sizes with common factors, such as powers of two";
        return Err(source.at_first(
            &[&field("mamba_chunk"), &field("track_interval"), &field("page_size")],
            message,
            remedy,
        ));
    }
    Ok(())
}

fn pools(source: &SourceText<'_>, engine: &Engine) -> Result<(), Diagnostic> {
    // What it holds from admission on, and the one that replaces or receives the state of its prefill.
    let need = engine.track_policy().slots_at_admission() + 1;
    if engine.mamba_slots < need {
        return Err(source.at(
            &field("mamba_slots"),
            format!(
                "{} state slots are too few for one request, which takes {need} with its first donation",
                engine.mamba_slots
            ),
            format!("set `mamba_slots` to at least {need}"),
        ));
    }
    Ok(())
}

/// The numeric state, with defaults for what is not given.
pub(super) fn validate_state(source: &SourceText<'_>, raw: Option<RawState>) -> Result<Option<Ssm>, Diagnostic> {
    let Some(RawState::Ssm { dim, vocab, seed }) = raw else { return Ok(None) };
    let default = Ssm::default();
    let (dim, vocab) = (dim.unwrap_or(default.dim), vocab.unwrap_or(default.vocab));
    for (name, size, most) in [("dim", dim, DIM_MAX), ("vocab", vocab, VOCAB_MAX)] {
        if !(1..=most).contains(&size) {
            let path = [PathStep::Field("engine"), PathStep::Field("state"), PathStep::Field(name)];
            return Err(source.at(&path, format!("`{name}` is {size}"), format!("give 1 to {most}")));
        }
    }
    Ok(Some(Ssm { dim, vocab, seed: seed.unwrap_or(default.seed) }))
}

fn near_multiples(name: &str, size: u32, page: u32) -> String {
    let below = size / page * page;
    let above = u64::from(below) + u64::from(page);
    if below == 0 { format!("set `{name}: {above}`") } else { format!("set `{name}: {below}` or `{name}: {above}`") }
}
