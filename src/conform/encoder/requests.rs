//! The encoder's state of a request.

use crate::record::RequestFields;

/// How a request ended, if it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It has not ended.
    None,
    /// By a stop token or by length.
    Finished,
    /// By an abort.
    Abort,
}

/// What events depend on of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestState {
    pub outputs: u32,
    pub ending: Ending,
    /// It was retracted and has not been prepared since.
    pub retracted: bool,
    /// It started from, or decoded on, a state that was not that of its tokens. A retraction gives that state up.
    pub tainted: bool,
    /// Track slots that it holds.
    pub track_slots: u32,
    /// Its end gave a state to the tree, and its other slots are being freed.
    pub gave: bool,
    pub prompt_len: u32,
    /// Its fields in the last [`crate::record::ProbeFact::Fields`].
    pub fields: RequestFields,
}

impl RequestState {
    pub(super) fn new() -> RequestState {
        RequestState {
            outputs: 0,
            ending: Ending::None,
            retracted: false,
            tainted: false,
            track_slots: 0,
            gave: false,
            prompt_len: 0,
            fields: RequestFields::default(),
        }
    }

    /// The request is retracted: it gives up its slots and its bookkeeping fields.
    pub(super) fn retract(&mut self) {
        self.retracted = true;
        self.tainted = false;
        self.fields = RequestFields::default();
    }
}
