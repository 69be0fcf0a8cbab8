//! How long a decode forward takes by the number of its rows: points with straight lines between them.

/// A table of decode forwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeTable {
    /// Rows and nanoseconds. Rows ascend from 1.
    points: Vec<(u32, u64)>,
}

impl DecodeTable {
    /// A table of these points.
    ///
    /// # Panics
    /// If the rows do not grow from 1 on, or there are fewer than two points.
    pub fn new(points: Vec<(u32, u64)>) -> DecodeTable {
        let grows = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        assert!(points.len() > 1 && points[0].0 == 1 && grows, "rows of a table grow from 1 on");
        DecodeTable { points }
    }

    /// Nanoseconds of a forward of `rows` rows, rounded to the nearest. Beyond the last point the last line is
    /// extended.
    pub fn at(&self, rows: u32) -> u64 {
        let after = self.points.iter().position(|point| point.0 >= rows).unwrap_or(self.points.len() - 1).max(1);
        let [(from, low), (to, high)] = [self.points[after - 1], self.points[after]];
        let (span, along) = (i128::from(to - from), i128::from(rows) - i128::from(from));
        let rise = (i128::from(high) - i128::from(low)) * along;
        let ns = i128::from(low) + (2 * rise + span).div_euclid(2 * span);
        u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
    }

    /// The rows at which one line ends and the next begins.
    pub fn knees(&self) -> impl Iterator<Item = u32> {
        self.points.iter().map(|point| point.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_points_and_beyond_them_it_is_straight() {
        let table = DecodeTable::new(vec![(1, 100), (4, 110), (10, 50)]);
        assert_eq!([1, 2, 3, 4, 7, 10].map(|rows| table.at(rows)), [100, 103, 107, 110, 80, 50]);
        assert_eq!([11, 15, 16].map(|rows| table.at(rows)), [40, 0, 0], "no forward takes less than nothing");
    }
}
