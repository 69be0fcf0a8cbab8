//! Prompts of a plainer kind: fresh tokens in place of tokens that are taken over or spelled out.

use crate::model::{Arrive, Prompt, Setup, prompt_len};
use crate::record::{ReqId, Token, TokenFold};

use super::Moves;

/// Makes all prompts fresh, then each. A spelled-out prompt that begins like another one becomes a prefix of that.
pub(super) fn kinds(moves: &mut Moves<'_>) {
    let count = moves.setup.requests.len();
    let lens: Vec<u32> = (0..count).map(|i| prompt_len(&moves.setup.requests, i) as u32).collect();
    let fresh = |i: usize| Prompt::Fresh { fresh: 0, len: lens[i] };
    moves.propose(|setup| {
        for (i, spec) in setup.requests.iter_mut().enumerate() {
            spec.prompt = fresh(i);
        }
    });
    for i in 0..count {
        moves.propose(|setup| setup.requests[i].prompt = fresh(i));
    }
    for i in 0..count {
        for source in (0..count).filter(|&source| source != i) {
            let Some((keep, whole)) = shared(moves.setup, source, i) else { continue };
            let known = lens[source] + moves.setup.requests[source].outputs();
            let req = ReqId(source as u32);
            let keeps = (!whole || keep != known).then_some(keep);
            moves.propose(|setup| {
                let spec = &mut setup.requests[i];
                spec.prompt = Prompt::Of { req, keep: keeps, fresh: 0, len: lens[i] - keep };
                if keep > lens[source] {
                    spec.arrive = Arrive::After(req);
                }
            });
        }
    }
}

/// The number of tokens of prompt and outputs of `source` with which the prompt of `i` begins, if both are spelled out,
/// and whether these are all tokens of `source`. Spelled-out prompts do not refer to each other, so there is no cycle.
fn shared(setup: &Setup, source: usize, i: usize) -> Option<(u32, bool)> {
    let (Prompt::Tokens(theirs), Prompt::Tokens(own)) = (&setup.requests[source].prompt, &setup.requests[i].prompt)
    else {
        return None;
    };
    let mut known: Vec<Token> = theirs.to_vec();
    let mut state = TokenFold::ZERO.fold_all(theirs);
    for _ in 0..setup.requests[source].outputs() {
        known.push(state.sample());
        state = state.fold(state.sample());
    }
    let same = known.iter().zip(own.iter()).take_while(|(theirs, own)| theirs == own).count();
    // Of two equal prompts the later one takes over.
    let first = source < i || same > theirs.len();
    (same > 0 && first).then_some((same as u32, same == known.len()))
}
