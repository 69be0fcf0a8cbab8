//! Facts told a batch at a time: what every row of a batch does to the judge's state, in one loop a batch.
//!
//! Owns no decision: a batch is judged as if its facts were told one by one (tests compare the two).

use crate::record::{BatchId, Bulk, Owner, PageId, Quiet, runs};

use super::court::Judge;
use super::rows::Passed;

impl Judge {
    pub(super) fn told(&mut self, bulk: &Bulk<'_>) {
        match *bulk {
            Bulk::Pages { pages, from, to } => self.pages(pages, from, to),
            Bulk::PageEach { reqs, pages } => {
                if !self.account.give_pages(reqs, pages) {
                    for (&req, &page) in reqs.iter().zip(pages) {
                        self.account.page_alloc(page, 1, Owner::Request(req), &mut self.findings);
                    }
                }
            }
            Bulk::Prepared { batch, reqs, ks, row: _ } => {
                for (&req, &k) in reqs.iter().zip(ks) {
                    if let Some(live) = self.requests.get_or_new(req) {
                        live.window.prepare(batch, k);
                    }
                }
            }
            Bulk::Stepped { batch, reqs, ks, slots, streams } => {
                let rows = reqs.len();
                assert!(ks.len() == rows && slots.len() == rows && streams.len() == rows, "a value a row");
                for (((&req, &k), &(slot, track)), &stream) in reqs.iter().zip(ks).zip(slots).zip(streams) {
                    self.step(batch, req, slot, k, track);
                    if let Some(live) = self.requests.get(req) {
                        live.truth.sampled(k, stream, &self.lineage);
                    }
                }
            }
            Bulk::Quiet { batch, rows } => {
                self.quiet(batch, rows);
            }
        }
    }

    fn pages(&mut self, pages: &[PageId], from: Option<Owner>, to: Option<Owner>) {
        // Pages that come back one by one are given out one by one: most runs are of one page.
        if self.account.pass_pages(pages, from, to) {
            return;
        }
        for (first, count) in runs(pages) {
            match (from, to) {
                (None, Some(owner)) => self.account.page_alloc(first, count, owner, &mut self.findings),
                (Some(from), to) => self.account.page_pass(first, count, from, to, &mut self.findings),
                (None, None) => unreachable!("free pages stay free without a word"),
            }
        }
    }

    fn quiet(&mut self, batch: BatchId, rows: &[Quiet]) {
        let last = rows.len().saturating_sub(1);
        let mut passed = Passed::default();
        for (i, row) in rows.iter().enumerate() {
            self.quiet_row(batch, row, i == last, &mut passed);
        }
        self.rows.add(passed);
    }

    /// A row to which no decision belongs, unless one comes after the last row.
    #[inline(always)]
    fn quiet_row(&mut self, batch: BatchId, row: &Quiet, is_last: bool, passed: &mut Passed) {
        let Quiet { req, outputs, lookahead, check, .. } = *row;
        let live = self.requests.output_of(req, outputs);
        if !is_last && live.is_some_and(|live| self.rows.pass((batch, req), check, live, passed)) {
            self.rows.close(&mut self.requests, &mut self.counts);
        } else {
            let now = (self.findings.turn, self.findings.phase);
            self.rows.row((batch, req), lookahead, check, now, &mut self.requests, &mut self.counts);
        }
    }
}

#[cfg(test)]
mod tests;
