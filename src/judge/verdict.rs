//! What the judge says of a run: verdict, findings, counts.

use std::collections::BTreeMap;

use crate::record::{BatchId, BoundaryCheck, FinishKind, Phase, ReqId, SlotId};

use super::Goals;

/// The verdict of a run, from best to worst; `Inconclusive` if a bound ended the run before anything worse was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Every boundary recorded, every state what its label says, every slot and page accounted for.
    Clean,
    /// Checkpoints lost, nothing wrong.
    Lossy,
    /// A bound ended the run.
    Inconclusive,
    /// A state was offered or used under a label that it does not have.
    Corrupt,
    /// An assertion of the modelled system failed, or its accounting was violated.
    Broken,
}

/// The class of one decision: what a rule did at one result of one request, against what the forward wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Nothing due and nothing done, or the due checkpoint recorded at its own result.
    Agree,
    /// Due, not fired, because it was recorded one result early.
    Settled,
    /// Fired one result ahead, for the step in flight.
    Early,
    /// The right length, another slot than the forward wrote.
    WrongSlot,
    /// A length that no forward has written or will write.
    WrongLabel,
    /// Due and not recorded.
    Missed,
    /// Fired again for a length already recorded.
    Repeat,
}

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// The slot holds the state of another length or of another sequence.
    Mislabelled,
    /// Nobody has written the slot since this request got it.
    Unwritten,
    /// Another request wrote the slot since this one got it.
    Foreign,
    /// Right at this moment, but a forward already launched will change it.
    Aliased,
    /// Read without a happens-before path from the write.
    Torn,
    /// The request itself had started from a wrong state; not counted as a fault of its own.
    Inherited,
    /// A checkpoint that was due at a processed result was never recorded.
    Lost,
    /// An assertion of the modelled system failed.
    Assertion,
    /// A slot or page given out twice, or held by nobody at the end.
    Leak,
    /// A slot or page freed by somebody who does not hold it.
    DoubleFree,
    /// A slot was used by a request that does not hold it, or given to another while a step in flight still uses it.
    UseAfterFree,
    /// Locks that do not balance.
    Lock,
}

impl FindingKind {
    /// The verdict of a run that shows findings of this kind, faults of their own, and no others.
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

/// Something wrong, with where and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind.
    pub kind: FindingKind,
    /// Whose.
    pub req: Option<ReqId>,
    /// The loop turn.
    pub turn: u32,
    /// The CPU phase.
    pub phase: Phase,
    /// The length the state is (to be) cached under, or that was lost.
    pub label: Option<u32>,
    /// How many tokens the slot really holds; `None` when unwritten or where no slot is meant.
    pub holds: Option<u32>,
    /// The slot.
    pub slot: Option<SlotId>,
    /// In words, for people.
    pub reason: String,
    /// For `Inherited`: the index in [`Judgement::findings`] of the finding that it started from, if known.
    pub root: Option<usize>,
    /// What wrote over the state, if the checkpoint was decided rightly.
    pub overwritten: Option<Overwritten>,
}

/// Why a slot does not hold a checkpoint that was decided rightly: a later step of the same request wrote there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overwritten {
    /// The turn of the decision.
    pub decided_turn: u32,
    /// The length of the state that the step wrote.
    pub len: u32,
    /// The batch of that step.
    pub batch: BatchId,
    /// The turn in which that was launched.
    pub turn: u32,
}

/// Counts of decision classes over all processed decode rows.
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
    /// Of these, recorded by the rule.
    pub recorded: u64,
    /// Of these, never recorded.
    pub lost: u64,
    /// Not recorded or not donated because the engine forced it.
    pub skipped: u64,
    /// States offered to the radix tree (prefill and decode, kept or found to exist).
    pub donated: u64,
    /// Tokens to recompute because of loss: best length due minus the length donated, over all releases.
    pub cost_tokens: u64,
}

/// How the rule found its boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskReuse {
    /// Rows answered from a host mask.
    pub reused: u64,
    /// Rows computed again.
    pub recomputed: u64,
    /// Of these, rows whose masks were gone.
    pub lost: u64,
    /// Bytes of host mask arrays built.
    pub bytes: u64,
}

/// One processed decode row that is worth a line: a decision, or a boundary that was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// The loop turn in which the result was processed.
    pub turn: u32,
    /// The batch.
    pub batch: BatchId,
    /// The request.
    pub req: ReqId,
    /// The length that the batch reached for it.
    pub k: u32,
    /// Decode batches prepared for it since.
    pub lookahead: i64,
    /// How the rule found out.
    pub check: BoundaryCheck,
    /// Whether the rule fired.
    pub fired: bool,
    /// The label after, if it fired.
    pub label: Option<u32>,
    /// The kept slot after, if it fired.
    pub slot: Option<SlotId>,
    /// The slot that this step's forward wrote, if a checkpoint was due.
    pub due: Option<SlotId>,
    /// The class.
    pub class: Class,
}

/// What became of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestOutcome {
    /// Whether it was ever seen.
    pub arrived: bool,
    /// Tokens taken from the cache at its first admission.
    pub prefix_hit: u32,
    /// Outputs at the end.
    pub outputs: u32,
    /// How it finished.
    pub finish: Option<FinishKind>,
}

/// The judgement of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Loop turns that did something.
    pub turns: u32,
    /// Processed decode rows.
    pub decode_results: u64,
    /// Processed decode rows by lookahead.
    pub lookahead: BTreeMap<i64, u64>,
    /// Decision classes.
    pub decisions: ClassCounts,
    /// Checkpoints.
    pub checkpoints: CheckpointCounts,
    /// Masks.
    pub mask_reuse: MaskReuse,
    /// Findings in the order in which they were found.
    pub findings: Vec<Finding>,
    /// Rows with a decision or a due boundary, in order; empty unless asked for.
    pub boundaries: Vec<Boundary>,
    /// By request index.
    pub requests: Vec<RequestOutcome>,
    /// Requests pinned before a step that were not admitted in that turn.
    pub pins_missed: Vec<ReqId>,
    /// Requests whose pin came to nothing because the other request ended first.
    pub pins_ended: Vec<ReqId>,
    /// Scripted events that found nothing to do: turn and request.
    pub events_unused: Vec<(u32, ReqId)>,
    /// Whether a bound ended the run, and if so whether it was a stall.
    pub bound: Option<bool>,
    /// Whether the run named more than the judge follows.
    pub overflow: bool,
    /// The coverage goals that the run reached.
    pub goals: Goals,
}
