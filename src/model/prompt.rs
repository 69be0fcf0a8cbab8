//! Which prompts are made of other requests' tokens.

use super::setup::{Prompt, Setup};

/// How many prompts are made of each request's tokens: its tokens matter until the last of them is made.
pub fn dependents(setup: &Setup) -> Vec<u32> {
    let mut counts = vec![0; setup.requests.len()];
    for spec in &setup.requests {
        if let Prompt::Of { req, .. } = spec.prompt {
            counts[req.index()] += 1;
        }
    }
    counts
}
