//! Random small setups, by preset (`docs/generator.md`). Owns what each preset draws. Draws that presets share are in
//! `parts`, and [`Script`] keeps every setup valid as a scenario file. All randomness comes from a chooser: the same
//! answers give the same setup.

use crate::engine::Chooser;
use crate::engine::Time;
use crate::model::{Arrive, Event, Exhaustion, MixedTracking, Setup, SlotFree};
use crate::record::ReqId;

use super::Preset;
use super::draw::Draws;
use super::parts::{BUFFERED, EVERY, accepts, arrival, end, engine, grids, speculation, words};
use super::script::{PromptWords, Script, ScriptEnd};
use super::variants;

/// Makes a random setup, valid as a scenario file is.
///
/// ```
/// use overlapsim::engine::Scripted;
/// use overlapsim::workload::{Preset, generate};
///
/// // A chooser that answers every question with 0 gives the plainest setup of a preset.
/// let setup = generate(Preset::Small, &mut Scripted);
/// assert_eq!((setup.requests.len(), setup.names[3].as_str()), (4, "d"));
/// ```
pub fn generate(preset: Preset, chooser: &mut impl Chooser) -> Setup {
    let draw = &mut Draws::new(chooser);
    match preset {
        Preset::Small => small(draw),
        Preset::Jitter => jitter(draw),
        Preset::Finish => finish(draw),
        Preset::Prefix => prefix(draw),
        Preset::Tight => tight(draw),
        Preset::Chunks => chunks(draw),
        Preset::Spec => spec(draw),
        Preset::Wide => wide(draw),
    }
}

fn small<C: Chooser>(draw: &mut Draws<'_, C>) -> Setup {
    let mut engine = engine(draw, &BUFFERED);
    grids(draw, &mut engine);
    let mut script = Script::new(engine, 4);
    for _ in 0..4 {
        let (arrive, words, end) = (arrival(draw, &script, 24), words(draw, &script, 8), end(draw, 20));
        script.add(arrive, words, end);
    }
    script.finish(false)
}

fn jitter<C: Chooser>(draw: &mut Draws<'_, C>) -> Setup {
    let mut engine = engine(draw, &BUFFERED);
    grids(draw, &mut engine);
    engine.mamba_slots = 256;
    let outputs = draw.between(24, 48);
    let prompt = draw.between(1, 8);
    let end = if draw.one_in(2) { ScriptEnd::length(outputs) } else { ScriptEnd::token(outputs, 4) };
    let mut script = Script::new(engine, outputs + 2);
    let long = script.add(Arrive::Turn(0), PromptWords::Fresh(prompt), end);
    // A pin sets the lookahead of one result to 0; a turn shifts with every filler before it. A real server has a 0 in
    // about one result of seven.
    let (sparse, pinned) = (draw.of(&[2, 3, 5, 7]), !draw.one_in(4));
    for step in 1..outputs {
        if draw.one_in(sparse) {
            let arrive = if pinned { Arrive::Before(long, prompt + step) } else { Arrive::Turn(step) };
            script.add(arrive, PromptWords::Fresh(1), ScriptEnd::length(1));
        }
    }
    if draw.one_in(2) {
        script.add(Arrive::After(long), PromptWords::Extend(long, draw.between(1, 4)), ScriptEnd::length(2));
    }
    script.finish(false)
}

fn finish<C: Chooser>(draw: &mut Draws<'_, C>) -> Setup {
    let mut engine = engine(draw, &BUFFERED);
    grids(draw, &mut engine);
    let grid = engine.grid_len();
    let mut script = Script::new(engine, 9);
    for nth in 0..draw.between(1, 3) {
        let prompt = draw.between(1, 2 * grid);
        // The first boundary that decode reaches, or one of the next two; D(k) samples output k - prompt + 1.
        let boundary = grid * (prompt / grid + draw.between(1, 3));
        let last = (boundary + draw.between(0, 4)).saturating_sub(2).max(prompt);
        let outputs = last - prompt + 1;
        let end = match draw.below(3) {
            0 => ScriptEnd::token(outputs, 4),
            1 => ScriptEnd::token(outputs, 0),
            _ => ScriptEnd::length(outputs),
        };
        let arrive = if nth == 0 { Arrive::Turn(0) } else { arrival(draw, &script, 12) };
        let req = script.add(arrive, PromptWords::Fresh(prompt), end);
        let mut pinned = 0;
        for step in (boundary - 1).max(prompt + 1)..=(boundary + 2).min(prompt + end.max_new) {
            if draw.one_in(4) {
                script.add(Arrive::Before(req, step), PromptWords::Fresh(1), ScriptEnd::length(1));
                pinned += u32::from(step <= boundary);
            }
        }
        if script.engine.track_policy().second_slot_on_demand && draw.one_in(3) {
            // The turn of the boundary step of a request that comes in turn 0, or one later.
            let turn = boundary - prompt + pinned + draw.of(&[0, 0, 1]);
            script.events.push(Event::FailAlloc { turn, req });
        }
        if draw.one_in(2) {
            script.add(Arrive::After(req), PromptWords::Extend(req, draw.between(1, 4)), ScriptEnd::length(1));
        }
    }
    script.finish(false)
}

fn prefix<C: Chooser>(draw: &mut Draws<'_, C>) -> Setup {
    let mut engine = engine(draw, &EVERY);
    if engine.strategy.allows_pages() {
        engine.page_size = draw.of(&[1, 2, 4]);
    }
    grids(draw, &mut engine);
    let mut script = Script::new(engine, 7);
    let first = PromptWords::Fresh(draw.between(2, 20));
    script.add(Arrive::Turn(0), first, end(draw, 16));
    for _ in 0..draw.between(1, 6) {
        let of = ReqId(draw.below(script.count()));
        // A first fresh token that differs cuts a node in two, and a state is due at the branching point.
        let words = match draw.below(4) {
            0 => PromptWords::Extend(of, draw.between(0, 12)),
            1 => PromptWords::Prefix(of, draw.between(1, script.prompt(of)), draw.between(1, 12)),
            _ => PromptWords::Prefix(of, draw.between(1, script.total(of)), draw.between(0, 12)),
        };
        let arrive = if draw.one_in(4) { arrival(draw, &script, 16) } else { Arrive::After(of) };
        script.add(arrive, words, end(draw, 16));
    }
    script.finish(false)
}

fn tight<C: Chooser>(draw: &mut Draws<'_, C>) -> Setup {
    let mut engine = engine(draw, &EVERY);
    if engine.strategy.allows_pages() {
        engine.page_size = draw.of(&[1, 2, 4]);
    }
    grids(draw, &mut engine);
    engine.max_running = draw.between(1, 6);
    engine.exhaustion = draw.of(&[Exhaustion::Assert, Exhaustion::Skip]);
    engine.conservativeness = draw.of(&[1.0, 0.3, 0.1, 0.0]);
    let mut script = Script::new(engine, 8);
    for _ in 0..draw.between(3, 8) {
        let (arrive, words, end) = (arrival(draw, &script, 16), words(draw, &script, 16), end(draw, 20));
        script.add(arrive, words, end);
    }
    let count = script.count();
    for _ in 0..draw.below(3) {
        script.events.push(Event::Retract { turn: draw.below(40), req: ReqId(draw.below(count)) });
    }
    script.engine.mamba_slots = script.engine.track_policy().slots_at_admission() + 1 + draw.below(12);
    script.engine.kv_tokens = script.kv_least() + script.engine.page_size * draw.below(24);
    script.finish(false)
}

fn chunks<C: Chooser>(draw: &mut Draws<'_, C>) -> Setup {
    let mut engine = engine(draw, &EVERY);
    if engine.strategy.allows_pages() {
        engine.page_size = draw.of(&[1, 2, 4]);
    }
    grids(draw, &mut engine);
    engine.chunked_prefill_size = Some(engine.page_size * draw.between(1, 12));
    engine.mixed_chunk = draw.one_in(2);
    engine.mixed_tracking = draw.of(&[MixedTracking::Kept, MixedTracking::Dropped]);
    engine.disable_consecutive_prefill_overlap = draw.one_in(8);
    draw.vary(&mut engine.slot_free, &[SlotFree::Deferred, SlotFree::Masked]);
    if draw.one_in(4) {
        engine.max_prefill_tokens = draw.between(1, 24);
    }
    let mut script = Script::new(engine, 6);
    for _ in 0..draw.between(2, 6) {
        let (arrive, words, end) = (arrival(draw, &script, 16), words(draw, &script, 40), end(draw, 12));
        script.add(arrive, words, end);
    }
    let count = script.count();
    for _ in 0..draw.below(3) {
        let (turn, req) = (draw.below(24), ReqId(draw.below(count)));
        script.events.push(if draw.one_in(2) { Event::Retract { turn, req } } else { Event::Abort { turn, req } });
    }
    script.finish(false)
}

fn spec<C: Chooser>(draw: &mut Draws<'_, C>) -> Setup {
    let mut engine = engine(draw, &BUFFERED);
    grids(draw, &mut engine);
    speculation(draw, &mut engine);
    if draw.one_in(4) {
        engine.chunked_prefill_size = Some(draw.between(1, 12));
    }
    let mut script = Script::new(engine, 5);
    for _ in 0..draw.between(1, 5) {
        let (arrive, words, end) = (arrival(draw, &script, 16), words(draw, &script, 12), end(draw, 24));
        let req = script.add(arrive, words, end);
        accepts(draw, &mut script, req);
    }
    let count = script.count();
    for _ in 0..draw.below(3) {
        let (turn, req) = (draw.below(24), ReqId(draw.below(count)));
        script.events.push(if draw.one_in(2) { Event::Retract { turn, req } } else { Event::Abort { turn, req } });
    }
    script.finish(false)
}

fn wide<C: Chooser>(draw: &mut Draws<'_, C>) -> Setup {
    let mut engine = engine(draw, &EVERY);
    variants::vary(draw, &mut engine);
    let state = variants::state(draw);
    if engine.overlap && draw.one_in(4) {
        engine.page_size = 1;
        engine.mixed_chunk = false;
        speculation(draw, &mut engine);
    }
    let mut script = Script::new(engine, 7);
    script.state = state;
    if draw.one_in(3) {
        variants::vary_costs(draw, &mut script.costs);
    }
    for _ in 0..draw.between(1, 7) {
        let arrive = match draw.below(5) {
            0 => Arrive::At(Time(u64::from(draw.below(20_000)) * 10_007)),
            _ => arrival(draw, &script, 16),
        };
        let (words, end) = (words(draw, &script, 16), end(draw, 16));
        let req = script.add(arrive, words, end);
        if script.engine.spec.is_some() {
            accepts(draw, &mut script, req);
        }
    }
    let count = script.count();
    for _ in 0..draw.below(4) {
        let (turn, req) = (draw.below(40), ReqId(draw.below(count)));
        script.events.push(match draw.below(3) {
            0 if script.engine.track_policy().second_slot_on_demand => Event::FailAlloc { turn, req },
            1 => Event::Retract { turn, req },
            _ => Event::Abort { turn, req },
        });
    }
    if draw.one_in(3) {
        script.engine.mamba_slots = script.engine.track_policy().slots_at_admission() + 1 + draw.below(16);
    }
    if draw.one_in(3) {
        script.engine.kv_tokens = script.kv_least() + script.engine.page_size * draw.below(32);
    }
    let turned = draw.one_in(8);
    script.finish(turned)
}
