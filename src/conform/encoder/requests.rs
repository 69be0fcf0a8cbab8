//! What the encoder remembers of a request.

use crate::record::Fields;

/// How a request ended, if it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It goes on.
    None,
    /// By itself.
    Own,
    /// By an abort.
    Abort,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestState {
    pub outputs: u32,
    pub ending: Ending,
    /// It was retracted and has not been prepared since.
    pub retracted: bool,
    /// It started from a state that was not that of its tokens, or decoded on one; a retraction gives that state up.
    pub tainted: bool,
    /// Track slots that it holds.
    pub track_slots: u32,
    /// It gave a state to the tree at its end, and the rest is being freed.
    pub gave: bool,
    pub prompt_len: u32,
    /// The fields told last.
    pub fields: Fields,
}

impl RequestState {
    pub(super) fn unseen() -> RequestState {
        RequestState {
            outputs: 0,
            ending: Ending::None,
            retracted: false,
            tainted: false,
            track_slots: 0,
            gave: false,
            prompt_len: 0,
            fields: Fields::default(),
        }
    }

    /// It gives up its slots, with what they held, and its bookkeeping fields.
    pub(super) fn retract(&mut self) {
        self.retracted = true;
        self.tainted = false;
        self.fields = Fields::default();
    }
}
