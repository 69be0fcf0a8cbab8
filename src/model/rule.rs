//! The door for bookkeeping rules: what a rule sees of one decode row, and what it may do about it.
//!
//! A rule is a pure function. It decides when a boundary fires, which label it gets and which slot is kept; the machine
//! carries the action out and records it. A rule sees no content of a slot and nothing of the judge.

use crate::record::{AssertKind, BoundaryCheck};

/// The host arrays that a rule wants built once a batch at prepare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantsMasks {
    /// None: it computes each row again.
    No,
    /// Mask of this batch alone.
    Own,
    /// Mask of this batch, mask of the next one (with overlap on), `decode_batch_idx` snapshot.
    Masks,
    /// The same and the snapshot of the track index that the forward writes.
    MasksAndTrackIdx,
}

/// Which of a request's track slots a donation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Derived from `next_track_idx`: the other one, or itself with the lazy strategy and with a single slot.
    FromNext,
    /// `last_track_idx`, which the rule keeps up.
    Last,
}

/// What becomes of a boundary step whose second slot was refused (lazy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It writes the slot that the request has, and what that held is gone, as in the releases.
    WritesInPlace,
    /// It writes nothing, and the label stays with the slot that it names.
    WritesNothing,
}

/// What the host arrays say of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowMasks {
    /// Whether this batch's step is on the grid.
    pub mask: bool,
    /// Whether the step after it is; `None` with overlap off, or if the rule does not want it.
    pub mask_next: Option<bool>,
    /// `decode_batch_idx` at prepare; 0 if the rule does not want it.
    pub decode_batch_idx: u32,
    /// `next_track_idx` at prepare: the slot that the forward writes; 0 if the rule does not want it.
    pub track_idx: u8,
}

/// What a rule sees of one decode row at result processing: live request fields and the batch's host arrays.
#[derive(Clone, Copy, Debug)]
pub struct RowView {
    /// G, in tokens.
    pub grid: u32,
    /// Whether the second track slot is taken on demand.
    pub lazy: bool,
    /// Track slots of the pair: 2, or 1 with overlap off.
    pub track_slots: u8,
    /// Tokens of the prompt.
    pub prompt_len: u32,
    /// Output tokens, this result's included.
    pub outputs: u32,
    /// Whether this result finished the request.
    pub finished: bool,
    /// Live `kv_committed_len`.
    pub kv_committed_len: u32,
    /// Live `decode_batch_idx`.
    pub decode_batch_idx: u32,
    /// Live `next_track_idx`.
    pub next_track_idx: u8,
    /// Live `last_track_idx`.
    pub last_track_idx: u8,
    /// Which slots of the pair are held.
    pub held: [bool; 2],
    /// Whether the step prepared last rides along in a mixed batch that keeps no state of it, though it is on a boundary.
    pub untracked_ahead: bool,
    /// The batch's host arrays for this row, if it still has them.
    pub masks: Option<RowMasks>,
}

impl RowView {
    /// The other index of the pair; the same one where there is a single slot.
    pub fn other_idx(&self, idx: u8) -> u8 {
        if self.track_slots == 2 { 1 - idx } else { idx }
    }

    /// Tokens whose outputs are known, less the one that no forward has consumed yet.
    pub fn token_len(&self) -> u32 {
        self.prompt_len + self.outputs - 1
    }
}

/// What a rule sees of one row of a verify result, after the accepted tokens were appended.
#[derive(Clone, Copy, Debug)]
pub struct VerifyView {
    /// G, in tokens.
    pub grid: u32,
    /// Whether the second track slot is taken on demand.
    pub lazy: bool,
    /// Track slots of the pair.
    pub track_slots: u8,
    /// Tokens of the prompt.
    pub prompt_len: u32,
    /// Output tokens, all accepted ones included, also those behind a stop.
    pub outputs: u32,
    /// Tokens that this verify accepted, at least 1.
    pub accepted: u32,
    /// Whether this result finished the request.
    pub finished: bool,
    /// Live `next_track_idx`.
    pub next_track_idx: u8,
    /// Which slots of the pair are held.
    pub held: [bool; 2],
    /// Lazy: the index that the batch planned to write, if it still has its plan.
    pub planned_idx: Option<u8>,
    /// Lazy: whether the step in flight may cross a boundary, seen from the live committed length.
    pub boundary_in_reach: bool,
}

impl VerifyView {
    /// Tokens whose outputs are known, less the one that no forward has consumed yet.
    pub fn token_len(&self) -> u32 {
        self.prompt_len + self.outputs - 1
    }
}

/// What a rule does at one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// How it found out.
    pub check: BoundaryCheck,
    /// Fire: set the label (`last_track_seqlen`), and `last_track_idx` if given.
    pub record: Option<(u32, Option<u8>)>,
    /// Set `next_track_idx`.
    pub next_track_idx: Option<u8>,
    /// Give this slot of the pair back, if it is held.
    pub release_idx: Option<u8>,
    /// Donate nothing when this request is released.
    pub decline: bool,
}

impl Action {
    /// Whether it changes nothing.
    #[inline]
    pub fn is_nothing(self) -> bool {
        let Action { check: _, record, next_track_idx, release_idx, decline } = self;
        record.is_none() && next_track_idx.is_none() && release_idx.is_none() && !decline
    }

    /// Nothing but the check.
    pub fn none(check: BoundaryCheck) -> Action {
        Action { check, record: None, next_track_idx: None, release_idx: None, decline: false }
    }
}

/// A bookkeeping rule.
pub trait Rule: Sync {
    /// The name on the command line and in scenario files.
    fn name(&self) -> &'static str;

    /// The host arrays it wants at prepare.
    fn wants_masks(&self) -> WantsMasks;

    /// Which slot a donation takes.
    fn keeps(&self) -> Keeps;

    /// What becomes of a boundary step whose second slot was refused (lazy). Speculative decoding does not ask.
    fn refused(&self) -> Refused {
        Refused::WritesInPlace
    }

    /// Decides one decode row, after the output was appended and the finish state updated.
    ///
    /// # Errors
    /// An assertion of the modelled code that fails here.
    fn on_result(&self, row: &RowView) -> Result<Action, AssertKind>;

    /// Decides one row of a verify result (speculative decoding).
    fn on_verify(&self, row: &VerifyView) -> Action;
}
