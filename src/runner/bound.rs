//! Which bound ended a run, in words: the bound, the request that the run was about, and the remedy.

use crate::engine::Time;
use crate::model::{Awaits, Ended, Setup, Unfinished, World, turns_max};

/// The bound of the judge in words.
pub const NOT_FOLLOWED: &str = "the run names more than the judge follows (2^20 slots, 2^25 KV pages, 2^22 requests): what lies beyond was not \
     judged. Use smaller pools or fewer requests";

/// The reason in words why a run ended before its requests; `None` if it did not.
pub fn bound_words(setup: &Setup, world: &World, ended: Ended) -> Option<String> {
    let stalled = match ended {
        Ended::Stalled => true,
        Ended::TurnsMax => false,
        Ended::Done | Ended::Asserted => return None,
    };
    let about = if stalled { world.stalled(setup) } else { world.unfinished(setup) };
    Some(match (stalled, about) {
        (true, about) => stall(setup, about),
        (false, Some(about)) => out_of_turns(setup, about),
        (false, None) => {
            let bound = setup.turns_max;
            format!("turns_max ({bound}) ended the run before its last turn. Use turns_max: {}", more(setup, 0))
        }
    })
}

fn stall(setup: &Setup, about: Option<Unfinished>) -> String {
    let Some(Unfinished { req, awaits, .. }) = about else {
        return "stalled: nothing is in flight, and nothing will arrive".to_string();
    };
    let name = setup.name(req);
    let why = match awaits {
        Awaits::Admission { slots, kv } => {
            return format!(
                "stalled: request {name} waits for admission with {slots} of {} state slots and {kv} of {} KV tokens free, nothing is in \
                 flight, and nothing will arrive. Use more mamba_slots or kv_tokens",
                setup.engine.mamba_slots, setup.engine.kv_tokens
            );
        }
        Awaits::Outputs(_) => format!("request {name} is not scheduled"),
        Awaits::Time(..) | Awaits::Turn(_) | Awaits::Shown => format!("request {name} is never seen"),
        Awaits::Other(other) => format!("request {name} waits for request {}", setup.name(other)),
    };
    format!("stalled: {why}, nothing is in flight, and nothing will arrive")
}

fn out_of_turns(setup: &Setup, Unfinished { req, awaits, turns, idle }: Unfinished) -> String {
    let (name, bound) = (setup.name(req), setup.turns_max);
    let plain = more(setup, u64::from(idle));
    match awaits {
        Awaits::Time(at, idle_turns) => {
            let enough = more(setup, idle_turns);
            // A bound beyond u32 cannot be written in a file.
            let or = if enough <= u64::from(u32::MAX) { format!(", or turns_max: {enough}") } else { String::new() };
            format!(
                "request {name} arrives at {}: {idle_turns} idle turns exceed turns_max ({bound}). Open `order` too, use After/Turn{or}",
                time(at)
            )
        }
        Awaits::Turn(turn) => format!(
            "request {name} arrives in turn {turn}: turns_max ({bound}) ended the run before. Use turns_max: {}",
            more(setup, u64::from(turn))
        ),
        Awaits::Shown => format!(
            "request {name} was held back by the choices: {idle} idle turns of {turns} used up turns_max ({bound}). Use choices that \
             show it, or turns_max: {plain}"
        ),
        Awaits::Other(other) => format!(
            "request {name} waits for request {}: turns_max ({bound}) ended the run before. Use turns_max: {plain}",
            setup.name(other)
        ),
        Awaits::Admission { slots, kv } => format!(
            "request {name} waits for admission with {slots} of {} state slots and {kv} of {} KV tokens free: turns_max ({bound}) \
             ended the run before. Use more mamba_slots or kv_tokens, or turns_max: {plain}",
            setup.engine.mamba_slots, setup.engine.kv_tokens
        ),
        Awaits::Outputs(outputs) => format!(
            "request {name} has {outputs} outputs of at most {}: turns_max ({bound}) ended the run before. Use turns_max: {plain}",
            setup.requests[req.index()].max_new
        ),
    }
}

/// A bound on turns, in whole hundreds, that leaves room for this many idle turns.
fn more(setup: &Setup, idle: u64) -> u64 {
    let least = turns_max(&setup.requests, &setup.events).max(setup.turns_max);
    (u64::from(least) + idle + 1).next_multiple_of(100)
}

/// A time in the largest unit in which it is a whole number.
fn time(at: Time) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let whole = units.iter().find(|(unit, _)| at.ns().is_multiple_of(*unit));
    whole.map_or_else(|| format!("{} ns", at.ns()), |(unit, name)| format!("{} {name}", at.ns() / unit))
}
