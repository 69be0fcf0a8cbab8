//! An engine closer to the preset of its release, and smaller grids. Release, strategy and overlap stay as they are: a
//! finding is about them.

use crate::model::{Accept, Arrive, Costs, Engine, EngineField, Event, Setup, Stop};

use super::super::measure::{SIZES, deviating};
use super::Moves;

/// Sets fields back to the preset of the setup's own release: all fields at once, then each field, then the costs.
pub(super) fn engine(moves: &mut Moves<'_>) {
    let from = &moves.setup.engine;
    let preset = Engine::preset(from.release);
    moves.propose(|setup| {
        deviating(from).for_each(|field| take(setup, field, &preset));
        setup.state = None;
    });
    moves.propose(|setup| {
        setup.engine.chunked_prefill_size = None;
        setup.engine.mixed_chunk = false;
    });
    for field in deviating(from) {
        moves.propose(|setup| take(setup, field, &preset));
    }
    moves.propose(|setup| setup.state = None);
    moves.propose(|setup| setup.costs = Costs::default());
}

/// Copies a field from a preset, and drops lists of accepted tokens if speculative decoding is off then.
fn take(setup: &mut Setup, field: &EngineField, preset: &Engine) {
    (field.copy)(&mut setup.engine, preset);
    if setup.engine.spec.is_none() {
        setup.requests.iter_mut().for_each(|spec| spec.accept.clear());
    }
}

/// Smaller grids: alone, and with the lengths and turns that depend on them.
pub(super) fn sizes(moves: &mut Moves<'_>) {
    let Engine { track_interval: interval, mamba_chunk: chunk, page_size: page, .. } = moves.setup.engine;
    let smaller = |size: u32, least: u32| {
        let mut sizes = vec![4, 2, 1, size.saturating_sub(page), size.saturating_sub(1)];
        sizes.retain(|&less| less >= least && less < size);
        sizes.dedup();
        sizes
    };
    // Not 1: where every step is a boundary, other faults occur, and shrinking must not end at one of them.
    for size in smaller(interval, 2) {
        moves.propose(|setup| setup.engine.track_interval = size);
        moves.propose(|setup| {
            (setup.engine.track_interval, setup.engine.mamba_chunk) = (size, size.min(chunk));
        });
        moves.propose(|setup| to_grid(setup, interval, size));
    }
    for size in smaller(chunk, 1) {
        moves.propose(|setup| setup.engine.mamba_chunk = size);
    }
    let preset = Engine::preset(moves.setup.engine.release);
    for size in SIZES {
        let Some(now) = (size.get)(&moves.setup.engine).filter(|now| (size.get)(&preset) != Some(*now)) else {
            continue;
        };
        let step = if size.pages { page } else { 1 };
        for units in super::below(now / step, 1) {
            moves.propose(|setup| (size.set)(&mut setup.engine, units * step));
        }
    }
    if let Some(spec) = &moves.setup.engine.spec {
        for draft in super::below(spec.draft, 1) {
            moves.propose(|setup| to_draft(setup, draft));
        }
    }
}

/// Moves ends and turns from one grid to a smaller one. Distances behind a boundary stay as they are.
fn to_grid(setup: &mut Setup, from: u32, to: u32) {
    let shorter = |len: u32| len - len / from * (from - to);
    setup.engine.track_interval = to;
    for spec in &mut setup.requests {
        let less = spec.outputs() - shorter(spec.outputs());
        spec.max_new = spec.max_new.saturating_sub(less);
        if let Stop::Token(nth) = &mut spec.stop {
            *nth -= less;
        }
        if let Arrive::Turn(turn) = &mut spec.arrive {
            *turn = shorter(*turn);
        }
    }
    for event in &mut setup.events {
        let (Event::FailAlloc { turn, .. } | Event::Abort { turn, .. } | Event::Retract { turn, .. }) = event;
        *turn = shorter(*turn);
    }
}

fn to_draft(setup: &mut Setup, draft: u32) {
    let Some(spec) = &mut setup.engine.spec else { return };
    spec.draft = draft;
    let most = spec.accept_max();
    if let Accept::Fixed(counts) = &mut spec.accept {
        counts.iter_mut().for_each(|count| *count = (*count).min(most));
    }
    for request in &mut setup.requests {
        request.accept.iter_mut().for_each(|count| *count = (*count).min(most));
    }
}
