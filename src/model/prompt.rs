//! Prompts become tokens when their request is first seen.

use crate::record::{ReqId, Token};

use super::request::Req;
use super::setup::{Prompt, Setup};

/// Writes the tokens of the prompt of `req` over `tokens`, with room for so many more. Prompts that refer to an unfinished
/// request reach into its prompt only, which validation has made sure of; where that one has not been seen either, its prompt
/// is made first, and so on.
pub fn materialise(setup: &Setup, reqs: &[Req], req: ReqId, room: usize, tokens: &mut Vec<Token>) {
    tokens.clear();
    let mut chain = Vec::new();
    let mut last = req;
    loop {
        match &setup.requests[last.index()].prompt {
            Prompt::Of { req: source, .. } => {
                chain.push(last);
                let from = &reqs[source.index()];
                if !from.tokens.is_empty() {
                    tokens.extend_from_slice(&from.tokens[..from.known_len() as usize]);
                    break;
                }
                last = *source;
            }
            own => {
                fresh(own, room, tokens);
                break;
            }
        }
    }
    for req in chain.into_iter().rev() {
        if let Prompt::Of { keep, fresh, len, .. } = &setup.requests[req.index()].prompt {
            tokens.truncate(keep.map_or(tokens.len(), |keep| keep as usize));
            tokens.extend(*fresh..fresh + len);
        }
    }
    tokens.reserve_exact(room);
}

/// The tokens of a prompt that refers to no other.
fn fresh(prompt: &Prompt, room: usize, tokens: &mut Vec<Token>) {
    match prompt {
        Prompt::Tokens(own) => {
            tokens.reserve_exact(own.len() + room);
            tokens.extend_from_slice(own);
        }
        Prompt::Fresh { fresh, len } | Prompt::Of { fresh, len, .. } => {
            tokens.reserve_exact(*len as usize + room);
            tokens.extend(*fresh..fresh + len);
        }
        Prompt::Blocks { firsts, block_len, len } => {
            tokens.reserve_exact(*len as usize + room);
            for first in firsts.iter() {
                let take = (*len - tokens.len() as u32).min(*block_len);
                tokens.extend(*first..first + take);
            }
        }
    }
}

/// How many prompts are made of each request's tokens: a request's tokens are kept until the last of them is made.
pub fn dependents(setup: &Setup) -> Vec<u32> {
    let mut counts = vec![0; setup.requests.len()];
    for spec in &setup.requests {
        if let Prompt::Of { req, .. } = spec.prompt {
            counts[req.index()] += 1;
        }
    }
    counts
}
