//! Observations: facts about a run that change no verdict but that a user should know.

use serde::Serialize;

use crate::metrics::Latched;

use super::layout::count;
use super::{Run, name};

/// Most requests that are named. The others are counted.
const NAMED_MAX: usize = 5;

/// An observation, as JSON has it.
#[derive(Debug, Serialize)]
pub(super) struct ObservationJson {
    name: &'static str,
    turns: u32,
    first_turn: u32,
    requests: Vec<String>,
}

/// The observations of a run.
pub(super) fn observations_json(run: &Run) -> Vec<ObservationJson> {
    let one = |latched: &Latched| ObservationJson {
        name: "admission-latched",
        turns: latched.turns,
        first_turn: latched.first_turn,
        requests: latched.requests.iter().map(|&req| name::request(run.names, req)).collect(),
    };
    run.latched.map(one).into_iter().collect()
}

/// The observations of a run in words.
pub(super) fn observations(run: &Run) -> Vec<String> {
    let Some(latched) = run.latched else { return Vec::new() };
    let named: Vec<String> =
        latched.requests.iter().take(NAMED_MAX).map(|&req| name::request(run.names, req)).collect();
    let more = match latched.requests.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let turns = count(latched.turns.into(), "turn");
    let first = if latched.turns == 1 { "turn" } else { "first in turn" };
    vec![format!(
        "observation: admission-latched: {}{more} waited in {turns} ({first} {}) although rows, slots and KV were free: the running batch \
         was still marked full",
        named.join(", "),
        latched.first_turn
    )]
}
