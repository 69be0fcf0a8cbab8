//! Ends by length, fewer outputs, shorter prompts, shorter lists of accepted tokens.

use crate::model::{Accept, Arrive, Prompt, RequestSpec, Setup, Stop};

use super::{Moves, below, turns};

/// Fewer outputs of each request: alone, and with later arrivals and events moved as well.
pub(super) fn outputs(moves: &mut Moves<'_>) {
    let grid = moves.setup.engine.grid_len();
    for i in 0..moves.setup.requests.len() {
        let spec = &moves.setup.requests[i];
        let had = spec.outputs();
        let mut fewer = below(had, 1);
        fewer.extend(had.checked_sub(grid).filter(|less| *less > 1 && grid > 1));
        for less in fewer {
            moves.propose(|setup| end(&mut setup.requests[i], less, true));
            moves.propose(|setup| end(&mut setup.requests[i], less, false));
            if had - less == 1 || had - less == grid {
                moves.propose(|setup| {
                    turns::shift(setup, turn_of(setup, i) + 1, -i64::from(had - less));
                    end(&mut setup.requests[i], less, true);
                });
            }
        }
        for most in below(spec.max_new, had).into_iter().filter(|_| spec.stop != Stop::Length) {
            moves.propose(|setup| setup.requests[i].max_new = most);
        }
    }
}

/// Ends by length in place of stop tokens.
pub(super) fn ends(moves: &mut Moves<'_>) {
    for i in 0..moves.setup.requests.len() {
        moves.propose(|setup| {
            let spec = &mut setup.requests[i];
            (spec.stop, spec.max_new) = (Stop::Length, spec.outputs());
        });
    }
}

/// Ends the request at an earlier output. If `follows`, `max_new` falls by the same number.
fn end(spec: &mut RequestSpec, outputs: u32, follows: bool) {
    let less = spec.outputs() - outputs;
    match &mut spec.stop {
        Stop::Token(nth) => {
            *nth = outputs;
            spec.max_new = spec.max_new.saturating_sub(if follows { less } else { 0 });
        }
        Stop::Length => spec.max_new = outputs,
    }
}

/// Shorter prompts: alone, and with the same number of outputs added, so that boundaries stay where they are.
pub(super) fn prompts(moves: &mut Moves<'_>) {
    for i in 0..moves.setup.requests.len() {
        let (keep, len) = match &moves.setup.requests[i].prompt {
            Prompt::Fresh { len, .. } | Prompt::Blocks { len, .. } => (None, *len),
            Prompt::Tokens(tokens) => (None, tokens.len() as u32),
            Prompt::Of { keep, len, .. } => (*keep, *len),
        };
        let least = u32::from(!matches!(moves.setup.requests[i].prompt, Prompt::Of { .. }));
        for less in below(len, least) {
            moves.propose(|setup| cut(&mut setup.requests[i].prompt, less));
            moves.propose(|setup| {
                let more = len - less;
                turns::shift(setup, turn_of(setup, i) + 1, more.into());
                let spec = &mut setup.requests[i];
                cut(&mut spec.prompt, less);
                spec.max_new += more;
                if let Stop::Token(nth) = &mut spec.stop {
                    *nth += more;
                }
            });
        }
        for less in keep.map_or(Vec::new(), |keep| below(keep, 1)) {
            moves.propose(|setup| {
                if let Prompt::Of { keep, .. } = &mut setup.requests[i].prompt {
                    *keep = Some(less);
                }
            });
        }
    }
}

fn cut(prompt: &mut Prompt, to: u32) {
    match prompt {
        Prompt::Fresh { len, .. } | Prompt::Of { len, .. } | Prompt::Blocks { len, .. } => *len = to,
        Prompt::Tokens(tokens) => *tokens = tokens[..to as usize].into(),
    }
}

/// The turn in which a request arrives, or 0 if that depends on others.
fn turn_of(setup: &Setup, i: usize) -> u32 {
    match setup.requests[i].arrive {
        Arrive::Turn(turn) => turn,
        Arrive::At(_) | Arrive::After(_) | Arrive::Before(..) => 0,
    }
}

/// Shorter lists of accept lengths, and smaller ones.
pub(super) fn accepted(moves: &mut Moves<'_>) {
    for i in 0..moves.setup.requests.len() {
        let list = &moves.setup.requests[i].accept;
        moves.propose(|setup| setup.requests[i].accept.clear());
        moves.propose(|setup| {
            setup.requests[i].accept.pop();
        });
        for (at, &count) in list.iter().enumerate() {
            for less in below(count, 1) {
                moves.propose(|setup| setup.requests[i].accept[at] = less);
            }
        }
    }
    let Some(Accept::Fixed(counts)) = moves.setup.engine.spec.as_ref().map(|spec| &spec.accept) else { return };
    let mut lists: Vec<Vec<u32>> = vec![vec![1], counts[..1].to_vec(), counts[..counts.len() - 1].to_vec()];
    for (at, &count) in counts.iter().enumerate() {
        lists.extend(below(count, 1).into_iter().map(|less| {
            let mut counts = counts.clone();
            counts[at] = less;
            counts
        }));
    }
    for list in lists {
        moves.propose(|setup| {
            if let Some(spec) = &mut setup.engine.spec {
                spec.accept = Accept::Fixed(list);
            }
        });
    }
}
