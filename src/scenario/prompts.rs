//! Prompts: their lengths, their tokens, and the request whose outputs must exist first.

use super::Diagnostic;
use super::limits::{FRESH_FIRST, REQUEST_TOKENS_MAX, TOKEN_END};
use super::locate::PathStep;
use super::raw::{RawPrompt, RawRequest};
use super::references::Refs;
use super::source::SourceText;
use super::words::quote;
use crate::model::Prompt;
use crate::record::ReqId;

/// The prompts of all requests. A request is filled in after those that it names.
pub(super) struct ResolvedPrompts {
    /// Tokens in each prompt.
    pub len: Vec<u32>,
    /// Tokens in each prompt and its outputs up to `stop`.
    pub total: Vec<u32>,
    /// The prompts themselves.
    pub of: Vec<Prompt>,
    /// The request that must have finished before all tokens of the prompt exist.
    pub needs: Vec<Option<usize>>,
    fresh: Vec<u32>,
}

impl ResolvedPrompts {
    /// Checks the tokens that are written out and assigns fresh ones: consecutive in the order of requests, above every
    /// token that is written out.
    pub fn new(source: &SourceText<'_>, requests: &[RawRequest]) -> Result<Self, Diagnostic> {
        let mut next = FRESH_FIRST;
        for (at, request) in requests.iter().enumerate() {
            let RawPrompt::Tokens(tokens) = &request.prompt else { continue };
            for (nth, token) in tokens.iter().enumerate() {
                if *token >= TOKEN_END {
                    let [requests, item, prompt] = prompt_path(at);
                    let path = [requests, item, prompt, PathStep::Item(0), PathStep::Item(nth)];
                    return Err(source.at(&path, format!("the token {token} is too large"), "tokens are below 2^31"));
                }
                next = next.max(token + 1);
            }
        }
        let mut fresh = Vec::with_capacity(requests.len());
        for (at, request) in requests.iter().enumerate() {
            let len = match request.prompt {
                RawPrompt::Tokens(_) => 0,
                RawPrompt::Fresh(len) | RawPrompt::Extend(_, len) | RawPrompt::Prefix(_, _, len) => len,
            };
            within(source, at, len.into())?;
            fresh.push(next);
            next = match next.checked_add(len) {
                Some(next) if next <= TOKEN_END => next,
                _ => {
                    let remedy = "ask for fewer fresh tokens, or write smaller ones in Tokens([..])";
                    return Err(source.at(&prompt_path(at), "no fresh tokens are left below 2^31", remedy));
                }
            };
        }
        let count = requests.len();
        Ok(ResolvedPrompts {
            len: vec![0; count],
            total: vec![0; count],
            of: vec![Prompt::Fresh { fresh: 0, len: 0 }; count],
            needs: vec![None; count],
            fresh,
        })
    }

    /// Fills in one prompt. The prompt that it names is filled in already.
    pub fn fill(
        &mut self,
        source: &SourceText<'_>,
        at: usize,
        raw: &RawRequest,
        refs: Refs,
        outputs: u32,
    ) -> Result<(), Diagnostic> {
        let fresh = self.fresh[at];
        let named = refs.prompt.unwrap_or(at);
        let len = match &raw.prompt {
            RawPrompt::Tokens(tokens) => tokens.len() as u64,
            RawPrompt::Fresh(len) => u64::from(*len),
            RawPrompt::Extend(_, len) => u64::from(self.total[named]) + u64::from(*len),
            RawPrompt::Prefix(id, keep, len) => {
                if *keep > self.total[named] {
                    return Err(self.beyond(source, at, named, id, *keep));
                }
                u64::from(*keep) + u64::from(*len)
            }
        };
        if len == 0 {
            return Err(source.at(&prompt_path(at), "the prompt is empty", "give it at least one token"));
        }
        let len = within(source, at, len)?;
        self.len[at] = len;
        self.total[at] = len + outputs;
        self.of[at] = match &raw.prompt {
            RawPrompt::Tokens(tokens) => Prompt::Tokens(tokens.as_slice().into()),
            RawPrompt::Fresh(len) => Prompt::Fresh { fresh, len: *len },
            RawPrompt::Prefix(_, 0, len) => Prompt::Fresh { fresh, len: *len },
            RawPrompt::Extend(_, len) => {
                self.needs[at] = Some(named);
                Prompt::Of { req: req_id(named), keep: None, fresh, len: *len }
            }
            RawPrompt::Prefix(_, keep, len) => {
                let (owner, needs) = self.owner(named, *keep);
                self.needs[at] = needs;
                Prompt::Of { req: req_id(owner), keep: Some(*keep), fresh, len: *len }
            }
        };
        Ok(())
    }

    /// The request that owns the first `keep` tokens of `named`, and the request that must have finished for them to
    /// exist. A prefix that lies wholly in tokens taken over from another request belongs to that request.
    fn owner(&self, named: usize, keep: u32) -> (usize, Option<usize>) {
        let mut owner = named;
        // Every turn follows a reference, and references are without cycles.
        loop {
            if keep > self.len[owner] {
                return (owner, Some(owner));
            }
            match &self.of[owner] {
                Prompt::Of { req, keep: taken, .. } => {
                    let before = req.index();
                    if keep > taken.unwrap_or(self.total[before]) {
                        return (owner, self.needs[owner]);
                    }
                    owner = before;
                }
                Prompt::Tokens(_) | Prompt::Fresh { .. } | Prompt::Blocks { .. } => return (owner, None),
            }
        }
    }

    fn beyond(&self, source: &SourceText<'_>, at: usize, named: usize, id: &str, keep: u32) -> Diagnostic {
        let (prompt, total) = (self.len[named], self.total[named]);
        let [requests, item, field] = prompt_path(at);
        let message = format!(
            "{} has {prompt} prompt tokens and {} outputs: there is no prefix of {keep}",
            quote(id),
            total - prompt
        );
        source.at(&[requests, item, field, PathStep::Item(1)], message, format!("take at most {total}"))
    }
}

/// The length of a prompt, if it is within the limit.
fn within(source: &SourceText<'_>, at: usize, len: u64) -> Result<u32, Diagnostic> {
    u32::try_from(len).ok().filter(|len| *len <= REQUEST_TOKENS_MAX).ok_or_else(|| {
        let message = format!("the prompt has {len} tokens, more than the simulator holds");
        source.at(&prompt_path(at), message, format!("give it at most {REQUEST_TOKENS_MAX}"))
    })
}

pub(super) fn req_id(at: usize) -> ReqId {
    ReqId(at as u32)
}

fn prompt_path(at: usize) -> [PathStep<'static>; 3] {
    [PathStep::Field("requests"), PathStep::Item(at), PathStep::Field("prompt")]
}
