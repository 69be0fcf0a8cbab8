//! What a reader should know before trusting a run: pins that missed, bounds that were hit. Warnings never change a
//! verdict.

use super::{Run, name};

/// The warnings of a run in words: those that its judgement implies, then the caller's own.
pub fn warnings(run: &Run) -> Vec<String> {
    let judgement = run.judgement;
    let mut all = Vec::new();
    for &req in &judgement.pins_missed {
        let id = name::request(run.names, req);
        all.push(format!("pin missed: the prefill of {id} did not take the turn that it was pinned to"));
    }
    for &req in &judgement.pins_ended {
        let id = name::request(run.names, req);
        all.push(format!("pin ended: {id} came in the next turn, the request it was pinned to had ended before"));
    }
    for &(turn, req) in &judgement.events_unused {
        let id = name::request(run.names, req);
        all.push(format!("event unused: what was scripted for {id} in turn {turn} found nothing to do"));
    }
    match judgement.bound.filter(|_| run.bound.is_none()) {
        Some(true) => all.push("stalled: requests wait that can never be admitted".to_owned()),
        Some(false) => all.push("the bound on turns ended the run: what comes after was not judged".to_owned()),
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
