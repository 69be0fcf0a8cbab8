//! The steps of rows that lag, and who begins to lag.
//!
//! Owns when a row may: when it stands as one does whose next step brings nothing but a token. Refuses to look at results.

use crate::judge::court::Judge;
use crate::record::{BatchId, same_reqs};

use super::{ROWS_MIN, STEPS_MAX, Steady, Told};

impl Judge {
    /// Steps of all rows of a batch that was prepared. Says whether they were taken; else all rows have caught up.
    pub(in crate::judge) fn step_steady(&mut self, batch: BatchId, told: Told<'_>) -> bool {
        let Some(mut steady) = self.steady.take() else { return false };
        let taken = self.step_rows(&mut steady, batch, told);
        self.steady = Some(steady);
        if !taken {
            self.catch_up();
        }
        taken
    }

    fn step_rows(&mut self, steady: &mut Steady, batch: BatchId, told: Told<'_>) -> bool {
        let (reqs, ks, slots, tokens) = told;
        let launch = self.store.launched();
        // Of a launch that steps twice a slot remembers what it held before both, so these go one by one.
        if steady.lagging() == 0 || steady.launches.last() == Some(&launch) {
            return false;
        }
        self.end_result(steady);
        if !same_reqs(&steady.reqs, reqs) && !self.change_rows(steady, told) {
            return false;
        }
        let mut moved = std::mem::take(&mut steady.moved);
        steady.find_moved(ks, slots, &mut moved);
        moved.drain(..).for_each(|row| self.leave_if_lagging(steady, row as usize));
        steady.moved = moved;
        // A row that does not lag may not reach into one that does.
        let reaches = |&row: &u32| {
            let (slot, track) = slots[row as usize];
            self.store.lags(slot) || track.is_some_and(|track| self.store.lags(track))
        };
        if steady.others.iter().any(reaches) {
            return false;
        }
        steady.ks.copy_from_slice(ks);
        steady.tokens[steady.launches.len() * steady.stride..][..tokens.len()].copy_from_slice(tokens);
        steady.launches.push(launch);
        steady.k = steady.k.wrapping_add(1);
        steady.window.step(batch, steady.k);
        for at in 0..steady.others.len() {
            let row = steady.others[at] as usize;
            steady.slots[row] = slots[row].0;
            self.step_row(batch, (reqs[row], ks[row], slots[row], tokens[row]), true);
        }
        self.let_lag(steady);
        if steady.launches.len() == STEPS_MAX {
            self.catch_up_by_step(steady);
        }
        true
    }

    /// The rows from the first that is another one on leave, and others may come. Says whether any row still lags.
    fn change_rows(&mut self, steady: &mut Steady, (reqs, ks, slots, _): Told<'_>) -> bool {
        let same = steady.reqs.iter().zip(reqs).take_while(|(own, req)| own == req).count();
        (same..steady.reqs.len()).for_each(|row| self.leave_if_lagging(steady, row));
        steady.cut(same);
        if steady.lagging() == 0 {
            return false;
        }
        if reqs.len() > steady.stride {
            self.catch_up_by_step(steady);
        }
        steady.join(reqs, ks, slots);
        if steady.launches.is_empty() {
            steady.make_room();
        }
        true
    }

    /// Rows of a batch were stepped one by one: they may lag from now on, if the batch before had the same.
    pub(in crate::judge) fn may_lag(&mut self, (reqs, ks, slots, _): Told<'_>) {
        if reqs.len() < ROWS_MIN {
            return;
        }
        let mut steady = self.steady.take().unwrap_or_default();
        let again = same_reqs(&steady.reqs, reqs);
        steady.begin(reqs, ks, slots);
        if again {
            self.let_lag(&mut steady);
        }
        self.steady = Some(steady);
    }

    /// Lets all rows lag that stand as they should after a step.
    pub(super) fn let_lag(&mut self, steady: &mut Steady) {
        let mut others = std::mem::take(&mut steady.others);
        let mut lagging = steady.reqs.len() - others.len();
        others.retain(|&row| {
            let lags = self.let_row_lag(steady, row as usize, lagging == 0);
            lagging += usize::from(lags);
            !lags
        });
        steady.others = others;
    }

    /// Says whether it lags now; the first one sets the course.
    fn let_row_lag(&mut self, steady: &mut Steady, row: usize, first: bool) -> bool {
        let (req, slot, k) = (steady.reqs[row], steady.slots[row], steady.ks[row]);
        if self.rows.awaits(req) || !self.account.is_active(slot, req) {
            return false;
        }
        let content = self.store.known(slot);
        let Some(live) = self.requests.row(req) else { return false };
        if !live.dues.none_refused() || content.is_none_or(|content| !live.truth.goes_on_from(content, k)) {
            return false;
        }
        if first {
            if !live.window.is_plain() {
                return false;
            }
            (steady.window, steady.k) = (live.window.clone(), k);
            steady.launches.clear();
        } else if !live.window.goes_as(&steady.window, steady.shift(row)) {
            return false;
        }
        live.lags = true;
        self.store.set_lags(slot, true);
        steady.outputs[row] = self.requests.outputs(req);
        steady.since[row] = steady.launches.len() as u32;
        steady.lags[row] = true;
        true
    }
}
