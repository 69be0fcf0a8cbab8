//! The state of the machine between two turns, written out in canonical words: all that can matter later, by names that do
//! not depend on the way there.
//!
//! Left out are the clock and the turn where nothing waits for them, counters that are only compared with each other, what
//! belongs to requests that are over, and, where the [`Frame`] says that a pool is never short, its order and count.
//! Arrays of a batch that its launch has used up are left out too. Everything else is written.

use crate::record::{Canon, Names, ReqId, State};

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
        out.maybe(self.turn_matters(setup).then_some(self.turn));
        if self.clock_matters(frame) {
            out.long(self.clock.cpu.ns());
            out.long(self.clock.gpu_free.ns());
            self.queue.iter().for_each(|pending| out.long(pending.copied.ns()));
        }
        out.flag(self.idle());
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
            out.word(END);
            out.batch(pending.batch.id);
            out.word(pending.batch.mode as u32);
            out.flag(pending.batch.object == self.running.object);
            let accepted = |i: usize| pending.accepted.get(i).copied().unwrap_or(0);
            for (i, &req) in pending.batch.reqs.iter().enumerate().filter(|(_, req)| !self.over(**req)) {
                out.req(req);
                out.flag(i < pending.batch.prefix_lens.len());
                out.word(accepted(i));
                let steps = pending.batch.reqs.len() - pending.batch.decode_batch_idx.len();
                let prepared = i.checked_sub(steps).map(|step| pending.batch.decode_batch_idx[step]);
                out.maybe(prepared.map(|prepared| self.reqs[req.index()].decode_batch_idx.wrapping_sub(prepared)));
                out.maybe(pending.batch.plan.as_ref().map(|plan| u32::from(plan[i])));
                self.canon_masks(pending.batch.masks.as_ref(), i, req, out);
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

    /// Writes the fields of every live request, the tree, and the pools, in that order.
    pub fn canon_rest(&self, setup: &Setup, frame: Frame, names: &impl Names, out: &mut Canon) {
        for at in 0..out.reqs().len() {
            let req = out.reqs()[at];
            self.canon_req(setup, req, names, out);
        }
        out.word(END);
        self.canon_over(out);
        let ranks = self.tree.canon(frame.ample, names, out);
        if !frame.ample {
            for at in 0..out.reqs().len() {
                let it = &self.reqs[out.reqs()[at].index()];
                match &it.lock {
                    Some(lock) => {
                        out.word(ranks[lock.node().0 as usize]);
                        out.flag(lock.skips_state());
                    }
                    None => out.word(END),
                }
            }
            out.long(self.ratio.current.to_bits());
            out.word(self.refreshes);
            out.word(self.pages.available());
            out.word(self.slots.available());
        }
        for &(slot, owner) in &self.deferred_frees {
            out.slot(Some(slot));
            out.req_if_live(super::store::holder(owner));
            let later = |req: ReqId| self.queue.iter().any(|pending| pending.batch.reqs.contains(&req));
            out.flag(super::store::holder(owner).is_some_and(later));
        }
        out.word(END);
        let (fresh, back) = self.slots.waiting();
        for (place, slot) in back.enumerate() {
            if !names.is_blank(slot, out) {
                out.word(fresh + place as u32);
                out.slot(Some(slot));
            }
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
        format!("{world:?}")
    }

    /// Whether something is still to come at a time, or the order of things may hang on times alone.
    fn clock_matters(&self, frame: Frame) -> bool {
        frame.clock_matters || self.arrivals.next().1.is_some()
    }

    /// Whether something is still to come in a turn that has a number.
    fn turn_matters(&self, setup: &Setup) -> bool {
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
                out.req(req);
                out.word(len);
            }
        }
        out.word(END);
        out.word(batch.prefix_lens.len() as u32);
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
                self.canon_masks(running.masks.as_ref(), i, req, out);
            }
        }
    }

    fn canon_masks(&self, masks: Option<&HostMasks>, i: usize, req: ReqId, out: &mut Canon) {
        let Some(row) = masks.map(|masks| masks.row(i)) else { return out.word(END) };
        out.word(u32::from(row.mask) | u32::from(row.mask_next == Some(true)) << 1 | u32::from(row.track_idx) << 2);
        out.word(self.reqs[req.index()].decode_batch_idx.wrapping_sub(row.decode_batch_idx));
    }

    fn canon_req(&self, setup: &Setup, req: ReqId, names: &impl Names, out: &mut Canon) {
        let it = &self.reqs[req.index()];
        out.word(it.stage as u32 | u32::from(it.retracted) << 2 | u32::from(it.to_abort) << 3);
        out.word(it.outputs);
        out.word(it.tokens.len() as u32);
        if out.shares() {
            out.word(it.prompt_len);
            out.long(it.tip.h);
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
        for word in [kv_committed_len, device_len, kv_allocated_len, prefix_len, extend_end, cache_protected_len] {
            out.word(word);
        }
        out.slot(it.active);
        out.slot(it.cow_source);
        out.slot(it.track[0]);
        out.slot(it.track[1]);
        let flags = [it.needs_clear, it.has_track, it.decline, it.holds_row];
        let bits = flags.iter().fold(0, |bits, &flag| bits << 1 | u32::from(flag));
        out.word(bits << 2 | u32::from(it.next_track_idx) << 1 | u32::from(it.last_track_idx));
        for word in [it.last_track_seqlen, it.prev_track_seqlen, it.branching] {
            out.maybe(word);
        }
        out.word(it.middle_chunks);
        out.flag(it.untracked_idx == Some(it.decode_batch_idx));
        out.word(it.pages.len() as u32);
        for run in it.pages.chunks(16) {
            out.word(run.iter().fold(0, |word, &page| word << 2 | names.page(page, req)));
        }
    }

    /// Requests that are over: how many of each kind, and the tokens that prompts may still be made of.
    fn canon_over(&self, out: &mut Canon) {
        for (index, it) in self.reqs.iter().enumerate() {
            let class = out.class(ReqId(index as u32));
            match it.stage {
                Stage::Unseen => out.count(class, 0),
                Stage::Waiting | Stage::Running => {}
                Stage::Finished if it.tokens.is_empty() => out.count(class, 1),
                Stage::Finished => {
                    out.count(class, 1);
                    let State { n, h } = it.tip;
                    out.word(n);
                    out.word(it.known_len());
                    out.long(h);
                }
            }
        }
        out.counts();
    }
}
