//! Prompts become tokens when their request is first seen.

use crate::record::{ReqId, Token};

use super::request::Req;
use super::setup::{Prompt, Setup};

/// Appends the prompt of `req` to `out`. Prompts that refer to an unfinished request reach into its prompt only, which
/// validation has made sure of.
pub fn materialise(setup: &Setup, reqs: &[Req], req: ReqId, out: &mut Vec<Token>) {
    match &setup.requests[req.index()].prompt {
        Prompt::Tokens(tokens) => out.extend_from_slice(tokens),
        Prompt::Fresh { fresh, len } => out.extend(*fresh..fresh + len),
        Prompt::Of { req: source, keep, fresh, len } => {
            let from = &reqs[source.index()];
            let start = out.len();
            if from.tokens.is_empty() {
                materialise(setup, reqs, *source, out);
            } else {
                out.extend_from_slice(&from.tokens[..from.known_len() as usize]);
            }
            if let Some(keep) = keep {
                out.truncate(start + *keep as usize);
            }
            out.extend(*fresh..fresh + len);
        }
        Prompt::Blocks { firsts, block_len, len } => {
            let mut left = *len;
            for first in firsts.iter() {
                let take = left.min(*block_len);
                out.extend(*first..first + take);
                left -= take;
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
