//! The host masks of a decode batch, from its prepare until a filter or merge drops them.
//!
//! Owns the values of the arrays. Stores no array: each value is computed from the row that prepare captured.

use crate::record::PreparedRow;

use super::rule::{RowMasks, WantsMasks};

/// The host arrays of one decode batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostMasks {
    /// G, in tokens.
    grid: u32,
    /// Whether the arrays have a mask of the next step.
    next: bool,
    /// Whether the arrays have a snapshot of `decode_batch_idx`.
    counters: bool,
    /// Whether the arrays have a snapshot of the track index.
    tracks: bool,
}

impl HostMasks {
    /// The arrays that a rule wants, on a grid of `grid` tokens.
    pub fn new(wants: WantsMasks, grid: u32, overlap: bool) -> Self {
        assert!(wants != WantsMasks::No && grid > 0, "masks are built only for a rule that reads them");
        HostMasks {
            grid,
            next: overlap && wants != WantsMasks::Own,
            counters: wants != WantsMasks::Own,
            tracks: wants == WantsMasks::MasksAndTrackIdx,
        }
    }

    /// The arrays of one row.
    #[inline]
    pub fn row(self, row: &PreparedRow) -> RowMasks {
        let rest = row.k % self.grid;
        RowMasks {
            mask: rest == 0,
            mask_next: self.next.then_some(rest == self.grid - 1),
            decode_batch_idx: if self.counters { row.decode_batch_idx } else { 0 },
            track_idx: if self.tracks { row.next_track_idx.unwrap_or(0) } else { 0 },
        }
    }

    /// Bytes of all arrays for one row.
    pub fn row_bytes(self) -> u64 {
        1 + u64::from(self.next) + 4 * u64::from(self.counters) + u64::from(self.tracks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(k: u32) -> PreparedRow {
        PreparedRow { k, decode_batch_idx: 7, next_track_idx: Some(1), ..PreparedRow::default() }
    }

    #[test]
    fn one_remainder_serves_both_masks() {
        for grid in 1..=9 {
            let masks = HostMasks::new(WantsMasks::Masks, grid, true);
            for k in 1..=40 {
                let RowMasks { mask, mask_next, decode_batch_idx, track_idx } = masks.row(&row(k));
                assert_eq!((mask, mask_next), (k % grid == 0, Some((k + 1) % grid == 0)));
                assert_eq!((decode_batch_idx, track_idx), (7, 0));
            }
            assert_eq!(masks.row_bytes(), 1 + 1 + 4);
        }
    }

    #[test]
    fn a_rule_that_wants_its_own_mask_gets_nothing_else() {
        let masks = HostMasks::new(WantsMasks::Own, 4, true);
        let expected = |mask| RowMasks { mask, mask_next: None, decode_batch_idx: 0, track_idx: 0 };
        assert_eq!((masks.row(&row(3)), masks.row(&row(4))), (expected(false), expected(true)));
        assert_eq!(masks.row_bytes(), 1);
    }

    #[test]
    fn without_overlap_there_is_no_next_mask() {
        let masks = HostMasks::new(WantsMasks::MasksAndTrackIdx, 4, false);
        assert_eq!(masks.row(&row(4)).mask_next, None);
        assert_eq!(masks.row(&row(5)).track_idx, 1);
        assert_eq!(masks.row_bytes(), 1 + 4 + 1);
    }
}
