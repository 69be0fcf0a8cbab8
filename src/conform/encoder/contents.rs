//! The states that slots hold, and the states that requests' tokens fold to, as the fake model of the recordings
//! computes them.

use crate::record::{ReqId, SlotId, Token, TokenFold};

/// The state in each slot, and the true states of each request.
#[derive(Debug)]
pub(super) struct Contents {
    slots: Vec<TokenFold>,
    /// By request and length: the fold of the first so many tokens.
    truth: Vec<Vec<TokenFold>>,
    tokens: Vec<Vec<Token>>,
}

impl Contents {
    pub(super) fn new(requests: usize) -> Contents {
        Contents { slots: Vec::new(), truth: vec![vec![TokenFold::ZERO]; requests], tokens: vec![Vec::new(); requests] }
    }

    pub(super) fn get(&self, slot: SlotId) -> TokenFold {
        self.slots.get(slot.index()).copied().unwrap_or(TokenFold::ZERO)
    }

    pub(super) fn put(&mut self, slot: SlotId, state: TokenFold) {
        if self.slots.len() <= slot.index() {
            self.slots.resize(slot.index() + 1, TokenFold::ZERO);
        }
        self.slots[slot.index()] = state;
    }

    /// Appends a token of a request.
    pub(super) fn push(&mut self, req: ReqId, token: Token) {
        let truth = &mut self.truth[req.index()];
        let last = truth.last().copied().unwrap_or(TokenFold::ZERO);
        truth.push(last.fold(token));
        self.tokens[req.index()].push(token);
    }

    pub(super) fn tokens(&self, req: ReqId) -> &[Token] {
        &self.tokens[req.index()]
    }

    /// The fold of the first `len` tokens of a request, or of all its tokens if they are fewer.
    pub(super) fn truth(&self, req: ReqId, len: u32) -> TokenFold {
        let truth = &self.truth[req.index()];
        truth[(len as usize).min(truth.len() - 1)]
    }

    /// Folds the tokens `run` of a request into a slot. At the length of `track`, its slot gets a copy of the state,
    /// which is returned.
    pub(super) fn fold(
        &mut self,
        req: ReqId,
        slot: SlotId,
        run: std::ops::Range<u32>,
        track: Option<(SlotId, u32)>,
    ) -> Option<TokenFold> {
        let mut state = self.get(slot);
        let mut kept = None;
        for at in run {
            state = state.fold(self.tokens[req.index()][at as usize]);
            if let Some((track, len)) = track
                && len == at + 1
            {
                self.put(track, state);
                kept = Some(state);
            }
        }
        self.put(slot, state);
        kept
    }
}
