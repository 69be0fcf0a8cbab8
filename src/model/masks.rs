//! The host masks of a decode batch: built in one pass at prepare, dropped by filter and merge.

use educe::Educe;

use super::batch::Rows;
use super::rule::{RowMasks, WantsMasks};

/// Host arrays of one decode batch.
#[derive(Educe, Debug, Default, PartialEq, Eq)]
#[educe(Clone)]
pub struct HostMasks {
    rows: Rows<RowMasks>,
    /// Bytes of the arrays that the rule wants.
    bytes: u64,
}

impl HostMasks {
    /// Builds the arrays on a grid of `grid` tokens. A row is its length after this step, and `decode_batch_idx` and `next_track_idx` of its
    /// request after prepare.
    pub fn build(wants: WantsMasks, grid: u32, overlap: bool, rows: impl IntoIterator<Item = (u32, u32, u8)>) -> Self {
        assert!(wants != WantsMasks::No && grid > 0, "masks are built only for a rule that reads them");
        let (next, counters) = (overlap && wants != WantsMasks::Own, wants != WantsMasks::Own);
        let tracks = wants == WantsMasks::MasksAndTrackIdx;
        let row = |(len, idx, track_idx): (u32, u32, u8)| {
            let rest = len % grid;
            RowMasks {
                mask: rest == 0,
                mask_next: next.then_some(rest == grid - 1),
                decode_batch_idx: if counters { idx } else { 0 },
                track_idx: if tracks { track_idx } else { 0 },
            }
        };
        let rows: Rows<RowMasks> = rows.into_iter().map(row).collect();
        let row_bytes = 1 + u64::from(next) + 4 * u64::from(counters) + u64::from(tracks);
        HostMasks { bytes: row_bytes * rows.len() as u64, rows }
    }

    /// What the arrays say of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> RowMasks {
        self.rows[i]
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_remainder_serves_both_masks() {
        for grid in 1..=9 {
            let lens: Vec<u32> = (1..=40).collect();
            let masks = HostMasks::build(WantsMasks::Masks, grid, true, lens.iter().map(|&len| (len, len - 1, 0)));
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
        let masks = HostMasks::build(WantsMasks::Own, 4, true, [(3, 1, 0), (4, 2, 1)]);
        let row = |mask| RowMasks { mask, mask_next: None, decode_batch_idx: 0, track_idx: 0 };
        assert_eq!((masks.row(0), masks.row(1)), (row(false), row(true)));
        assert_eq!(masks.bytes(), 2);
    }

    #[test]
    fn without_overlap_there_is_no_next_mask() {
        let masks = HostMasks::build(WantsMasks::MasksAndTrackIdx, 4, false, [(4, 1, 0), (5, 2, 1)]);
        assert_eq!(masks.row(0).mask_next, None);
        assert_eq!(masks.row(1).track_idx, 1);
        assert_eq!(masks.bytes(), 2 * (1 + 4 + 1));
    }
}
