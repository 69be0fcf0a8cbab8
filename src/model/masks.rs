//! The host masks of a decode batch: built in one pass at prepare, dropped by filter and merge.

use super::batch::Rows;
use super::grid_test::{mark, mark_both};
use super::rule::{RowMasks, WantsMasks};

/// Host arrays of one decode batch, a value a row.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HostMasks {
    /// 1 where this batch's step is on the grid.
    mask: Rows<u8>,
    /// 1 where the step after it is; empty with overlap off, or if the rule does not want it.
    mask_next: Rows<u8>,
    /// `decode_batch_idx` at prepare; empty if the rule does not want it.
    decode_batch_idx: Rows<u32>,
    /// `next_track_idx` at prepare; empty if the rule does not want it.
    track_idx: Rows<u8>,
}

clone_in_place!(HostMasks { mask, mask_next, decode_batch_idx, track_idx });

/// The host masks of a batch, if built and not dropped. Those dropped leave their memory to the next ones.
#[derive(Debug, Default)]
pub struct BatchMasks {
    held: Held,
    arrays: HostMasks,
}

/// What a batch has of masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Held {
    /// None.
    #[default]
    Nothing,
    /// The arrays.
    Arrays,
    /// It was given masks, and the copy of it that was queued has the arrays: nobody looks at them in this one.
    Lent,
}

impl Clone for BatchMasks {
    fn clone(&self) -> Self {
        let mut copy = BatchMasks::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, from: &Self) {
        let BatchMasks { held, arrays } = from;
        self.held = *held;
        // Arrays that were dropped or lent are memory.
        if *held == Held::Arrays {
            self.arrays.clone_from(arrays);
        }
    }
}

impl From<HostMasks> for BatchMasks {
    fn from(arrays: HostMasks) -> Self {
        BatchMasks { held: Held::Arrays, arrays }
    }
}

impl BatchMasks {
    /// The masks.
    #[inline]
    pub fn get(&self) -> Option<&HostMasks> {
        let BatchMasks { held, arrays } = self;
        match held {
            Held::Arrays => Some(arrays),
            Held::Nothing | Held::Lent => None,
        }
    }

    /// Drops the masks. Says whether there were any.
    #[inline]
    pub fn drop_all(&mut self) -> bool {
        std::mem::take(&mut self.held) != Held::Nothing
    }

    /// Masks to be built: from now on there are some, and whoever asks for this writes over all of them.
    #[inline]
    pub fn renew(&mut self) -> &mut HostMasks {
        self.held = Held::Arrays;
        &mut self.arrays
    }

    /// Gives the masks to the copy of the batch that is queued, in place of whatever that one had.
    pub fn lend_to(&mut self, copy: &mut BatchMasks) {
        std::mem::swap(self, copy);
        self.held = if copy.held == Held::Nothing { Held::Nothing } else { Held::Lent };
    }
}

impl HostMasks {
    /// Builds the arrays for `seq_lens` (lengths after this step) on a grid of `grid` tokens.
    pub fn build(wants: WantsMasks, seq_lens: &[u32], grid: u32, overlap: bool, idx: &[u32], track_idx: &[u8]) -> Self {
        let mut masks = HostMasks::default();
        masks.build_into(wants, seq_lens, grid, overlap, idx, track_idx.iter().copied());
        masks
    }

    /// Builds the arrays over those of an older step, in their memory; one pass over the lengths serves both masks.
    /// `track_idx` is asked only if the rule wants it.
    pub fn build_into(
        &mut self,
        wants: WantsMasks,
        seq_lens: &[u32],
        grid: u32,
        overlap: bool,
        idx: &[u32],
        track_idx: impl IntoIterator<Item = u8>,
    ) {
        assert!(wants != WantsMasks::No && grid > 0, "masks are built only for a rule that reads them");
        self.track_idx.clear();
        // What is there is written over, so it need not be cleared.
        self.mask.resize(seq_lens.len(), 0);
        if overlap && wants != WantsMasks::Own {
            self.mask_next.resize(seq_lens.len(), 0);
            mark_both(seq_lens, grid, &mut self.mask, &mut self.mask_next);
        } else {
            self.mask_next.clear();
            mark(seq_lens, grid, &mut self.mask);
        }
        self.decode_batch_idx.copy_from(if wants == WantsMasks::Own { &[] } else { idx });
        if wants == WantsMasks::MasksAndTrackIdx {
            self.track_idx.extend(track_idx);
        }
    }

    /// What the arrays say of row `i`.
    pub fn row(&self, i: usize) -> RowMasks {
        self.rows_from(0).row(i)
    }

    /// The rows from `first` on, to be looked at one after the other.
    pub fn rows_from(&self, first: usize) -> MaskRows<'_> {
        let HostMasks { mask, mask_next, decode_batch_idx, track_idx } = self;
        MaskRows {
            mask: &mask[first..],
            mask_next: mask_next.get(first..).unwrap_or_default(),
            decode_batch_idx: decode_batch_idx.get(first..).unwrap_or_default(),
            track_idx: track_idx.get(first..).unwrap_or_default(),
        }
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        (self.mask.len() + self.mask_next.len() + 4 * self.decode_batch_idx.len() + self.track_idx.len()) as u64
    }
}

/// The arrays, to be read.
#[derive(Clone, Copy, Debug)]
pub struct MaskRows<'a> {
    mask: &'a [u8],
    mask_next: &'a [u8],
    decode_batch_idx: &'a [u32],
    track_idx: &'a [u8],
}

impl<'a> MaskRows<'a> {
    /// How to read `count` rows of masks that have everything but track indices; nothing if these are others.
    #[inline]
    pub fn without_track_idx(&self, count: usize) -> Option<impl Fn(usize) -> RowMasks + use<'a>> {
        let none = self.track_idx.is_empty();
        let [mask, next] = [self.mask, self.mask_next].map(|rows| rows.get(..count));
        let idx = self.decode_batch_idx.get(..count).filter(|_| none);
        let (mask, next, idx) = (mask?, next?, idx?);
        Some(move |i: usize| RowMasks {
            mask: mask[i] != 0,
            mask_next: Some(next[i] != 0),
            decode_batch_idx: idx[i],
            track_idx: 0,
        })
    }

    /// What the arrays say of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> RowMasks {
        RowMasks {
            mask: self.mask[i] != 0,
            mask_next: self.mask_next.get(i).map(|next| *next != 0),
            decode_batch_idx: self.decode_batch_idx.get(i).copied().unwrap_or(0),
            track_idx: self.track_idx.get(i).copied().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_remainder_serves_both_masks() {
        for grid in 1..=9 {
            let lens: Vec<u32> = (1..=40).collect();
            let idx: Vec<u32> = (0..40).collect();
            let masks = HostMasks::build(WantsMasks::Masks, &lens, grid, true, &idx, &[]);
            for (i, len) in lens.iter().enumerate() {
                let row = masks.row(i);
                assert_eq!(row.mask, len % grid == 0);
                assert_eq!(row.mask_next, Some((len + 1) % grid == 0));
                assert_eq!(row.decode_batch_idx, i as u32);
            }
            assert_eq!(masks.bytes(), 40 * (1 + 1 + 4));
        }
    }

    #[test]
    fn a_rule_that_wants_its_own_mask_gets_nothing_else() {
        let masks = HostMasks::build(WantsMasks::Own, &[3, 4], 4, true, &[1, 2], &[0, 1]);
        let row = |mask| RowMasks { mask, mask_next: None, decode_batch_idx: 0, track_idx: 0 };
        assert_eq!((masks.row(0), masks.row(1)), (row(false), row(true)));
        assert_eq!(masks.bytes(), 2);
    }

    #[test]
    fn arrays_of_an_older_step_leave_nothing_behind() {
        let all = [WantsMasks::Own, WantsMasks::Masks, WantsMasks::MasksAndTrackIdx];
        let lens: Vec<u32> = (1..=40).collect();
        let track_idx: Vec<u8> = (0..40).map(|i| i % 2).collect();
        for (old, new) in all.iter().flat_map(|old| all.map(|new| (*old, new))) {
            for (rows, overlap) in [(3, true), (40, true), (3, false), (40, false)] {
                let mut masks = HostMasks::build(old, &lens[..20], 5, true, &lens[..20], &track_idx[..20]);
                let (lens, track_idx) = (&lens[..rows], &track_idx[..rows]);
                masks.build_into(new, lens, 6, overlap, lens, track_idx.iter().copied());
                assert_eq!(masks, HostMasks::build(new, lens, 6, overlap, lens, track_idx));
            }
        }
    }

    #[test]
    fn masks_that_were_lent_can_be_dropped_and_not_be_read() {
        let build = || BatchMasks::from(HostMasks::build(WantsMasks::Own, &[3, 4], 4, true, &[], &[]));
        let (mut live, mut copy) = (build(), BatchMasks::default());
        live.lend_to(&mut copy);
        assert!(live.get().is_none() && live.clone().get().is_none() && copy.get() == build().get());
        assert!(live.clone().drop_all() && live.drop_all() && !live.drop_all());
        live.lend_to(&mut copy);
        assert!(copy.get().is_none() && !copy.drop_all());
    }

    #[test]
    fn without_overlap_there_is_no_next_mask() {
        let masks = HostMasks::build(WantsMasks::MasksAndTrackIdx, &[4, 5], 4, false, &[1, 2], &[0, 1]);
        assert_eq!(masks.row(0).mask_next, None);
        assert_eq!(masks.row(1).track_idx, 1);
        assert_eq!(masks.bytes(), 2 * (1 + 4 + 1));
    }
}
