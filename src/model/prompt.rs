//! Prompts become tokens when their request is first seen.

use crate::record::{ReqId, Token};

use super::request::Req;
use super::setup::{Prompt, Setup};

/// The tokens of the prompt of `req`. Prompts that refer to an unfinished request reach into its prompt only, which
/// validation has made sure of; where that one has not been seen either, its prompt is made first, and so on.
pub fn materialise(setup: &Setup, reqs: &[Req], req: ReqId) -> Vec<Token> {
    let mut chain = vec![req];
    let mut tokens = loop {
        let last = chain[chain.len() - 1];
        match &setup.requests[last.index()].prompt {
            Prompt::Of { req: source, .. } => {
                let from = &reqs[source.index()];
                if !from.tokens.is_empty() {
                    break from.tokens[..from.known_len() as usize].to_vec();
                }
                chain.push(*source);
            }
            own => {
                chain.pop();
                break fresh(own);
            }
        }
    };
    for req in chain.into_iter().rev() {
        if let Prompt::Of { keep, fresh, len, .. } = &setup.requests[req.index()].prompt {
            tokens.truncate(keep.map_or(tokens.len(), |keep| keep as usize));
            tokens.extend(*fresh..fresh + len);
        }
    }
    tokens
}

/// The tokens of a prompt that refers to no other.
fn fresh(prompt: &Prompt) -> Vec<Token> {
    match prompt {
        Prompt::Tokens(tokens) => tokens.to_vec(),
        Prompt::Fresh { fresh, len } | Prompt::Of { fresh, len, .. } => (*fresh..fresh + len).collect(),
        Prompt::Blocks { firsts, block_len, len } => {
            let mut tokens = Vec::with_capacity(*len as usize);
            for first in firsts.iter() {
                let take = (*len - tokens.len() as u32).min(*block_len);
                tokens.extend(*first..first + take);
            }
            tokens
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
