//! Lengths of requests that end by themselves, derived from the setup alone.

use super::setup::{Prompt, RequestSpec, Stop};

impl RequestSpec {
    /// Number of outputs if it ends by itself.
    pub fn outputs(&self) -> u32 {
        match self.stop {
            Stop::Token(nth) => nth,
            Stop::Length => self.max_new,
        }
    }
}

/// Tokens in the prompt of the `i`-th request, if the requests that it refers to end by themselves.
pub fn prompt_len(requests: &[RequestSpec], i: usize) -> u64 {
    let (mut at, mut behind) = (i, 0);
    // The loop ends, since each step follows a reference and references have no cycles.
    loop {
        match &requests[at].prompt {
            Prompt::Tokens(tokens) => return behind + tokens.len() as u64,
            Prompt::Fresh { len, .. } | Prompt::Blocks { len, .. } => return behind + u64::from(*len),
            Prompt::Of { keep: Some(keep), len, .. } => return behind + u64::from(*keep) + u64::from(*len),
            Prompt::Of { req, keep: None, len, .. } => {
                at = req.index();
                behind += u64::from(*len) + u64::from(requests[at].outputs());
            }
        }
    }
}
