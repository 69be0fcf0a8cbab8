//! Fewer requests, fewer events.

use crate::model::{Arrive, Prompt, Setup, prompt_len};
use crate::record::ReqId;

use super::super::concrete::{refer, renamed};
use super::{Moves, turns};

/// The most requests that are changed one by one, and the most blocks that more of them are cut into.
const BLOCKS_MAX: usize = 64;

/// Most turns by which later arrivals and events are moved forward when a request or an event is dropped.
const TURNS_TAKEN: i64 = 4;

/// Whether a setup has too many requests to change them one by one.
pub(super) fn is_large(setup: &Setup) -> bool {
    setup.requests.len() > BLOCKS_MAX
}

/// Drops halves of the requests, smaller and smaller blocks, then each request, with those that refer to it or without.
pub(super) fn requests(moves: &mut Moves<'_>) {
    let count = moves.setup.requests.len();
    // Many requests go by blocks alone, so that the list of candidates stays short.
    let least = if is_large(moves.setup) { count / BLOCKS_MAX } else { 2 };
    let mut size = count.div_ceil(2);
    while size >= least && size < count {
        for first in (0..count).step_by(size) {
            moves.propose(|setup| keep(setup, |i| !(first..first + size).contains(&i)));
        }
        size /= 2;
    }
    for gone in (0..count).filter(|_| !is_large(moves.setup)) {
        let with = dependents(moves.setup, gone);
        if with.iter().filter(|gone| **gone).count() > 1 {
            moves.propose(|setup| keep(setup, |i| !with[i]));
        }
        moves.propose(|setup| keep(setup, |i| i != gone));
        // The request took turns, so later arrivals and events may come earlier.
        if let Arrive::Turn(turn) = moves.setup.requests[gone].arrive {
            for by in 1..=TURNS_TAKEN {
                moves.propose(|setup| {
                    turns::shift(setup, turn + 1, -by);
                    keep(setup, |i| i != gone);
                });
            }
        }
    }
}

/// Drops all events, then each event.
pub(super) fn events(moves: &mut Moves<'_>) {
    moves.propose(|setup| setup.events.clear());
    for at in 0..moves.setup.events.len() {
        let turn = moves.setup.events[at].at().0;
        for by in 0..=TURNS_TAKEN {
            moves.propose(|setup| {
                setup.events.remove(at);
                turns::shift(setup, turn + 1, -by);
            });
        }
    }
}

/// The request and all requests that refer to it, directly or not.
fn dependents(setup: &Setup, of: usize) -> Vec<bool> {
    let mut within = vec![false; setup.requests.len()];
    within[of] = true;
    loop {
        let refers = |i: usize| {
            let spec = &setup.requests[i];
            let arrive = match spec.arrive {
                Arrive::After(req) | Arrive::Before(req, _) => within[req.index()],
                Arrive::Turn(_) | Arrive::At(_) => false,
            };
            arrive || matches!(spec.prompt, Prompt::Of { req, .. } if within[req.index()])
        };
        let Some(next) = (0..within.len()).find(|&i| !within[i] && refers(i)) else { return within };
        within[next] = true;
    }
}

/// Keeps some requests. A request that referred to a dropped one arrives by turn, with fresh tokens in place of shared
/// ones.
pub(in crate::history) fn keep(setup: &mut Setup, keep: impl Fn(usize) -> bool) {
    let lens: Vec<u64> = (0..setup.requests.len()).map(|i| prompt_len(&setup.requests, i)).collect();
    let kept: Vec<usize> = (0..setup.requests.len()).filter(|&i| keep(i)).collect();
    let name = |req: ReqId| kept.iter().position(|&i| i == req.index()).map(|place| ReqId(place as u32));
    let mut requests = Vec::with_capacity(kept.len());
    for &i in &kept {
        let mut spec = setup.requests[i].clone();
        if let Arrive::After(req) | Arrive::Before(req, _) = spec.arrive
            && name(req).is_none()
        {
            let turn = match setup.requests[req.index()].arrive {
                Arrive::Turn(turn) => turn,
                Arrive::At(_) | Arrive::After(_) | Arrive::Before(..) => 0,
            };
            spec.arrive = Arrive::Turn(turn);
        }
        if let Prompt::Of { req, .. } = spec.prompt
            && name(req).is_none()
        {
            spec.prompt = Prompt::Fresh { fresh: 0, len: lens[i] as u32 };
        }
        refer(&mut spec, |req| name(req).unwrap_or(req));
        requests.push(spec);
    }
    setup.requests = requests;
    setup.names = kept.iter().map(|&i| setup.names[i].clone()).collect();
    setup.events.retain(|event| name(event.at().1).is_some());
    for event in &mut setup.events {
        *event = renamed(*event, |req| name(req).unwrap_or(req));
    }
}
