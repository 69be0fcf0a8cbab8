//! The judgement of a run as plain data: verdict, findings, counts.
//!
//! Owns the types and the verdict of each kind of finding. Decides nothing else.

use std::collections::BTreeMap;

use crate::record::{BatchId, BoundaryCheck, FinishKind, Phase, ReqId, SlotId};

use super::Goals;

/// The verdict of a run, from best to worst; `Inconclusive` if a bound ended the run before anything worse was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// No findings: every due checkpoint recorded, every state correct, every slot and page accounted for.
    Clean,
    /// Checkpoints were lost; nothing was wrong.
    Lossy,
    /// A bound ended the run.
    Inconclusive,
    /// A wrong state was donated or used.
    Corrupt,
    /// An assertion of the modelled system failed, or a slot, page or lock did not have exactly one owner.
    Broken,
}

/// The class of one row: the decision of the rule at one result of one request, compared with the write of its forward.
/// A later class outranks an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Nothing due and no decision, or the due checkpoint recorded at its own result.
    Agree,
    /// Due, no decision, since the length is recorded already.
    Settled,
    /// Recorded one result ahead, for the step in flight.
    Early,
    /// The correct length, but another slot than the forward wrote.
    WrongSlot,
    /// A length that no forward has written or will write.
    WrongLabel,
    /// Due and not recorded.
    Missed,
    /// A decision for a length that is recorded already.
    Repeat,
}

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// The slot holds the state of another length or of another sequence.
    Mislabelled,
    /// No forward has written the slot since this request got it.
    Unwritten,
    /// Another request wrote the slot since this one got it.
    Foreign,
    /// The slot is correct at this moment, but a forward in flight will overwrite it.
    Aliased,
    /// A copy that no happens-before path orders after the forward that writes its slot.
    Torn,
    /// The request had started from a wrong state. Adds nothing to the verdict if the finding at the root is known.
    Inherited,
    /// A checkpoint that was due at a processed result was never recorded.
    Lost,
    /// An assertion of the modelled system failed.
    Assertion,
    /// A slot or page was allocated while it had an owner, or was neither free nor in the tree at the end.
    Leak,
    /// A slot or page was freed or moved by another than its owner.
    DoubleFree,
    /// A slot was used by a request that does not own it, or was given to another request while a forward in flight
    /// still uses it.
    UseAfterFree,
    /// Locks and unlocks that do not balance.
    Lock,
}

impl FindingKind {
    /// The verdict of a run whose findings are all of this kind.
    pub fn verdict(self) -> Verdict {
        match self {
            FindingKind::Lost => Verdict::Lossy,
            FindingKind::Mislabelled
            | FindingKind::Unwritten
            | FindingKind::Foreign
            | FindingKind::Aliased
            | FindingKind::Torn
            | FindingKind::Inherited => Verdict::Corrupt,
            FindingKind::Assertion
            | FindingKind::Leak
            | FindingKind::DoubleFree
            | FindingKind::UseAfterFree
            | FindingKind::Lock => Verdict::Broken,
        }
    }
}

/// A fault of the modelled system, with place and reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// The request concerned, if any.
    pub req: Option<ReqId>,
    /// The loop turn.
    pub turn: u32,
    /// The CPU phase.
    pub phase: Phase,
    /// The length under which the state is, or would be, cached; for `Lost`, the lost length.
    pub label: Option<u32>,
    /// The length of the content of the slot; `None` if the slot is unwritten, or the finding is not about a content.
    pub holds: Option<u32>,
    /// The slot.
    pub slot: Option<SlotId>,
    /// The reason, in words.
    pub reason: String,
    /// For `Inherited`: the index in [`Judgement::findings`] of the finding at the root, if known.
    pub root: Option<usize>,
    /// The step that overwrote the state, if the decision about the checkpoint was correct.
    pub overwritten: Option<Overwritten>,
}

/// The cause of a wrong state after a correct decision: a later step of the same request overwrote the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overwritten {
    /// The turn of the decision.
    pub decided_turn: u32,
    /// The length of the state that the later step wrote.
    pub len: u32,
    /// The batch of the later step.
    pub batch: BatchId,
    /// The turn in which the later step was launched.
    pub turn: u32,
}

/// The number of processed decode rows of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// [`Class::Agree`].
    pub agree: u64,
    /// [`Class::Early`].
    pub early: u64,
    /// [`Class::Settled`].
    pub settled: u64,
    /// [`Class::Repeat`].
    pub repeat: u64,
    /// [`Class::Missed`].
    pub missed: u64,
    /// [`Class::WrongLabel`].
    pub wrong_label: u64,
    /// [`Class::WrongSlot`].
    pub wrong_slot: u64,
}

/// Counts of checkpoints at decode boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointCounts {
    /// Boundary steps whose result was processed.
    pub due: u64,
    /// Of the due ones: recorded by the rule.
    pub recorded: u64,
    /// Of the due ones: lost.
    pub lost: u64,
    /// Not recorded or not donated because the engine forced it.
    pub skipped: u64,
    /// States donated to the radix tree, after prefills and at ends, including those whose node already owned a state.
    pub donated: u64,
    /// Tokens to recompute because of losses: the longest length due less the longest length donated or hit, over all
    /// releases with a loss.
    pub cost_tokens: u64,
}

/// The number of rows by how the rule determined boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskReuse {
    /// Rows answered from a host mask.
    pub reused: u64,
    /// Rows whose boundary was computed again.
    pub recomputed: u64,
    /// Of the recomputed ones: rows whose host masks had been dropped.
    pub lost: u64,
    /// Size of all host mask arrays built, in bytes.
    pub bytes: u64,
}

/// A processed decode row with a decision or a due checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// The loop turn in which the result was processed.
    pub turn: u32,
    /// The batch.
    pub batch: BatchId,
    /// The request.
    pub req: ReqId,
    /// The length that the step reached.
    pub k: u32,
    /// The lookahead: decode batches prepared for the request since.
    pub lookahead: i64,
    /// How the rule determined whether the result is a boundary.
    pub check: BoundaryCheck,
    /// Whether the rule fired.
    pub fired: bool,
    /// The label after the decision, if the rule fired.
    pub label: Option<u32>,
    /// The kept slot after the decision, if the rule fired.
    pub slot: Option<SlotId>,
    /// The track slot that the forward of this step wrote, if a checkpoint was due.
    pub due: Option<SlotId>,
    /// The class.
    pub class: Class,
}

/// The outcome of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestOutcome {
    /// Whether it arrived.
    pub arrived: bool,
    /// Tokens taken from the cache at its first admission.
    pub prefix_hit: u32,
    /// The number of outputs at the end.
    pub outputs: u32,
    /// How it finished; `None` if it did not finish.
    pub finish: Option<FinishKind>,
}

/// The judgement of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The number of turns in the record.
    pub turns: u32,
    /// Processed decode rows.
    pub decode_results: u64,
    /// Processed decode rows by lookahead.
    pub lookahead: BTreeMap<i64, u64>,
    /// Rows by class.
    pub decisions: ClassCounts,
    /// Counts of checkpoints.
    pub checkpoints: CheckpointCounts,
    /// Reuse of host masks.
    pub mask_reuse: MaskReuse,
    /// The findings, in the order in which they were made.
    pub findings: Vec<Finding>,
    /// Rows with a decision or a due checkpoint, in order; empty unless [`super::JudgeOptions::keep_boundaries`].
    pub boundaries: Vec<Boundary>,
    /// The outcomes of all requests, by index.
    pub requests: Vec<RequestOutcome>,
    /// Requests pinned before a step that were not admitted in the turn of that step.
    pub pins_missed: Vec<ReqId>,
    /// Requests whose pin had no effect because the other request ended before the step.
    pub pins_ended: Vec<ReqId>,
    /// Scripted events that had no effect: turn and request.
    pub events_unused: Vec<(u32, ReqId)>,
    /// Whether a bound ended the run, and if so whether it was a stall.
    pub bound: Option<bool>,
    /// Whether the record has an index that the judge does not track.
    pub overflow: bool,
    /// The coverage goals that the run reached.
    pub goals: Goals,
}
