//! The interface of bookkeeping rules: the view of one row, and the action on it.
//!
//! A rule is a pure function. It decides when a boundary fires, which label it gets and which slot is kept. The machine
//! applies and records the action. A rule sees neither the content of a slot nor the judge.

use crate::record::{AssertKind, BoundaryCheck};

use super::track_policy::TrackPolicy;

/// The host arrays that a rule wants. Prepare builds them once for each batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantsMasks {
    /// None: the rule computes each row.
    No,
    /// The mask of this batch.
    Own,
    /// The mask of this batch, the mask of the next step (with overlap on), and the `decode_batch_idx` snapshot.
    Masks,
    /// As `Masks`, and the snapshot of the track index that the forward writes.
    MasksAndTrackIdx,
}

/// The track slot of a request that a donation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Derived from `next_track_idx` by [`TrackPolicy::keep_idx`].
    FromNext,
    /// `last_track_idx`, which the rule sets.
    Last,
}

/// What a boundary step writes if its second slot, taken on demand, was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It overwrites the slot that the request holds, as in the releases.
    WritesInPlace,
    /// It writes nothing: the label and its slot stay as they are.
    WritesNothing,
}

/// The host arrays of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowMasks {
    /// Whether this batch's step is on the grid.
    pub mask: bool,
    /// Whether the next step is on the grid; `None` with overlap off, or if the rule does not want it.
    pub mask_next: Option<bool>,
    /// `decode_batch_idx` at prepare; 0 if the rule does not want it.
    pub decode_batch_idx: u32,
    /// `next_track_idx` at prepare: the slot that the forward writes; 0 if the rule does not want it.
    pub track_idx: u8,
}

/// The view of a rule on one decode row at result processing: live request fields and the host arrays of the batch.
#[derive(Clone, Copy, Debug)]
pub struct RowView {
    /// G, in tokens.
    pub grid: u32,
    /// How track slots are taken, flipped and given back.
    pub policy: TrackPolicy,
    /// Tokens of the prompt.
    pub prompt_len: u32,
    /// Output tokens, with that of this result.
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
    /// Whether the request holds the track slot of each index.
    pub held: [bool; 2],
    /// Whether the step prepared last is on a boundary, but its mixed batch keeps no state of it.
    pub untracked_ahead: bool,
    /// The host arrays of this row, unless the batch has dropped them.
    pub masks: Option<RowMasks>,
}

impl RowView {
    /// Prompt and outputs, less the last output, which no forward has consumed yet.
    pub fn token_len(&self) -> u32 {
        self.prompt_len + self.outputs - 1
    }
}

/// The view of a rule on one row of a verify result, after the accepted tokens were appended.
#[derive(Clone, Copy, Debug)]
pub struct VerifyView {
    /// G, in tokens.
    pub grid: u32,
    /// How track slots are taken, flipped and given back.
    pub policy: TrackPolicy,
    /// Tokens of the prompt.
    pub prompt_len: u32,
    /// Output tokens, with all accepted tokens, also those after a stop.
    pub outputs: u32,
    /// Tokens that this verify accepted, at least 1.
    pub accepted: u32,
    /// Whether this result finished the request.
    pub finished: bool,
    /// Live `next_track_idx`.
    pub next_track_idx: u8,
    /// Whether the request holds the track slot of each index.
    pub held: [bool; 2],
    /// With a second slot on demand: the index that the batch planned to write, unless it has dropped its plan.
    pub planned_idx: Option<u8>,
    /// With a second slot on demand: whether the step in flight may cross a boundary, seen from the live committed
    /// length.
    pub boundary_in_reach: bool,
}

impl VerifyView {
    /// Prompt and outputs, less the last output, which no forward has consumed yet.
    pub fn token_len(&self) -> u32 {
        self.prompt_len + self.outputs - 1
    }
}

/// The action of a rule on one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// How the rule checked for a boundary.
    pub check: BoundaryCheck,
    /// Fire: set the label (`last_track_seqlen`), and `last_track_idx` if given.
    pub record: Option<(u32, Option<u8>)>,
    /// Set `next_track_idx`.
    pub next_track_idx: Option<u8>,
    /// Give back the track slot of this index, if it is held.
    pub release_idx: Option<u8>,
    /// Donate nothing when this request is released. Applies if [`TrackPolicy::may_decline`].
    pub decline: bool,
}

impl Action {
    /// Whether it has no effect.
    #[inline]
    pub fn is_nothing(self) -> bool {
        let Action { check: _, record, next_track_idx, release_idx, decline } = self;
        record.is_none() && next_track_idx.is_none() && release_idx.is_none() && !decline
    }

    /// An action without an effect.
    pub fn none(check: BoundaryCheck) -> Action {
        Action { check, record: None, next_track_idx: None, release_idx: None, decline: false }
    }
}

/// A bookkeeping rule.
pub trait Rule: Sync {
    /// The name on the command line and in scenario files.
    fn name(&self) -> &'static str;

    /// The host arrays that it wants at prepare.
    fn wants_masks(&self) -> WantsMasks;

    /// The slot that a donation takes.
    fn keeps(&self) -> Keeps;

    /// What a boundary step writes if its second slot, taken on demand, was refused. A verify always writes in place.
    fn refused(&self) -> Refused {
        Refused::WritesInPlace
    }

    /// Decides one decode row, after the output was appended and the finish state was updated.
    ///
    /// # Errors
    /// An assertion of the modelled code fails here.
    fn on_result(&self, row: &RowView) -> Result<Action, AssertKind>;

    /// Decides one row of a verify result (speculative decoding).
    fn on_verify(&self, row: &VerifyView) -> Action;
}
