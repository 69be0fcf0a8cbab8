//! The state of the machine between two turns, written out in canonical words: all that can matter later, by names that do
//! not depend on the way there.
//!
//! Left out are the clock and the turn where nothing waits for them, counters that are only compared with each other, what
//! belongs to requests that are over, and, where the [`Reductions`] says that a pool is never short, its order and count; where it says that
//! slots that came back to the pool are not given out again, they are left out too. When all requests are over, so are tree and pools.
//! Arrays of a batch that its launch has used up are left out too. Everything else is written.

use crate::record::{ContentNames, Encoding, ReqId, or_none};

use super::batch::Batch;
use super::clock::Clock;
use super::machine::{Last, Pending, World};
use super::pages::Pages;
use super::reductions::Reductions;
use super::request::{Req, Stage};
use super::rule::RowMasks;
use super::setup::{ResultQueue, Setup};

/// Where one list ends and the next begins.
const END: u32 = u32::MAX - 2;

impl World {
    /// Writes who waits, runs and is in flight. Gives every live request its label.
    pub fn encode_queues(&self, setup: &Setup, reductions: Reductions, out: &mut Encoding) {
        // No field is left out by oversight: a new one does not compile until it stands here.
        let World {
            // By the setup.
            grid: _,
            clock: Clock { cpu, gpu_free },
            turn,
            reqs,
            waiting,
            arrivals,
            pinned,
            running: _, // Written by `encode_running`.
            last,
            queue,
            decoded,
            chunked,
            chunk_abort,
            idle,
            // Written by `encode_rest`.
            slots: _,
            pages: _,
            tree: _,
            ratio: _,
            refreshes: _,
            deferred_frees: _,
            // The live requests with `holds_row`: the others hold none.
            rows_held: _,
            // Names to come: numbers of batches, of objects, and of forwards as subjects of questions.
            batches: _,
            objects: _,
            forwards: _,
            // The requests that are not over: those that live are written, and how many were not seen.
            unfinished: _,
            // For a warning at the end.
            events_used: _,
            // Says that it is worth looking for finished rows in the running batch: where there are some they are written.
            unfiltered: _,
            // For the words about a bound.
            turns_run: _,
            turns_idle: _,
            // Written with the requests whose tokens they are, and by `encode_rest`.
            streams: _,
            // By the setup.
            sequences: _,
            // All that there are, and attached, are told within a turn.
            streams_emitted: _,
            attached: _,
            // Names.
            grants: _,
        } = self;
        assert!(pinned.is_empty(), "pins are checked within their turn");
        let clock_matters = self.clock_matters(reductions);
        out.put([or_none(self.turn_matters(setup).then_some(*turn)), u32::from(*idle)]);
        if clock_matters {
            out.long(cpu.ns());
            out.long(gpu_free.ns());
            queue.iter().for_each(|pending| out.long(pending.copied.ns()));
        }
        arrivals.encode(*cpu, clock_matters, out);
        out.word(END);
        waiting.iter().for_each(|&req| out.put_req(req));
        out.word(END);
        for chunk in [chunked, chunk_abort] {
            match chunk.filter(|req| !self.over(*req)) {
                Some(req) => out.put_req(req),
                None => out.word(END),
            }
        }
        self.encode_running(setup, out);
        match last {
            Last::None => out.word(0),
            Last::Running => out.word(1),
            Last::Extend(last) => self.encode_last(last, *decoded, out),
        }
        queue.iter().for_each(|pending| self.encode_pending(pending, out));
        out.word(END);
        for (index, it) in reqs.iter().enumerate() {
            let req = ReqId(index as u32);
            match it.stage {
                Stage::Unseen | Stage::Finished => {}
                Stage::Waiting | Stage::Running => out.put_req(req),
            }
        }
    }

    /// Writes the prefill batch that was launched last: it is merged into the running batch.
    fn encode_last(&self, last: &Batch, decoded_last: u32, out: &mut Encoding) {
        let Batch {
            object,
            chunked,
            is_full,
            prefills,
            // Written by `encode_rows`.
            reqs: _,
            seq_lens: _,
            id: _,   // A name: that of the batch in the queue is written there.
            mode: _, // Written with the batch in the queue; overwritten when it is prepared for a decode step.
            // Used up by its launch, and dropped or made anew when it is merged or prepared for a decode step.
            prepared: _,
            plan: _,
            masks: _,
            // For a probe.
            track_rows: _,
            glimpses: _,
        } = last;
        out.word(2);
        out.flag(*object == decoded_last);
        self.encode_rows(last, out);
        out.word(prefills.len() as u32);
        out.put_req_if_live(*chunked);
        out.flag(*is_full);
    }

    /// Writes a batch whose result is to come.
    fn encode_pending(&self, pending: &Pending, out: &mut Encoding) {
        // `copied` is written with the clock.
        let Pending { batch, copied: _, accepted } = pending;
        let Batch {
            id,
            object,
            mode,
            reqs,
            prepared,
            prefills,
            plan,
            // By `Batch::row_masks`.
            masks: _,
            // Used up by its launch.
            seq_lens: _,
            // What a merge asks of the batch launched last, and that is not this copy.
            chunked: _,
            is_full: _,
            // For a probe.
            track_rows: _,
            glimpses: _,
        } = &**batch;
        let (label, live) = (out.label_batch(*id), *object == self.running.object);
        out.put([END, label, *mode as u32, u32::from(live)]);
        let accepted = |i: usize| accepted.get(i).copied().unwrap_or(0);
        // Rows that are over are passed over, and they are in the running batch or the one launched last as well.
        for (i, &req) in reqs.iter().enumerate().filter(|(_, req)| !self.over(**req)) {
            let (label, is_prefill) = (out.label_req(req), i < prefills.len());
            let prepared = i.checked_sub(prefills.len()).map(|step| prepared[step].decode_batch_idx);
            let since = prepared.map(|prepared| self.reqs[req.index()].decode_batch_idx.wrapping_sub(prepared));
            let plan = plan.as_ref().map(|plan| u32::from(plan[i]));
            out.put([label, u32::from(is_prefill), accepted(i), or_none(since), or_none(plan)]);
            self.encode_masks(batch.row_masks(i), req, out);
        }
    }

    /// Writes the fields of every live request, and if there is or will be one the tree and the pools.
    pub fn encode_rest(&self, setup: &Setup, reductions: Reductions, names: &impl ContentNames, out: &mut Encoding) {
        for at in 0..out.reqs().len() {
            let req = out.reqs()[at];
            self.encode_req(setup, req, names, out);
        }
        out.word(END);
        // What their numbers stand for depends on the way here.
        for (parent, first) in self.streams.made_since_setup() {
            out.put([parent.stream.0, parent.len, first]);
        }
        out.word(END);
        let goes_on = self.unfinished > 0;
        assert!(goes_on || out.reqs().is_empty(), "who is alive is unfinished");
        out.flag(goes_on);
        // Where nobody is left, and nobody is to come, nothing is matched, given out or evicted any more.
        if goes_on {
            self.encode_over(setup, names, out);
            self.tree.encode(reductions.ample, names, |req| self.reqs[req.index()].lock.as_ref(), out);
            self.encode_pools(reductions, names, out);
        }
        for &(slot, owner) in &self.deferred_frees {
            out.put_slot(Some(slot));
            out.put_req_if_live(super::store::holder(owner));
            let later = |req: ReqId| self.queue.iter().any(|pending| pending.batch.reqs.contains(&req));
            out.flag(super::store::holder(owner).is_some_and(later));
        }
        out.word(END);
    }

    /// Writes how much there is in the pools, and the slots that came back.
    fn encode_pools(&self, reductions: Reductions, names: &impl ContentNames, out: &mut Encoding) {
        if !reductions.ample {
            out.long(self.ratio.encode());
            out.word(self.refreshes);
            out.word(self.pages.available());
            out.word(self.slots.available());
        }
        let (fresh, back) = self.slots.waiting();
        if reductions.fresh_slots_last {
            assert!(fresh > 0, "slots that nobody had last");
        } else {
            back.enumerate().for_each(|(place, slot)| names.put_free_slot(slot, fresh + place as u32, out));
        }
        out.word(END);
    }

    /// The state letter by letter, but for the clock and the turn where nothing waits for them.
    pub fn unreduced(&self, setup: &Setup, reductions: Reductions) -> String {
        let mut world = self.clone();
        if !self.clock_matters(reductions) {
            world.clock = Default::default();
        }
        if !self.turn_matters(setup) {
            world.turn = 0;
        }
        (world.turns_run, world.turns_idle) = (0, 0);
        format!("{world:?}")
    }

    /// Whether something is still to come at a time, or the order of things may hang on times alone.
    fn clock_matters(&self, reductions: Reductions) -> bool {
        reductions.clock_matters || self.arrivals.next().1.is_some()
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
    fn encode_rows(&self, batch: &Batch, out: &mut Encoding) {
        for (&req, &len) in batch.reqs.iter().zip(&batch.seq_lens) {
            if self.over(req) {
                // It is filtered out, and whether all, some or none are decides what becomes of the masks.
                out.word(END - 1);
            } else {
                let label = out.label_req(req);
                out.put([label, len]);
            }
        }
        out.word(END);
    }

    fn encode_running(&self, setup: &Setup, out: &mut Encoding) {
        let Batch {
            reqs,
            is_full,
            plan,
            // By `Batch::row_masks`.
            masks: _,
            // Written by `encode_rows`.
            seq_lens: _,
            // Empty: its prefill is over.
            prefills: _,
            object: _, // Whether a batch in the queue is this object is written there.
            // Given or made anew when it is prepared for a decode step.
            id: _,
            mode: _,
            prepared: _,
            // What only a prefill batch is asked for.
            chunked: _,
            // For a probe.
            track_rows: _,
            glimpses: _,
        } = &self.running;
        out.flag(*is_full);
        if reqs.is_empty() {
            return out.word(END);
        }
        self.encode_rows(&self.running, out);
        // The result of a copy looks at its own.
        if setup.engine.result_queue == ResultQueue::Alias {
            for (i, &req) in reqs.iter().enumerate() {
                out.optional(plan.as_ref().map(|plan| u32::from(plan[i])));
                self.encode_masks(self.running.row_masks(i), req, out);
            }
        }
    }

    fn encode_masks(&self, masks: Option<RowMasks>, req: ReqId, out: &mut Encoding) {
        let Some(row) = masks else { return out.word(END) };
        // Whether there is a mask of the next step at all is the same in every batch of a setup under a rule.
        let RowMasks { mask, mask_next, decode_batch_idx, track_idx } = row;
        let bits = u32::from(mask) | u32::from(mask_next == Some(true)) << 1 | u32::from(track_idx) << 2;
        out.put([bits, self.reqs[req.index()].decode_batch_idx.wrapping_sub(decode_batch_idx)]);
    }

    fn encode_req(&self, setup: &Setup, req: ReqId, names: &impl ContentNames, out: &mut Encoding) {
        // No field is left out by oversight: a new one does not compile until it stands here.
        let Req {
            kv_committed_len,
            decode_batch_idx,
            outputs,
            prompt_len,
            middle_chunks,
            untracked_idx,
            to_abort,
            retracted,
            has_track,
            next_track_idx,
            last_track_idx,
            stage,
            active,
            track,
            pages,
            stream,
            known,
            device_len,
            kv_allocated_len,
            verifies,
            needs_clear,
            cow_source,
            last_track_seqlen,
            prev_track_seqlen,
            decline,
            prefix_len,
            extend_end,
            cache_protected_len,
            branching,
            lock,
            holds_row,
            // By the setup: where the script ends it.
            ends_at: _,
            // The fold of the tokens, for sinks that want them spelled out.
            tip: _,
            // Of requests that are over; here they are as in the beginning.
            finish: _,
            finished_len: _,
            dropped: _,
            // The node of `lock`; before there is one it is found anew.
            last_node: _,
        } = &self.reqs[req.index()];
        let stage_bits = *stage as u32 | u32::from(*retracted) << 2 | u32::from(*to_abort) << 3;
        out.put([stage_bits, *outputs, *known]);
        // Where no prompt is made of others' tokens, the tokens are a name, and the length of the prompt is that of the class.
        if out.shares() {
            out.word(*prompt_len);
            names.put_sequence(self.streams.prefix(*stream, *known), out);
        }
        if setup.engine.spec.is_some() {
            out.word(*verifies);
        }
        if *stage == Stage::Waiting {
            // What it matched is matched again before it is used, and a retraction resets everything else.
            let holds = active.is_some() || *has_track || lock.is_some() || *holds_row || pages.count > 0;
            assert!(!holds && *middle_chunks == 0, "a request that waits holds nothing");
            return;
        }
        // `tree.encoding` writes `lock` where it matters.
        out.put([*kv_committed_len, *device_len, *kv_allocated_len, *prefix_len, *extend_end, *cache_protected_len]);
        let [active, source] = [out.label_slot(*active), out.label_slot(*cow_source)];
        let tracks = [out.label_slot(track[0]), out.label_slot(track[1])];
        out.put([active, source, tracks[0], tracks[1]]);
        let flags = [*needs_clear, *has_track, *decline, *holds_row];
        let bits = flags.iter().fold(0, |bits, &flag| bits << 1 | u32::from(flag));
        let bits = bits << 2 | u32::from(*next_track_idx) << 1 | u32::from(*last_track_idx);
        let [last, before, branching] = [*last_track_seqlen, *prev_track_seqlen, *branching].map(or_none);
        // Counters are compared with each other alone; those of batches are written as differences with the batches.
        let untracked = u32::from(*untracked_idx == Some(*decode_batch_idx));
        // The grant is a name.
        let Pages { grant: _, count } = *pages;
        out.put([bits, last, before, branching, *middle_chunks, untracked, count]);
        names.put_pages(pages.range(cache_protected_len / setup.engine.page_size, count), req, out);
    }

    /// Requests that are over: how many of each kind, and the tokens that prompts may still be made of.
    fn encode_over(&self, setup: &Setup, names: &impl ContentNames, out: &mut Encoding) {
        if out.are_all_unlike() {
            return self.encode_each_over(setup, names, out);
        }
        for (index, it) in self.reqs.iter().enumerate() {
            let class = out.class(ReqId(index as u32));
            match it.stage {
                Stage::Unseen => out.count(class, 0),
                Stage::Waiting | Stage::Running => {}
                Stage::Finished => {
                    out.count(class, 1);
                    self.encode_tokens(setup, index, names, out);
                }
            }
        }
        out.put_counts();
    }

    /// The same where no two requests are interchangeable: two bits each, sixteen to a word.
    fn encode_each_over(&self, setup: &Setup, names: &impl ContentNames, out: &mut Encoding) {
        for (some, first) in self.reqs.chunks(16).zip((0..).step_by(16)) {
            let bits = |(at, it): (usize, &Req)| match it.stage {
                Stage::Waiting | Stage::Running => 0,
                Stage::Unseen => 1,
                Stage::Finished if !self.is_needed(setup, first + at) => 2,
                Stage::Finished => 3,
            };
            out.word(some.iter().enumerate().fold(0, |word, it| word << 2 | bits(it)));
            let over = some.iter().enumerate().filter(|(_, it)| it.stage == Stage::Finished);
            over.for_each(|(at, _)| self.encode_tokens(setup, first + at, names, out));
        }
    }

    /// The tokens of a request that is over, if a prompt may still be made of them.
    fn encode_tokens(&self, setup: &Setup, index: usize, names: &impl ContentNames, out: &mut Encoding) {
        if self.is_needed(setup, index) {
            let it = &self.reqs[index];
            out.put([it.known, it.known_len()]);
            names.put_sequence(self.streams.prefix(it.stream, it.known), out);
        }
    }
}
