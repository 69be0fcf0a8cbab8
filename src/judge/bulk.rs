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
                if !self.account.give_pages(reqs, pages) {
                    for (&req, &page) in reqs.iter().zip(pages) {
                        self.account.page_alloc(page, 1, Owner::Request(req), &mut self.findings);
                    }
                }
            }
            Bulk::Prepared { batch, reqs, ks, row: _ } => {
                self.settle_waiting();
                if self.may_wait(reqs) {
                    self.waiting.put(batch, reqs, ks);
                } else {
                    self.prepared(batch, reqs, ks);
                }
            }
            Bulk::Stepped { batch, reqs, ks, slots, tokens } => {
                let rows = reqs.len();
                assert!(ks.len() == rows && slots.len() == rows && tokens.len() == rows, "a value a row");
                let waited = self.waiting.take(batch, reqs, ks);
                if !waited {
                    self.settle_waiting();
                }
                self.stepped(batch, (reqs, ks, slots, tokens), waited);
            }
            Bulk::Quiet { batch, rows } => {
                self.settle_waiting();
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

    /// Steps of rows; `waited` if they have been prepared and are in no window yet.
    fn stepped(&mut self, batch: BatchId, told: (&[ReqId], &[u32], &[Slots], &[Token]), waited: bool) {
        let (reqs, ks, slots, tokens) = told;
        for (((&req, &k), &(slot, track)), &token) in reqs.iter().zip(ks).zip(slots).zip(tokens) {
            if track.is_none()
                && self.account.is_active(slot, req)
                && self.step_on(batch, (req, k, slot, token), waited)
            {
                continue;
            }
            if waited {
                self.prepared(batch, &[req], &[k]);
            }
            self.step(batch, req, slot, k, track);
            if let Some(live) = self.requests.get(req) {
                live.truth.sampled(k, token);
            }
        }
    }

    /// A step of a request in its own active slot, which keeps no state, and its new token; if both are known.
    #[inline]
    fn step_on(&mut self, batch: BatchId, (req, k, slot, token): (ReqId, u32, SlotId, Token), waited: bool) -> bool {
        let Some(live) = self.requests.get(req) else { return false };
        let Some(mut content) = self.store.step(slot) else { return false };
        if waited {
            live.window.step(batch, k);
        } else {
            live.window.launch(batch, k, None);
        }
        let base = content.get();
        match live.truth.step(base, k, token) {
            Some(state) => content.write(state, req),
            None => {
                let state = live.truth.advance(base, k.saturating_sub(1), k);
                content.write(state, req);
                live.truth.sampled(k, token);
            }
        }
        true
    }

    fn quiet(&mut self, batch: BatchId, rows: &[Quiet]) {
        let now = (self.findings.turn, self.findings.phase);
        let last = rows.len().saturating_sub(1);
        let mut passed = Passed::default();
        for (i, row) in rows.iter().enumerate() {
            let Quiet { req, outputs, lookahead, check, .. } = *row;
            let live = self.requests.output_of(req, outputs);
            // A decision may come after the last row.
            if i < last && live.is_some_and(|live| self.rows.pass((batch, req), check, live, &mut passed)) {
                self.rows.close(&mut self.requests, &mut self.counts);
            } else {
                self.rows.row((batch, req), lookahead, check, now, &mut self.requests, &mut self.counts);
            }
        }
        self.rows.add(passed);
    }
}

/// Active slot and track slot of a row.
type Slots = (SlotId, Option<SlotId>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Options;
    use crate::record::{Check, Donated, Fact, FinishKind, Kept, Mode, Nothing, Phase, Place, Sink};

    /// Small numbers, so that slots, pages and requests meet in every wrong way, too; and the last batch prepared, whose rows
    /// are often stepped, so that they meet in the right way as well.
    struct Small {
        state: u64,
        rows: (BatchId, Vec<ReqId>, Vec<u32>),
    }

    impl Small {
        fn new(seed: u64) -> Small {
            Small { state: seed, rows: (BatchId(0), Vec::new(), Vec::new()) }
        }

        fn below(&mut self, end: u32) -> u32 {
            self.state = self.state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (self.state >> 40) as u32 % end
        }

        fn owner(&mut self) -> Option<Owner> {
            let req = ReqId(self.below(3));
            [None, Some(Owner::Tree), Some(Owner::Request(req)), Some(Owner::Request(req))][self.below(4) as usize]
        }

        fn track(&mut self) -> Option<SlotId> {
            (self.below(4) == 0).then(|| SlotId(self.below(6)))
        }

        fn list<T>(&mut self, mut item: impl FnMut(&mut Small) -> T) -> Vec<T> {
            (0..1 + self.below(4)).map(|_| item(self)).collect()
        }

        fn quiet(&mut self) -> Quiet {
            let check = [Check::Mask, Check::Recompute, Check::MaskLost, Check::None][self.below(4) as usize];
            let (lookahead, req, outputs) = (i64::from(self.below(3)), ReqId(self.below(3)), self.below(5));
            Quiet { at: Default::default(), lookahead, req, outputs, kv_committed_len: 0, check }
        }

        /// The start of a request as it should be, in its own slot: its tokens are as many as the prompt's and one.
        fn begin(&mut self, told: &mut [Judge; 2]) {
            let (req, tokens) = (ReqId(self.below(3)), self.list(|small| small.below(2)));
            let (slot, count) = (SlotId(req.0), tokens.len() as u32);
            let facts = [
                Fact::SlotAlloc { slot, owner: Owner::Active(req), last: true },
                Fact::Clear { req, slot },
                Fact::Extend { batch: BatchId(9), req, slot, from: 0, to: count, track: None },
                Fact::Sampled { req, len: count, token: self.below(2) },
            ];
            for judge in told {
                judge.prompt(req, &tokens);
                facts.iter().for_each(|fact| judge.fact(*fact));
            }
        }

        /// A batch is prepared: often of requests in order, at the lengths that they have.
        fn prepare(&mut self, told: &mut [Judge; 2], batch: BatchId, reqs: &[ReqId], ks: &[u32]) {
            self.rows = (batch, reqs.to_vec(), ks.to_vec());
            if self.below(4) > 0 {
                let known = |req| told[1].requests.peek(req).map_or(0, |live| live.truth.count());
                let reqs: Vec<ReqId> = (0..3).map(ReqId).filter(|_| self.below(3) > 0).collect();
                self.rows = (batch, reqs.clone(), reqs.into_iter().map(known).collect());
            }
            let (batch, reqs, ks) = &self.rows;
            let row = |i: usize| Fact::PrepareDecode {
                batch: *batch,
                req: reqs[i],
                k: ks[i],
                decode_batch_idx: 0,
                kv_committed_len: 0,
                active: SlotId(0),
                track: None,
                next_track_idx: None,
            };
            both(told, &Bulk::Prepared { batch: *batch, reqs, ks, row: &row });
        }

        /// The batch prepared last is stepped, or the first of its rows, and then perhaps the others.
        fn step(&mut self, told: &mut [Judge; 2]) {
            let (batch, reqs, ks) = std::mem::replace(&mut self.rows, (BatchId(0), Vec::new(), Vec::new()));
            let first = self.below(1 + reqs.len() as u32) as usize;
            let cut = if self.below(2) == 0 { reqs.len() } else { first };
            for (reqs, ks) in [(&reqs[..cut], &ks[..cut]), (&reqs[cut..], &ks[cut..])] {
                let slots: Vec<_> = reqs.iter().map(|req| (SlotId(req.0), self.track())).collect();
                let tokens: Vec<Token> = reqs.iter().map(|_| self.below(2)).collect();
                both(told, &Bulk::Stepped { batch, reqs, ks, slots: &slots, tokens: &tokens });
                if self.below(4) == 0 {
                    let fact = self.fact();
                    told.iter_mut().for_each(|judge| judge.fact(fact));
                }
            }
        }

        /// One fact, of those that judges make something of.
        fn fact(&mut self) -> Fact {
            let (batch, req, slot) = (BatchId(1 + self.below(3)), ReqId(self.below(3)), SlotId(self.below(6)));
            let (n, flag, track) = (self.below(5), self.below(2) == 0, self.track());
            let owner = [Owner::Active(req), Owner::Track(req, 0), Owner::Tree][self.below(3) as usize];
            let kept = Kept { label: Some(n), slot: track };
            let at = Default::default();
            let end = n + self.below(3);
            let place = [Place::Decode, Place::Waiting, Place::Prefill][self.below(3) as usize];
            match self.below(28) {
                0 | 1 => {
                    let mode = [Mode::Decode, Mode::Mixed][self.below(2) as usize];
                    Fact::Launch { batch, mode, rows: n, start: at, end: at, copied: at }
                }
                2 => Fact::Wait { batch, at },
                3 => Fact::Decision { batch, req, before: kept, after: kept },
                4 => Fact::SlotAlloc { slot, owner, last: true },
                5 => Fact::SlotFree { slot, owner, last: true },
                6 => Fact::SlotMove { slot, from: Owner::Active(req), to: owner },
                7 => Fact::TrackRefused { req, k: n, in_place: flag },
                8 => Fact::Turn { turn: n, at },
                9 => Fact::Begin { phase: Phase::Result, batch: Some(batch), at },
                10 => Fact::Arrive { req, at, max_new: n },
                11 => Fact::Match { req, state_len: n, kv_len: n, branching: None, source: None },
                12 => Fact::Admit { req },
                13 => Fact::Hit { req, source: slot, len: n },
                14 => Fact::Mix { batch, decode: BatchId(2), rows: n },
                15 => Fact::Clear { req, slot },
                16 => Fact::Extend { batch, req, slot, from: n, to: end, track: track.map(|slot| (slot, end)) },
                17 => Fact::Step { batch, req, slot, k: n, track },
                18 => Fact::Verify {
                    batch,
                    req,
                    slot,
                    from: n,
                    to: end,
                    track: track.map(|slot| (slot, n)),
                    target: track,
                },
                19 => Fact::Sampled { req, len: n, token: self.below(2) },
                20 => Fact::Skip { batch, req },
                21 => Fact::Output { batch, req, outputs: n, at },
                22 => Fact::Finish { req, kind: FinishKind::Length, outputs: n },
                23 => {
                    let check = Check::ALL[self.below(4) as usize];
                    Fact::Row { batch, req, lookahead: i64::from(n) - 1, kv_committed_len: n, check }
                }
                24 => {
                    let how = Donated { finished: flag, existed: self.below(2) == 0 };
                    Fact::Donate { req, label: end, key_len: n, slot, how }
                }
                25 => {
                    let why = [Nothing::Retracted, Nothing::Declined, Nothing::NoCheckpoint, Nothing::NoSlot];
                    Fact::NoDonate { req, why: why[self.below(4) as usize], slot: None }
                }
                26 => Fact::Retract { req, outputs: n },
                _ => Fact::Abort { req, place, taken: flag },
            }
        }

        /// Something that tells a judge the same, at once or one by one.
        fn tell(&mut self, told: &mut [Judge; 2]) {
            let batch = BatchId(1 + self.below(3));
            let req = ReqId(self.below(3));
            let (reqs, ks) = (self.list(|small| ReqId(small.below(3))), self.list(|small| small.below(5)));
            let rows = reqs.len().min(ks.len());
            let (reqs, ks) = (&reqs[..rows], &ks[..rows]);
            match self.below(12) {
                0 => self.begin(told),
                1 => {
                    let tokens = self.list(|small| small.below(2));
                    told.iter_mut().for_each(|judge| judge.prompt(req, &tokens));
                }
                2 => {
                    let (pages, mut from, to) = (self.list(|small| PageId(small.below(6))), self.owner(), self.owner());
                    if from.is_none() && to.is_none() {
                        from = Some(Owner::Tree);
                    }
                    both(told, &Bulk::Pages { pages: &pages, from, to });
                }
                3 => {
                    let pages: Vec<PageId> = reqs.iter().map(|_| PageId(self.below(6))).collect();
                    both(told, &Bulk::PageEach { reqs, pages: &pages });
                }
                4 | 5 => self.prepare(told, batch, reqs, ks),
                6 | 7 => self.step(told),
                8 => {
                    let slots: Vec<_> = reqs.iter().map(|_| (SlotId(self.below(6)), self.track())).collect();
                    let tokens: Vec<Token> = reqs.iter().map(|_| self.below(2)).collect();
                    both(told, &Bulk::Stepped { batch, reqs, ks, slots: &slots, tokens: &tokens });
                }
                9 => {
                    let rows = self.list(Small::quiet);
                    both(told, &Bulk::Quiet { batch, rows: &rows });
                }
                _ => {
                    let fact = self.fact();
                    told.iter_mut().for_each(|judge| judge.fact(fact));
                }
            }
            // A copy goes on as its original would.
            match self.below(40) {
                0 => *told = told.clone(),
                1 => {
                    let mut copies = told.each_ref().map(|judge| Judge::new(judge.options));
                    copies.iter_mut().zip(&*told).for_each(|(copy, judge)| copy.clone_from(judge));
                    *told = copies;
                }
                2 => {
                    let [at_once, one_by_one] = told.each_mut().map(|judge| judge.take_findings(false));
                    assert_eq!(at_once, one_by_one);
                }
                _ => {}
            }
        }
    }

    fn both([at_once, one_by_one]: &mut [Judge; 2], bulk: &Bulk<'_>) {
        at_once.bulk(bulk);
        bulk.each(&mut |fact| one_by_one.fact(fact));
    }

    #[test]
    fn what_is_told_at_once_is_judged_as_if_it_were_told_one_by_one() {
        for seed in 0..5_000 {
            let mut small = Small::new(seed);
            let judge = || Judge::new(Options { page_size: 1, keep_boundaries: true, keep_reasons: true });
            let mut told = [judge(), judge()];
            for _ in 0..80 {
                small.tell(&mut told);
            }
            for judge in &mut told {
                judge.forget_waiting();
            }
            let [at_once, one_by_one] = &told;
            at_once.account.check_counts();
            assert_eq!(format!("{at_once:?}"), format!("{one_by_one:?}"), "seed {seed}");
            let [at_once, one_by_one] = told.map(|judge| judge.finish(&[]));
            assert_eq!(at_once, one_by_one, "seed {seed}");
        }
    }
}
