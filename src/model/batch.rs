//! Batches: lists of requests with arrays of their own, and copy, filter and merge.

use educe::Educe;
use tinyvec::TinyVec;

use crate::record::{BatchId, ForwardMode, PreparedRow, ReqId, SlotId};

use super::masks::HostMasks;
use super::rule::RowMasks;
use super::skew::FieldSnapshot;

/// A value for each row of a batch. Up to four values are stored inline, without an allocation: searches run many small
/// batches.
pub type Rows<T> = TinyVec<[T; 4]>;

/// A prefill row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prefill {
    /// Cached tokens before its new tokens.
    pub prefix_len: u32,
    /// The track slot that its forward writes, and the length of the state.
    pub track: Option<(SlotId, u32)>,
}

/// A `ScheduleBatch`. Requests are shared by index; all other fields are the batch's own.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct Batch {
    /// Its number; each prepare gives a new one.
    pub id: BatchId,
    /// The object of the modelled system: an alias has the same object, a copy has its own.
    pub object: u32,
    /// Its mode.
    pub mode: ForwardMode,
    /// Its requests, in row order.
    pub reqs: Rows<ReqId>,
    /// The length of each row once the forward has run.
    pub seq_lens: Rows<u32>,
    /// The prefill rows. The decode rows of a mixed batch follow them in `reqs` and have no entry here.
    pub prefills: Rows<Prefill>,
    /// The request that was in chunks when the batch was made.
    pub chunked: Option<ReqId>,
    /// The decode rows as prepare captured them, with the track slot that the step may write. The running batch has
    /// them only if it is queued itself (`ResultQueue::Alias`): each step captures them anew.
    pub prepared: Rows<PreparedRow>,
    /// Speculative decoding with a second slot on demand: the track index that each row plans to write. `None` once
    /// dropped.
    pub plan: Option<Rows<u8>>,
    /// The track mask and the track slot of each row, as the arrays of the batch have them. With speculative decoding,
    /// the values of the prefill stay until a filter or merge drops them. Only for a probe.
    pub track_rows: Vec<(bool, SlotId)>,
    /// The shared fields of each row at prepare, if skew is reported.
    pub field_snapshots: Vec<FieldSnapshot>,
    /// The host masks. `None` if the rule wants none, or once they are dropped.
    pub masks: Option<HostMasks>,
    /// Admission found no room and does not try again (`batch_is_full`).
    pub is_full: bool,
}

impl Batch {
    /// A batch without rows.
    pub fn empty(object: u32) -> Self {
        Batch {
            id: BatchId(0),
            object,
            mode: ForwardMode::Decode,
            reqs: Rows::new(),
            seq_lens: Rows::new(),
            prefills: Rows::new(),
            chunked: None,
            prepared: Rows::new(),
            plan: None,
            track_rows: Vec::new(),
            field_snapshots: Vec::new(),
            masks: None,
            is_full: false,
        }
    }

    /// Keeps the rows for which `keep` holds (`filter_batch`). Arrays are rebuilt and masks dropped only if some rows
    /// go and some stay. If all rows go, the stale arrays stay in a batch that is not run.
    ///
    /// Returns whether masks were dropped.
    pub fn filter(&mut self, keep: impl Fn(ReqId) -> bool) -> bool {
        if self.reqs.iter().all(|&req| keep(req)) {
            return false;
        }
        let kept = self.reqs.iter().copied().zip(self.seq_lens.iter().copied()).filter(|&(req, _)| keep(req));
        let (reqs, seq_lens): (Rows<ReqId>, Rows<u32>) = kept.unzip();
        self.reqs = reqs;
        if self.reqs.is_empty() {
            return false;
        }
        self.seq_lens = seq_lens;
        self.drop_derived()
    }

    /// Keeps the rows of `kept`, in that order, as a retraction does. Nothing changes if all rows stay. Returns whether
    /// masks were dropped.
    pub fn keep_in_order(&mut self, kept: &[ReqId]) -> bool {
        if kept.len() == self.reqs.len() {
            return false;
        }
        if kept.is_empty() {
            self.reqs.clear();
            return false;
        }
        let rows = self.reqs.iter().zip(&self.seq_lens);
        let lens: Rows<u32> =
            kept.iter().filter_map(|req| rows.clone().find(|row| row.0 == req)).map(|row| *row.1).collect();
        self.reqs = kept.into();
        self.seq_lens = lens;
        self.drop_derived()
    }

    /// Appends the rows of `other` and drops the masks (`merge_batch`). Returns whether masks were dropped.
    pub fn merge(&mut self, other: &Batch) -> bool {
        self.reqs.extend_from_slice(&other.reqs);
        self.seq_lens.extend_from_slice(&other.seq_lens);
        self.drop_derived()
    }

    /// The host masks of decode row `i`, if the batch has masks.
    pub fn row_masks(&self, i: usize) -> Option<RowMasks> {
        self.masks.map(|masks| masks.row(&self.prepared[i]))
    }

    /// Drops the arrays that were made for the previous rows. Returns whether there were masks.
    fn drop_derived(&mut self) -> bool {
        self.plan = None;
        self.track_rows.clear();
        self.masks.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rule::WantsMasks;

    fn batch(reqs: &[u32]) -> Batch {
        let lens: Vec<u32> = reqs.iter().map(|r| r * 10).collect();
        let masks = HostMasks::new(WantsMasks::Masks, 4, true);
        Batch {
            reqs: reqs.iter().map(|&r| ReqId(r)).collect(),
            seq_lens: lens.as_slice().into(),
            masks: Some(masks),
            ..Batch::empty(1)
        }
    }

    #[test]
    fn a_filter_that_removes_some_drops_the_masks() {
        let mut some = batch(&[1, 2, 3]);
        assert!(some.filter(|req| req != ReqId(2)));
        assert_eq!(
            (some.reqs.as_slice(), some.seq_lens.as_slice()),
            ([ReqId(1), ReqId(3)].as_slice(), [10, 30].as_slice())
        );
        assert!(some.masks.is_none());
    }

    #[test]
    fn a_filter_that_removes_none_or_all_keeps_them() {
        let mut none = batch(&[1, 2]);
        assert!(!none.filter(|_| true) && none.masks.is_some());
        let mut all = batch(&[1, 2]);
        assert!(!all.filter(|_| false) && all.masks.is_some() && all.reqs.is_empty());
    }

    #[test]
    fn a_merge_drops_the_masks_and_a_copy_keeps_its_own() {
        let mut live = batch(&[1]);
        let copy = live.clone();
        assert!(live.merge(&batch(&[2])));
        assert_eq!(live.reqs[..], [ReqId(1), ReqId(2)]);
        assert!(live.masks.is_none() && copy.masks.is_some());
    }
}
