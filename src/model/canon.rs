//! The state of the machine between two turns, written out in canonical words: all that can matter later, by names that do
//! not depend on the way there.
//!
//! Left out are the clock and the turn where nothing waits for them, counters that are only compared with each other, what
//! belongs to requests that are over, and, where the [`Frame`] says that a pool is never short, its order and count; where it says that
//! slots that came back to the pool are not given out again, they are left out too. When all requests are over, so are tree and pools.
//! Arrays of a batch that its launch has used up are left out too. Everything else is written.

use crate::record::{Canon, Names, ReqId, State, halves, or_none};

use super::batch::Batch;
use super::frame::Frame;
use super::machine::{Last, World};
use super::masks::HostMasks;
use super::request::{Req, Stage};
use super::setup::{ResultQueue, Setup};

/// Where one list ends and the next begins.
const END: u32 = u32::MAX - 2;

impl World {
    /// Works out what [`World::canon_rest`] needs of the tree and would work out itself, time and again.
    pub fn fold_tree(&mut self) {
        self.tree.fold_ends();
    }

    /// Writes who waits, runs and is in flight. Gives every live request its label.
    pub fn canon_queues(&self, setup: &Setup, frame: Frame, out: &mut Canon) {
        assert!(self.pinned.is_empty(), "pins are checked within their turn");
        let turn = or_none(self.turn_matters(setup).then_some(self.turn));
        out.put([turn, u32::from(self.idle())]);
        if self.clock_matters(frame) {
            out.long(self.clock.cpu.ns());
            out.long(self.clock.gpu_free.ns());
            self.queue.iter().for_each(|pending| out.long(pending.copied.ns()));
        }
        self.arrivals.canon(self.clock.cpu, self.clock_matters(frame), out);
        out.word(END);
        self.waiting.iter().for_each(|&req| out.req(req));
        out.word(END);
        for chunk in [self.chunked, self.chunk_abort] {
            match chunk.filter(|req| !self.over(*req)) {
                Some(req) => out.req(req),
                None => out.word(END),
            }
        }
        self.canon_running(setup, out);
        match &self.last {
            Last::None => out.word(0),
            Last::Running => out.word(1),
            Last::Extend(last) => {
                out.word(2);
                out.flag(last.object == self.decoded);
                self.canon_rows(last, out);
                out.req_if_live(last.chunked);
                out.flag(last.is_full);
            }
        }
        for pending in &self.queue {
            let (label, live) = (out.label_batch(pending.batch.id), pending.batch.object == self.running.object);
            out.put([END, label, pending.batch.mode as u32, u32::from(live)]);
            let accepted = |i: usize| pending.accepted.get(i).copied().unwrap_or(0);
            for (i, &req) in pending.batch.reqs.iter().enumerate().filter(|(_, req)| !self.over(**req)) {
                let (label, prefills) = (out.label_req(req), i < pending.batch.prefix_lens.len());
                let steps = pending.batch.reqs.len() - pending.batch.decode_batch_idx.len();
                let prepared = i.checked_sub(steps).map(|step| pending.batch.decode_batch_idx[step]);
                let since = prepared.map(|prepared| self.reqs[req.index()].decode_batch_idx.wrapping_sub(prepared));
                let plan = pending.batch.plan.as_ref().map(|plan| u32::from(plan[i]));
                out.put([label, u32::from(prefills), accepted(i), or_none(since), or_none(plan)]);
                self.canon_masks(pending.batch.masks.get(), i, req, out);
            }
        }
        out.word(END);
        for (index, it) in self.reqs.iter().enumerate() {
            let req = ReqId(index as u32);
            match it.stage {
                Stage::Unseen | Stage::Finished => {}
                Stage::Waiting | Stage::Running => out.req(req),
            }
        }
    }

    /// Writes the fields of every live request, and if there is or will be one the tree and the pools.
    pub fn canon_rest(&self, setup: &Setup, frame: Frame, names: &impl Names, out: &mut Canon) {
        for at in 0..out.reqs().len() {
            let req = out.reqs()[at];
            self.canon_req(setup, req, names, out);
        }
        out.word(END);
        let goes_on = self.unfinished > 0;
        assert!(goes_on || out.reqs().is_empty(), "who is alive is unfinished");
        out.flag(goes_on);
        // Where nobody is left, and nobody is to come, nothing is matched, given out or evicted any more.
        if goes_on {
            self.canon_over(out);
            self.tree.canon(frame.ample, names, |req| self.reqs[req.index()].lock.as_ref(), out);
            self.canon_pools(frame, names, out);
        }
        for &(slot, owner) in &self.deferred_frees {
            out.slot(Some(slot));
            out.req_if_live(super::store::holder(owner));
            let later = |req: ReqId| self.queue.iter().any(|pending| pending.batch.reqs.contains(&req));
            out.flag(super::store::holder(owner).is_some_and(later));
        }
        out.word(END);
    }

    /// Writes how much there is in the pools, and the slots that came back.
    fn canon_pools(&self, frame: Frame, names: &impl Names, out: &mut Canon) {
        if !frame.ample {
            out.long(self.ratio.current.to_bits());
            out.word(self.refreshes);
            out.word(self.pages.available());
            out.word(self.slots.available());
        }
        let (fresh, back) = self.slots.waiting();
        if frame.fresh_slots_last {
            assert!(fresh > 0, "slots that nobody had last");
        } else {
            back.enumerate().for_each(|(place, slot)| names.free(slot, fresh + place as u32, out));
        }
        out.word(END);
    }

    /// The state letter by letter, but for the clock and the turn where nothing waits for them.
    pub fn literal(&self, setup: &Setup, frame: Frame) -> String {
        let mut world = self.clone();
        if !self.clock_matters(frame) {
            world.clock = Default::default();
        }
        if !self.turn_matters(setup) {
            world.turn = 0;
        }
        (world.turns_run, world.turns_idle) = (0, 0);
        format!("{world:?}")
    }

    /// Whether something is still to come at a time, or the order of things may hang on times alone.
    fn clock_matters(&self, frame: Frame) -> bool {
        frame.clock_matters || self.arrivals.next().1.is_some()
    }

    /// Whether something is still to come in a turn that has a number.
    pub(super) fn turn_matters(&self, setup: &Setup) -> bool {
        self.arrivals.next().0.is_some() || setup.events.iter().any(|event| event.at().0 >= self.turn)
    }

    /// Whether a request has finished or was dropped.
    fn over(&self, req: ReqId) -> bool {
        self.reqs[req.index()].stage == Stage::Finished
    }

    /// The rows of a batch whose requests are alive, and the length of each.
    fn canon_rows(&self, batch: &Batch, out: &mut Canon) {
        for (&req, &len) in batch.reqs.iter().zip(&batch.seq_lens) {
            if self.over(req) {
                // It is filtered out, and whether all, some or none are decides what becomes of the masks.
                out.word(END - 1);
            } else {
                let label = out.label_req(req);
                out.put([label, len]);
            }
        }
        out.put([END, batch.prefix_lens.len() as u32]);
    }

    fn canon_running(&self, setup: &Setup, out: &mut Canon) {
        let running = &self.running;
        out.flag(running.is_full);
        if running.reqs.is_empty() {
            return out.word(END);
        }
        self.canon_rows(running, out);
        if setup.engine.result_queue == ResultQueue::Alias {
            for (i, &req) in running.reqs.iter().enumerate() {
                out.maybe(running.plan.as_ref().map(|plan| u32::from(plan[i])));
                self.canon_masks(running.masks.get(), i, req, out);
            }
        }
    }

    fn canon_masks(&self, masks: Option<&HostMasks>, i: usize, req: ReqId, out: &mut Canon) {
        let Some(row) = masks.map(|masks| masks.row(i)) else { return out.word(END) };
        let bits = u32::from(row.mask) | u32::from(row.mask_next == Some(true)) << 1 | u32::from(row.track_idx) << 2;
        out.put([bits, self.reqs[req.index()].decode_batch_idx.wrapping_sub(row.decode_batch_idx)]);
    }

    fn canon_req(&self, setup: &Setup, req: ReqId, names: &impl Names, out: &mut Canon) {
        let it = &self.reqs[req.index()];
        let stage = it.stage as u32 | u32::from(it.retracted) << 2 | u32::from(it.to_abort) << 3;
        let tokens = it.tokens.len() as u32;
        if out.shares() {
            let [low, high] = halves(it.tip.h);
            out.put([stage, it.outputs, tokens, it.prompt_len, low, high]);
        } else {
            out.put([stage, it.outputs, tokens]);
        }
        if setup.engine.spec.is_some() {
            out.word(it.verifies);
        }
        if it.stage == Stage::Waiting {
            // What it matched is matched again before it is used.
            return;
        }
        let Req { kv_committed_len, device_len, kv_allocated_len, prefix_len, extend_end, cache_protected_len, .. } =
            *it;
        out.put([kv_committed_len, device_len, kv_allocated_len, prefix_len, extend_end, cache_protected_len]);
        let [active, source] = [out.label_slot(it.active), out.label_slot(it.cow_source)];
        let tracks = [out.label_slot(it.track[0]), out.label_slot(it.track[1])];
        out.put([active, source, tracks[0], tracks[1]]);
        let flags = [it.needs_clear, it.has_track, it.decline, it.holds_row];
        let bits = flags.iter().fold(0, |bits, &flag| bits << 1 | u32::from(flag));
        let bits = bits << 2 | u32::from(it.next_track_idx) << 1 | u32::from(it.last_track_idx);
        let [last, before, branching] = [it.last_track_seqlen, it.prev_track_seqlen, it.branching].map(or_none);
        let untracked = u32::from(it.untracked_idx == Some(it.decode_batch_idx));
        out.put([bits, last, before, branching, it.middle_chunks, untracked, it.pages.len() as u32]);
        names.pages(&it.pages, req, out);
    }

    /// Requests that are over: how many of each kind, and the tokens that prompts may still be made of.
    fn canon_over(&self, out: &mut Canon) {
        if out.are_all_unlike() {
            return self.canon_each_over(out);
        }
        for (index, it) in self.reqs.iter().enumerate() {
            let class = out.class(ReqId(index as u32));
            match it.stage {
                Stage::Unseen => out.count(class, 0),
                Stage::Waiting | Stage::Running => {}
                Stage::Finished => {
                    out.count(class, 1);
                    canon_tokens(it, out);
                }
            }
        }
        out.counts();
    }

    /// The same where no two requests are interchangeable: two bits each, sixteen to a word.
    fn canon_each_over(&self, out: &mut Canon) {
        for some in self.reqs.chunks(16) {
            let bits = |it: &Req| match it.stage {
                Stage::Waiting | Stage::Running => 0,
                Stage::Unseen => 1,
                Stage::Finished if it.tokens.is_empty() => 2,
                Stage::Finished => 3,
            };
            out.word(some.iter().fold(0, |word, it| word << 2 | bits(it)));
            some.iter().filter(|it| it.stage == Stage::Finished).for_each(|it| canon_tokens(it, out));
        }
    }
}

/// The tokens of a request that is over, if they are of use.
fn canon_tokens(it: &Req, out: &mut Canon) {
    if !it.tokens.is_empty() {
        let State { n, h } = it.tip;
        let [low, high] = halves(h);
        out.put([n, it.known_len(), low, high]);
    }
}
