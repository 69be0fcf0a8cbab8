//! Facts told at once: the work on every output token, in loops of its own.
//!
//! Owns no decision: what is told at once is judged as if it had been told fact by fact, only faster.

use crate::record::{BatchId, Bulk, Fact, Owner, PageId, Quiet, ReqId, Short, SlotId, Token, runs};

use super::court::Judge;
use super::rows::Passed;

/// Rows of a decode batch that were prepared and are not in the windows of their requests yet: nearly always their launch
/// comes before anybody looks there, and then a row is looked up once for both. No request has two of the rows.
#[derive(Debug)]
pub(super) struct Waiting {
    batch: BatchId,
    reqs: Short<ReqId, 4>,
    ks: Short<u32, 4>,
    /// The rows before this one are in the windows.
    next: usize,
}

clone_in_place!(Waiting { batch, reqs, ks, next });

impl Default for Waiting {
    fn default() -> Self {
        Waiting { batch: BatchId(0), reqs: Short::new(), ks: Short::new(), next: 0 }
    }
}

impl Waiting {
    /// Whether no row is waiting.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.next == self.reqs.len()
    }

    /// Takes the next rows if they are these.
    #[inline]
    fn take(&mut self, batch: BatchId, reqs: &[ReqId], ks: &[u32]) -> bool {
        let end = self.next + reqs.len();
        let (own_reqs, own_ks) = (self.reqs.get(self.next..end), self.ks.get(self.next..end));
        let same = self.batch == batch && own_reqs == Some(reqs) && own_ks == Some(ks);
        if same {
            self.next = end;
        }
        same
    }
}

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
                let distinct = reqs.is_sorted_by(|a, b| a < b);
                if distinct {
                    let Waiting { batch: its, reqs: its_reqs, ks: its_ks, next } = &mut self.waiting;
                    (*its, *next) = (batch, 0);
                    its_reqs.copy_from(reqs);
                    its_ks.copy_from(ks);
                } else {
                    self.prepared(batch, reqs, ks);
                }
            }
            Bulk::Stepped { batch, reqs, ks, slots, tokens } => {
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

    /// Puts the rows that wait into the windows, before a fact that looks there.
    #[inline]
    pub(super) fn settle_before(&mut self, fact: &Fact) {
        if !self.waiting.is_empty() && heeds_windows(fact) {
            self.settle_waiting();
        }
    }

    /// Puts the rows that wait into the windows.
    #[inline]
    pub(super) fn settle_waiting(&mut self) {
        if !self.waiting.is_empty() {
            self.settle_rows();
        }
    }

    #[inline(never)]
    fn settle_rows(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.prepared(waiting.batch, &waiting.reqs[waiting.next..], &waiting.ks[waiting.next..]);
        self.waiting = Waiting { next: waiting.reqs.len(), ..waiting };
    }

    fn prepared(&mut self, batch: BatchId, reqs: &[ReqId], ks: &[u32]) {
        for (&req, &k) in reqs.iter().zip(ks) {
            if let Some(live) = self.requests.get_or_new(req) {
                live.window.prepare(batch, k);
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
            live.window.run(batch, k);
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

/// Whether a fact says more, or something else, once the steps before it are in the windows of their requests.
#[inline(always)]
fn heeds_windows(fact: &Fact) -> bool {
    match fact {
        Fact::Turn { .. }
        | Fact::Begin { .. }
        | Fact::End { .. }
        | Fact::SlotAlloc { .. }
        | Fact::SlotRefused { .. }
        | Fact::SlotMove { .. }
        | Fact::SlotFree { .. }
        | Fact::PageAlloc { .. }
        | Fact::PageMove { .. }
        | Fact::PageFree { .. }
        | Fact::Lock { .. }
        | Fact::Unlock { .. }
        | Fact::PrepareExtend { .. }
        | Fact::HostMasks { .. }
        | Fact::MasksDropped { .. }
        | Fact::Wait { .. }
        | Fact::Flip { .. }
        | Fact::Read { .. }
        | Fact::Fields { .. }
        | Fact::Arrays { .. }
        | Fact::EventUnused { .. }
        | Fact::PinMissed { .. }
        | Fact::PinEnded { .. } => false,
        // Of a launch only the rows' number is looked at, unless a boundary is in flight: see there.
        Fact::Launch { .. } => false,
        // These may make a request up.
        Fact::Arrive { .. } | Fact::Match { .. } | Fact::Admit { .. } | Fact::Output { .. } => true,
        Fact::PrepareDecode { .. }
        | Fact::Hit { .. }
        | Fact::Clear { .. }
        | Fact::CopyState { .. }
        | Fact::Extend { .. }
        | Fact::Step { .. }
        | Fact::Verify { .. }
        | Fact::Sampled { .. }
        | Fact::Skip { .. }
        | Fact::Finish { .. }
        | Fact::Row { .. }
        | Fact::Decision { .. }
        | Fact::Donate { .. }
        | Fact::NoDonate { .. }
        | Fact::TrackRefused { .. }
        | Fact::Retract { .. }
        | Fact::Abort { .. }
        | Fact::Mix { .. }
        | Fact::MiddleChunk { .. }
        | Fact::Assert { .. }
        | Fact::Bound { .. }
        | Fact::Done { .. } => true,
    }
}

/// Active slot and track slot of a row.
type Slots = (SlotId, Option<SlotId>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Options;
    use crate::record::{Check, Fact, Kept, Mode, Sink};

    /// Small numbers, so that slots, pages and requests meet in every wrong way, too.
    struct Small(u64);

    impl Small {
        fn below(&mut self, end: u32) -> u32 {
            self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (self.0 >> 40) as u32 % end
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

        /// Something that tells a judge the same, at once or one by one.
        fn tell(&mut self, told: &mut [Judge; 2]) {
            let batch = BatchId(1 + self.below(3));
            let req = ReqId(self.below(3));
            let (reqs, ks) = (self.list(|small| ReqId(small.below(3))), self.list(|small| small.below(5)));
            let rows = reqs.len().min(ks.len());
            let (reqs, ks) = (&reqs[..rows], &ks[..rows]);
            let fact = match self.below(12) {
                0 => Fact::Launch {
                    batch,
                    mode: Mode::Decode,
                    rows: 1,
                    start: Default::default(),
                    end: Default::default(),
                    copied: Default::default(),
                },
                1 => Fact::Wait { batch, at: Default::default() },
                2 => {
                    let kept = Kept { label: Some(self.below(5)), slot: self.track() };
                    Fact::Decision { batch, req, before: kept, after: kept }
                }
                3 => {
                    let owner = [Owner::Active(req), Owner::Track(req, 0)][self.below(2) as usize];
                    Fact::SlotAlloc { slot: SlotId(self.below(6)), owner, last: true }
                }
                4 => Fact::TrackRefused { req, k: self.below(5), in_place: self.below(2) == 0 },
                5 => {
                    let tokens = self.list(|small| small.below(2));
                    return told.iter_mut().for_each(|judge| judge.prompt(req, &tokens));
                }
                6 => {
                    let (pages, mut from, to) = (self.list(|small| PageId(small.below(6))), self.owner(), self.owner());
                    if from.is_none() && to.is_none() {
                        from = Some(Owner::Tree);
                    }
                    return both(told, &Bulk::Pages { pages: &pages, from, to });
                }
                7 => {
                    let pages: Vec<PageId> = reqs.iter().map(|_| PageId(self.below(6))).collect();
                    return both(told, &Bulk::PageEach { reqs, pages: &pages });
                }
                8 => {
                    let row = |i: usize| Fact::PrepareDecode {
                        batch,
                        req: reqs[i],
                        k: ks[i],
                        decode_batch_idx: 0,
                        kv_committed_len: 0,
                        active: SlotId(0),
                        track: None,
                        next_track_idx: None,
                    };
                    return both(told, &Bulk::Prepared { batch, reqs, ks, row: &row });
                }
                9 => {
                    let slots: Vec<_> = reqs.iter().map(|_| (SlotId(self.below(6)), self.track())).collect();
                    let tokens: Vec<Token> = reqs.iter().map(|_| self.below(2)).collect();
                    return both(told, &Bulk::Stepped { batch, reqs, ks, slots: &slots, tokens: &tokens });
                }
                _ => {
                    let rows = self.list(Small::quiet);
                    return both(told, &Bulk::Quiet { batch, rows: &rows });
                }
            };
            told.iter_mut().for_each(|judge| judge.fact(fact));
        }
    }

    fn both([at_once, one_by_one]: &mut [Judge; 2], bulk: &Bulk<'_>) {
        at_once.bulk(bulk);
        bulk.each(&mut |fact| one_by_one.fact(fact));
    }

    #[test]
    fn what_is_told_at_once_is_judged_as_if_it_were_told_one_by_one() {
        for seed in 0..5_000 {
            let mut small = Small(seed);
            let judge = || Judge::new(Options { page_size: 1, keep_boundaries: true, keep_reasons: true });
            let mut told = [judge(), judge()];
            for _ in 0..40 {
                small.tell(&mut told);
            }
            for judge in &mut told {
                judge.settle_waiting();
                judge.waiting = Waiting::default();
            }
            let [at_once, one_by_one] = &told;
            at_once.account.check_counts();
            assert_eq!(format!("{at_once:?}"), format!("{one_by_one:?}"), "seed {seed}");
            let [at_once, one_by_one] = told.map(|judge| judge.finish(&[]));
            assert_eq!(at_once, one_by_one, "seed {seed}");
        }
    }
}
