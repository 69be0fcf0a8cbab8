//! Which lengths are on a grid, for all rows of a batch at once and without a division a row.
//!
//! Owns the arithmetic; it is exact for every length and grid. Refuses to know what a mask is for.
//!
//! A grid is `odd * 2^shift`. A length is on it when its low `shift` bits are 0 and `odd` divides it. The second holds
//! exactly when `len * inverse`, in 32 bits, is at most `u32::MAX / odd`, where `odd * inverse` is 1 in 32 bits: the
//! product is a permutation of all numbers that takes the multiples of `odd` to the quotients. A length one short of the
//! grid is `odd - 1` above a multiple, so the same product, moved by a constant, answers for the next step as well.
//! Multiplications and comparisons of 32 bits have vector instructions on every x86-64; a division has none.

/// Rows that are tested together: their answers fill one vector of bytes.
const LANES: usize = 16;

/// The constants of a grid that is no power of two.
///
/// Vectors compare signed numbers only. So the quotients that are asked for, 0 to some greatest one, are moved up until the
/// greatest is `i32::MAX`: they are those above a bound, and the numbers that were beyond them have wrapped below it.
#[derive(Clone, Copy)]
struct GridTest {
    /// Of the odd part.
    inverse: u32,
    /// The bits that the even part wants to be 0.
    low: u32,
    /// How far the quotients of lengths on the grid are moved up, and what is then just below them.
    up: u32,
    below: i32,
    /// The same for lengths one step short of the grid, the step included.
    up_next: u32,
    below_next: i32,
}

impl GridTest {
    fn new(grid: u32) -> GridTest {
        let shift = grid.trailing_zeros();
        let odd = grid >> shift;
        assert!(odd > 1, "a power of two has a test of its own");
        // Right to five bits; each turn doubles them.
        let mut inverse = odd.wrapping_mul(3) ^ 2;
        for _ in 0..3 {
            inverse = inverse.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        let greatest = u32::MAX / odd;
        let up = i32::MAX as u32 - greatest;
        // The last run of `odd` numbers is incomplete, so no length is a step short of its end.
        let up_next = up + 1;
        GridTest {
            inverse,
            low: (1 << shift) - 1,
            up,
            below: up as i32 - 1,
            // `(len - (odd - 1)) * inverse` is `len * inverse + inverse - 1`.
            up_next: up_next.wrapping_add(inverse.wrapping_sub(1)),
            below_next: up_next as i32 - 1,
        }
    }

    #[inline(always)]
    fn on_grid(&self, len: u32) -> u8 {
        let moved = len.wrapping_mul(self.inverse).wrapping_add(self.up) as i32;
        u8::from((moved > self.below) & (len & self.low == 0))
    }

    #[inline(always)]
    fn one_short(&self, len: u32) -> u8 {
        let moved = len.wrapping_mul(self.inverse).wrapping_add(self.up_next) as i32;
        u8::from((moved > self.below_next) & (len & self.low == self.low))
    }
}

/// Sets `mask` to 1 where a length is a multiple of `grid` (at least 1) and to 0 elsewhere, a byte a length.
pub fn mark(lens: &[u32], grid: u32, mask: &mut [u8]) {
    let low = grid - 1;
    if grid & low == 0 {
        fill(lens, mask, |len| u8::from(len & low == 0), |len| u8::from(len & low == 0));
    } else {
        let test = GridTest::new(grid);
        fill(lens, mask, |len| test.on_grid(len), |len| u8::from(len % grid == 0));
    }
}

/// Does the same, and sets `next` to 1 where the length one greater would be a multiple of `grid`, in the same pass.
/// The greatest length is followed by 2^32, not by 0.
pub fn mark_both(lens: &[u32], grid: u32, mask: &mut [u8], next: &mut [u8]) {
    let low = grid - 1;
    if grid & low == 0 {
        let test = |len: u32| (u8::from(len & low == 0), u8::from(len & low == low));
        fill_both(lens, mask, next, test, test);
    } else {
        let test = GridTest::new(grid);
        let divide = |len: u32| {
            let rest = len % grid;
            (u8::from(rest == 0), u8::from(rest == low))
        };
        fill_both(lens, mask, next, |len| (test.on_grid(len), test.one_short(len)), divide);
    }
}

/// The places of a mask that are not 0, in order. Nearly all are 0: whole vectors are passed at once.
pub fn marked(mask: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let some = |lanes: &[u8]| lanes.iter().fold(0, |seen, lane| seen | lane) != 0;
    let places = |(at, lanes): (usize, &[u8])| at * LANES..at * LANES + lanes.len();
    let chunks = mask.chunks(LANES).enumerate().filter(move |(_, lanes)| some(lanes));
    chunks.flat_map(places).filter(|&at| mask[at] != 0)
}

/// Whole vectors by `test`, what is left by `rest`. Vectors are gathered in place and stored at once: the compiler
/// then knows that no store touches a length that is still to be read.
#[inline(always)]
fn fill(lens: &[u32], mask: &mut [u8], test: impl Fn(u32) -> u8, rest: impl Fn(u32) -> u8) {
    assert!(mask.len() == lens.len(), "a byte a length");
    let (lens, lens_rest) = lens.as_chunks::<LANES>();
    let (mask, mask_rest) = mask.as_chunks_mut::<LANES>();
    for (mask, lens) in mask.iter_mut().zip(lens) {
        let mut own = [0; LANES];
        for i in 0..LANES {
            own[i] = test(lens[i]);
        }
        *mask = own;
    }
    for (mask, len) in mask_rest.iter_mut().zip(lens_rest) {
        *mask = rest(*len);
    }
}

#[inline(always)]
fn fill_both(
    lens: &[u32],
    mask: &mut [u8],
    next: &mut [u8],
    test: impl Fn(u32) -> (u8, u8),
    rest: impl Fn(u32) -> (u8, u8),
) {
    assert!(mask.len() == lens.len() && next.len() == lens.len(), "a byte a length");
    let (lens, lens_rest) = lens.as_chunks::<LANES>();
    let (mask, mask_rest) = mask.as_chunks_mut::<LANES>();
    let (next, next_rest) = next.as_chunks_mut::<LANES>();
    for ((mask, next), lens) in mask.iter_mut().zip(next).zip(lens) {
        let (mut own, mut ahead) = ([0; LANES], [0; LANES]);
        for i in 0..LANES {
            (own[i], ahead[i]) = test(lens[i]);
        }
        (*mask, *next) = (own, ahead);
    }
    for ((mask, next), len) in mask_rest.iter_mut().zip(next_rest).zip(lens_rest) {
        (*mask, *next) = rest(*len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both passes say of `lens` what remainders say.
    fn check(lens: &[u32], grid: u32) {
        let (mut own, mut mask, mut next) = (vec![7; lens.len()], vec![7; lens.len()], vec![7; lens.len()]);
        mark(lens, grid, &mut own);
        mark_both(lens, grid, &mut mask, &mut next);
        assert_eq!(own, mask, "grid {grid}");
        for (i, len) in lens.iter().enumerate() {
            assert_eq!(mask[i] == 1, len % grid == 0, "{len} on a grid of {grid}");
            assert_eq!(next[i] == 1, len % grid == grid - 1, "{len} one short of a grid of {grid}");
            assert!(mask[i] <= 1 && next[i] <= 1);
        }
        assert!(marked(&mask).eq((0..mask.len()).filter(|&at| mask[at] != 0)));
    }

    /// Lengths where a wrong constant shows: both ends, and around the middle, where signed numbers wrap.
    fn edges(grid: u32) -> Vec<u32> {
        let reach = 2 * grid.min(600) + 3;
        let ends = (0..reach).chain((0..reach).map(|below| u32::MAX - below));
        let middle = (0..reach).map(|i| (1 << 31) - reach / 2 + i);
        // The last multiple that fits, and its neighbours.
        let last = u32::MAX / grid * grid;
        ends.chain(middle).chain([last.wrapping_sub(1), last, last.saturating_add(1)]).collect()
    }

    #[test]
    fn all_small_grids_at_the_edges() {
        (1..=600).for_each(|grid| check(&edges(grid), grid));
    }

    #[test]
    fn great_grids_at_the_edges() {
        for shift in 0..32 {
            for odd in [1_u32, 3, 5, 7, 641, 6_700_417, u32::MAX] {
                if let Some(grid) = odd.checked_mul(1 << shift) {
                    check(&edges(grid), grid);
                }
            }
        }
    }

    #[test]
    fn every_count_of_rows_around_a_vector() {
        for count in 0..=3 * LANES as u32 {
            for grid in [1, 4, 5, 192] {
                check(&(0..count).map(|i| 190 + i).collect::<Vec<u32>>(), grid);
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_length_on_any_grid(lens in proptest::collection::vec(proptest::num::u32::ANY, 1..80), grid in 1_u32..) {
            check(&lens, grid);
            check(&lens, 1 + grid % 600);
        }

        #[test]
        fn multiples_and_their_neighbours(factors in proptest::collection::vec(proptest::num::u32::ANY, 1..80), grid in 1_u32..70_000) {
            let lens: Vec<u32> = factors.iter().flat_map(|factor| {
                let multiple = factor % (u32::MAX / grid + 1) * grid;
                [multiple.saturating_sub(1), multiple, multiple.saturating_add(1)]
            }).collect();
            check(&lens, grid);
        }
    }
}
