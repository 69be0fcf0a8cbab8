//! Draws that presets share: an engine, its grids, and arrivals, prompts and ends of requests.

use crate::engine::Chooser;
use crate::model::{Accept, Arrive, Engine, Release, Spec, Strategy};
use crate::record::ReqId;

use super::draw::Draws;
use super::script::{PromptWords, Script, ScriptEnd};

/// Tokens in a KV pool that is never short.
const KV_AMPLE: u32 = 4096;

/// The strategies that run with overlap.
pub(super) const BUFFERED: [(Strategy, bool); 2] = [(Strategy::ExtraBuffer, true), (Strategy::ExtraBufferLazy, true)];
/// Every strategy, with and without overlap where it can have both.
pub(super) const EVERY: [(Strategy, bool); 4] = [
    (Strategy::ExtraBuffer, true),
    (Strategy::ExtraBufferLazy, true),
    (Strategy::ExtraBuffer, false),
    (Strategy::NoBuffer, false),
];

/// Any release, one of these strategies, ample pools, pages of one token.
pub(super) fn engine<C: Chooser>(draw: &mut Draws<'_, C>, strategies: &[(Strategy, bool)]) -> Engine {
    let mut engine = Engine::preset(draw.of(&Release::ALL));
    (engine.strategy, engine.overlap) = draw.of(strategies);
    engine.mamba_slots = 64;
    engine.kv_tokens = KV_AMPLE;
    engine
}

/// Decode grids of 2 to 8 tokens, or 1 to 4 pages where a page is more than one, that short requests reach often.
pub(super) fn grids<C: Chooser>(draw: &mut Draws<'_, C>, engine: &mut Engine) {
    let page = engine.page_size;
    let (least, most) = if page == 1 { (2, 8) } else { (1, 4) };
    engine.track_interval = page * draw.between(least, most);
    engine.mamba_chunk = page * draw.between(1, most);
    if engine.grid_len() > page * most {
        engine.mamba_chunk = engine.track_interval;
    }
}

/// A draft of 1 to 4 tokens, and a grid that is no smaller than a verify.
pub(super) fn speculation<C: Chooser>(draw: &mut Draws<'_, C>, engine: &mut Engine) {
    let draft = draw.between(1, 4);
    let accept = if draw.one_in(2) {
        Accept::Seeded(draw.of(&[700_000, 300_000, 950_000, 0, 1_000_000]))
    } else {
        Accept::Fixed((0..draw.between(1, 4)).map(|_| draw.between(1, draft + 1)).collect())
    };
    let spec = Spec { draft, accept };
    engine.track_interval = engine.track_interval.max(spec.accept_max());
    engine.spec = Some(spec);
}

/// Lists the accept lengths of the first verifies for a third of the requests.
pub(super) fn accepts<C: Chooser>(draw: &mut Draws<'_, C>, script: &mut Script, req: ReqId) {
    let most = script.engine.spec.as_ref().map_or(1, Spec::accept_max);
    if draw.one_in(3) {
        let counts = (0..draw.between(1, 4)).map(|_| draw.between(1, most)).collect();
        script.accepts(req, counts);
    }
}

/// An arrival within `turns` turns, after the end of an earlier request, or before a step of one.
pub(super) fn arrival<C: Chooser>(draw: &mut Draws<'_, C>, script: &Script, turns: u32) -> Arrive {
    if script.count() == 0 {
        return Arrive::Turn(draw.below(3));
    }
    match draw.below(5) {
        0 | 1 => Arrive::Turn(draw.below(turns)),
        2 => Arrive::After(ReqId(draw.below(script.count()))),
        _ => {
            let req = ReqId(draw.below(script.count()));
            Arrive::Before(req, script.prompt(req) + draw.between(1, script.max_new(req)))
        }
    }
}

/// Mostly fresh tokens, sometimes tokens of an earlier request, or tokens with which several requests begin.
pub(super) fn words<C: Chooser>(draw: &mut Draws<'_, C>, script: &Script, len_max: u32) -> PromptWords {
    let kind = draw.below(8);
    if kind == 7 {
        // A stem that all of these prompts share, and one of two tails. No other prompt has tokens this small.
        let (stem, tail, which) = (draw.between(1, len_max), draw.below(4), draw.below(2));
        return PromptWords::Tokens((1..=stem).chain((0..tail).map(|nth| 100 * (which + 1) + nth)).collect());
    }
    if kind < 5 || script.count() == 0 {
        return PromptWords::Fresh(draw.between(1, len_max));
    }
    let of = ReqId(draw.below(script.count()));
    if kind == 5 {
        PromptWords::Extend(of, draw.between(0, 4))
    } else {
        PromptWords::Prefix(of, draw.between(1, script.total(of)), draw.between(0, 4))
    }
}

/// An end by stop token, with `max_new` at or above it, or by length.
pub(super) fn end<C: Chooser>(draw: &mut Draws<'_, C>, outputs_max: u32) -> ScriptEnd {
    let outputs = draw.between(1, outputs_max);
    match draw.below(4) {
        0 | 1 => ScriptEnd::token(outputs, draw.between(0, 4)),
        _ => ScriptEnd::length(outputs),
    }
}
