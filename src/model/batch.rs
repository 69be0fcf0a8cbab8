//! Batches: lists of requests with batch-local arrays; what copy, filter and merge do to them.

use educe::Educe;
use tinyvec::TinyVec;

use crate::record::{BatchId, ForwardMode, PreparedRow, ReqId, SlotId};

use super::masks::HostMasks;
use super::rule::RowMasks;
use super::skew::Glimpse;

/// A value for each row of a batch. Those of a small batch, as searches run them by the million, lie within their owner.
pub type Rows<T> = TinyVec<[T; 4]>;

/// A row that prefills.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prefill {
    /// The cached tokens that it begins behind.
    pub prefix_len: u32,
    /// The slot that keeps a state on the way, and at which length.
    pub track: Option<(SlotId, u32)>,
}

/// A `ScheduleBatch`. Requests are shared by index; everything else here is the batch's own.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct Batch {
    /// Its number, new at every prepare.
    pub id: BatchId,
    /// Which object of the modelled system this is: an alias is the same object, a copy is not.
    pub object: u32,
    /// Its mode.
    pub mode: ForwardMode,
    /// Its requests, in row order.
    pub reqs: Rows<ReqId>,
    /// Lengths that exist once its forward has run, a value a row.
    pub seq_lens: Rows<u32>,
    /// Prefill: where each row begins, and what it keeps; the decode rows of a mixed batch follow without one.
    pub prefills: Rows<Prefill>,
    /// The request that was in chunks when the batch was made.
    pub chunked: Option<ReqId>,
    /// Decode: each row as prepare left it, with the track slot that its step may write; those of a mixed batch follow its prefill rows. The
    /// running batch has them only if it is queued itself: they are made anew for every step.
    pub prepared: Rows<PreparedRow>,
    /// Speculative decoding with the lazy strategy: the track index that each row plans to write, if not dropped.
    pub plan: Option<Rows<u8>>,
    /// Whether the forward keeps a state of a row, and the track slot: as the batch's arrays have it, a value a row.
    /// Speculative decoding leaves those of the prefill behind until a filter or merge drops them. Only for a probe.
    pub track_rows: Vec<(bool, SlotId)>,
    /// What prepare saw of the shared fields, a value a row, if that is asked for.
    pub glimpses: Vec<Glimpse>,
    /// Host masks, if built and not dropped.
    pub masks: Option<HostMasks>,
    /// Admission found no room last time and need not try again.
    pub is_full: bool,
}

impl Batch {
    /// The batch that runs nothing.
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
            glimpses: Vec::new(),
            masks: None,
            is_full: false,
        }
    }

    /// Keeps the rows for which `keep` holds. Arrays are rebuilt, and the masks dropped, only if some rows go and some
    /// stay: when all go, the stale arrays stay behind in a batch that nobody runs (`filter_batch`).
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

    /// Keeps the rows of `kept`, in its order, as a retraction does; nothing changes if all stay. Returns whether masks
    /// were dropped.
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

    /// What the host masks say of decode row `i`, if there are masks.
    pub fn row_masks(&self, i: usize) -> Option<RowMasks> {
        self.masks.map(|masks| masks.row(&self.prepared[i]))
    }

    /// Drops what was made of the rows as they were. Returns whether there were masks.
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
