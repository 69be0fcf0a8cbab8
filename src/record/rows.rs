//! Facts of many rows or slots in one slice.
//!
//! Owns the expansion: a slice stands for the facts of [`RowFacts::each`], in that order. A sink that does not override
//! [`super::Sink::rows`] receives the single facts, so a record does not show which facts came in a slice.

use crate::engine::Time;

use super::{
    BatchFact, BatchId, BoundaryCheck, DecisionFact, Fact, ForwardFact, Owner, PageFact, PageRange, ReqId, RequestFact,
    SlotFact, SlotId, StreamId,
};

/// Facts of many rows or slots.
#[derive(Clone, Copy, Debug)]
pub enum RowFacts<'a> {
    /// Slots were allocated in one call: [`SlotFact::Alloc`].
    SlotsAlloc(&'a [SlotId], Owner),
    /// Slots were freed in one call: [`SlotFact::Free`].
    SlotsFree(&'a [SlotId], Owner),
    /// Pages were allocated, one for each row: [`PageFact::Alloc`].
    PagesAlloc(&'a [(ReqId, PageRange)]),
    /// Rows were prepared for a decode step: [`BatchFact::PrepareDecode`].
    Prepared(BatchId, &'a [PreparedRow]),
    /// A forward advanced rows by one token. For each row: [`ForwardFact::Step`], then [`ForwardFact::Sampled`].
    Stepped(BatchId, &'a [StepRow]),
    /// Results of rows whose request continues and whose label and kept slot did not change. For each row:
    /// [`RequestFact::Output`], then [`DecisionFact::Row`].
    Results(BatchId, &'a [ResultRow]),
}

/// A row of a batch that was prepared for a decode step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PreparedRow {
    /// The request.
    pub req: ReqId,
    /// `seq_lens[i]`: the length that the step reaches.
    pub k: u32,
    /// `decode_batch_idx` after prepare.
    pub decode_batch_idx: u32,
    /// `kv_committed_len` after prepare.
    pub kv_committed_len: u32,
    /// The active slot.
    pub active: SlotId,
    /// The track slot that receives the state, if the step is on the grid.
    pub track: Option<SlotId>,
    /// `next_track_idx` after prepare, if the strategy has track slots.
    pub next_track_idx: Option<u8>,
}

/// A row of a decode forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepRow {
    /// The request.
    pub req: ReqId,
    /// The length reached.
    pub k: u32,
    /// The slot that was advanced.
    pub slot: SlotId,
    /// A second slot that receives the state afterwards.
    pub track: Option<SlotId>,
    /// The stream of the request's tokens including the sampled token; `None` if an earlier forward sampled this token.
    pub sampled: Option<StreamId>,
}

/// A row of a decode result at which a token was appended and nothing else changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultRow {
    /// When the token was appended.
    pub at: Time,
    /// Live `decode_batch_idx` minus the value at this batch's prepare.
    pub lookahead: i64,
    /// The request.
    pub req: ReqId,
    /// Outputs of the request after this result.
    pub outputs: u32,
    /// Live `kv_committed_len`.
    pub kv_committed_len: u32,
    /// How the rule determined whether the result is a boundary.
    pub check: BoundaryCheck,
}

impl PreparedRow {
    /// The fact for this row.
    pub fn fact(self, batch: BatchId) -> Fact {
        let PreparedRow { req, k, decode_batch_idx, kv_committed_len, active, track, next_track_idx } = self;
        Fact::Batch(BatchFact::PrepareDecode {
            batch,
            req,
            k,
            decode_batch_idx,
            kv_committed_len,
            active,
            track,
            next_track_idx,
        })
    }
}

impl RowFacts<'_> {
    /// Calls `emit` with every fact that the slice stands for, in order.
    pub fn each(self, emit: &mut dyn FnMut(Fact)) {
        match self {
            RowFacts::SlotsAlloc(slots, owner) => {
                for (i, &slot) in slots.iter().enumerate() {
                    emit(Fact::Slot(SlotFact::Alloc { slot, owner, last: i + 1 == slots.len() }));
                }
            }
            RowFacts::SlotsFree(slots, owner) => {
                for (i, &slot) in slots.iter().enumerate() {
                    emit(Fact::Slot(SlotFact::Free { slot, owner, last: i + 1 == slots.len() }));
                }
            }
            RowFacts::PagesAlloc(rows) => {
                for &(req, pages) in rows {
                    emit(Fact::Page(PageFact::Alloc { pages, owner: Owner::Request(req) }));
                }
            }
            RowFacts::Prepared(batch, rows) => rows.iter().for_each(|row| emit(row.fact(batch))),
            RowFacts::Stepped(batch, rows) => {
                for &StepRow { req, k, slot, track, sampled } in rows {
                    emit(Fact::Forward(ForwardFact::Step { batch, req, slot, k, track }));
                    if let Some(stream) = sampled {
                        emit(Fact::Forward(ForwardFact::Sampled { req, len: k, stream }));
                    }
                }
            }
            RowFacts::Results(batch, rows) => {
                for &ResultRow { at, lookahead, req, outputs, kv_committed_len, check } in rows {
                    emit(Fact::Request(RequestFact::Output { batch, req, outputs, at }));
                    emit(Fact::Decision(DecisionFact::Row {
                        batch,
                        req,
                        lookahead,
                        kv_committed_len,
                        check,
                        decision: None,
                    }));
                }
            }
        }
    }
}
