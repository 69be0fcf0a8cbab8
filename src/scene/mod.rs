//! What there is to see of a run: its spans in lanes, its requests step by step, its slots by what they hold, and who read
//! what whom had written.
//!
//! Owns the shapes that renderers draw, and the sinks that fill them. Refuses to judge: what a slot holds and what a decision
//! is worth it asks of the [`Judge`].

mod builder;
mod live_view;
mod reads;

pub use builder::SceneBuilder;
pub use live_view::{Flight, LiveView, ReqNow, SlotNow, Stage};

use crate::judge::{Class, Judge};
use crate::record::{
    BatchId, BoundaryCheck, Fact, FinishKind, ForwardMode, Owner, Phase, ReqId, SharedField, Sink, SkipReason, SlotId,
};

/// Where a span lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// The scheduler's CPU.
    Cpu,
    /// The stream of the forwards.
    Forward,
    /// The stream that copies results to the host.
    Copy,
}

/// What a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// A CPU phase, or the part of it after a wait.
    Phase(Phase),
    /// The CPU waits for the completion event of the batch.
    Wait,
    /// A forward.
    Forward(ForwardMode),
    /// The copy of a result to the host.
    ResultCopy,
}

/// A stretch of work. Spans are in the order in which they were issued; those of one lane do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where.
    pub lane: Lane,
    /// What.
    pub work: Work,
    /// The batch it works on, if it has one.
    pub batch: Option<BatchId>,
    /// The loop turn in which it was issued.
    pub turn: u32,
    /// When it begins, in virtual nanoseconds.
    pub start_ns: u64,
    /// When it ends.
    pub end_ns: u64,
}

/// A loop turn, for axes and plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnAt {
    /// Its number: turns jump where nothing happens.
    pub turn: u32,
    /// When it begins.
    pub at_ns: u64,
    /// Rows of the batch launched in it; 0 if none was.
    pub rows: u32,
    /// State slots that somebody holds at its end.
    pub slots_used: u32,
    /// Of these, slots of the radix tree.
    pub slots_cached: u32,
    /// Requests seen and not admitted at its end.
    pub waiting: u32,
}

/// One row of one batch: a step of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The request.
    pub req: ReqId,
    /// The batch.
    pub batch: BatchId,
    /// Extend or decode or verify: of the row, so never mixed.
    pub mode: ForwardMode,
    /// The length that it begins from, in tokens.
    pub from: u32,
    /// The length that it reaches.
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
    /// The slot and the length that its forward keeps a state in and of, if it is a boundary.
    pub due: Option<(SlotId, u32)>,
    /// How the rule found out.
    pub check: BoundaryCheck,
    /// What the rule set label and kept slot to, if it fired.
    pub fired: Option<(Option<u32>, Option<SlotId>)>,
    /// What the judge says of the decision, where there was one or one was due.
    pub class: Option<Class>,
    /// Outputs after the result, without those behind the end of the request.
    pub outputs: Option<u32>,
    /// Why its result was passed over, if it was.
    pub skipped: Option<SkipReason>,
}

/// Whether a slot holds what its label says, once all launched forwards have run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// It has no label.
    None,
    /// It does.
    Right,
    /// It would not, were it donated now.
    Exposed,
    /// It was donated, and it does not.
    Wrong,
}

/// A stretch of a slot's life in which nothing about it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The slot.
    pub slot: SlotId,
    /// The turn in which it began.
    pub turn: u32,
    /// When it began, by the CPU.
    pub start_ns: u64,
    /// When it ended, by the CPU.
    pub end_ns: u64,
    /// Who holds it; nobody if it is free.
    pub owner: Option<Owner>,
    /// How many tokens it holds once all launched forwards have run; nothing if nobody has written it since its owner got it.
    pub holds: Option<u32>,
    /// Who wrote it last since its owner got it.
    pub writer: Option<ReqId>,
    /// The label that it is kept or cached under, in tokens.
    pub label: Option<u32>,
    /// Whether label and content agree.
    pub fit: Fit,
    /// When the forward that wrote it ends, if that is later than the beginning.
    pub lands_ns: Option<u64>,
}

/// A result that read a shared field of the request objects, and the span that had written it. Rows of one batch with the same
/// writer are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The field.
    pub field: SharedField,
    /// The span that wrote what was read, if it is known.
    pub from: Option<usize>,
    /// The span of the result that read it.
    pub to: usize,
    /// The first of the rows.
    pub req: ReqId,
    /// How many rows.
    pub rows: u32,
    /// Of these, rows that read a newer value than their prepare saw.
    pub newer: u32,
    /// Of these, rows in which the rule would have done something else with the older one.
    pub changed: u32,
}

/// The life of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// When it arrived, if it was seen.
    pub arrived_ns: Option<u64>,
    /// The turn in which it was seen.
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
    /// How often it was retracted.
    pub retracted: u32,
}

/// A donation to the radix tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Donation {
    /// Who.
    pub req: ReqId,
    /// The label that it believed in.
    pub label: u32,
    /// The length of the key it is cached under.
    pub key_len: u32,
    /// The slot.
    pub slot: SlotId,
    /// The CPU span.
    pub span: usize,
    /// The request had finished; otherwise it goes on.
    pub finished: bool,
    /// The node had a state already, so that the slot was freed again.
    pub existed: bool,
    /// The slot held what the key says, once all launched forwards had run.
    pub right: bool,
}

/// Everything there is to see of a run, or of some turns of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// The turns.
    pub turns: Vec<TurnAt>,
    /// The spans.
    pub spans: Vec<Span>,
    /// The rows of all batches, in order of their prepare.
    pub steps: Vec<Step>,
    /// The slots, in order of the ends of their segments.
    pub segments: Vec<Segment>,
    /// The reads of shared fields.
    pub arrows: Vec<Arrow>,
    /// By request index.
    pub lives: Vec<Life>,
    /// Donations.
    pub donations: Vec<Donation>,
    /// By finding: the span in which it was found.
    pub places: Vec<Option<usize>>,
    /// Where the last span ends.
    pub end_ns: u64,
}

/// A judge and a live view that have seen the same facts: all that is known at one moment.
#[derive(Clone, Debug)]
pub struct JudgedView {
    /// The judge.
    pub judge: Judge,
    /// Where everything stands.
    pub live_view: LiveView,
}

impl JudgedView {
    /// Nothing yet.
    pub fn new(judge: Judge) -> JudgedView {
        JudgedView { judge, live_view: LiveView::default() }
    }

    /// A slot as it is now.
    pub fn slot(&self, slot: SlotId) -> SlotNow {
        self.live_view.slot(&self.judge, slot)
    }
}

impl Sink for JudgedView {
    fn fact(&mut self, fact: Fact) {
        self.judge.fact(fact);
        self.live_view.fact(fact);
    }
}
