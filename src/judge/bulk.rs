//! Facts told at once: the work on every output token, in loops of its own.
//!
//! Owns no decision: what is told at once is judged as if it had been told fact by fact, only faster.

use crate::record::{BatchId, Bulk, Owner, PageId, Quiet, ReqId, SlotId, Token, runs};

use super::court::Judge;
use super::rows::Passed;

impl Judge {
    pub(super) fn told(&mut self, bulk: &Bulk<'_>) {
        match *bulk {
            Bulk::Pages { pages, from, to } => self.pages(pages, from, to),
            Bulk::PageEach { reqs, pages } => {
                for (&req, &page) in reqs.iter().zip(pages) {
                    if !self.account.give_page(page, req) {
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
        let rows = reqs.len();
        let (ks, slots, tokens) = (&ks[..rows], &slots[..rows], &tokens[..rows]);
        for i in 0..rows {
            let (req, k, (slot, track), token) = (reqs[i], ks[i], slots[i], tokens[i]);
            if track.is_none() && self.account.is_active(slot, req) && self.step_on(batch, (req, k, slot, token)) {
                continue;
            }
            self.step(batch, req, slot, k, track);
            if let Some(live) = self.requests.get(req) {
                live.truth.sampled(k, token);
            }
        }
    }

    /// A step of a request in its own active slot, which keeps no state, and its new token; if the request is known.
    #[inline]
    fn step_on(&mut self, batch: BatchId, (req, k, slot, token): (ReqId, u32, SlotId, Token)) -> bool {
        let Some(live) = self.requests.get(req) else { return false };
        live.window.launch(batch, k, None);
        let base = self.store.content(slot);
        match live.truth.step(base, k, token) {
            Some(state) => self.store.write(slot, state, req),
            None => {
                let state = live.truth.advance(base, k.saturating_sub(1), k);
                self.store.write(slot, state, req);
                live.truth.sampled(k, token);
            }
        }
        true
    }

    fn quiet(&mut self, batch: BatchId, rows: &[Quiet]) {
        let now = (self.findings.turn, self.findings.phase);
        let last = rows.len().saturating_sub(1);
        // A decision may have come before the first row; one that is open about another row is closed by it.
        if let Some(first) = rows.first() {
            self.rows.close_other(batch, first.req, &mut self.requests, &mut self.counts);
        }
        let mut passed = Passed::default();
        for (i, row) in rows.iter().enumerate() {
            let Quiet { req, outputs, lookahead, check, .. } = *row;
            let live = self.requests.output_of(req, outputs);
            // A decision may come after the last row.
            if i < last && live.is_some_and(|live| self.rows.pass(batch, check, live, &mut passed)) {
                continue;
            }
            self.rows.row((batch, req), lookahead, check, now, &mut self.requests, &mut self.counts);
            if i < last {
                self.rows.close(&mut self.requests, &mut self.counts);
            }
        }
        self.rows.add(passed);
    }
}

/// Active slot and track slot of a row.
type Slots = (SlotId, Option<SlotId>);
