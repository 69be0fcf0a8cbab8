//! Warnings: reasons not to trust a run, such as missed pins and bounds. A warning never changes a verdict.

use super::{Run, name};

/// The warnings of a run: those of its judgement, then those of the caller.
pub fn warnings(run: &Run) -> Vec<String> {
    let judgement = run.judgement;
    let mut all = Vec::new();
    for &req in &judgement.pins_missed {
        let id = name::request(run.names, req);
        all.push(format!("pin missed: the prefill of {id} did not take the turn that it was pinned to"));
    }
    for &req in &judgement.pins_ended {
        let id = name::request(run.names, req);
        all.push(format!(
            "pin ended: {id} arrived in the next turn, because the request that it was pinned to had ended"
        ));
    }
    for &(turn, req) in &judgement.events_unused {
        let id = name::request(run.names, req);
        all.push(format!("event unused: the event for {id} in turn {turn} had no effect"));
    }
    match judgement.bound.filter(|_| run.bound.is_none()) {
        Some(true) => all.push("stalled: requests are waiting that can never be admitted".to_owned()),
        Some(false) => all.push("the run reached turns_max: later turns were not judged".to_owned()),
        None => {}
    }
    all.extend(run.bound.map(str::to_string));
    all.extend(run.warnings.iter().cloned());
    all
}

/// The name of the bound that ended a run, if one did.
pub(super) fn bound_name(bound: Option<bool>) -> Option<&'static str> {
    bound.map(|stalled| if stalled { "stalled" } else { "turns" })
}
