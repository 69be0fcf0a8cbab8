//! Records for tests: some make little sense, and some nearly do.
//!
//! Owns what is told to two judges, to one at once and to the other fact by fact.

use crate::judge::Judge;
use crate::record::{
    BatchId, Bulk, Check, Donated, Fact, FinishKind, Kept, Mode, Nothing, Owner, PageId, Passed, Phase, Place, Prefix,
    Quiet, ReqId, Sink, SlotId, Stream, StreamId,
};

use super::{same, same_end};

/// How many requests there are, by seed: a few that meet often, and more than rows are looked at together.
const REQS: [u32; 5] = [3, 3, 7, 20, 36];

/// Small numbers, so that slots, pages and requests meet in every wrong way, too; and the last batch prepared, whose rows
/// are often stepped, so that they meet in the right way as well.
pub(super) struct Small {
    state: u64,
    /// How many requests there are.
    reqs: u32,
    rows: (BatchId, Vec<ReqId>, Vec<u32>),
    /// Batches of courses so far, which have numbers of their own.
    courses: u32,
}

impl Small {
    pub fn new(seed: u64) -> Small {
        let reqs = REQS[(seed % REQS.len() as u64) as usize];
        Small { state: seed, reqs, rows: (BatchId(0), Vec::new(), Vec::new()), courses: 0 }
    }

    fn below(&mut self, end: u32) -> u32 {
        self.state = self.state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (self.state >> 40) as u32 % end
    }

    fn req(&mut self) -> ReqId {
        ReqId(self.below(self.reqs))
    }

    /// The active slot of a request, or one of three more.
    fn slot(&mut self) -> SlotId {
        SlotId(self.below(self.reqs + 3))
    }

    /// One of the last batches of a course, or one that is no course's.
    fn batch(&mut self) -> BatchId {
        let of_course = self.courses > 0 && self.below(3) > 0;
        BatchId(if of_course { 100 + self.courses.saturating_sub(self.below(4)) } else { 1 + self.below(3) })
    }

    fn owner(&mut self) -> Option<Owner> {
        let req = self.req();
        [None, Some(Owner::Tree), Some(Owner::Request(req)), Some(Owner::Request(req))][self.below(4) as usize]
    }

    fn track(&mut self) -> Option<SlotId> {
        (self.below(4) == 0).then(|| self.slot())
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Small) -> T) -> Vec<T> {
        (0..1 + self.below(4)).map(|_| item(self)).collect()
    }

    /// Nearly always the same for a request, and for every other one.
    fn stream_of(&mut self, req: ReqId) -> StreamId {
        if self.below(16) == 0 { self.stream() } else { StreamId(1 + req.0 % 2) }
    }

    fn stream(&mut self) -> StreamId {
        StreamId(1 + self.below(2))
    }

    fn prefix(&mut self) -> Prefix {
        Prefix { stream: self.stream(), len: 1 + self.below(4) }
    }

    fn quiet(&mut self) -> Quiet {
        let check = [Check::Mask, Check::Recompute, Check::MaskLost, Check::None][self.below(4) as usize];
        let (lookahead, req, outputs) = (i64::from(self.below(3)), self.req(), self.below(5));
        Quiet { at: Default::default(), lookahead, req, outputs, kv_committed_len: 0, check }
    }

    /// The start of a request as it should be, in its own slot: its tokens are as many as the prompt's and one.
    fn begin(&mut self, told: &mut [Judge; 2]) {
        let req = self.req();
        let prompt = Prefix { stream: self.stream_of(req), len: 1 + self.below(4) };
        let (slot, count) = (SlotId(req.0), prompt.len);
        let facts = [
            Fact::SlotAlloc { slot, owner: Owner::Active(req), last: true },
            Fact::Clear { req, slot },
            Fact::Extend { batch: BatchId(9), req, slot, from: 0, to: count, track: None },
            Fact::Sampled { req, len: count, stream: prompt.stream },
        ];
        for judge in told {
            judge.fact(Fact::Prompt { req, prompt });
            facts.iter().for_each(|fact| judge.fact(*fact));
        }
    }

    /// A batch is prepared: often of requests in order, at the lengths that they have.
    fn prepare(&mut self, told: &mut [Judge; 2], batch: BatchId, reqs: &[ReqId], ks: &[u32]) {
        self.rows = (batch, reqs.to_vec(), ks.to_vec());
        if self.below(4) > 0 {
            let known = |req| told[1].requests.peek(req).map_or(0, |live| live.truth.count());
            let reqs: Vec<ReqId> = (0..self.reqs).map(ReqId).filter(|_| self.below(3) > 0).collect();
            self.rows = (batch, reqs.clone(), reqs.into_iter().map(known).collect());
        }
        let (batch, reqs, ks) = &self.rows;
        let row = |i: usize| prepared(*batch, reqs[i], ks[i]);
        both(told, &Bulk::Prepared { batch: *batch, reqs, ks, row: &row });
    }

    /// The batch prepared last is stepped, or the first of its rows, and then perhaps the others.
    fn step(&mut self, told: &mut [Judge; 2]) {
        let (batch, reqs, ks) = std::mem::replace(&mut self.rows, (BatchId(0), Vec::new(), Vec::new()));
        let first = self.below(1 + reqs.len() as u32) as usize;
        let cut = if self.below(2) == 0 { reqs.len() } else { first };
        for (reqs, ks) in [(&reqs[..cut], &ks[..cut]), (&reqs[cut..], &ks[cut..])] {
            let slots: Vec<_> = reqs.iter().map(|req| (SlotId(req.0), self.track())).collect();
            let streams: Vec<StreamId> = reqs.iter().map(|&req| self.stream_of(req)).collect();
            both(told, &Bulk::Stepped { batch, reqs, ks, slots: &slots, streams: &streams });
            if self.below(4) == 0 {
                let fact = self.fact();
                told.iter_mut().for_each(|judge| judge.fact(fact));
            }
        }
    }

    /// Some requests start, and decode together for a while, one batch in flight: nearly as they should.
    fn course(&mut self, told: &mut [Judge; 2]) {
        (0..self.below(1 + self.reqs)).for_each(|_| self.begin(told));
        let mut reqs: Vec<ReqId> = (0..self.reqs).map(ReqId).filter(|_| self.below(8) > 0).collect();
        let mut before: Option<(BatchId, Vec<ReqId>)> = None;
        for _ in 0..self.below(20) {
            self.courses += 1;
            let batch = BatchId(100 + self.courses);
            let known = |req: &ReqId| told[1].requests.peek(*req).map_or(0, |live| live.truth.count());
            self.rows = (batch, reqs.clone(), reqs.iter().map(known).collect());
            let (ks, row) = (self.rows.2.clone(), |i: usize| prepared(batch, reqs[i], self.rows.2[i]));
            both(told, &Bulk::Prepared { batch, reqs: &reqs, ks: &ks, row: &row });
            if self.below(16) > 0 {
                let (mode, at) = (Mode::Decode, Default::default());
                let fact = Fact::Launch { batch, mode, rows: reqs.len() as u32, start: at, end: at, copied: at };
                told.iter_mut().for_each(|judge| judge.fact(fact));
            }
            let often = if self.below(3) == 0 { 3 } else { 40 };
            let slots: Vec<_> =
                reqs.iter().map(|req| (SlotId(req.0), (self.below(often) == 0).then(|| self.slot()))).collect();
            let streams: Vec<StreamId> = reqs.iter().map(|&req| self.stream_of(req)).collect();
            let cut = if self.below(10) == 0 { self.below(1 + reqs.len() as u32) as usize } else { reqs.len() };
            for part in [0..cut, cut..reqs.len()] {
                if !part.is_empty() || self.below(8) == 0 {
                    let (reqs, ks, slots) = (&reqs[part.clone()], &ks[part.clone()], &slots[part.clone()]);
                    both(told, &Bulk::Stepped { batch, reqs, ks, slots, streams: &streams[part] });
                }
                self.disturb(told);
            }
            self.compare(told);
            match self.below(60) {
                0 => self.begin(told),
                1 => self.prompt(told),
                // A result that nobody waits for.
                2 | 3 => {
                    let batch = self.batch();
                    self.result(told, batch, &reqs);
                }
                _ => {}
            }
            if let Some((batch, reqs)) = before.replace((batch, reqs.clone())) {
                told.iter_mut().for_each(|judge| judge.fact(Fact::Wait { batch, at: Default::default() }));
                self.result(told, batch, &reqs);
            }
            self.disturb(told);
            match self.below(16) {
                0 => reqs.retain(|_| self.below(3) > 0),
                1 => reqs = (0..self.reqs).map(ReqId).collect(),
                _ => {}
            }
        }
    }

    /// Sometimes a fact in between.
    fn disturb(&mut self, told: &mut [Judge; 2]) {
        if self.below(24) == 0 {
            let fact = self.fact();
            told.iter_mut().for_each(|judge| judge.fact(fact));
        }
    }

    /// A result in runs of quiet rows, between which rows are passed over, or told one by one, with a decision or without.
    fn result(&mut self, told: &mut [Judge; 2], batch: BatchId, reqs: &[ReqId]) {
        let mut run = Vec::new();
        for &req in reqs {
            let odd = self.below(3 * self.reqs);
            if odd == 0 {
                both(told, &Bulk::Quiet { batch, rows: &std::mem::take(&mut run) });
            }
            if odd == 1 {
                run.push(Quiet { req: self.req(), ..self.quiet() });
            }
            if odd == 2 {
                continue;
            }
            if odd == 3 {
                self.disturb(told);
            }
            if odd > 5 || self.below(4) > 0 {
                run.push(Quiet { req, ..self.quiet() });
                continue;
            }
            both(told, &Bulk::Quiet { batch, rows: &std::mem::take(&mut run) });
            let (kept, n) = (Kept { label: Some(self.below(5)), slot: self.track() }, self.below(5));
            let row = Fact::Row { batch, req, lookahead: 1, kv_committed_len: n, check: Check::Mask };
            let decision = Fact::Decision { batch, req, before: kept, after: kept };
            let (output, skip) = (
                Fact::Output { batch, req, outputs: n, at: Default::default() },
                Fact::Skip { batch, req, why: Passed::Ended },
            );
            let facts = [[output, row, decision], [output, decision, row], [decision, skip, output], [skip; 3]];
            for fact in facts[self.below(4) as usize] {
                told.iter_mut().for_each(|judge| judge.fact(fact));
            }
        }
        both(told, &Bulk::Quiet { batch, rows: &run });
    }

    /// One fact, of those that judges make something of.
    fn fact(&mut self) -> Fact {
        let (batch, req, slot) = (self.batch(), self.req(), self.slot());
        let (n, flag, track) = (self.below(5), self.below(2) == 0, self.track());
        let owner = [Owner::Active(req), Owner::Track(req, 0), Owner::Tree][self.below(3) as usize];
        let kept = Kept { label: Some(n), slot: track };
        let at = Default::default();
        let end = n + self.below(3);
        let place = [Place::Decode, Place::Waiting, Place::Prefill][self.below(3) as usize];
        match self.below(31) {
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
            18 => {
                Fact::Verify { batch, req, slot, from: n, to: end, track: track.map(|slot| (slot, n)), target: track }
            }
            19 => Fact::Sampled { req, len: n, stream: self.stream() },
            20 => Fact::Skip { batch, req, why: Passed::Retracted },
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
            27 => {
                let to = self.slot();
                let stream = if flag { Stream::Schedule } else { Stream::Forward };
                Fact::CopyState { req, from: slot, to, stream }
            }
            28 if self.below(3) == 0 => Fact::Done { at },
            28 => Fact::NoDonate { req, why: Nothing::Aborted, slot: None },
            29 => Fact::PrepareDecode {
                batch,
                req,
                k: n,
                decode_batch_idx: 0,
                kv_committed_len: 0,
                active: slot,
                track: None,
                next_track_idx: None,
            },
            _ => Fact::Abort { req, place, taken: flag },
        }
    }

    /// Sometimes compares what would come of it now, or goes on with copies: they do as their originals would.
    fn compare(&mut self, told: &mut [Judge; 2]) {
        match self.below(60) {
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
            3 => same(told.clone()),
            4..9 => same_end(told.clone()),
            9..12 => {
                let (slot, req, len) = (self.slot(), self.req(), self.below(8));
                let [at_once, one_by_one] = told
                    .each_ref()
                    .map(|judge| (judge.holding(slot), judge.holds(slot, req, len), judge.holds_donation(slot)));
                assert_eq!(at_once, one_by_one);
            }
            _ => {}
        }
    }

    fn prompt(&mut self, told: &mut [Judge; 2]) {
        let stream = Fact::Stream { stream: self.stream(), parent: self.prefix() };
        let prompt = Fact::Prompt { req: self.req(), prompt: self.prefix() };
        for judge in told {
            judge.fact(stream);
            judge.fact(prompt);
        }
    }

    /// Something that tells a judge the same, at once or one by one.
    pub fn tell(&mut self, told: &mut [Judge; 2]) {
        let batch = BatchId(1 + self.below(3));
        let (reqs, ks) = (self.list(|small| small.req()), self.list(|small| small.below(5)));
        let rows = reqs.len().min(ks.len());
        let (reqs, ks) = (&reqs[..rows], &ks[..rows]);
        match self.below(24) {
            0 => self.begin(told),
            1 => self.prompt(told),
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
                let slots: Vec<_> = reqs.iter().map(|_| (self.slot(), self.track())).collect();
                let streams: Vec<StreamId> = reqs.iter().map(|&req| self.stream_of(req)).collect();
                both(told, &Bulk::Stepped { batch, reqs, ks, slots: &slots, streams: &streams });
            }
            9 => {
                let rows = self.list(Small::quiet);
                both(told, &Bulk::Quiet { batch, rows: &rows });
            }
            12.. => self.course(told),
            _ => {
                let fact = self.fact();
                told.iter_mut().for_each(|judge| judge.fact(fact));
            }
        }
        self.compare(told);
    }
}

fn prepared(batch: BatchId, req: ReqId, k: u32) -> Fact {
    let (active, track, next_track_idx) = (SlotId(0), None, None);
    Fact::PrepareDecode { batch, req, k, decode_batch_idx: 0, kv_committed_len: 0, active, track, next_track_idx }
}

fn both([at_once, one_by_one]: &mut [Judge; 2], bulk: &Bulk<'_>) {
    at_once.bulk(bulk);
    bulk.each(&mut |fact| one_by_one.fact(fact));
}
