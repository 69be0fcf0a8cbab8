//! The scene of a run: everything that renderers draw, as plain data.
//!
//! The vocabulary of all drawings:
//! * A *lane* is a row of a drawing: the CPU, a GPU stream, a request, a slot.
//! * A *span* is a stretch of time in a lane: [`Span`] for work, [`RequestStep`] for a request, [`SlotSegment`] for a
//!   slot.
//! * A *mark* stands at one instant of a lane: an arrival, an end, a boundary, a donation, a finding.
//! * An *arrow* leads from one span to another: a result that reads what another span wrote.
//!
//! This module owns these shapes and the sinks that fill them. It takes contents of slots and classes of decisions from
//! the [`Judge`].

mod builder;
mod live_view;
mod reads;
mod span;

pub use builder::SceneBuilder;
pub use live_view::{InFlight, LiveView, RequestStatus, RequestView, SlotView};
pub use span::{Lane, Span, Work};

use crate::judge::{Class, Judge};
use crate::record::{
    BatchId, BoundaryCheck, Fact, FinishKind, ForwardMode, Owner, ReqId, SharedField, Sink, SkipReason, SlotId,
};

/// A loop turn, for axes and plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnAt {
    /// The number of the turn. Numbers jump where nothing happens.
    pub turn: u32,
    /// When it begins.
    pub at_ns: u64,
    /// Rows of the batch launched in it; 0 if none was.
    pub rows: u32,
    /// State slots that are not free at its end.
    pub slots_used: u32,
    /// State slots of the radix tree at its end.
    pub slots_cached: u32,
    /// Requests seen and not admitted at its end.
    pub waiting: u32,
}

/// A step of a request: one row of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestStep {
    /// The request.
    pub req: ReqId,
    /// The batch.
    pub batch: BatchId,
    /// The mode of the row: extend, decode or verify, never mixed.
    pub mode: ForwardMode,
    /// The length before the step, in tokens.
    pub from: u32,
    /// The length after the step, in tokens.
    pub k: u32,
    /// The span of its prepare.
    pub prepare: Option<usize>,
    /// The span of its forward.
    pub forward: Option<usize>,
    /// The span of its result, if that was processed.
    pub result: Option<usize>,
    /// `kv_committed_len` after prepare.
    pub committed_at_prepare: u32,
    /// Live `kv_committed_len` at the result.
    pub committed_at_result: Option<u32>,
    /// L at the result of a decode row.
    pub lookahead: Option<i64>,
    /// At a boundary: the track slot that its forward writes, and the length of that state.
    pub due: Option<(SlotId, u32)>,
    /// How the rule found its boundary.
    pub check: BoundaryCheck,
    /// Label and kept slot after the decision, if the rule fired.
    pub fired: Option<(Option<u32>, Option<SlotId>)>,
    /// The judge's class of the decision, if the rule fired or a checkpoint was due.
    pub class: Option<Class>,
    /// Outputs after the result, up to the end of the request.
    pub outputs: Option<u32>,
    /// Why its result was skipped, if it was.
    pub skipped: Option<SkipReason>,
}

/// Whether a slot, once all launched forwards have run, holds the state that its label names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// It has no label.
    None,
    /// Label and content agree.
    Right,
    /// They differ: a donation now would be wrong.
    Exposed,
    /// They differ, and the slot was donated.
    Wrong,
}

/// A span of a slot in which owner, content and label stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotSegment {
    /// The slot.
    pub slot: SlotId,
    /// The turn in which it began.
    pub turn: u32,
    /// When it began, on the clock of the CPU.
    pub start_ns: u64,
    /// When it ended, on the clock of the CPU.
    pub end_ns: u64,
    /// The owner; `None` if the slot is free.
    pub owner: Option<Owner>,
    /// The length of its content in tokens once all launched forwards have run; `None` if no forward has written the
    /// slot since its owner got it.
    pub holds: Option<u32>,
    /// The request that wrote it last since its owner got it.
    pub writer: Option<ReqId>,
    /// The label under which it is kept or cached, in tokens.
    pub label: Option<u32>,
    /// Whether label and content agree.
    pub fit: Fit,
    /// When the forward that wrote it ends, if that is after `start_ns`.
    pub lands_ns: Option<u64>,
}

/// A read of a shared field of request objects: from the span that wrote it to the result that reads it. Rows of one
/// batch that read from the same span share an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The field.
    pub field: SharedField,
    /// The span that wrote the field, if it is known.
    pub from: Option<usize>,
    /// The span of the result that read it.
    pub to: usize,
    /// The request of the first row.
    pub req: ReqId,
    /// The number of rows.
    pub rows: u32,
    /// The number of rows that read a newer value than their prepare saw.
    pub newer: u32,
    /// The number of rows in which the rule would have decided otherwise with the older value.
    pub changed: u32,
}

/// The life of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestLife {
    /// When it arrived, if the scheduler has seen it.
    pub arrived_ns: Option<u64>,
    /// The turn in which the scheduler saw it.
    pub seen: Option<u32>,
    /// Tokens of its prompt.
    pub prompt_len: u32,
    /// Tokens taken from the cache at its last admission.
    pub hit: u32,
    /// Outputs so far.
    pub outputs: u32,
    /// How it finished.
    pub finish: Option<FinishKind>,
    /// When it finished.
    pub finished_ns: Option<u64>,
    /// The number of retractions.
    pub retracted: u32,
}

/// A donation to the radix tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DonationMark {
    /// The request.
    pub req: ReqId,
    /// The label of the state, in tokens.
    pub label: u32,
    /// The length of its key in the tree, in tokens.
    pub key_len: u32,
    /// The slot.
    pub slot: SlotId,
    /// The CPU span in which it happens.
    pub span: usize,
    /// Whether the request had finished.
    pub finished: bool,
    /// Whether the node had a state already. The slot is freed then.
    pub existed: bool,
    /// Whether the slot, once all launched forwards had run, held the state of the key.
    pub right: bool,
}

/// All that renderers draw of a run, or of some turns of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// The turns.
    pub turns: Vec<TurnAt>,
    /// The spans of CPU and GPU streams, in the order in which they were issued.
    pub spans: Vec<Span>,
    /// The rows of all batches, in order of their prepare.
    pub steps: Vec<RequestStep>,
    /// The segments of all slots, in order of their ends.
    pub segments: Vec<SlotSegment>,
    /// The reads of shared fields.
    pub arrows: Vec<Arrow>,
    /// The lives of requests, by request index.
    pub lives: Vec<RequestLife>,
    /// Donations.
    pub donations: Vec<DonationMark>,
    /// By finding: the CPU span in which it was found.
    pub places: Vec<Option<usize>>,
    /// Where the last span ends.
    pub end_ns: u64,
}

/// A judge and a live view that have seen the same facts.
#[derive(Clone, Debug)]
pub struct JudgedView {
    /// The judge.
    pub judge: Judge,
    /// Requests and slots after these facts.
    pub live_view: LiveView,
}

impl JudgedView {
    /// A view before any fact.
    pub fn new(judge: Judge) -> JudgedView {
        JudgedView { judge, live_view: LiveView::default() }
    }

    /// A slot after the facts so far.
    pub fn slot(&self, slot: SlotId) -> SlotView {
        self.live_view.slot(&self.judge, slot)
    }
}

impl Sink for JudgedView {
    fn fact(&mut self, fact: Fact) {
        self.judge.fact(fact);
        self.live_view.fact(fact);
    }
}
