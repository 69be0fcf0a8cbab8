//! Facts told at once: the work on every output token, in loops of its own.
//!
//! Owns no decision: what is told at once is judged as if it had been told fact by fact, only faster.

use crate::record::{BatchId, Bulk, Owner, PageId, Quiet, ReqId, SlotId, Token, runs};

use super::court::Judge;

impl Judge {
    pub(super) fn told(&mut self, bulk: &Bulk<'_>) {
        match *bulk {
            Bulk::Pages { pages, from, to } => self.pages(pages, from, to),
            Bulk::PageEach { reqs, pages } => {
                for (&req, page) in reqs.iter().zip(pages.chunks(1)) {
                    self.pages(page, None, Some(Owner::Request(req)));
                }
            }
            Bulk::Prepared { batch, reqs, ks, row: _ } => {
                for (&req, &k) in reqs.iter().zip(ks) {
                    if let Some(live) = self.requests.get_or_new(req) {
                        live.window.prepare(batch, k);
                    }
                }
            }
            Bulk::Stepped { batch, reqs, ks, slots, tokens } => self.stepped(batch, (reqs, ks, slots, tokens)),
            Bulk::Quiet { batch, rows } => self.quiet(batch, rows),
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

    fn stepped(&mut self, batch: BatchId, (reqs, ks, slots, tokens): (&[ReqId], &[u32], &[Slots], &[Token])) {
        for (((&req, &k), &(slot, track)), &token) in reqs.iter().zip(ks).zip(slots).zip(tokens) {
            self.step(batch, req, slot, k, track);
            if let Some(live) = self.requests.get(req) {
                live.truth.sampled(k, token);
            }
        }
    }

    fn quiet(&mut self, batch: BatchId, rows: &[Quiet]) {
        let now = (self.findings.turn, self.findings.phase);
        let last = rows.len().saturating_sub(1);
        // A decision may have come before the first row; one that is open about another row is closed by it.
        if let Some(first) = rows.first() {
            self.rows.close_other(batch, first.req, &mut self.requests, &mut self.counts);
        }
        for (i, row) in rows.iter().enumerate() {
            self.requests.output(row.req, row.outputs);
            // A decision may come after the last row.
            let passed = i < last
                && self.requests.get(row.req).is_some_and(|live| self.rows.pass(batch, row.check, live));
            if !passed {
                let Quiet { req, lookahead, check, .. } = *row;
                self.rows.row((batch, req), lookahead, check, now, &mut self.requests, &mut self.counts);
                if i < last {
                    self.rows.close(&mut self.requests, &mut self.counts);
                }
            }
        }
    }
}

/// Active slot and track slot of a row.
type Slots = (SlotId, Option<SlotId>);
