//! The host masks of a decode batch: built in one pass at prepare, dropped by filter and merge.

use super::batch::Rows;
use super::rule::{RowMasks, WantsMasks};

/// Host arrays of one decode batch, a value a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostMasks {
    /// Whether this batch's step is on the grid.
    mask: Rows<bool>,
    /// Whether the step after it is; empty with overlap off, or if the rule does not want it.
    mask_next: Rows<bool>,
    /// `decode_batch_idx` at prepare; empty if the rule does not want it.
    decode_batch_idx: Rows<u32>,
    /// `next_track_idx` at prepare; empty if the rule does not want it.
    track_idx: Rows<u8>,
}

impl HostMasks {
    /// Builds the arrays for `seq_lens` (lengths after this step) on a grid of `grid` tokens; `idx` and `track_idx` are those of the requests
    /// after prepare.
    pub fn build(
        wants: WantsMasks,
        seq_lens: &[u32],
        grid: u32,
        overlap: bool,
        idx: &[u32],
        track_idx: impl IntoIterator<Item = u8>,
    ) -> Self {
        assert!(wants != WantsMasks::No && grid > 0, "masks are built only for a rule that reads them");
        let mut masks = HostMasks::default();
        for &len in seq_lens {
            let rest = len % grid;
            masks.mask.push(rest == 0);
            if overlap && wants != WantsMasks::Own {
                masks.mask_next.push(rest == grid - 1);
            }
        }
        if wants != WantsMasks::Own {
            masks.decode_batch_idx.extend_from_slice(idx);
        }
        if wants == WantsMasks::MasksAndTrackIdx {
            masks.track_idx.extend(track_idx);
        }
        masks
    }

    /// What the arrays say of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> RowMasks {
        let HostMasks { mask, mask_next, decode_batch_idx, track_idx } = self;
        RowMasks {
            mask: mask[i],
            mask_next: mask_next.get(i).copied(),
            decode_batch_idx: decode_batch_idx.get(i).copied().unwrap_or(0),
            track_idx: track_idx.get(i).copied().unwrap_or(0),
        }
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        (self.mask.len() + self.mask_next.len() + 4 * self.decode_batch_idx.len() + self.track_idx.len()) as u64
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
            let masks = HostMasks::build(WantsMasks::Masks, &lens, grid, true, &idx, []);
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
        let masks = HostMasks::build(WantsMasks::Own, &[3, 4], 4, true, &[1, 2], [0, 1]);
        let row = |mask| RowMasks { mask, mask_next: None, decode_batch_idx: 0, track_idx: 0 };
        assert_eq!((masks.row(0), masks.row(1)), (row(false), row(true)));
        assert_eq!(masks.bytes(), 2);
    }

    #[test]
    fn without_overlap_there_is_no_next_mask() {
        let masks = HostMasks::build(WantsMasks::MasksAndTrackIdx, &[4, 5], 4, false, &[1, 2], [0, 1]);
        assert_eq!(masks.row(0).mask_next, None);
        assert_eq!(masks.row(1).track_idx, 1);
        assert_eq!(masks.bytes(), 2 * (1 + 4 + 1));
    }
}
