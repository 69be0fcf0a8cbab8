//! Facts that follow each other and differ by row or page alone, told at once.
//!
//! Owns what a bulk stands for: exactly the facts of [`Bulk::each`], in that order. A sink that makes nothing of a bulk is told
//! them one by one, so what is told at once and what is not can never be seen in a record.

use crate::engine::Time;

use super::{BatchId, Check, Fact, Owner, PageId, ReqId, SlotId, StreamId};

/// Several facts.
pub enum Bulk<'a> {
    /// Pages went from one owner to another: [`Fact::PageAlloc`], [`Fact::PageMove`] or [`Fact::PageFree`] of each run of
    /// consecutive numbers.
    Pages {
        /// The pages, in order.
        pages: &'a [PageId],
        /// Who held them; `None` if they were free.
        from: Option<Owner>,
        /// Who holds them now; `None` if they are free.
        to: Option<Owner>,
    },
    /// Each request got a page: [`Fact::PageAlloc`].
    PageEach {
        /// The requests.
        reqs: &'a [ReqId],
        /// A page for each.
        pages: &'a [PageId],
    },
    /// Rows were prepared for a decode step: [`Fact::PrepareDecode`].
    Prepared {
        /// The batch.
        batch: BatchId,
        /// The requests.
        reqs: &'a [ReqId],
        /// The lengths that the step reaches.
        ks: &'a [u32],
        /// The whole fact about a row.
        row: &'a dyn Fn(usize) -> Fact,
    },
    /// A forward advanced rows by one token each, and each sampled a new one: [`Fact::Step`] and [`Fact::Sampled`] of a row,
    /// then of the next.
    Stepped {
        /// The batch.
        batch: BatchId,
        /// The requests.
        reqs: &'a [ReqId],
        /// The lengths reached: as many tokens as the request had.
        ks: &'a [u32],
        /// Active slot, and the track slot that receives the state.
        slots: &'a [(SlotId, Option<SlotId>)],
        /// The streams that their tokens lie on with those sampled.
        streams: &'a [StreamId],
    },
    /// Rows of a result at which nothing came of the rule: [`Fact::Output`] and [`Fact::Row`] of a row, then of the next.
    Quiet {
        /// The batch.
        batch: BatchId,
        /// The rows.
        rows: &'a [Quiet],
    },
}

/// A row of a result at which a token was appended and nothing else changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quiet {
    /// When the token was appended.
    pub at: Time,
    /// Live `decode_batch_idx` minus the value at this batch's prepare.
    pub lookahead: i64,
    /// The request.
    pub req: ReqId,
    /// How many outputs it has now.
    pub outputs: u32,
    /// Live `kv_committed_len`.
    pub kv_committed_len: u32,
    /// How the rule found out.
    pub check: Check,
}

impl Bulk<'_> {
    /// Tells the facts one by one.
    pub fn each(&self, tell: &mut dyn FnMut(Fact)) {
        match *self {
            Bulk::Pages { pages, from, to } => {
                for (first, count) in runs(pages) {
                    tell(match (from, to) {
                        (None, Some(owner)) => Fact::PageAlloc { first, count, owner },
                        (Some(from), Some(to)) => Fact::PageMove { first, count, from, to },
                        (Some(owner), None) => Fact::PageFree { first, count, owner },
                        (None, None) => unreachable!("free pages stay free without a word"),
                    });
                }
            }
            Bulk::PageEach { reqs, pages } => {
                for (&req, &first) in reqs.iter().zip(pages) {
                    tell(Fact::PageAlloc { first, count: 1, owner: Owner::Request(req) });
                }
            }
            Bulk::Prepared { reqs, row, .. } => (0..reqs.len()).for_each(|i| tell(row(i))),
            Bulk::Stepped { batch, reqs, ks, slots, streams } => {
                for (i, &req) in reqs.iter().enumerate() {
                    let (k, (slot, track)) = (ks[i], slots[i]);
                    tell(Fact::Step { batch, req, slot, k, track });
                    tell(Fact::Sampled { req, len: k, stream: streams[i] });
                }
            }
            Bulk::Quiet { batch, rows } => {
                for &Quiet { at, lookahead, req, outputs, kv_committed_len, check } in rows {
                    tell(Fact::Output { batch, req, outputs, at });
                    tell(Fact::Row { batch, req, lookahead, kv_committed_len, check });
                }
            }
        }
    }
}

/// Splits pages into maximal runs of consecutive numbers: `(first, count)`.
pub fn runs(pages: &[PageId]) -> impl Iterator<Item = (PageId, u32)> + '_ {
    pages.chunk_by(|a, b| b.0 == a.0.wrapping_add(1)).map(|run| (run[0], run.len() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_maximal_and_in_order() {
        let pages = [3, 4, 5, 9, 1, 2].map(PageId);
        let runs: Vec<_> = runs(&pages).map(|(first, count)| (first.0, count)).collect();
        assert_eq!(runs, [(3, 3), (9, 1), (1, 2)]);
    }
}
