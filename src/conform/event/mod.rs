//! The events that the encoder makes of a run: the vocabulary of recordings as a closed enum, with the type of every
//! field. docs/conformance.md says when each event occurs.
//!
//! Only the model's side has these types. A recorded event stays a JSON object (`RecordedEvent` in `cursor`), and a
//! difference shows its value as it stands in the file. Recorders of older versions lack fields (`ADDED_LATER` in
//! `full`), partial recordings may leave out any field and have some of their own (`RECORDING_ONLY` in `partial`),
//! releases name slot -1, and a recording may have a value of another type. Parsing it into these types would turn such
//! a difference into an unreadable line.
//!
//! [`EventBody::fields`] gives the fields as JSON values, in the order of comparison. The first difference is the one
//! that is reported, so the batch and the request come first, then the fields that follow from them. The order is the
//! reason why `fields` lists them instead of deriving `Serialize`: a map of `serde_json` sorts its keys.
//!
//! A field of type `Option` is null in a recording if it has no value. Fields that only some events of a kind have are
//! marked.

mod fields;
mod parts;

use serde_json::{Map, Value};

use crate::record::{AbortStage, ForwardMode, Phase, Token};

pub use fields::{FieldList, mode_name};
pub use parts::{
    BoundaryMarks, DecodeRow, EmptyOffer, EndingMarks, ExtendRow, MixedDecodeFields, PrepareDecode, PrepareExtend,
    PreparedOffer, Reason, ResultRow, SpecLists, Stats,
};

/// One event of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedEvent<'a> {
    /// The loop turn, counted from 0. Recordings count from 1: `i`.
    pub turn: u32,
    /// The CPU phase in which it occurred.
    pub phase: Phase,
    /// Its kind and fields.
    pub body: EventBody<'a>,
}

impl EncodedEvent<'_> {
    /// The event as a recording would have it.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("i".into(), (self.turn + 1).into());
        map.insert("ev".into(), self.body.kind().into());
        for (name, value) in self.body.fields() {
            map.insert(name.to_string(), value);
        }
        Value::Object(map)
    }
}

/// Receives the events of a run, in order.
pub trait Listener {
    /// One event.
    fn event(&mut self, event: &EncodedEvent<'_>);

    /// Whether no further event is needed.
    fn is_over(&self) -> bool;
}

/// The kind of an event and its fields. Lengths are in tokens; slots and batches are numbers; `rid` is a request's
/// name.
#[derive(Clone, Debug, PartialEq)]
pub enum EventBody<'a> {
    /// A request is taken in.
    Arrive { rid: &'a str, prompt: Vec<Token>, max_new_tokens: u32, stop_token: Option<Token> },
    /// An abort is taken in. `stage` is `where` of a recording.
    Abort { rid: &'a str, stage: AbortStage },
    /// A request was dropped without finishing.
    AbortOutput { rid: &'a str },
    /// A call of the slot allocator for `n` slots. `slots` is null if it was refused; `free` is the count afterwards.
    SlotAlloc { slots: Option<Vec<u32>>, n: u32, free: u32 },
    /// Slots are freed; `free` is the count afterwards.
    SlotFree { slots: Vec<u32>, free: u32 },
    /// A waiting request is matched: the length with a state, its slot, and the length `n` of the slot's content.
    Match { rid: &'a str, prefix_len: u32, slot: Option<u32>, branching: Option<u32>, n: Option<u32> },
    /// A row of a prefill batch.
    PrepareExtend(PrepareExtend<'a>),
    /// A decode batch.
    PrepareDecode(PrepareDecode<'a>),
    /// Decode rows join a prefill batch; the lists are of these rows.
    Mix {
        batch: u32,
        decode_batch: u32,
        rids: Vec<&'a str>,
        seq_lens: Vec<u32>,
        prefix_lens: Vec<u32>,
        next_idx: Vec<Option<u8>>,
        prefill_track_kept: bool,
    },
    /// A forward.
    Launch { batch: u32, mode: ForwardMode, rids: Vec<&'a str> },
    /// A forward clears a slot.
    Clear { slot: u32 },
    /// A forward copies a hit: a state of `n` tokens.
    Cow { src: u32, dst: u32, n: u32 },
    /// The schedule stream copies a state of `n` tokens.
    Copy { src: u32, dst: u32, n: u32 },
    /// A forward keeps a state of `n` tokens.
    TrackWrite { rid: &'a str, slot: u32, n: u32 },
    /// A row of a speculative forward; `track_step` and `slot` are -1 without one.
    Verify { rid: &'a str, seq_len: u32, accept: u32, track_step: i64, slot: i64 },
    /// A request at length `seq_len` runs on a state, of `n` tokens, that is not that of its tokens.
    ActiveMismatch { rid: &'a str, seq_len: u32, n: u32 },
    /// A result was processed. `mode` is decode for verifies too.
    Result { batch: u32, mode: ForwardMode, reqs: Vec<ResultRow<'a>> },
    /// A state was offered to the tree: the length of the key, the slot, its content, and the hash that the key has.
    Donate {
        rid: &'a str,
        label: u32,
        slot: u32,
        n: u32,
        hash: String,
        expected: String,
        ok: bool,
        reason: Reason,
        already_in_tree: bool,
        tainted: bool,
    },
    /// No state was offered, or the tree refused the offer.
    NoInsert { rid: &'a str, reason: Reason, offer: EmptyOffer<'a> },
    /// A request was retracted.
    Retract { rid: &'a str, output_len: u32 },
    /// An assertion of the recorded code was raised, or the loop gave up. Recordings have a message and a place, which
    /// [`super::assertions`] replaces by `assertion`.
    Assert { assertion: &'static str, kind: &'static str },
    /// A wrong state in the tree at the end.
    TreeMismatch { label: u32, slot: u32, n: u32 },
    /// The end: slots free, in the tree, in all, and missing; free rows of the request pool; counts of the run.
    End { free: u32, tree: u32, total: u32, leak: i64, free_reqs: u32, stats: Stats },
}
