//! The results of rows that lag: one window stands for all of theirs.
//!
//! Owns which rows of a result were told. Refuses rows with a decision or a due boundary: such a row does not lag.

use crate::judge::court::Judge;
use crate::judge::rows::Passed;
use crate::judge::window::Before;
use crate::record::{BatchId, Quiet};

use super::{Passing, Steady};

impl Judge {
    /// Rows of a result to which no decision belongs. Says how many were taken; if not all, all rows have caught up.
    pub(in crate::judge) fn quiet_steady(&mut self, batch: BatchId, rows: &[Quiet]) -> usize {
        let Some(mut steady) = self.steady.take() else { return 0 };
        let taken = self.quiet_rows(&mut steady, batch, rows);
        self.steady = Some(steady);
        if taken < rows.len() {
            self.catch_up();
        }
        taken
    }

    fn quiet_rows(&mut self, steady: &mut Steady, batch: BatchId, rows: &[Quiet]) -> usize {
        let Some(first) = rows.first().filter(|_| steady.lagging() > 0) else { return 0 };
        if steady.result.as_ref().is_none_or(|result| result.batch != batch) {
            self.end_result(steady);
            let mut window = steady.window.clone();
            let Some((k, lookahead)) = window.pass(batch) else { return 0 };
            window.follow(Before::of(lookahead.into()));
            steady.result = Some(Passing { batch, window, k, lookahead, rows: 0 });
        }
        let Some(Passing { k, lookahead, rows: told, .. }) = steady.result else { return 0 };
        let Some(skipped) = steady.reqs[told..].iter().position(|&req| req == first.req) else { return 0 };
        let start = told + skipped;
        (told..start).for_each(|row| self.leave_if_lagging(steady, row));
        let mut passed = Passed::default();
        let mut count = 0;
        while count < rows.len() {
            let row = start + count;
            let taken = if steady.lags.get(row) == Some(&true) {
                let run = (steady.next_other(row) - row).min(rows.len() - count);
                let is_end = count + run == rows.len();
                self.pass_run(steady, row, &rows[count..count + run], is_end, lookahead, &mut passed)
            } else if steady.reqs.get(row) == Some(&rows[count].req) {
                self.quiet_row(batch, &rows[count], count + 1 == rows.len(), &mut passed);
                1
            } else {
                0
            };
            count += taken;
            if taken == 0 {
                break;
            }
        }
        self.rows.add(passed);
        // The first row is one of these, so it at least was taken.
        let last_row = start + count - 1;
        if let Some(last) = rows.last().filter(|_| count == rows.len())
            && steady.lags[last_row]
        {
            let (at, k) = ((batch, last.req), steady.shift(last_row).wrapping_add(k));
            let now = (self.findings.turn, self.findings.phase);
            self.rows.plain_row(at, (k, lookahead, last.check), now, &mut self.requests, &mut self.counts);
        }
        if let Some(result) = &mut steady.result {
            result.rows = last_row + 1;
        }
        count
    }

    /// Rows of a result, which lag. Says how many of them were these rows from `start` on. The last one of all is counted by
    /// the caller, as more may come of it.
    fn pass_run(
        &mut self,
        steady: &mut Steady,
        start: usize,
        rows: &[Quiet],
        is_end: bool,
        lookahead: u32,
        passed: &mut Passed,
    ) -> usize {
        let same = steady.count_same(start, rows);
        let (rows, is_end) = (&rows[..same], is_end && same == rows.len());
        let Some(first) = rows.first() else { return 0 };
        steady.outputs[start..].iter_mut().zip(rows).for_each(|(outputs, row)| *outputs = row.outputs);
        let counted = rows.len() - usize::from(is_end);
        if counted > 0 {
            self.rows.close(&mut self.requests, &mut self.counts);
        }
        // Nearly always all were found out alike.
        if rows.iter().filter(|row| row.check == first.check).count() == rows.len() {
            self.rows.count_passed(counted as u64, lookahead, first.check, passed);
        } else {
            rows[..counted].iter().for_each(|row| self.rows.count_passed(1, lookahead, row.check, passed));
        }
        rows.len()
    }

    /// Nothing more comes of the rows of a result: those that were not told of leave.
    pub(super) fn end_result(&mut self, steady: &mut Steady) {
        if let Some(result) = steady.result.take() {
            (result.rows..steady.reqs.len()).for_each(|row| self.leave_if_lagging(steady, row));
            steady.window = result.window;
        }
    }
}
