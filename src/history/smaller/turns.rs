//! Earlier arrivals and events, and arrivals by turn in place of those that wait for others.

use std::collections::BTreeSet;

use crate::model::{Arrive, Event, Setup, prompt_len};

use super::{Moves, below};

/// Arrivals by turn.
pub(super) fn kinds(moves: &mut Moves<'_>) {
    for i in 0..moves.setup.requests.len() {
        let requests = &moves.setup.requests;
        // The turn at which the other request gets that far or ends, if nothing else takes a turn, and a few turns
        // later.
        let about = match requests[i].arrive {
            Arrive::Turn(_) => continue,
            Arrive::At(_) => 0,
            Arrive::After(other) => base(moves.setup, other.index()) + requests[other.index()].outputs(),
            Arrive::Before(other, k) => {
                base(moves.setup, other.index()) + k.saturating_sub(prompt_len(requests, other.index()) as u32)
            }
        };
        for turn in [0, about, about + 1, about + 2] {
            moves.propose(|setup| setup.requests[i].arrive = Arrive::Turn(turn));
        }
    }
}

fn base(setup: &Setup, i: usize) -> u32 {
    match setup.requests[i].arrive {
        Arrive::Turn(turn) => turn,
        Arrive::At(_) | Arrive::After(_) | Arrive::Before(..) => 0,
    }
}

/// Earlier turns: each turn alone, and all turns from some turn on together.
pub(super) fn turns(moves: &mut Moves<'_>) {
    let mut all = BTreeSet::new();
    for i in 0..moves.setup.requests.len() {
        match moves.setup.requests[i].arrive {
            Arrive::Turn(turn) => {
                all.insert(turn);
                for less in below(turn, 0) {
                    moves.propose(|setup| setup.requests[i].arrive = Arrive::Turn(less));
                }
            }
            Arrive::Before(other, k) => {
                for less in below(k, 1) {
                    moves.propose(|setup| setup.requests[i].arrive = Arrive::Before(other, less));
                }
            }
            Arrive::At(_) | Arrive::After(_) => {}
        }
    }
    for at in 0..moves.setup.events.len() {
        let turn = moves.setup.events[at].at().0;
        all.insert(turn);
        for less in below(turn, 0) {
            moves.propose(|setup| *turn_mut(&mut setup.events[at]) = less);
        }
    }
    let mut before = 0;
    for turn in all {
        for by in below(turn - before, 0).into_iter().map(|gap| turn - before - gap).collect::<BTreeSet<_>>() {
            moves.propose(|setup| shift(setup, turn, -i64::from(by)));
        }
        before = turn;
    }
}

fn turn_mut(event: &mut Event) -> &mut u32 {
    let (Event::FailAlloc { turn, .. } | Event::Abort { turn, .. } | Event::Retract { turn, .. }) = event;
    turn
}

/// Moves every arrival and event of turn `from` or later.
pub(super) fn shift(setup: &mut Setup, from: u32, by: i64) {
    let moved = |turn: &mut u32| {
        if *turn >= from {
            *turn = u32::try_from(i64::from(*turn) + by).unwrap_or(0);
        }
    };
    for spec in &mut setup.requests {
        if let Arrive::Turn(turn) = &mut spec.arrive {
            moved(turn);
        }
    }
    setup.events.iter_mut().map(turn_mut).for_each(moved);
}
